//! `schedscape compare --mmtests`.

use crate::Failure;
use crate::args::CompareArgs;
use crate::experiments::resampling;
use crate::output::{heading, print, print_json};
use crate::styles;
use crate::tables::{ComparedTable, LEVEL, compared, texts};
use ::mmtests::read;
use report::comparison;
use serde::Serialize;
use stats::table::{Overview, overview};
use std::path::{Path, PathBuf};

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    runs: &'a [String],
    /// Benchmarks whose logs are not known.
    left_out: &'a [String],
    overview: &'a Overview,
    tables: Vec<ComparedTable<'a>>,
}

pub fn compare(log: &Path, runs: &[PathBuf], args: &CompareArgs) -> Result<(), Failure> {
    if runs.len() < 2 {
        let found = runs.len();
        return Err(format!("--mmtests: found {found} run, expected two or more").into());
    }
    let runs: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    let imported = read(log, &runs)?;
    if let Some(layout) = styles::asked(&args.layout) {
        return print(&styles::tables(&imported.tables, &layout)?);
    }
    let overview = overview(&imported.tables, &resampling()?, LEVEL)?;
    let tables = compared(&imported.tables)?;
    if args.json {
        return print_json(&Document {
            runs: &runs,
            left_out: &imported.left_out,
            overview: &overview,
            tables,
        });
    }
    let mut out = heading("Overview");
    out.push_str(&comparison::overview(&overview));
    for name in &imported.left_out {
        out.push_str(&format!("left out: {name} (its logs are not known)\n"));
    }
    out.push_str(&texts(&tables));
    print(&out)
}
