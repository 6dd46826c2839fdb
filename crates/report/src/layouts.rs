//! Findings in other layouts than MMTests': lines, Markdown, ministat's tables, comma-separated values. Text is at most 100 columns
//! wide.

use crate::error::ReportError;
use crate::ministat::{ministat, significant};
use crate::number::signed;
use crate::sparkline::{range, sparkline};
use crate::table::{WIDTH, clip, table};
use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Table};
use results::analysis::{Finding, Side, SideChange};
use stats::Verdict;

/// Longest name of a variant, and bars of a sparkline.
const NAME: usize = 18;
const BARS: usize = 8;

/// A layout of findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Figures and changes in MMTests' tables.
    Mmtests,
    /// ministat's comparison of each metric.
    Ministat,
    /// One block of lines a metric.
    Plain,
    /// The same as tables in Markdown.
    Markdown,
}

/// A line a variant below each quantity: mean, change with its interval, smallest detectable effect, verdict, spread of the
/// runs.
pub fn plain(findings: &[Finding]) -> String {
    let head = ["", "mean", "change %", "interval", "shows", "verdict", "runs"];
    let mut out = String::new();
    for finding in findings {
        out.push_str(&format!("{}\n", title(finding)));
        out.push_str(&table(&head, &rows(finding)));
        out.push_str(&legend(finding));
        out.push('\n');
    }
    out
}

/// The same as tables in Markdown.
pub fn markdown(findings: &[Finding]) -> String {
    let head = ["variant", "mean", "change %", "interval", "shows", "verdict", "runs"];
    let mut out = String::new();
    for finding in findings {
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN);
        table.set_header(head);
        for row in rows(finding) {
            table.add_row(row.into_iter().enumerate().map(|(at, cell)| {
                let cell = cell.replace('|', "\\|");
                if at == 0 { clip(&cell, NAME) } else { cell }
            }));
        }
        for column in table.column_iter_mut().skip(1).take(4) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        out.push_str(&format!("### {}\n\n{table}\n\n", title(finding)));
    }
    out
}

/// ministat's table of each quantity, every variant against the first.
pub fn ministats(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let samples: Vec<(&str, &[f64])> =
            finding.sides.iter().map(|s| (s.variant.as_str(), s.samples.as_slice())).collect();
        let compared: Vec<_> = finding.sides.iter().skip(1).map(|s| s.comparison).collect();
        out.push_str(&format!("{}\n", title(finding)));
        out.push_str(&ministat(&samples, &finding.unit, finding.better, &compared));
        out.push('\n');
    }
    out
}

/// A line for each variant of each quantity, with a head; fields without a value are empty.
///
/// # Errors
/// What the writer refuses.
pub fn csv(findings: &[Finding]) -> Result<String, ReportError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "workload",
        "metric",
        "unit",
        "better",
        "variant",
        "samples",
        "estimator",
        "value",
        "change_percent",
        "low_percent",
        "high_percent",
        "confidence_percent",
        "smallest_detectable_percent",
        "verdict",
    ])?;
    for finding in findings {
        for side in &finding.sides {
            writer.write_record(record(finding, side))?;
        }
    }
    let bytes = writer.into_inner().map_err(|e| csv::Error::from(e.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn record(finding: &Finding, side: &Side) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
    let change = |of: &dyn Fn(&SideChange) -> f64| number(side.change.as_ref().map(of));
    vec![
        finding.workload.clone(),
        finding.metric.clone(),
        finding.unit.clone(),
        finding.better.name().to_string(),
        side.variant.clone(),
        side.samples.len().to_string(),
        finding.estimator.name().to_string(),
        number(side.value),
        change(&|c| c.percent.estimate),
        change(&|c| c.percent.low),
        change(&|c| c.percent.high),
        change(&|c| c.percent.confidence.percent()),
        change(&|c| c.smallest_detectable_percent),
        side.change.map_or(String::new(), |c| c.verdict.to_string()),
    ]
}

/// `ebizzy, records_per_s (records/s, higher is better), Amean`.
fn title(finding: &Finding) -> String {
    let sense = finding.better.name();
    let what = match finding.workload.starts_with(&finding.metric) {
        true => finding.workload.clone(),
        false => format!("{}, {}", finding.workload, finding.metric),
    };
    let text = format!(
        "{} ({}, {sense} is better), {}",
        clip(&what, 46),
        clip(&finding.unit, 18),
        finding.estimator.name()
    );
    clip(&text, WIDTH - 4)
}

/// One row a variant.
fn rows(finding: &Finding) -> Vec<Vec<String>> {
    let range = range(finding.sides.iter().map(|s| s.samples.as_slice()));
    let row = |(at, side): (usize, &Side)| {
        let name = match at {
            0 => format!("{} (BASE)", clip(&side.variant, NAME - 7)),
            _ => clip(&side.variant, NAME),
        };
        let mean = side.value.map_or("missing".to_string(), |v| significant(v, 5));
        let mut row = vec![name, mean];
        row.extend(match &side.change {
            None => [""; 4].map(String::from),
            Some(c) => [
                percent(c.percent.estimate),
                format!("{} .. {}", percent(c.percent.low), percent(c.percent.high)),
                percent(c.smallest_detectable_percent).trim_start_matches('+').to_string(),
                match c.verdict {
                    Verdict::NoDifference => "not proven".to_string(),
                    verdict => verdict.to_string(),
                },
            ],
        });
        row.push(range.map_or(String::new(), |range| sparkline(&side.samples, range, BARS)));
        row
    };
    finding.sides.iter().enumerate().map(row).collect()
}

/// A change in at most seven characters.
fn percent(value: f64) -> String {
    match value.abs() {
        v if v < 100.0 => signed(value, 2),
        v if v < 1e3 => signed(value, 1),
        v if v < 1e5 => signed(value, 0),
        _ => format!("{value:+.0e}"),
    }
}

/// What the columns are.
fn legend(finding: &Finding) -> String {
    let range = range(finding.sides.iter().map(|s| s.samples.as_slice()));
    let changes = finding.sides.iter().find_map(|s| s.change);
    let interval = changes.map_or(String::new(), |c| {
        let level = c.percent.confidence.percent();
        format!("positive = better, {level:.0} % intervals, shows: smallest detectable; ")
    });
    let runs = range.map_or(String::new(), |(low, high)| {
        format!("runs from {} to {}", significant(low, 4), significant(high, 4))
    });
    match interval.is_empty() && runs.is_empty() {
        true => String::new(),
        false => format!("  {interval}{runs}\n"),
    }
}

#[cfg(test)]
mod tests;
