//! Tables of samples, compared: of MMTests' results, and of experiments that list a parameter's values.

use crate::Failure;
use crate::experiments::resampling;
use crate::output::heading;
use experiment::Tables;
use report::comparison;
use report::html::Rows;
use serde::Serialize;
use stats::table::{Compared, Overview, overview};
use stats::{Confidence, Table};

/// Level at which a whole table claims differences.
pub const LEVEL: Confidence = Confidence::P95;

/// A table and what it says.
#[derive(Serialize)]
pub struct ComparedTable<'a> {
    #[serde(flatten)]
    samples: &'a Table,
    compared: Compared,
}

/// Each table against its first column.
pub fn compared(tables: &[Table]) -> Result<Vec<ComparedTable<'_>>, Failure> {
    let resampling = resampling()?;
    let compare = |samples: &'_ Table| samples.compare(&resampling, LEVEL);
    let tables = tables.iter();
    tables.map(|samples| Ok(ComparedTable { samples, compared: compare(samples)? })).collect()
}

/// Their text, one below the other.
pub fn texts(tables: &[ComparedTable]) -> String {
    let text = |t: &ComparedTable| format!("\n{}", comparison::comparison(t.samples, &t.compared));
    tables.iter().map(text).collect()
}

/// The tables of an experiment for its report.
pub fn rows(tables: &Tables) -> Result<Rows<'_>, Failure> {
    let resampling = resampling()?;
    let parts = [&tables.performance[..], &tables.per_watt, tables.power.as_slice()];
    let mut rows = Rows { overviews: vec![], tables: vec![] };
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        rows.overviews.push(overview(part, &resampling, LEVEL)?);
        for table in part {
            rows.tables.push((table, table.compare(&resampling, LEVEL)?));
        }
    }
    Ok(rows)
}

/// The parts of a study's report.
#[derive(Serialize)]
pub struct StudyDocument<'a> {
    /// Ratios of performance.
    performance: Overview,
    /// Ratios of performance per watt, where clocks are governed.
    per_watt: Option<Overview>,
    /// Tables of performance.
    tables: Vec<ComparedTable<'a>>,
    /// Tables of performance per watt.
    per_watt_tables: Vec<ComparedTable<'a>>,
    /// The table of watts.
    power: Vec<ComparedTable<'a>>,
}

/// Compares what an experiment gave.
pub fn study(tables: &Tables) -> Result<StudyDocument<'_>, Failure> {
    let resampling = resampling()?;
    let governed = !tables.per_watt.is_empty();
    let per_watt = governed.then(|| overview(&tables.per_watt, &resampling, LEVEL)).transpose()?;
    Ok(StudyDocument {
        performance: overview(&tables.performance, &resampling, LEVEL)?,
        per_watt,
        tables: compared(&tables.performance)?,
        per_watt_tables: compared(&tables.per_watt)?,
        power: compared(tables.power.as_slice())?,
    })
}

impl StudyDocument<'_> {
    /// Overview, tables, power.
    pub fn text(&self) -> String {
        let mut out = heading("Performance ratios");
        out.push_str(&comparison::overview(&self.performance));
        if let Some(per_watt) = &self.per_watt {
            out.push('\n');
            out.push_str(&heading("Performance-per-watt ratios"));
            out.push_str(&comparison::overview(per_watt));
        }
        out.push('\n');
        out.push_str(&heading("Performance"));
        out.push_str(&texts(&self.tables));
        if !self.power.is_empty() {
            out.push('\n');
            out.push_str(&heading("Power"));
            out.push_str(&texts(&self.power));
        }
        out.push('\n');
        out
    }
}
