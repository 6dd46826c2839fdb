//! MMTests' results, compared: text and data.

use crate::comparison;
use crate::error::ReportError;
use crate::text::{Layout, Shown, below, heading, laid_out};
use results::analysis::{Finding, LEVEL, TableAnalysis, analyse, singly};
use serde::Serialize;
use stats::table::{Overview, overview};
use stats::{Resampling, Table};

/// Tables of MMTests' results and what follows from them, as `compare --mmtests --json` prints it.
#[derive(Debug, Serialize)]
pub struct Imported<'a> {
    runs: &'a [String],
    /// Benchmarks whose logs are not known.
    left_out: &'a [String],
    overview: Overview,
    tables: Vec<TableAnalysis>,
    #[serde(skip)]
    resampling: &'a Resampling,
}

impl<'a> Imported<'a> {
    /// Compares `tables` of `runs`, the first being the baseline.
    ///
    /// # Errors
    /// Samples that cannot be compared.
    pub fn of(
        runs: &'a [String],
        left_out: &'a [String],
        tables: Vec<Table>,
        resampling: &'a Resampling,
    ) -> Result<Imported<'a>, ReportError> {
        let overview = overview(&tables, resampling, LEVEL)?;
        let tables = analyse(tables, resampling)?;
        Ok(Imported { runs, left_out, overview, tables, resampling })
    }

    /// All of it in `layout`.
    ///
    /// # Errors
    /// Values that cannot be written.
    pub fn text(&self, layout: Layout) -> Result<String, ReportError> {
        laid_out(self, layout)
    }
}

impl Shown for Imported<'_> {
    /// Overview and tables.
    fn whole(&self) -> String {
        let mut out = heading("Overview");
        out.push_str(&comparison::overview(&self.overview));
        for name in self.left_out {
            out.push_str(&format!("left out: {name} (its logs are not known)\n"));
        }
        out.push_str(&below(&self.tables));
        out
    }

    fn tables(&self) -> Result<String, ReportError> {
        Ok(below(&self.tables))
    }

    fn findings(&self) -> Vec<Finding> {
        self.tables.iter().flat_map(Finding::of_table).collect()
    }

    fn single_findings(&self) -> Vec<Finding> {
        let tables: Vec<Table> = self.tables.iter().map(|t| t.samples.clone()).collect();
        singly(&tables, self.resampling)
    }
}
