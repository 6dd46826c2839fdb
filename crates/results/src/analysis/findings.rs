//! What runs say, one quantity at a time: the same for single workloads, for rows of tables and for MMTests' results.

use super::{MetricAnalysis, TableAnalysis};
use stats::table::{Change, ComparedCell, Estimator};
use stats::{Better, Comparison, Interval, Verdict};

/// A quantity under every variant, the baseline first.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What was run: a workload, or a table and its row.
    pub workload: String,
    /// What was measured.
    pub metric: String,
    /// Unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// The mean that stands for runs.
    pub estimator: Estimator,
    /// By variant.
    pub sides: Vec<Side>,
}

/// One variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// The variant's name.
    pub variant: String,
    /// All samples, in the unit.
    pub samples: Vec<f64>,
    /// Their mean, where they have one.
    pub value: Option<f64>,
    /// Against the baseline; `None` for itself and where samples carry no percent change.
    pub change: Option<SideChange>,
    /// The same with all that two plain samples allow to say; `None` in rows of tables.
    pub comparison: Option<Comparison>,
}

/// A variant against the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideChange {
    /// Percent change with its interval, positive where the variant is better.
    pub percent: Interval,
    /// Smallest effect in percent that the runs could have shown.
    pub smallest_detectable_percent: f64,
    /// What the runs allow to say.
    pub verdict: Verdict,
}

impl From<Comparison> for SideChange {
    fn from(c: Comparison) -> SideChange {
        let smallest_detectable_percent = c.smallest_detectable_percent;
        SideChange { percent: c.percent, smallest_detectable_percent, verdict: c.verdict }
    }
}

impl From<&Change> for SideChange {
    fn from(c: &Change) -> SideChange {
        let smallest_detectable_percent = c.smallest_detectable_percent;
        SideChange { percent: c.percent, smallest_detectable_percent, verdict: c.verdict }
    }
}

impl Finding {
    /// A metric of `workload`.
    pub fn of_metric(workload: &str, metric: &MetricAnalysis) -> Finding {
        let sides = metric.variants.iter().map(|v| Side {
            variant: v.name.clone(),
            samples: v.samples.clone(),
            value: v.summary.map(|s| s.mean),
            change: v.comparison.map(SideChange::from),
            comparison: v.comparison,
        });
        Finding {
            workload: workload.to_string(),
            metric: metric.info.name.clone(),
            unit: metric.info.unit.clone(),
            better: metric.info.better,
            estimator: Estimator::Amean,
            sides: sides.collect(),
        }
    }

    /// The rows of a table, as its correction has them.
    pub fn of_table(table: &TableAnalysis) -> Vec<Finding> {
        let TableAnalysis { samples: table, compared } = table;
        let rows = table.rows.iter().zip(&compared.rows);
        rows.map(|(row, compared)| {
            let columns = table.columns.iter().zip(&row.cells).zip(&compared.cells);
            let side =
                |((column, cell), compared): ((&String, &stats::Cell), &ComparedCell)| Side {
                    variant: column.clone(),
                    samples: cell.samples(),
                    value: compared.figure().map(|f| f.value),
                    change: compared.change().map(SideChange::from),
                    comparison: None,
                };
            Finding { sides: columns.map(side).collect(), ..Finding::head(table, &row.label) }
        })
        .collect()
    }

    /// A row of a table without its sides.
    pub(super) fn head(table: &stats::Table, label: &str) -> Finding {
        Finding {
            workload: format!("{} {label}", table.metric).trim_end().to_string(),
            metric: table.metric.clone(),
            unit: table.unit.clone(),
            better: table.better,
            estimator: table.estimator,
            sides: vec![],
        }
    }
}
