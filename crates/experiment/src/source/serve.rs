//! What a replica does: it boots once, and each run is a copy of it.

use super::{Answer, Ask, Check, Start, counts_of};
use crate::engine::{EngineError, SimEngine, SimJob, Subject};
use crate::heat::Watch;
use crate::run::prepare;
use definition::Plan;
use replica::{Running, forked};
use sim::{NoTrace, Scenario};
use std::io::{BufRead, Write};
use std::path::Path;
use tree::Shape;

/// A kernel that has booted, and what it is to run.
struct Booted {
    check: Check,
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
        let Booted { check, job, kernel } = &mut booted;
        let answered = forked(|| {
            let answer = match answer(job, kernel, ask, *check) {
                Ok(answer) => answer,
                Err(reason) => {
                    let said = format!("{reason}\n{}", replica::before());
                    Answer::Failed(said.trim_end().to_string())
                }
            };
            serde_json::to_vec(&answer).expect("an answer is numbers and text")
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
    let counts = start.coverage.as_ref().map(|dir| counts_of(dir, start.variant));
    if let Some((boots, _)) = &counts {
        replica::count_below(boots);
    }
    let Subject::Machine(scenario) = &job.subject else {
        return Err(EngineError::Partitions.into());
    };
    let kernel = boot_variant(&plan, start.variant, scenario, &start.library)?;
    kernel.write_coverage();
    if let Some((_, runs)) = &counts {
        replica::count_below(runs);
    }
    Ok(Booted { check: start.check, job, kernel })
}

/// Boots `library` in this process for the variant at `at`, with what that sets; `scenario` is one of its.
///
/// # Errors
/// A library that cannot be loaded, and what its kernel refuses.
pub(crate) fn boot_variant(
    plan: &Plan,
    at: usize,
    scenario: &Scenario,
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
    for (name, value) in &variant.sysctl {
        kernel.write_sysctl(name, &value.to_string())?;
    }
    if let Some(governing) = scenario.governing() {
        kernel.govern(&governing)?;
    }
    for cpu in (&machine.possible() - &machine.online).iter() {
        kernel.switch(cpu as u32, false)?;
    }
    kernel.make_groups(&plan.file.groups(at))?;
    Ok(kernel)
}

fn answer(
    job: &SimJob,
    kernel: &mut Running,
    ask: Ask,
    check: Check,
) -> Result<Answer, EngineError> {
    match ask {
        Ask::Boot => Ok(Answer::Booted),
        Ask::Run { run: number, seed } => run(job, kernel, (number, seed), check),
    }
}

fn run(
    job: &SimJob,
    kernel: &mut Running,
    (number, seed): (u32, u64),
    check: Check,
) -> Result<Answer, EngineError> {
    let Subject::Machine(scenario) = &job.subject else { return Err(EngineError::Partitions) };
    let kernel = &mut *kernel;
    let result = match check {
        Check::Nothing => {
            scenario.run_source(&mut *kernel, seed, &mut NoTrace).map(|result| (result, None))
        }
        Check::Model => {
            scenario.run_judged(&mut *kernel, seed).map(|(result, found)| (result, Some(found)))
        }
        Check::Heat => {
            let mut watch = Watch::new(scenario.topology().nr_cpus);
            let result = scenario.run_source(&mut *kernel, seed, &mut watch)?;
            return Ok(Answer::Watched(Box::new(watch.heat(result.end_ns, result.metrics))));
        }
        Check::Invariants => {
            let margins = scenario.run_inspected(&mut *kernel, seed)?;
            return Ok(Answer::Inspected { warnings: replica::warnings(), margins });
        }
    };
    kernel.write_coverage();
    let (result, agreement) = result?;
    let run = job.finished(number, seed, result);
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
    Ok(Answer::Ran {
        metrics: bits(&run.metrics),
        single_times: run.single_times.iter().map(|times| bits(times)).collect(),
        counters: run.counters,
        warnings: replica::warnings(),
        agreement,
    })
}
