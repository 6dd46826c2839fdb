//! MMTests' results, compared: text and data.

use crate::comparison;
use crate::error::ReportError;
use crate::layouts::{Style, csv, markdown, ministats, plain};
use crate::text::{Layout, below, heading};
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
        resampling: &Resampling,
    ) -> Result<Imported<'a>, ReportError> {
        let overview = overview(&tables, resampling, LEVEL)?;
        Ok(Imported { runs, left_out, overview, tables: analyse(tables, resampling)? })
    }

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

    /// All of it in `layout`.
    ///
    /// # Errors
    /// Values that cannot be written.
    pub fn text(&self, layout: Layout, resampling: &Resampling) -> Result<String, ReportError> {
        let findings = || self.tables.iter().flat_map(Finding::of_table).collect::<Vec<_>>();
        Ok(match layout {
            Layout::Whole => self.whole(),
            Layout::Csv => csv(&findings())?,
            Layout::Style(Style::Mmtests) => below(&self.tables),
            Layout::Style(Style::Markdown) => markdown(&findings()),
            Layout::Style(Style::Plain) => plain(&findings()),
            Layout::Style(Style::Ministat) => {
                let tables: Vec<Table> = self.tables.iter().map(|t| t.samples.clone()).collect();
                ministats(&singly(&tables, resampling))
            }
        })
    }
}
