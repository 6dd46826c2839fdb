//! An analysis as text: what `run` and `compare` print. Titles are bold, by escape codes that reach only a terminal.

use crate::error::ReportError;
use crate::layouts::{Style, csv, markdown, ministats, plain};
use crate::{comparison, computers, constants, counters, hangs, robust, validation, workload};
use definition::file::VariantEntry;
use machine::{Constant, Mark};
use results::analysis::{Finding, TableAnalysis, TablesAnalysis, WorkloadAnalysis};
use results::counters::splatted;
use results::{Analysis, Results, WorkloadResults};

/// How results are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// All that follows from the results: tables, histograms, ministat's comparisons, published beside predicted.
    Whole,
    /// Findings in a style of their own.
    Style(Style),
    /// Comma-separated values, and nothing else.
    Csv,
}

/// A section's title.
pub fn heading(text: &str) -> String {
    format!("\x1b[1m{text}\x1b[0m\n")
}

/// What every layout can show: results of schedscape and of MMTests.
pub(crate) trait Shown {
    /// Everything, by sections.
    fn whole(&self) -> String;

    /// Everything as MMTests' tables.
    fn tables(&self) -> Result<String, ReportError>;

    /// What the runs say, rows of a table with its correction.
    fn findings(&self) -> Vec<Finding>;

    /// What the runs say, each quantity by itself.
    fn single_findings(&self) -> Vec<Finding>;
}

/// `shown` in `layout`.
///
/// # Errors
/// Samples that cannot be compared, values that cannot be written.
pub(crate) fn laid_out(shown: &impl Shown, layout: Layout) -> Result<String, ReportError> {
    Ok(match layout {
        Layout::Whole => shown.whole(),
        Layout::Csv => csv(&shown.findings())?,
        Layout::Style(Style::Mmtests) => shown.tables()?,
        Layout::Style(Style::Ministat) => ministats(&shown.single_findings()),
        Layout::Style(Style::Markdown) => markdown(&shown.findings()),
        Layout::Style(Style::Plain) => plain(&shown.findings()),
    })
}

/// `analysis` in `layout`, with what runs counted if that is asked for: within the sections of the whole, below any other layout. What
/// there is to say of the computers that ran variants is not in CSV.
///
/// # Errors
/// Samples that cannot be compared, values that cannot be written.
pub fn results(
    analysis: &Analysis,
    layout: Layout,
    with_counters: bool,
) -> Result<String, ReportError> {
    let mut out = String::new();
    if layout != Layout::Csv {
        let lines = [
            computers::above(analysis.results),
            scheduled(analysis.results),
            warned(analysis.results),
        ]
        .concat();
        lines.iter().for_each(|line| out.extend([line, "\n"]));
        out.push_str(if lines.is_empty() { "" } else { "\n" });
    }
    out.push_str(&laid_out(&Sections { analysis, with_counters }, layout)?);
    if with_counters && layout != Layout::Whole {
        for (workload, analysed) in analysis.results.workloads.iter().zip(&analysis.workloads) {
            out.push_str(&heading(&workload.title));
            out.push_str(&counted(analysis, workload, analysed));
        }
    }
    if layout != Layout::Csv && !analysis.results.computers.is_empty() {
        out.push_str(if out.ends_with("\n\n") { "" } else { "\n" });
        out.push_str(&computers::section(&analysis.results.computers));
    }
    Ok(out)
}

/// A line for each variant with a sched_ext scheduler, which says what ran.
fn scheduled(results: &Results) -> Vec<String> {
    let line = |variant: &VariantEntry| {
        Some(format!("variant `{}`: {}", variant.name, variant.scheduler.as_ref()?.set()))
    };
    results.experiment.variants.iter().filter_map(line).collect()
}

/// A line for each variant whose kernel said that something went wrong.
pub(crate) fn warned(results: &Results) -> Vec<String> {
    let line = |variant: &VariantEntry| {
        let of = |workload: &WorkloadResults| splatted(results, workload.variant(&variant.name)?);
        let all: Vec<(usize, usize)> = results.workloads.iter().filter_map(of).collect();
        let bad: usize = all.iter().map(|(bad, _)| bad).sum();
        let runs: usize = all.iter().map(|(_, runs)| runs).sum();
        let name = &variant.name;
        (bad > 0).then(|| format!("variant `{name}`: the kernel warned in {bad} of {runs} runs"))
    };
    results.experiment.variants.iter().filter_map(line).collect()
}

/// What runs of a workload counted.
fn counted(analysis: &Analysis, of: &WorkloadResults, analysed: &WorkloadAnalysis) -> String {
    counters::counters(&analysis.results.counters, of, analysed) + "\n"
}

/// An analysis, and whether its sections show counters.
struct Sections<'a> {
    analysis: &'a Analysis<'a>,
    with_counters: bool,
}

impl Shown for Sections<'_> {
    fn whole(&self) -> String {
        whole(self.analysis, self.with_counters)
    }

    fn tables(&self) -> Result<String, ReportError> {
        Ok(tables(self.analysis.all_tables()?.as_ref()))
    }

    fn findings(&self) -> Vec<Finding> {
        self.analysis.findings()
    }

    fn single_findings(&self) -> Vec<Finding> {
        self.analysis.single_findings()
    }
}

/// Everything that follows from the results.
fn whole(analysis: &Analysis, with_counters: bool) -> String {
    let results = analysis.results;
    let mut out = analysis.tables.as_ref().map_or(String::new(), tables);
    for (of, analysed) in results.workloads.iter().zip(&analysis.workloads) {
        let entry = results.experiment.workload(&of.name);
        // In tables of rows a workload has only what these do not show.
        let own = analysis.tables.is_none() || entry.is_some_and(|e| e.histogram.is_some());
        if own || with_counters || !of.ignored.is_empty() {
            out.push_str(&heading(&of.title));
        }
        if own {
            let study = analysis.published.as_ref().map(|p| &p.study);
            out.push_str(&workload::workload(of, analysed, entry, study));
            out.push('\n');
        } else {
            out.push_str(&workload::ignored(of));
        }
        if with_counters {
            out.push_str(&counted(analysis, of, analysed));
        }
    }
    if let Some(published) = &analysis.published {
        out.push_str(&heading("Published beside predicted"));
        out.push_str(&validation::validation(published));
    }
    let over_ranges = robust::robust(analysis);
    if !over_ranges.is_empty() {
        out.push_str(&heading("Over the ranges of constants"));
        out.push_str(&format!("{over_ranges}\n"));
    }
    let hang = hangs::hangs(analysis);
    if !hang.is_empty() {
        out.push_str(&heading("Constants on which verdicts hang"));
        out.push_str(&format!("{hang}\n"));
    }
    let is_overridden = |c: &Constant| c.mark == Mark::Overridden;
    if analysis.published.is_some() || results.constants.iter().any(|(_, c)| is_overridden(c)) {
        out.push_str(&constants::by_mark(&results.experiment.machine, &results.constants));
        out.push_str(&constants::counted(&results.counted));
    }
    out
}

/// Overviews, tables, power.
fn tables(all: &TablesAnalysis) -> String {
    let mut out = heading("Performance ratios");
    out.push_str(&comparison::overview(&all.performance.overview));
    if let Some(watts) = &all.watts {
        out.push('\n');
        out.push_str(&heading("Performance-per-watt ratios"));
        out.push_str(&comparison::overview(&watts.per_watt.overview));
    }
    out.push('\n');
    out.push_str(&heading("Performance"));
    out.push_str(&below(&all.performance.tables));
    if let Some(watts) = &all.watts {
        out.push('\n');
        out.push_str(&heading("Power"));
        out.push_str(&below(&watts.power.tables));
    }
    out.push('\n');
    out
}

/// Tables one below the other.
pub(crate) fn below(tables: &[TableAnalysis]) -> String {
    tables.iter().map(|t| format!("\n{}", comparison::comparison(t))).collect()
}
