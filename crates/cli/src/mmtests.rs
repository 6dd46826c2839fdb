//! `schedscape compare --mmtests`.

use crate::Failure;
use crate::experiments::resampling;
use crate::output::{heading, print, print_json};
use ::mmtests::read;
use report::comparison;
use serde::Serialize;
use stats::table::{Compared, Overview, overview};
use stats::{Confidence, Table};
use std::path::{Path, PathBuf};

/// Level at which a whole table claims differences.
const LEVEL: Confidence = Confidence::P95;

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    runs: &'a [String],
    /// Benchmarks whose logs are not known.
    left_out: &'a [String],
    overview: &'a Overview,
    tables: Vec<TableDocument<'a>>,
}

#[derive(Serialize)]
struct TableDocument<'a> {
    #[serde(flatten)]
    samples: &'a Table,
    compared: &'a Compared,
}

pub fn compare(log: &Path, runs: &[PathBuf], json: bool) -> Result<(), Failure> {
    if runs.len() < 2 {
        let found = runs.len();
        return Err(format!("--mmtests: found {found} run, expected two or more").into());
    }
    let runs: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    let imported = read(log, &runs)?;
    let resampling = resampling()?;
    let overview = overview(&imported.tables, &resampling, LEVEL)?;
    let mut tables = Vec::with_capacity(imported.tables.len());
    for samples in &imported.tables {
        tables.push((samples, samples.compare(&resampling, LEVEL)?));
    }
    if json {
        let table = |(samples, compared)| TableDocument { samples, compared };
        let tables = tables.iter().map(|(samples, compared)| (*samples, compared)).map(table);
        return print_json(&Document {
            runs: &runs,
            left_out: &imported.left_out,
            overview: &overview,
            tables: tables.collect(),
        });
    }
    let mut out = heading("Overview");
    out.push_str(&comparison::overview(&overview));
    for name in &imported.left_out {
        out.push_str(&format!("left out: {name} (its logs are not known)\n"));
    }
    for (samples, compared) in &tables {
        out.push_str(&format!("\n{}", comparison::comparison(samples, compared)));
    }
    print(&out)
}
