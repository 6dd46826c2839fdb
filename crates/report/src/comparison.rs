//! Tables of samples as MMTests' users mail them: figures, then what each change may be, each at most 100 columns wide.

use crate::number::fixed;
use crate::table::{WIDTH, clip, fitted, pad, table};
use results::analysis::TableAnalysis;
use stats::table::{Change, Compared, ComparedCell, Estimator, Figure, Overview, OverviewCell};
use stats::{Better, Table, Verdict};
use unicode_width::UnicodeWidthStr;

/// Longest name of a column; more is cut.
const NAME: usize = 28;

/// A table's cells by row and column, below their columns' names.
struct Texts {
    columns: Vec<String>,
    labels: Vec<String>,
    rows: Vec<Vec<String>>,
}

/// One table: its figures with `+-` half of their confidence interval and the percent change, positive where better; then
/// the interval of each change and the smallest effect that the runs could have shown. A `*` marks what differs from the
/// first column after Holm's correction over the table.
pub fn comparison(TableAnalysis { samples, compared }: &TableAnalysis) -> String {
    let mut out = format!("{}\n", clip(&samples.metric, WIDTH));
    if !samples.varying.is_empty() {
        out.push_str(&format!("Varying: {}\n", clip(&samples.varying, WIDTH - 9)));
    }
    out.push_str(&format!("Unit: {} ({})\n\n", clip(&samples.unit, 60), sense(samples.better)));
    out.push_str(&in_blocks(&figures(samples, compared)));
    for refused in refusals(samples, compared) {
        out.push_str(&refused);
    }
    if compared.comparisons > 0 {
        out.push_str(&format!("\n{}", legend(samples, compared)));
        out.push_str(&in_blocks(&changes(samples, compared)));
    }
    out
}

fn sense(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    }
}

fn label(samples: &Table, row: &str) -> String {
    clip(format!("{} {row}", samples.estimator.name()).trim_end(), 40)
}

fn texts(
    samples: &Table,
    compared: &Compared,
    columns: &[String],
    cells: Vec<Vec<String>>,
) -> Texts {
    let columns = columns.iter().map(|name| clip(name, NAME)).collect();
    let labels = compared.rows.iter().map(|row| label(samples, &row.label)).collect();
    Texts { columns, labels, rows: cells }
}

/// `427.19 +- 0.16% ( 82.20%*)`.
fn figures(samples: &Table, compared: &Compared) -> Texts {
    let decimals = decimals(compared);
    let cells = compared.rows.iter().map(|row| {
        let cell = |(column, cell): (usize, &ComparedCell)| match cell {
            ComparedCell::Missing => "missing".to_string(),
            ComparedCell::Refused(_) => format!("no {}", samples.estimator.name()),
            ComparedCell::Present { figure, change } => {
                let percent = match change {
                    Some(c) => {
                        format!("({:>8}%{})", fixed(c.percent.estimate, 2), mark(c.verdict))
                    }
                    None if column == 0 => format!("({:>10})", ""),
                    None => format!("({:>10})", "-"),
                };
                format!("{} {percent}", with_error(figure, samples.estimator, decimals))
            }
        };
        row.cells.iter().enumerate().map(cell).collect()
    });
    let mut columns = samples.columns.clone();
    if let Some(base) = columns.first_mut() {
        *base = format!("{} (BASE)", clip(base, NAME - 7));
    }
    texts(samples, compared, &columns, cells.collect())
}

fn mark(verdict: Verdict) -> char {
    if verdict == Verdict::NoDifference { ' ' } else { '*' }
}

/// Figures below 10 keep four decimals, as times of hackbench need.
fn decimals(compared: &Compared) -> usize {
    let mut figures = compared.rows.iter().flat_map(|row| &row.cells).filter_map(|c| c.figure());
    if figures.all(|f| f.value.abs() < 10.0) { 4 } else { 2 }
}

/// The studies print the half width of a `SubAmean` in its unit, that of other means in percent of them.
fn with_error(figure: &Figure, estimator: Estimator, decimals: usize) -> String {
    let value = figure.value;
    let error = match figure.half_width {
        Some(half) if estimator == Estimator::SubAmean => format!("{half:.decimals$}"),
        Some(half) if value != 0.0 => format!("{:.2}%", 100.0 * half / value.abs()),
        _ => "-".to_string(),
    };
    format!("{value:.decimals$} +- {error:>6}")
}

/// A line for each cell that has samples and no figure.
fn refusals<'a>(samples: &'a Table, compared: &'a Compared) -> impl Iterator<Item = String> + 'a {
    compared.rows.iter().flat_map(move |row| {
        row.cells.iter().zip(&samples.columns).filter_map(move |(cell, column)| match cell {
            ComparedCell::Refused(why) => {
                let place = format!("{} of {column}: {why}", label(samples, &row.label));
                Some(format!("{}\n", clip(&place, WIDTH)))
            }
            _ => None,
        })
    })
}

fn legend(samples: &Table, compared: &Compared) -> String {
    let interval = match samples.estimator {
        Estimator::SubAmean => "interval by Student's t of the logarithm",
        Estimator::Amean | Estimator::Hmean => "BCa interval",
    };
    let confidence = compared
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .find_map(|cell| Some(cell.change()?.percent.confidence.percent()));
    let confidence = confidence.map_or(String::new(), |c| format!(" at {c:.0}%"));
    format!(
        "Change in percent (positive = better), {interval}{confidence};\n\
         < smallest effect that the runs could show (power 80%);\n\
         * differs, by Holm's correction over {} comparisons at {:.0}%.\n",
        compared.comparisons,
        compared.level.percent()
    )
}

/// `82.20* [ 81.95, 82.44] < 0.52`.
fn changes(samples: &Table, compared: &Compared) -> Texts {
    let cells = compared.rows.iter().map(|row| {
        let cell = |cell: &ComparedCell| cell.change().map_or("-".to_string(), change);
        row.cells.iter().skip(1).map(cell).collect()
    });
    let variants = samples.columns.get(1..).unwrap_or(&[]);
    texts(samples, compared, variants, cells.collect())
}

fn change(change: &Change) -> String {
    let (p, mark) = (&change.percent, mark(change.verdict));
    let smallest = change.smallest_detectable_percent;
    let [estimate, low, high] = [p.estimate, p.low, p.high].map(|value| fixed(value, 2));
    format!("{estimate}{mark} [{low:>6}, {high:>6}] <{smallest:>5.2}")
}

/// As many columns beside each other as fit, the others below them.
fn in_blocks(texts: &Texts) -> String {
    let mut out = String::new();
    let mut first = 0;
    while first < texts.columns.len() {
        let mut last = first + 1;
        let mut block = block(texts, first, last);
        while last < texts.columns.len() {
            let wider = self::block(texts, first, last + 1);
            if wider.lines().any(|line| line.width() > WIDTH) {
                break;
            }
            (block, last) = (wider, last + 1);
        }
        if first > 0 {
            out.push('\n');
        }
        out.push_str(&block);
        first = last;
    }
    out
}

/// Columns `first..last`, below their names.
fn block(texts: &Texts, first: usize, last: usize) -> String {
    let width = texts.labels.iter().map(|l| l.width()).max().unwrap_or(0);
    let head: Vec<&str> = std::iter::once("")
        .chain(texts.columns.iter().take(last).skip(first).map(String::as_str))
        .collect();
    let rows = texts.labels.iter().zip(&texts.rows).map(|(label, cells)| {
        let cells = cells.iter().take(last).skip(first).cloned();
        std::iter::once(pad(label, width)).chain(cells).collect()
    });
    table(&head, &rows.collect::<Vec<Vec<String>>>())
}

/// Tables as one line of ratios each: `~` where a column does not differ from the first, `missing` where a row of it does.
pub fn overview(overview: &Overview) -> String {
    let mut head = vec![String::new()];
    head.extend(overview.columns.iter().map(|name| clip(name, NAME)));
    head.push("better if".to_string());
    let rows: Vec<Vec<String>> = overview
        .lines
        .iter()
        .map(|line| {
            let mut row = vec![clip(&line.metric, 40), "1.00".to_string()];
            row.extend(line.cells.iter().map(ratio));
            let better = match line.better {
                Better::Higher => "higher",
                Better::Lower => "lower",
            };
            row.push(better.to_string());
            row
        })
        .collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let legend =
        "Ratios to the first column, geometric mean over rows; ~ where no difference is proven";
    let level = overview.level.percent();
    format!("{legend} (Holm, {level:.0}%)\n{}", fitted(&head, &rows, 1))
}

fn ratio(cell: &Option<OverviewCell>) -> String {
    match cell {
        None => "missing".to_string(),
        Some(c) if c.verdict == Verdict::NoDifference => "~".to_string(),
        Some(c) => format!("{:.2}", c.ratio.estimate),
    }
}

#[cfg(test)]
mod tests;
