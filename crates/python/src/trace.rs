//! Timelines of runs.

use crate::error::{argument, fail, plain};
use ::experiment::{Again, again};
use definition::{Plan, folder_of};
use follow::Recorder;
use pyo3::PyResult;
use std::fs::File;
use std::path::Path;
use trace::{About, Choice, Filter, FtraceText, Perfetto, Sink, TraceDat, cpu_names};

/// Writes run `run` of a workload under a variant as `output`, whole or not at all. Returns the number of records.
///
/// # Errors
/// An ending that names no form, names that the experiment does not have, a file that cannot be written.
pub fn write(
    plan: &Plan,
    output: &Path,
    (workload, variant): (Option<&str>, Option<&str>),
    run: u32,
) -> PyResult<u64> {
    let only = |names: Vec<&str>| match names[..] {
        [only] => only.to_string(),
        _ => "none".to_string(),
    };
    let names = || plan.file.workloads.iter().map(|w| &*w.name).collect();
    let workload = workload.map_or_else(|| only(names()), String::from);
    let names = || plan.file.variants.iter().map(|v| &*v.name).collect();
    let variant = variant.map_or_else(|| only(names()), String::from);
    let again = again(plan, &workload, &variant, run).map_err(fail)?;
    let unwritable = |e: &dyn std::fmt::Display| {
        argument(&output.display().to_string(), &e.to_string(), "a file that can be written")
    };
    let file = tempfile::Builder::new()
        .prefix(::results::store::TEMPORARY_PREFIX)
        .tempfile_in(folder_of(output))
        .map_err(|e| unwritable(&e))?;
    let records = record(&again, output, file.as_file())?;
    file.persist(output).map_err(|e| unwritable(&e))?;
    Ok(records)
}

/// Runs it again into `file`, in the form that the ending of `output` names.
fn record(again: &Again<'_>, output: &Path, file: &File) -> PyResult<u64> {
    let domains = kernel::build(&again.machine, again.kernel).map_err(fail)?;
    let about = About {
        release: again.kernel.version.to_string(),
        source: format!("schedscape, simulated: {}", again.name()),
        machine: again.machine.name.clone(),
        cpu_names: cpu_names(&again.machine, Some(&domains)),
    };
    let ending = output.extension().map(|e| e.to_string_lossy());
    // A model does not know how deep preemption is disabled.
    let (sink, is_perfetto): (Box<dyn Sink + '_>, bool) = match ending.as_deref() {
        Some("pftrace" | "perfetto-trace") => {
            (Box::new(Perfetto::new(file, &about).map_err(plain)?), true)
        }
        Some("txt" | "trace") => {
            let of = format!("{}, kernel {}", about.machine, about.release);
            (Box::new(FtraceText::new(file, &[about.source.clone(), of], false)), false)
        }
        Some("dat") => {
            let spool = tempfile::tempfile_in(folder_of(output))?;
            (Box::new(TraceDat::new(file, spool, &about, false)), false)
        }
        _ => {
            let found = output.display().to_string();
            return Err(argument("output", &found, ".pftrace, .txt, .trace or .dat"));
        }
    };
    let mut filter = Filter::new(Choice::default(), is_perfetto, sink);
    let mut recorder = Recorder::new(again.nr_cpus(), &mut filter);
    again.run(&mut recorder).map_err(fail)?;
    recorder.finish().map_err(plain)?;
    Ok(filter.passed())
}
