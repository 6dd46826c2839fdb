//! One run of an experiment once more, to be watched: the simulator gives the same run for the same seed.

use crate::ExperimentError;
use crate::engine::{EngineError, SimEngine, Subject};
use crate::run::prepare;
use crate::source::boot_variant;
use definition::Plan;
use kernel::Kernel;
use machine::Machine;
use results::{Results, ResultsError};
use sim::{NoTrace, RunResult, Scenario, Trace};
use std::path::{Path, PathBuf};

/// A run that can be watched.
#[derive(Debug)]
pub struct Again<'a> {
    plan: &'a Plan,
    workload: String,
    variant: String,
    run: u32,
    scenario: Box<Scenario>,
    /// The variant's place in the file, and the library that runs it in this process.
    at: usize,
    library: Option<PathBuf>,
    /// Seed of the run, as `run` derives it.
    pub seed: u64,
    /// The machine as the variant has it at the start.
    pub machine: Machine,
    /// The variant's kernel.
    pub kernel: &'a Kernel,
}

/// Run `run`, from 0, of `workload` under `variant`.
///
/// # Errors
/// Names and numbers that the experiment does not have, and workloads that are partitions: these are not traced.
pub fn again<'a>(
    plan: &'a Plan,
    workload: &str,
    variant: &str,
    run: u32,
) -> Result<Again<'a>, ExperimentError> {
    let unknown = |field: &str, found: &str, expected: String| ExperimentError::Field {
        file: plan.path.clone(),
        field: field.to_string(),
        found: found.to_string(),
        expected,
    };
    let one_of = |names: Vec<&str>| format!("one of {}", names.join(", "));
    let workloads = &plan.file.workloads;
    let w = workloads.iter().position(|w| w.name == workload).ok_or_else(|| {
        let names = workloads.iter().map(|w| w.name.as_str()).collect();
        unknown("workload", workload, one_of(names))
    })?;
    let names =
        || plan.file.variants_of(w).into_iter().map(|v| (v, plan.file.variants[v].name.as_str()));
    let v = names()
        .find(|v| v.1 == variant)
        .map(|v| v.0)
        .ok_or_else(|| unknown("variant", variant, one_of(names().map(|v| v.1).collect())))?;
    if run >= workloads[w].runs {
        let expected = format!("a run below {}", workloads[w].runs);
        return Err(unknown("run", &run.to_string(), expected));
    }
    again_at(plan, w, v, run)?.ok_or_else(|| {
        let expected = "a workload that runs on the machine itself: partitions are not traced";
        unknown("workload", workload, expected.to_string())
    })
}

/// Run `run` of a workload under a variant, both by their places in the file; none where the workload is partitions.
pub(crate) fn again_at(
    plan: &Plan,
    workload: usize,
    variant: usize,
    run: u32,
) -> Result<Option<Again<'_>>, ExperimentError> {
    let Subject::Machine(scenario) = prepare(plan, &SimEngine, workload, variant)?.job.subject
    else {
        return Ok(None);
    };
    Ok(Some(Again {
        plan,
        workload: plan.file.workloads[workload].name.clone(),
        variant: plan.file.variants[variant].name.clone(),
        run,
        scenario,
        at: variant,
        library: None,
        seed: plan.seed(variant, run),
        machine: plan.machine_of(variant)?,
        kernel: &plan.kernels[variant],
    }))
}

impl Again<'_> {
    /// CPUs of the machine, online or not.
    pub fn nr_cpus(&self) -> usize {
        self.scenario.topology().nr_cpus
    }

    /// Whether the variant runs under a kernel tree's code.
    pub fn has_source(&self) -> bool {
        self.plan.file.variants[self.at].source.is_some()
    }

    /// The same by `library`, which is to be loaded into this process.
    pub fn under(self, library: PathBuf) -> Self {
        Again { library: Some(library), ..self }
    }

    /// Runs it by `library`, loaded into this process, and stops for a debugger at `at_ns`.
    ///
    /// # Errors
    /// As [`Again::run`], and a time that the run does not come to.
    pub fn debugged(&self, library: &Path, at_ns: u64) -> Result<(), ExperimentError> {
        let mut stopped = false;
        let result = boot_variant(self.plan, self.at, &self.scenario, library)
            .map_err(|e| EngineError::Reported(e.to_string()))
            .and_then(|mut kernel| {
                kernel.stop_at(at_ns);
                let ran = self.scenario.run_source(&mut kernel, self.seed, &mut NoTrace);
                stopped = kernel.was_stopped();
                Ok(ran?)
            });
        let end_ns = result.map_err(|reason| self.failed(reason))?.end_ns;
        if stopped {
            return Ok(());
        }
        let ms = |ns: u64| ns as f64 / 1e6;
        Err(ExperimentError::Field {
            file: self.plan.path.clone(),
            field: "--at".to_string(),
            found: format!("{} ms", ms(at_ns)),
            expected: format!("a time before the run's end at {:.6} ms", ms(end_ns)),
        })
    }

    fn failed(&self, reason: EngineError) -> ExperimentError {
        ExperimentError::Run {
            workload: self.workload.clone(),
            variant: self.variant.clone(),
            run: self.run,
            reason: Box::new(reason),
        }
    }

    /// Runs it, watched by `trace`.
    ///
    /// # Errors
    /// A run that fails, as it does without being watched, and one under a tree's code without [`Again::under`].
    pub fn run(&self, trace: &mut impl Trace) -> Result<RunResult, ExperimentError> {
        let result = match &self.library {
            None if self.has_source() => Err(EngineError::Elsewhere),
            None => Ok(self.scenario.run_traced(self.seed, trace)),
            Some(library) => boot_variant(self.plan, self.at, &self.scenario, library)
                .map(|kernel| self.scenario.run_source(kernel, self.seed, trace))
                .map_err(|e| EngineError::Reported(e.to_string())),
        };
        result.and_then(|ran| Ok(ran?)).map_err(|reason| self.failed(reason))
    }

    /// Which run it is, for people.
    pub fn name(&self) -> String {
        format!("workload `{}`, variant `{}`, run {}", self.workload, self.variant, self.run)
    }

    /// Checks that `result` is the run that `stored` holds: another build, or other constants, may give another one.
    ///
    /// # Errors
    /// A store without the run, and the first counter that differs.
    pub fn check(&self, result: &RunResult, stored: &Results) -> Result<(), ExperimentError> {
        let refused = |found: &str, expected: &str| {
            ResultsError::store(Path::new(&self.plan.path), &self.name(), found, expected).into()
        };
        let variant = stored.workload(&self.workload).and_then(|w| w.variant(&self.variant));
        let run = variant.and_then(|v| v.runs.iter().find(|r| r.run == self.run));
        let run = run.ok_or_else(|| refused("nothing", "a stored run"))?;
        let now = result.counters.values();
        let mut all = stored.counters.iter().zip(now.iter().zip(&run.counters));
        let found = match all.find(|(_, (now, then))| now != then) {
            Some((counter, (now, then))) => {
                format!("{} {then}, where this build has {now}", counter.name)
            }
            None if run.seed != self.seed => {
                format!("seed {}, where this build has {}", run.seed, self.seed)
            }
            None => return Ok(()),
        };
        Err(refused(&found, "a store of this build's runs"))
    }
}
