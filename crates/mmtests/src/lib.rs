//! Reads MMTests results, which `run-mmtests.sh` leaves in `work/log`, as tables of samples. Start with [`read`].
//!
//! Each run has a directory of its name with `iter-N/BENCHMARK/logs` for each iteration. The names and formats of the logs
//! changed in 2021 and at the end of 2025; `layout` knows all three. Logs may be compressed with gzip or xz. Samples, rows
//! and means are those of MMTests' own extraction.

mod error;
mod files;
mod layout;
mod parse;

pub use error::MmtestsError;
pub use layout::{Label, Metric};

use files::{Logs, directories};
use layout::Family;
use stats::{Cell, Row, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Results of several runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// One table per metric, grouped by benchmark. Columns are the runs in the order asked for.
    pub tables: Vec<Table>,
    /// Benchmarks that this reader does not know.
    pub left_out: Vec<String>,
}

/// Samples of one row of one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What was measured.
    pub metric: Metric,
    /// Which row.
    pub label: Label,
    /// Samples in the order they were taken, in the metric's unit.
    pub samples: Vec<f64>,
}

/// Rows of one benchmark, by metric and label; each has its cells by column.
type Rows = BTreeMap<(Metric, Label), Vec<Cell>>;

/// Reads the runs `runs` in `log`, MMTests' `work/log`. If a run lacks a row, its cell has no samples.
///
/// Fails if a run does not exist or has no iteration, if the runs have no known benchmark, or if a log has a line that its
/// benchmark does not print.
pub fn read(log: &Path, runs: &[String]) -> Result<Imported, MmtestsError> {
    let mut benchmarks: BTreeMap<String, Rows> = BTreeMap::new();
    let mut left_out = BTreeSet::new();
    for (column, run) in runs.iter().enumerate() {
        for iteration in iterations(&log.join(run))? {
            for name in directories(&iteration)? {
                let dir = iteration.join(&name).join("logs");
                match Family::of(&name) {
                    _ if !dir.is_dir() => {}
                    None => {
                        left_out.insert(name);
                    }
                    Some(family) => {
                        let rows = benchmarks.entry(name).or_default();
                        read_iteration(&dir, family, rows, (column, runs.len()))?;
                    }
                }
            }
        }
    }
    let tables: Vec<Table> =
        benchmarks.into_iter().flat_map(|(name, rows)| tables(&name, rows, runs)).collect();
    let left_out: Vec<String> = left_out.into_iter().collect();
    if tables.is_empty() {
        let found = match left_out.len() {
            0 => "no benchmark's logs".to_string(),
            _ => format!("logs of {} only", left_out.join(", ")),
        };
        let expected = format!("logs of {}", Family::NAMES.join(", "));
        return Err(MmtestsError::File { file: log.display().to_string(), found, expected });
    }
    Ok(Imported { tables, left_out })
}

/// Reads a single log file, compressed or not. Its name selects the format.
pub fn read_file(benchmark: &str, name: &str, bytes: &[u8]) -> Result<Vec<Series>, MmtestsError> {
    let Some(family) = Family::of(benchmark) else { return Ok(vec![]) };
    let text = files::text(name, bytes)?;
    let stem = files::stem(name).to_string();
    let mut all = Vec::new();
    for (_, reader) in layout::readers(family, std::slice::from_ref(&stem)) {
        all.extend(parse::series(&reader, name, &text)?);
    }
    Ok(all)
}

/// The iterations of a run, `iter-0` first.
fn iterations(run: &Path) -> Result<Vec<PathBuf>, MmtestsError> {
    let number = |name: &String| name.strip_prefix("iter-").and_then(|n| n.parse::<u64>().ok());
    let mut found: Vec<(u64, String)> =
        directories(run)?.into_iter().filter_map(|name| Some((number(&name)?, name))).collect();
    found.sort();
    if found.is_empty() {
        return Err(MmtestsError::File {
            file: run.display().to_string(),
            found: "no iteration".to_string(),
            expected: "directories iter-0, iter-1, ...".to_string(),
        });
    }
    Ok(found.into_iter().map(|(_, name)| run.join(name)).collect())
}

/// Adds one iteration of one benchmark to its rows, as one run of samples in `column` of the given number of columns.
fn read_iteration(
    dir: &Path,
    family: Family,
    rows: &mut Rows,
    (column, columns): (usize, usize),
) -> Result<(), MmtestsError> {
    let logs = Logs::of(dir)?;
    let mut iteration: BTreeMap<(Metric, Label), Vec<f64>> = BTreeMap::new();
    for (stem, reader) in layout::readers(family, &logs.stems()) {
        let (path, text) = logs.read(&stem)?;
        for Series { metric, label, samples } in parse::series(&reader, &path, &text)? {
            iteration.entry((metric, label)).or_default().extend(samples);
        }
    }
    for (key, samples) in iteration {
        let cells = rows.entry(key).or_insert_with(|| vec![Cell::default(); columns]);
        if let Some(cell) = cells.get_mut(column) {
            cell.runs.push(samples);
        }
    }
    Ok(())
}

/// The tables of a benchmark, in the order of metrics.
fn tables(name: &str, rows: Rows, runs: &[String]) -> Vec<Table> {
    let mut tables: Vec<(Metric, Table)> = Vec::new();
    for ((metric, label), cells) in rows {
        let row = Row { label: label.to_string(), cells };
        match tables.last_mut() {
            Some((last, table)) if *last == metric => table.rows.push(row),
            _ => tables.push((metric, metric.table(name, runs, row))),
        }
    }
    tables.into_iter().map(|(_, table)| table).collect()
}

#[cfg(test)]
mod tests;
