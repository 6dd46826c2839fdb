//! `schedscape kernel debug`: gdb in one run, stopped at a moment of it.
//!
//! gdb starts this program again, which then simulates the run in its own process (`--library`). `gdb.py` sets the breakpoint
//! and has the commands that show what the scheduler has.

use crate::Failure;
use crate::args::DebugArgs;
use crate::guests::cache;
use crate::output::write_whole;
use crate::sources::library;
use crate::timelines::{on_machine, which};
use definition::Plan;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

const SCRIPT: &str = include_str!("gdb.py");

pub fn debug(args: &DebugArgs) -> Result<(), Failure> {
    let mut file = on_machine(&args.experiment, args.machine.as_deref())?;
    file.seed = args.seed.or(file.seed);
    let plan = Plan::new(file, &args.experiment.display().to_string())?;
    let (workload, name) = which(&plan.file, &args.workload, &args.variant)?;
    if let Some(library) = &args.library {
        let again = experiment::again(&plan, &workload, &name, args.run)?;
        return Ok(again.debugged(library, args.at.0)?);
    }
    let variant = plan.file.variants.iter().find(|v| v.name == name);
    let sourced = variant.and_then(|v| Some((v, v.source.as_ref()?)));
    let (variant, source) = sourced.ok_or_else(|| {
        format!("{}: variant `{name}`: found no source, expected one to debug", plan.path)
    })?;
    // What the run would refuse is said before gdb starts.
    experiment::again(&plan, &workload, &name, args.run)?;
    has_gdb()?;
    let cache = cache(&args.cache)?;
    let library = library(&plan, &cache, variant, source, &[])?;
    let script = cache.dir().join("gdb.py");
    write_whole(&script, SCRIPT)?;
    let mut gdb = Command::new("gdb");
    gdb.arg("-q");
    // What the library needs is for the program, not for gdb itself.
    for (name, value) in &library.environment {
        gdb.arg("-ex").arg(format!("set environment {name} {}", value.to_string_lossy()));
    }
    gdb.arg("-x").arg(&script).args(&args.gdb).arg("--args");
    gdb.arg(std::env::current_exe()?).args(own_arguments()).arg("--library").arg(library.file);
    // gdb takes this process's place, and with it the terminal and its keys.
    Err(gdb.exec().into())
}

/// This command's own arguments, without those for gdb.
fn own_arguments() -> impl Iterator<Item = std::ffi::OsString> {
    std::env::args_os().skip(1).take_while(|argument| argument != "--")
}

/// gdb that runs Python.
fn has_gdb() -> Result<(), Failure> {
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-batch", "-ex", "python print(40 + 2)"]).stdin(Stdio::null());
    match gdb.output() {
        Ok(output) if output.stdout.trim_ascii() == b"42" => Ok(()),
        Ok(_) => {
            Err("kernel debug: found a gdb without Python, expected one with; install: gdb".into())
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            Err("kernel debug needs gdb; install: gdb".into())
        }
        Err(e) => Err(format!("gdb: {e}").into()),
    }
}
