//! `[workload.replay]`: a trace as a workload.

use machine::Machine;
use std::path::Path;
use trace::replay::{Builder, Options, Replay};
use trace::{Recording, TraceError};
use workload::BuildError;
use workload::replay::Params;
use workload::rtapp::Built;

/// The workload of `params`, whose files are relative to `folder`, for an experiment on `machine`.
pub(crate) fn build(
    params: &Params,
    folder: &Path,
    machine: &Machine,
) -> Result<Built, BuildError> {
    read(params, folder, machine).map(|replay| replay.workload.into())
}

/// The trace that `params` names, as a workload for an experiment on `machine`; files are relative to `folder`.
///
/// # Errors
/// A trace or a machine that cannot be read, a machine without a nominal clock, a trace without tasks.
pub fn read(params: &Params, folder: &Path, machine: &Machine) -> Result<Replay, BuildError> {
    let failed = |file: &str, reason: String| BuildError::File { file: file.to_owned(), reason };
    let recorded_on = match &params.machine {
        None => None,
        Some(name) => Some(recorded_on(name, folder, machine).map_err(|e| failed(name, e))?),
    };
    let mut builder = Builder::new(recorded_on.as_ref().unwrap_or(machine), &options(params))?;
    let path = folder.join(&params.trace);
    let read = || -> Result<Replay, TraceError> {
        Recording::open(&path)?.read(&mut builder)?;
        builder.finish()
    };
    read().map_err(|e| failed(&params.trace, e.to_string()))
}

/// The machine called `name`. One that nobody has measured has the clock of the experiment's.
fn recorded_on(name: &str, folder: &Path, machine: &Machine) -> Result<Machine, String> {
    let beside = folder.join(name);
    let name = if beside.exists() { beside.display().to_string() } else { name.to_owned() };
    let mut found = machine::resolve(&name).map_err(|e| e.to_string())?;
    for (constant, of) in machine.constants.iter() {
        if found.constants.get(constant).is_none() {
            found.constants.set(constant, of.clone());
        }
    }
    Ok(found)
}

fn options(params: &Params) -> Options {
    let ns = |ms: Option<f64>| ms.map(|ms| (ms.max(0.0) * 1e6) as u64);
    Options {
        sync: params.sync.clone(),
        from_ns: ns(params.from_ms),
        to_ns: ns(params.to_ms),
        keeps_forks: params.keep_forks,
        keeps_idle_exits: params.keep_idle_exits.unwrap_or(params.machine.is_none()),
        ..Options::default()
    }
}
