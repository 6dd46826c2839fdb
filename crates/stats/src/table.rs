//! Tables of samples as MMTests compares them: one row per number of groups, threads or clients, and one column per variant,
//! the first of which is the baseline.

mod compare;
mod overview;
mod pair;

pub use compare::{Compared, ComparedCell, ComparedRow};
pub use overview::{Overview, OverviewCell, OverviewLine, overview};
pub use pair::{Change, Figure};

use crate::better::Better;
use crate::mean::Mean;
use serde::{Deserialize, Serialize};

/// The estimator that represents a cell.
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
    /// What was measured, such as `tbench4 tput`.
    pub metric: String,
    /// What differs between rows, such as `clients`; empty if nothing does.
    pub varying: String,
    /// Unit of the samples.
    pub unit: String,
    /// Whether higher or lower is better.
    pub better: Better,
    /// The estimator that represents a cell.
    pub estimator: Estimator,
    /// Names of the columns; the first is the baseline.
    pub columns: Vec<String>,
    /// Rows, from the top.
    pub rows: Vec<Row>,
}

/// One row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The row's value, such as `16`; empty if the table has only one row.
    pub label: String,
    /// One cell per column.
    pub cells: Vec<Cell>,
}

/// The samples behind one figure, in the table's unit, by run (MMTests' iteration). A cell without samples is missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cell {
    /// Samples by run, in the order they were taken.
    pub runs: Vec<Vec<f64>>,
}

impl Cell {
    /// A cell with one value per run. Only means of all samples can use it.
    pub fn of(values: &[f64]) -> Cell {
        Cell { runs: values.iter().map(|&v| vec![v]).collect() }
    }

    /// The samples of all runs, in order.
    pub fn samples(&self) -> Vec<f64> {
        self.runs.concat()
    }

    /// Whether the cell has no sample.
    pub(crate) fn is_missing(&self) -> bool {
        self.runs.iter().all(Vec::is_empty)
    }
}
