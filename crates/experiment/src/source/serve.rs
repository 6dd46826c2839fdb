//! What a replica does: it boots once, and each run is a copy of it.

use super::{Answer, Ask, Start};
use crate::engine::{EngineError, SimEngine, Subject};
use crate::run::prepare;
use definition::Plan;
use replica::{Running, forked};
use sim::{NoTrace, Scenario, Trace};
use std::io::{BufRead, Write};
use tree::Shape;

/// A kernel that has booted, and what it is to run.
struct Booted {
    scenario: Box<Scenario>,
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
        let Booted { scenario, kernel } = &mut booted;
        let answered = forked(|| {
            let answer = match run(scenario, kernel, ask, &mut NoTrace) {
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
    let Subject::Machine(scenario) = job.subject else {
        return Err(Box::new(EngineError::Partitions));
    };
    let machine = plan.machine_of(start.variant)?;
    let shape = Shape::of(&machine, &plan.kernels[start.variant])?;
    let mut kernel = replica::boot(&start.library, &shape)?;
    let variant = &plan.file.variants[start.variant];
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
    Ok(Booted { scenario, kernel })
}

fn run(
    scenario: &Scenario,
    kernel: &mut Running,
    ask: Ask,
    trace: &mut impl Trace,
) -> Result<Answer, EngineError> {
    let result = scenario.run_source(kernel, ask.seed, trace)?;
    let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<u64>>();
    let mut single_times = result.single_times;
    single_times.resize(result.metrics.len(), vec![]);
    Ok(Answer::Ran {
        metrics: bits(&result.metrics),
        single_times: single_times.iter().map(|times| bits(times)).collect(),
        counters: result.counters.values(),
        warnings: replica::warnings(),
    })
}
