//! Results in the layout that was asked for.

use crate::Failure;
use crate::args::{LayoutArgs, StyleName};
use crate::experiments::resampling;
use crate::tables::{self, LEVEL};
use experiment::{Results, Tables};
use report::findings::{Finding, of_table, of_workload};
use report::styles;
use stats::Table;

/// What was asked for, where it is not the usual layout.
pub enum Layout {
    /// Comma-separated values, and nothing else.
    Csv,
    /// Text.
    Style(StyleName),
}

/// The layout asked for; `None` is the usual one.
pub fn asked(args: &LayoutArgs) -> Option<Layout> {
    match args.style {
        Some(style) => Some(Layout::Style(style)),
        None => args.csv.then_some(Layout::Csv),
    }
}

/// Results in `layout`.
pub fn results(results: &Results, layout: &Layout) -> Result<String, Failure> {
    if let Layout::Style(StyleName::Mmtests) = layout {
        let tables = Tables::all(results);
        return Ok(tables::study(&tables)?.text());
    }
    if let Layout::Style(StyleName::Ministat) = layout {
        return findings_text(&singles(results)?, layout);
    }
    match Tables::of(results) {
        None => findings_text(&singles(results)?, layout),
        Some(tables) => {
            let rows = tables::rows(&tables)?;
            let of = |(table, compared): &(&Table, _)| of_table(table, compared);
            findings_text(&rows.tables.iter().flat_map(of).collect::<Vec<_>>(), layout)
        }
    }
}

/// Tables in `layout`.
pub fn tables(tables: &[Table], layout: &Layout) -> Result<String, Failure> {
    if let Layout::Style(StyleName::Mmtests) = layout {
        return Ok(tables::texts(&tables::compared(tables)?));
    }
    let resampling = resampling()?;
    let mut findings = Vec::new();
    for table in tables {
        findings.extend(of_table(table, &table.compare(&resampling, LEVEL)?));
    }
    findings_text(&findings, layout)
}

fn singles(results: &Results) -> Result<Vec<Finding>, Failure> {
    let resampling = resampling()?;
    Ok(results.workloads.iter().flat_map(|w| of_workload(w, &resampling)).collect())
}

fn findings_text(findings: &[Finding], layout: &Layout) -> Result<String, Failure> {
    Ok(match layout {
        Layout::Csv => styles::csv(findings)?,
        Layout::Style(StyleName::Markdown) => styles::markdown(findings),
        Layout::Style(StyleName::Ministat) => styles::ministats(findings, &resampling()?),
        Layout::Style(StyleName::Plain | StyleName::Mmtests) => styles::plain(findings),
    })
}
