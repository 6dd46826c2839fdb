//! Tables condensed to one ratio per column, as at the beginning of a study.

use super::Table;
use super::compare::{pair, prepared, verdict};
use super::pair::{LogError, Prepared};
use crate::better::Better;
use crate::bootstrap::{Interval, Resampling};
use crate::confidence::Confidence;
use crate::error::StatsError;
use crate::holm::holm;
use crate::mean::gmean;
use crate::student::{t_quantile, two_sided};
use crate::verdict::Verdict;
use serde::Serialize;

/// Tables as lines of ratios.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// Level at which the whole overview claims differences, by Holm's correction.
    pub level: Confidence,
    /// Names of the columns; the first is the baseline.
    pub columns: Vec<String>,
    /// One line per table.
    pub lines: Vec<OverviewLine>,
}

/// One table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OverviewLine {
    /// The table's metric.
    pub metric: String,
    /// Whether higher or lower is better.
    pub better: Better,
    /// One per column except the baseline; `None` if a row of the column cannot be compared.
    pub cells: Vec<Option<OverviewCell>>,
}

/// One column of one table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OverviewCell {
    /// Geometric mean, over rows, of the ratio of the column's value to the baseline's. Its interval treats the ratios'
    /// logarithms as normal, with Student's t and Satterthwaite's degrees of freedom.
    pub ratio: Interval,
    /// p-value of a ratio of 1 after Holm's correction over the overview.
    pub p_holm: f64,
    /// Whether it is below the overview's level.
    pub verdict: Verdict,
}

/// Condenses each column of each table to one ratio. All tables must have the same columns. Intervals are at the confidence
/// of `resampling`; differences are claimed at `level`.
pub fn overview(
    tables: &[Table],
    resampling: &Resampling,
    level: Confidence,
) -> Result<Overview, StatsError> {
    let columns = tables.first().map_or(vec![], |t| t.columns.clone());
    let mut lines = Vec::with_capacity(tables.len());
    for table in tables {
        if table.columns != columns {
            let (found, expected) = (table.columns.len(), columns.len());
            return Err(StatsError::Cells { label: table.metric.clone(), found, expected });
        }
        let rows = prepared(table, resampling)?;
        let mut cells = Vec::with_capacity(columns.len());
        for column in 1..columns.len() {
            let pairs: Option<Vec<_>> = rows.iter().map(|row| pair(row, column)).collect();
            cells.push(match pairs {
                None => None,
                Some(pairs) => whole(&pairs, table.better, resampling.confidence())?,
            });
        }
        lines.push(OverviewLine { metric: table.metric.clone(), better: table.better, cells });
    }
    let mut all: Vec<(Better, &mut OverviewCell)> = lines
        .iter_mut()
        .flat_map(|line| line.cells.iter_mut().flatten().map(|cell| (line.better, cell)))
        .collect();
    let p: Vec<f64> = all.iter().map(|(_, c)| c.p_holm).collect();
    for ((better, cell), p_holm) in all.iter_mut().zip(holm(&p)?) {
        cell.p_holm = p_holm;
        cell.verdict = verdict(better.percent(1.0, cell.ratio.estimate), p_holm, level);
    }
    Ok(Overview { level, columns, lines })
}

/// The geometric mean of a column's ratios, with its uncorrected p-value.
fn whole(
    pairs: &[(&Prepared, &Prepared)],
    better: Better,
    confidence: Confidence,
) -> Result<Option<OverviewCell>, StatsError> {
    let ratios: Vec<f64> = pairs.iter().map(|(b, c)| c.figure.value / b.figure.value).collect();
    if ratios.is_empty() {
        return Ok(None);
    }
    let ratio = gmean(&ratios)?;
    let errors = pairs.iter().flat_map(|(b, c)| [b.log_error, c.log_error]).flatten();
    let LogError { variance, freedom } = LogError::of_sum(errors);
    let error = variance.sqrt() / ratios.len() as f64;
    let log = ratio.ln();
    let p = if log == 0.0 { Some(1.0) } else { two_sided(log.abs() / error, freedom) };
    let t = t_quantile(1.0 - confidence.tail(), freedom);
    Ok(p.zip(t).map(|(p, t)| {
        let end = |side: f64| ratio * (side * t * error).exp();
        let interval = Interval { estimate: ratio, low: end(-1.0), high: end(1.0), confidence };
        let verdict = verdict(better.percent(1.0, ratio), p, confidence);
        OverviewCell { ratio: interval, p_holm: p, verdict }
    }))
}

#[cfg(test)]
mod tests;
