//! `schedscape inspect`: what happened in a trace.

use crate::Failure;
use crate::args::InspectArgs;
use crate::output::{print, print_json, write_whole};
use crate::placements::{judged, judgement};
use follow::placement::Judged;
use report::inspection::{self, Source};
use results::columns;
use serde::Serialize;
use trace::Recording;
use trace::inspect::{Inspection, Inspector, dot};

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
    let mut inspector = Inspector::new(&machine);
    let read = Recording::open(&args.trace).and_then(|recording| recording.read(&mut inspector));
    let read = read.map_err(|e| format!("{}: {e}", args.trace.display()))?;
    let mut inspection = inspector.finish();
    let judged = judged(args, &machine)?;
    let (trace, machine, read) = (args.trace.as_path(), &machine, &read);
    // Other programs get everything, people the beginning of long lists.
    let whole = Source { trace, machine, read, inspection: &inspection, judged: None };
    let tables = args.out.as_ref().map(|_| inspection::tables(&whole));
    inspection.shorten(args.most);
    let told = judged.as_ref().map(|judged| judgement(judged, args));
    let source = Source { trace, machine, read, inspection: &inspection, judged: told };
    if let Some(path) = &args.html {
        write_whole(path, &inspection::html(&source)?)?;
    }
    if let Some(path) = &args.dot {
        write_whole(path, &dot(&inspection.wakers))?;
    }
    if let (Some(dir), Some(tables)) = (&args.out, tables) {
        columns::write(&tables, dir)?;
    }
    if args.json {
        let (lost, machine) = (read.lost, machine.name.as_str());
        let trace = trace.display().to_string();
        return print_json(&Shown { trace, machine, lost, inspection: &inspection, judged });
    }
    print(&inspection::text(&source))
}
