//! `schedscape compare --mmtests`.

use crate::Failure;
use crate::args::CompareArgs;
use crate::output::{print, print_json};
use ::mmtests::read;
use report::mmtests::Imported;
use results::analysis::resampling;
use std::path::{Path, PathBuf};

pub fn compare(log: &Path, runs: &[PathBuf], args: &CompareArgs) -> Result<(), Failure> {
    if runs.len() < 2 {
        let found = runs.len();
        return Err(format!("--mmtests: found {found} run, expected two or more").into());
    }
    let runs: Vec<String> = runs.iter().map(|run| run.display().to_string()).collect();
    let read = read(log, &runs)?;
    let resampling = resampling()?;
    let imported = Imported::of(&runs, &read.left_out, read.tables, &resampling)?;
    if args.json {
        return print_json(&imported);
    }
    print(&imported.text(args.layout.layout())?)
}
