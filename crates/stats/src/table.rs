//! Tables of samples as MMTests compares them: a row a group, thread or client count, a column a variant, the first of
//! which is the baseline.

mod compare;
mod overview;
mod pair;

pub use compare::{Compared, ComparedCell, ComparedRow};
pub use overview::{Overview, OverviewCell, OverviewLine, overview};
pub use pair::{Change, Figure};

use crate::better::Better;
use crate::mean::Mean;
use serde::{Deserialize, Serialize};

/// What stands for a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Estimator {
    /// MMTests' `Amean`: the arithmetic mean of all samples of all runs.
    Amean,
    /// MMTests' `Hmean`: their harmonic mean.
    Hmean,
    /// MMTests' `SubAmean`: the mean of each run's subselected samples.
    SubAmean,
}

impl Estimator {
    /// MMTests' name.
    pub fn name(self) -> &'static str {
        match self {
            Estimator::Amean => Mean::Arithmetic.name(),
            Estimator::Hmean => Mean::Harmonic.name(),
            Estimator::SubAmean => "SubAmean",
        }
    }
}

impl From<Mean> for Estimator {
    fn from(mean: Mean) -> Estimator {
        match mean {
            Mean::Arithmetic => Estimator::Amean,
            Mean::Harmonic => Estimator::Hmean,
        }
    }
}

/// Samples of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What was measured, as `tbench4 tput`.
    pub metric: String,
    /// What rows vary, as `clients`; empty where there is nothing.
    pub varying: String,
    /// Unit of the samples.
    pub unit: String,
    /// Which way the metric improves.
    pub better: Better,
    /// What stands for a cell.
    pub estimator: Estimator,
    /// Names of the columns; the first is the baseline.
    pub columns: Vec<String>,
    /// Rows, from the top.
    pub rows: Vec<Row>,
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// What is particular to the row, as `16`; empty where a table has but one.
    pub label: String,
    /// One cell a column.
    pub cells: Vec<Cell>,
}

/// The samples behind one figure, in the table's unit: runs (MMTests' iterations) of samples each. Without any sample the
/// cell is missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cell {
    /// Samples by run, in the order they were taken.
    pub runs: Vec<Vec<f64>>,
}

impl Cell {
    /// A cell of one value a run, which only means of all samples can use.
    pub fn of(values: &[f64]) -> Cell {
        Cell { runs: values.iter().map(|&v| vec![v]).collect() }
    }

    /// All samples, run after run.
    pub fn samples(&self) -> Vec<f64> {
        self.runs.concat()
    }

    /// Whether there is no sample.
    pub(crate) fn is_missing(&self) -> bool {
        self.runs.iter().all(Vec::is_empty)
    }
}
