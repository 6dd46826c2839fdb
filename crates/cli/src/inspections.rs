//! `schedscape inspect`: what happened in a trace.

use crate::Failure;
use crate::args::InspectArgs;
use crate::output::{Staged, print, print_json};
use crate::placements::{judged, judgement};
use crate::recordings;
use definition::file::ConstantsEntry;
use follow::placement::{FirstPass, Judged};
use machine::Machine;
use report::inspection::{self, Source};
use results::columns;
use serde::Serialize;
use trace::inspect::{Inspection, Inspector, dot};
use trace::replay::{Builder, Options, rt_app};

/// What is printed as JSON.
#[derive(Serialize)]
struct Shown<'a> {
    trace: String,
    machine: &'a str,
    /// Records that the kernel lost for want of room.
    lost: u64,
    #[serde(flatten)]
    inspection: &'a Inspection,
    /// Wake-ups beside a model, where a kernel was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<Judged>,
}

pub fn inspect(args: &InspectArgs) -> Result<(), Failure> {
    args.out.as_deref().map_or(Ok(()), columns::check_new)?;
    let machine = machine::resolve(&args.machine)?;
    let mut seen = (Inspector::new(&machine), FirstPass::default());
    let read = recordings::read(&args.trace, &mut seen)?;
    let (inspector, first) = seen;
    let mut inspection = inspector.finish();
    let judged = judged(args, &machine, &first)?;
    let (trace, machine, read) = (args.trace.as_path(), &machine, &read);
    // Other programs get everything, people the beginning of long lists.
    let whole = Source { trace, machine, read, inspection: &inspection, judged: None };
    let tables = args.out.as_ref().map(|_| inspection::tables(&whole));
    inspection.shorten(args.most);
    let told = judged.as_ref().map(|judged| judgement(judged, args));
    let source = Source { trace, machine, read, inspection: &inspection, judged: told };
    let mut files = Vec::new();
    if let Some(path) = &args.html {
        files.push(Staged::text(path, &inspection::html(&source)?)?);
    }
    if let Some(path) = &args.rt_app {
        files.push(Staged::text(path, &rt_app_file(args, machine.clone())?)?);
    }
    if let Some(path) = &args.dot {
        files.push(Staged::text(path, &dot(&inspection.wakers))?);
    }
    // The directory, too, is whole or not there.
    if let (Some(dir), Some(tables)) = (&args.out, tables) {
        columns::write(&tables, dir)?;
    }
    files.into_iter().try_for_each(Staged::keep)?;
    if args.json {
        let (lost, machine) = (read.lost, machine.name.as_str());
        let trace = trace.display().to_string();
        return print_json(&Shown { trace, machine, lost, inspection: &inspection, judged });
    }
    print(&inspection::text(&source))
}

/// The trace's tasks as a file for rt-app.
fn rt_app_file(args: &InspectArgs, mut machine: Machine) -> Result<String, Failure> {
    if args.constants.is_some() {
        let constants = ConstantsEntry { from: args.constants.clone(), ..Default::default() };
        constants.apply(&mut machine, "--constants")?;
    }
    let without_wakers = !args.rt_app_semaphores;
    let options = Options { without_wakers, without_forks: true, ..Options::default() };
    let mut builder = Builder::new(&machine, &options).map_err(|e| {
        format!("--rt-app: machine `{}`: {e}; --constants NAME lends it", machine.name)
    })?;
    let khz = machine.constants.value("nominal_khz")?;
    recordings::read(&args.trace, &mut builder)?;
    let replay = builder.finish().map_err(|e| format!("{}: {e}", args.trace.display()))?;
    Ok(rt_app(&replay, khz)?)
}
