//! `schedscape vm`.

mod capture;
mod check;
mod doctor;
mod domains;
mod exec;
mod fetch;
mod guest;
mod run;

pub use guest::stop_on_signals;
pub use run::{bench, run as run_bench, tell, traced};

use crate::Failure;
use crate::args::{CacheArgs, VmCommand};
use std::path::PathBuf;
use std::process::ExitCode;
use vm::Cache;

pub fn run(command: &VmCommand) -> Result<ExitCode, Failure> {
    match command {
        VmCommand::Fetch(args) => fetch::fetch(args),
        VmCommand::Doctor(args) => return doctor::doctor(args),
        VmCommand::Check(args) => return check::check(args),
        VmCommand::Exec(args) => return exec::exec(args),
        VmCommand::Domains(args) => domains::domains(args),
        VmCommand::Capture(args) => capture::capture(args),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// The cache that was asked for.
pub fn cache(args: &CacheArgs) -> Result<Cache, Failure> {
    if let Some(dir) = &args.cache {
        return Ok(Cache::new(dir));
    }
    let of = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")));
    match base {
        Some(base) => Ok(Cache::new(&base.join("schedscape"))),
        None => {
            Err("--cache: found neither it nor $XDG_CACHE_HOME nor $HOME, expected a directory"
                .into())
        }
    }
}
