//! What a replica does: it boots once, and each run is a copy of it.

use super::{Answer, Ask, Start};
use crate::engine::{EngineError, SimEngine, SimJob, Subject};
use crate::run::prepare;
use definition::Plan;
use replica::{Running, forked};
use sim::NoTrace;
use std::io::{BufRead, Write};
use std::path::Path;
use tree::Shape;

/// A kernel that has booted, and what it is to run.
struct Booted {
    job: SimJob,
    kernel: Running,
}

/// Serves runs of what the first line of `from` names, a line for each, until `from` ends.
///
/// # Errors
/// What cannot be read, written, loaded or prepared. A run that fails is an answer.
pub fn serve(mut from: impl BufRead, mut to: impl Write) -> Result<(), Box<dyn std::error::Error>> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let mut booted = boot(&serde_json::from_str(&line)?)?;
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let ask: Ask = serde_json::from_str(&line)?;
        let Booted { job, kernel } = &mut booted;
        let answered = forked(|| {
            let answer = match run(job, kernel, ask) {
                Ok(answer) => answer,
                Err(reason) => Answer::Failed(reason.to_string()),
            };
            serde_json::to_vec(&answer).unwrap_or_default()
        });
        let mut text = match answered {
            Ok(bytes) => bytes,
            Err(reason) => serde_json::to_vec(&Answer::Failed(reason.to_string()))?,
        };
        text.push(b'\n');
        to.write_all(&text)?;
        to.flush()?;
    }
}

fn boot(start: &Start) -> Result<Booted, Box<dyn std::error::Error>> {
    let plan = Plan::new(start.experiment.clone(), &start.path)?;
    let job = prepare(&plan, &SimEngine, start.workload, start.variant)?.job;
    let kernel = boot_variant(&plan, start.variant, &start.library)?;
    Ok(Booted { job, kernel })
}

/// Boots `library` in this process for the variant at `at`, with what that sets.
///
/// # Errors
/// A library that cannot be loaded, and what its kernel refuses.
pub(crate) fn boot_variant(
    plan: &Plan,
    at: usize,
    library: &Path,
) -> Result<Running, Box<dyn std::error::Error>> {
    let machine = plan.machine_of(at)?;
    let shape = Shape::of(&machine, &plan.kernels[at])?;
    let mut kernel = replica::boot(library, &shape)?;
    let variant = &plan.file.variants[at];
    for (name, &on) in &variant.features {
        let word = if on { name.clone() } else { format!("NO_{name}") };
        kernel.write_debugfs("sched/features", &word)?;
    }
    for (name, value) in &variant.debug {
        kernel.write_debugfs(&format!("sched/{name}"), &value.to_string())?;
    }
    for cpu in (&machine.possible() - &machine.online).iter() {
        kernel.switch(cpu as u32, false)?;
    }
    Ok(kernel)
}

fn run(job: &SimJob, kernel: &mut Running, ask: Ask) -> Result<Answer, EngineError> {
    let Subject::Machine(scenario) = &job.subject else { return Err(EngineError::Partitions) };
    let result = scenario.run_source(kernel, ask.seed, &mut NoTrace)?;
    let run = job.finished(ask.run, ask.seed, result);
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
    Ok(Answer::Ran {
        metrics: bits(&run.metrics),
        single_times: run.single_times.iter().map(|times| bits(times)).collect(),
        counters: run.counters,
        warnings: replica::warnings(),
    })
}
