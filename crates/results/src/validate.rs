//! Published beside predicted, cell by cell.

use crate::rows;
use crate::runs::{Results, WorkloadResults};
use crate::study::{PublishedMean, PublishedSummary, Study, Table};
use serde::Serialize;
use stats::table::Estimator;
use stats::{Better, Interval, Mean, Resampling};

/// One published comparison and its prediction. Percents are positive where the variant is better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The study.
    pub study: String,
    /// Its table.
    pub table: String,
    /// Row of the table: a statistic.
    pub row: String,
    /// Column of the table: the variant that is compared with the baseline.
    pub column: String,
    /// Unit of the figures.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// Published figure of the baseline, unless only the change was published.
    pub published_baseline: Option<f64>,
    /// Published figure of the variant, unless only the change was published.
    pub published_variant: Option<f64>,
    /// Published change.
    pub published_percent: f64,
    /// Predicted figure of the baseline.
    pub predicted_baseline: f64,
    /// Predicted figure of the variant.
    pub predicted_variant: f64,
    /// Predicted change.
    pub predicted_percent: f64,
    /// Lower end of its 95 % interval.
    pub predicted_low: f64,
    /// Upper end of its 95 % interval.
    pub predicted_high: f64,
    /// Whether a constant was fitted on this figure.
    pub calibrated: bool,
}

/// A published comparison, predicted by the model and by a tree's own scheduler.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TwoWays {
    /// As the model predicts it.
    #[serde(flatten)]
    pub model: Cell,
    /// The same cell as the tree's code predicts it; none where its runs have no percent change.
    pub source: Option<Cell>,
}

impl Cell {
    /// Whether both are of the same published figure.
    fn is_of(&self, other: &Cell) -> bool {
        (&self.table, &self.row, &self.column) == (&other.table, &other.row, &other.column)
    }

    /// Predicted less published change, in percentage points.
    pub fn error(&self) -> f64 {
        self.predicted_percent - self.published_percent
    }
}

/// What a table gives for the baseline and a column.
struct Published {
    row: String,
    /// The workloads whose runs give it.
    workload: Workload,
    unit: String,
    better: Better,
    statistic: Statistic,
    figures: Figures,
}

/// Both figures, or only the change in percent.
#[derive(Clone, Copy)]
enum Figures {
    Both(f64, f64),
    Percent(f64),
}

impl Figures {
    fn both(self) -> (Option<f64>, Option<f64>) {
        match self {
            Figures::Both(base, new) => (Some(base), Some(new)),
            Figures::Percent(_) => (None, None),
        }
    }

    fn percent(self, better: Better) -> f64 {
        match self {
            Figures::Both(base, new) => better.percent(base, new),
            Figures::Percent(percent) => percent,
        }
    }
}

/// Of which workloads runs are taken.
enum Workload {
    /// The one of this name.
    Of(String),
    /// All that the table covers.
    All,
}

/// How the same statistic is taken of runs.
enum Statistic {
    Mean,
    HarmonicMean,
    SubAmean,
    Median,
    /// Percent of runs at or above this edge.
    ShareFrom(f64),
}

/// The predicted figures and the change between them.
struct Predicted {
    figures: (f64, f64),
    change: Interval,
}

/// A study's cells, and the names of those that the results cannot give.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Validation {
    /// Cells in the order of the study's tables.
    pub cells: Vec<Cell>,
    /// `table, row, column` of each published figure without a prediction: the workload or variant did not
    /// run, or its runs have no percent change (too few, or a baseline of 0).
    pub missing: Vec<String>,
}

/// How well predicted changes agree with published ones, over the cells on which nothing was fitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// Cells compared.
    pub cells: usize,
    /// Those whose change has the published sign.
    pub same_sign: usize,
    /// Those whose 95 % interval holds the published change.
    pub covered: usize,
    /// Mean absolute error, in percentage points.
    pub mean_error: f64,
}

impl Validation {
    /// Each cell beside what `source` predicts for it.
    pub fn beside(&self, source: &Validation) -> Vec<TwoWays> {
        let two = |model: &Cell| {
            let source = source.cells.iter().find(|c| c.is_of(model)).cloned();
            TwoWays { model: model.clone(), source }
        };
        self.cells.iter().map(two).collect()
    }

    /// The agreement; `None` without a cell to compare.
    pub fn agreement(&self) -> Option<Agreement> {
        let fair: Vec<&Cell> = self.cells.iter().filter(|c| !c.calibrated).collect();
        let count = |f: &dyn Fn(&Cell) -> bool| fair.iter().filter(|c| f(c)).count();
        let errors: Vec<f64> = fair.iter().map(|c| c.error().abs()).collect();
        Some(Agreement {
            cells: fair.len(),
            same_sign: count(&|c| (c.predicted_percent > 0.0) == (c.published_percent > 0.0)),
            covered: count(&|c| {
                (c.predicted_low..=c.predicted_high).contains(&c.published_percent)
            }),
            mean_error: stats::amean(&errors)?,
        })
    }
}

/// Every published figure of `study` beside what `results` predict.
pub fn validate(study: &Study, results: &Results, resampling: &Resampling) -> Validation {
    let mut out = Validation::default();
    for table in &study.tables {
        for column in table.columns().into_iter().filter(|c| *c != table.baseline) {
            for published in published(table, column) {
                let predicted = runs(results, table, column, &published)
                    .and_then(|(base, new)| predict(&base, &new, &published, resampling));
                match predicted {
                    Some(figure) => out.cells.push(cell(study, table, column, published, figure)),
                    None => {
                        out.missing.push(format!("{}, {}, {column}", table.name, published.row))
                    }
                }
            }
        }
    }
    out
}

/// Runs of the baseline and of a column: two variants under one workload, or two workloads under the first variant. A run is
/// one value, or for `SubAmean` its single times.
fn runs(
    results: &Results,
    table: &Table,
    column: &str,
    published: &Published,
) -> Option<(stats::Cell, stats::Cell)> {
    let workload = |name: &str| results.workload(name);
    let values =
        |w: &WorkloadResults, variant: &str| Some(w.samples(variant, w.metric(&table.metric)?));
    let cells =
        |base: Vec<f64>, new: Vec<f64>| Some((stats::Cell::of(&base), stats::Cell::of(&new)));
    if table.by_workload.is_some() {
        let first = &results.experiment.variants.first()?.name;
        return cells(
            values(workload(&table.baseline)?, first)?,
            values(workload(column)?, first)?,
        );
    }
    if let (Statistic::SubAmean, Workload::Of(name)) = (&published.statistic, &published.workload) {
        let w = workload(name)?;
        let metric = w.metric(&table.metric)?;
        return Some((w.single_times(&table.baseline, metric), w.single_times(column, metric)));
    }
    let of: Vec<&WorkloadResults> = match &published.workload {
        Workload::Of(name) => vec![workload(name)?],
        Workload::All => results.workloads.iter().filter(|w| table.covers(&w.name)).collect(),
    };
    let mean = |variant: &str| rows::mean(&of, variant, &table.metric);
    cells(mean(&table.baseline)?, mean(column)?)
}

fn cell(study: &Study, table: &Table, column: &str, p: Published, predicted: Predicted) -> Cell {
    let (published_baseline, published_variant) = p.figures.both();
    Cell {
        study: study.name.clone(),
        table: table.name.clone(),
        calibrated: table.calibrated_rows.contains(&p.row),
        row: p.row,
        column: column.to_string(),
        unit: p.unit,
        better: p.better,
        published_baseline,
        published_variant,
        published_percent: p.figures.percent(p.better),
        predicted_baseline: predicted.figures.0,
        predicted_variant: predicted.figures.1,
        predicted_percent: predicted.change.estimate,
        predicted_low: predicted.change.low,
        predicted_high: predicted.change.high,
    }
}

/// The figures that `table` holds for both its baseline and `column`.
fn published(table: &Table, column: &str) -> Vec<Published> {
    let own = || match table.over_rows {
        true => Workload::All,
        false => Workload::Of(table.workload.clone()),
    };
    let row = |row: &str, statistic, figures: Option<Figures>| {
        figures.map(|figures| Published {
            row: row.to_string(),
            workload: own(),
            unit: table.unit.clone(),
            better: table.better,
            statistic,
            figures,
        })
    };
    let base = table.baseline.as_str();
    let both = |base: Option<f64>, new: Option<f64>| Some(Figures::Both(base?, new?));
    let mut out = Vec::new();
    if let Some(h) = &table.histogram {
        out.extend(row("mean", Statistic::Mean, both(h.mean(base), h.mean(column))));
        let shares = both(h.top_share(base), h.top_share(column));
        let share = row("runs in the top bin", Statistic::ShareFrom(h.top_edge()), shares);
        out.extend(share.map(|p| Published {
            unit: "% of runs".to_string(),
            better: Better::Higher,
            ..p
        }));
    }
    if let Some(s) = &table.summary {
        let of = |f: fn(&PublishedSummary) -> f64| both(s.get(base).map(f), s.get(column).map(f));
        out.extend(row("Avg", Statistic::Mean, of(|r| r.avg)));
        out.extend(row("Median", Statistic::Median, of(|r| r.median)));
    }
    for values in [&table.values, &table.by_workload].into_iter().flatten() {
        let of = |name: &str| values.get(name).copied();
        out.extend(row("mean", Statistic::Mean, both(of(base), of(column))));
    }
    for r in &table.rows {
        let of = |name: &str| r.values.get(name).copied();
        let (name, statistic) = match table.mean {
            PublishedMean::Arithmetic => ("Amean", Statistic::Mean),
            PublishedMean::Harmonic => ("Hmean", Statistic::HarmonicMean),
            PublishedMean::SubAmean => ("SubAmean", Statistic::SubAmean),
        };
        let name = format!("{name} {}", r.label);
        let found = row(name.trim_end(), statistic, both(of(base), of(column)));
        let workload = Workload::Of(table.workload_of(&r.label));
        out.extend(found.map(|p| Published { workload, ..p }));
    }
    if let Some(percents) = &table.percents {
        let change = percents.get(column).map(|&p| Figures::Percent(p));
        out.extend(row("mean", Statistic::Mean, change));
    }
    out
}

fn predict(
    base_runs: &stats::Cell,
    new_runs: &stats::Cell,
    published: &Published,
    resampling: &Resampling,
) -> Option<Predicted> {
    let better = published.better;
    let (base, new) = (&base_runs.samples()[..], &new_runs.samples()[..]);
    let of_means = |base: &[f64], new: &[f64]| {
        Some(Predicted {
            figures: (stats::amean(base)?, stats::amean(new)?),
            change: stats::percent_change(base, new, better, resampling)?,
        })
    };
    match published.statistic {
        Statistic::Mean => of_means(base, new),
        Statistic::HarmonicMean => Some(Predicted {
            figures: (stats::hmean(base).ok()?, stats::hmean(new).ok()?),
            change: stats::mean_change(Mean::Harmonic, base, new, better, resampling)?,
        }),
        Statistic::SubAmean => predict_sub_amean(base_runs, new_runs, better, resampling),
        Statistic::ShareFrom(edge) => {
            let percent = |values: &[f64]| -> Vec<f64> {
                values.iter().map(|&x| if x >= edge { 100.0 } else { 0.0 }).collect()
            };
            of_means(&percent(base), &percent(new))
        }
        Statistic::Median => Some(Predicted {
            figures: (stats::Summary::of(base)?.median, stats::Summary::of(new)?.median),
            change: stats::median_change(base, new, better, resampling)?,
        }),
    }
}

/// As a table of the two cells has it.
fn predict_sub_amean(
    base: &stats::Cell,
    new: &stats::Cell,
    better: Better,
    resampling: &Resampling,
) -> Option<Predicted> {
    let table = stats::Table {
        metric: String::new(),
        varying: String::new(),
        unit: String::new(),
        better,
        estimator: Estimator::SubAmean,
        columns: vec!["base".to_string(), "new".to_string()],
        rows: vec![stats::Row { label: String::new(), cells: vec![base.clone(), new.clone()] }],
    };
    let compared = table.compare(resampling, resampling.confidence()).ok()?;
    let [base, new] = &compared.rows.first()?.cells[..] else { return None };
    let figures = (base.figure()?.value, new.figure()?.value);
    Some(Predicted { figures, change: new.change()?.percent })
}
