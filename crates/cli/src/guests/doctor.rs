//! `schedscape vm doctor`.

use super::cache;
use crate::Failure;
use crate::args::DoctorArgs;
use crate::output::{print, print_json};
use report::table::table;
use std::process::ExitCode;
use vm::Arch;
use vm::doctor::{Check, checks};

/// Says what is there and what is missing; exit code 1 where guests cannot boot.
pub fn doctor(args: &DoctorArgs) -> Result<ExitCode, Failure> {
    let cache = cache(&args.cache)?;
    let archs = if args.archs.is_empty() { Arch::ALL.to_vec() } else { args.archs.clone() };
    let checks = checks(&cache, &archs);
    if args.json {
        print_json(&checks)?;
    } else {
        print(&text(&checks))?;
    }
    let lacking = checks.iter().any(|check| check.needed && !check.good);
    Ok(ExitCode::from(u8::from(lacking)))
}

fn text(checks: &[Check]) -> String {
    let state = |check: &Check| match (check.good, check.needed) {
        (true, _) => "ok",
        (false, true) => "missing",
        (false, false) => "not there",
    };
    let rows: Vec<Vec<String>> =
        checks.iter().map(|c| vec![c.what.clone(), state(c).to_owned(), c.found.clone()]).collect();
    let mut out = table(&["what", "state", "found"], &rows);
    let helps = checks.iter().filter(|c| !c.good).filter_map(|c| Some((c, c.help.as_ref()?)));
    for (check, help) in helps {
        out.push_str(&format!("\n{}: {help}", check.what));
    }
    out + "\n"
}
