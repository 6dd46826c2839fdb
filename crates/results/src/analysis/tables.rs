//! Tables of samples, each against its first column: of experiments that list a parameter's values, and of MMTests' results.

use super::{Finding, Side};
use crate::tables::Tables;
use serde::Serialize;
use stats::table::{Compared, Overview, overview};
use stats::{Confidence, Resampling, StatsError, Summary, Table};

/// Level at which a whole table claims differences.
pub const LEVEL: Confidence = Confidence::P95;

/// A table and what it says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableAnalysis {
    /// The samples.
    #[serde(flatten)]
    pub samples: Table,
    /// Figures, and changes with one correction over the table.
    pub compared: Compared,
}

/// Tables of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Ratios by table.
    pub overview: Overview,
    /// The tables.
    pub tables: Vec<TableAnalysis>,
}

/// The tables of an experiment, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct TablesAnalysis {
    /// What benchmarks measure.
    pub performance: Part,
    /// What follows from power, if clocks are governed.
    pub watts: Option<Watts>,
}

/// Tables of power and of performance for power.
#[derive(Debug, Clone, PartialEq)]
pub struct Watts {
    /// The first metric of each benchmark for its power.
    pub per_watt: Part,
    /// Power, a row a benchmark.
    pub power: Part,
}

impl TablesAnalysis {
    /// Compares `tables`.
    ///
    /// # Errors
    /// Samples that cannot be compared.
    pub fn of(tables: Tables, resampling: &Resampling) -> Result<TablesAnalysis, StatsError> {
        let part = |tables: Vec<Table>| -> Result<Part, StatsError> {
            let overview = overview(&tables, resampling, LEVEL)?;
            Ok(Part { overview, tables: analyse(tables, resampling)? })
        };
        let performance = part(tables.performance)?;
        let watts = match tables.power {
            Some(power) => {
                Some(Watts { per_watt: part(tables.per_watt)?, power: part(vec![power])? })
            }
            None => None,
        };
        Ok(TablesAnalysis { performance, watts })
    }

    /// All parts that hold tables: performance, performance for power, power.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        let watts = self.watts.iter().flat_map(|w| [&w.per_watt, &w.power]);
        std::iter::once(&self.performance).chain(watts).filter(|part| !part.tables.is_empty())
    }
}

/// Each table against its first column.
///
/// # Errors
/// Samples that cannot be compared.
pub fn analyse(
    tables: Vec<Table>,
    resampling: &Resampling,
) -> Result<Vec<TableAnalysis>, StatsError> {
    let analysis = |samples: Table| {
        let compared = samples.compare(resampling, LEVEL)?;
        Ok(TableAnalysis { samples, compared })
    };
    tables.into_iter().map(analysis).collect()
}

/// The rows of `tables` by themselves: plain samples against plain samples, without a correction over the table.
pub fn singly(tables: &[Table], resampling: &Resampling) -> Vec<Finding> {
    let finding = |table: &Table, row: &stats::Row| {
        let base = row.cells.first().map_or(vec![], stats::Cell::samples);
        let sides = table.columns.iter().zip(&row.cells).enumerate().map(|(at, (column, cell))| {
            let samples = cell.samples();
            let compared = || stats::compare(&base, &samples, table.better, resampling);
            let comparison = if at > 0 { compared() } else { None };
            Side {
                variant: column.clone(),
                value: Summary::of(&samples).map(|s| s.mean),
                change: comparison.map(Into::into),
                comparison,
                samples,
            }
        });
        Finding { sides: sides.collect(), ..Finding::head(table, &row.label) }
    };
    tables.iter().flat_map(|t| t.rows.iter().map(move |row| finding(t, row))).collect()
}
