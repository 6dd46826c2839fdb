//! Compares the cells of a table with its baseline, with one correction over all of them.

use super::pair::{Change, Figure, Prepared, change};
use super::{Row, Table};
use crate::bootstrap::Resampling;
use crate::confidence::Confidence;
use crate::error::StatsError;
use crate::holm::holm;
use crate::verdict::Verdict;
use serde::Serialize;

/// Each of m comparisons at the level 1 - alpha gets this many times m / alpha resamples. A difference that no resample
/// contradicts can then pass Holm's first step.
const RESAMPLES_PER_STEP: f64 = 4.0;

/// The figures of a table, and its cells compared with the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// Level at which the whole table claims differences: if there is no difference at all, this is the probability that it
    /// makes no false claim.
    pub level: Confidence,
    /// Number of cells compared with the baseline.
    pub comparisons: usize,
    /// The rows, in the table's order.
    pub rows: Vec<ComparedRow>,
}

/// A row's figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedRow {
    /// The row's label.
    pub label: String,
    /// One per column.
    pub cells: Vec<ComparedCell>,
}

/// The result for one cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ComparedCell {
    /// There is no sample.
    Missing,
    /// There are samples for which the table's mean is not defined.
    Refused(String),
    /// There is a figure.
    Present {
        /// The cell by itself.
        figure: Figure,
        /// The comparison with the baseline; `None` for the baseline itself, and if the two samples give no percent change
        /// (one run, a value of 0).
        change: Option<Change>,
    },
}

impl ComparedCell {
    /// The cell's figure, if it has one.
    pub fn figure(&self) -> Option<&Figure> {
        match self {
            ComparedCell::Present { figure, .. } => Some(figure),
            _ => None,
        }
    }

    /// The comparison with the baseline, if there is one.
    pub fn change(&self) -> Option<&Change> {
        match self {
            ComparedCell::Present { change, .. } => change.as_ref(),
            _ => None,
        }
    }
}

/// A cell before the comparison; `None` for a missing one.
pub(super) type Candidate = Option<Result<Prepared, StatsError>>;

/// All cells by row and column.
pub(super) fn prepared(
    table: &Table,
    resampling: &Resampling,
) -> Result<Vec<Vec<Candidate>>, StatsError> {
    table.rows.iter().map(|row| prepared_row(table, row, resampling)).collect()
}

fn prepared_row(
    table: &Table,
    row: &Row,
    resampling: &Resampling,
) -> Result<Vec<Candidate>, StatsError> {
    if row.cells.len() != table.columns.len() {
        return Err(StatsError::Cells {
            label: row.label.clone(),
            found: row.cells.len(),
            expected: table.columns.len(),
        });
    }
    Ok(row.cells.iter().map(|cell| Prepared::of(cell, table, resampling)).collect())
}

/// Baseline and cell, if both can be compared.
pub(super) fn pair(row: &[Candidate], column: usize) -> Option<(&Prepared, &Prepared)> {
    let at = |column: usize| row.get(column)?.as_ref()?.as_ref().ok().filter(|p| p.is_comparable());
    at(0).zip(at(column).filter(|_| column > 0))
}

impl Table {
    /// Compares every cell with the baseline of its row. Intervals are at the confidence of `resampling`. Differences are
    /// claimed at `level` over the whole table, after Holm's correction of the p-values.
    ///
    /// Tables with many comparisons use more resamples than `resampling` says, to make Holm's first step reachable. Rejects
    /// rows without one cell per column. A cell that cannot be compared is reported as such.
    pub fn compare(
        &self,
        resampling: &Resampling,
        level: Confidence,
    ) -> Result<Compared, StatsError> {
        let cells = prepared(self, resampling)?;
        let pairs = |row: &Vec<Candidate>| {
            (1..row.len()).filter(|&column| pair(row, column).is_some()).count()
        };
        let family: usize = cells.iter().map(pairs).sum();
        let step = (1.0 - level.level()) / family.max(1) as f64;
        let finest = resampling.at_least(RESAMPLES_PER_STEP / step);
        let strictest = Confidence::new(1.0 - step)?;
        let mut rows = Vec::with_capacity(cells.len());
        for (row, candidates) in self.rows.iter().zip(&cells) {
            let compared = |(column, candidate): (usize, &Candidate)| match candidate {
                None => ComparedCell::Missing,
                Some(Err(error)) => ComparedCell::Refused(error.to_string()),
                Some(Ok(prepared)) => ComparedCell::Present {
                    figure: prepared.figure,
                    change: pair(candidates, column)
                        .and_then(|(b, c)| change(b, c, self, &finest, strictest)),
                },
            };
            let cells = candidates.iter().enumerate().map(compared).collect();
            rows.push(ComparedRow { label: row.label.clone(), cells });
        }
        let comparisons = judge(&mut rows, level)?;
        Ok(Compared { level, comparisons, rows })
    }
}

/// Fills in Holm's p-values and the verdicts; returns the number of comparisons.
fn judge(rows: &mut [ComparedRow], level: Confidence) -> Result<usize, StatsError> {
    let mut changes: Vec<&mut Change> = rows
        .iter_mut()
        .flat_map(|row| &mut row.cells)
        .filter_map(|cell| match cell {
            ComparedCell::Present { change, .. } => change.as_mut(),
            _ => None,
        })
        .collect();
    let p: Vec<f64> = changes.iter().map(|c| c.p).collect();
    for (change, p_holm) in changes.iter_mut().zip(holm(&p)?) {
        change.p_holm = p_holm;
        change.verdict = verdict(change.percent.estimate, p_holm, level);
    }
    Ok(p.len())
}

/// The verdict that a corrected p-value allows at `level`.
pub(super) fn verdict(percent: f64, p_holm: f64, level: Confidence) -> Verdict {
    if p_holm >= 1.0 - level.level() {
        Verdict::NoDifference
    } else if percent > 0.0 {
        Verdict::Better
    } else {
        Verdict::Worse
    }
}

#[cfg(test)]
mod tests;
