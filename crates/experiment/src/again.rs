//! One run of an experiment once more, to be watched: the simulator gives the same run for the same seed.

use crate::ExperimentError;
use crate::engine::{SimEngine, SimJob};
use crate::plan::Plan;
use crate::results::Results;
use kernel::Kernel;
use machine::Machine;
use sim::{RunResult, Scenario, Trace};

/// A run that can be watched.
#[derive(Debug)]
pub struct Again<'a> {
    plan: &'a Plan,
    workload: String,
    variant: String,
    run: u32,
    scenario: Box<Scenario>,
    /// Seed of the run, as `run` derives it.
    pub seed: u64,
    /// The machine as the variant has it at the start.
    pub machine: Machine,
    /// The variant's kernel.
    pub kernel: &'a Kernel,
}

impl Plan {
    /// Run `run`, from 0, of `workload` under `variant`.
    ///
    /// # Errors
    /// Names and numbers that the experiment does not have, and workloads of partitions: these are not traced.
    pub fn again(
        &self,
        workload: &str,
        variant: &str,
        run: u32,
    ) -> Result<Again<'_>, ExperimentError> {
        let unknown = |field: &str, found: &str, expected: String| ExperimentError::Field {
            file: self.path.clone(),
            field: field.to_string(),
            found: found.to_string(),
            expected,
        };
        let one_of = |names: Vec<&str>| format!("one of {}", names.join(", "));
        let workloads = &self.file.workloads;
        let w = workloads.iter().position(|w| w.name == workload).ok_or_else(|| {
            let names = workloads.iter().map(|w| w.name.as_str()).collect();
            unknown("workload", workload, one_of(names))
        })?;
        let names = || {
            self.file.variants_of(w).into_iter().map(|v| (v, self.file.variants[v].name.as_str()))
        };
        let v = names()
            .find(|v| v.1 == variant)
            .map(|v| v.0)
            .ok_or_else(|| unknown("variant", variant, one_of(names().map(|v| v.1).collect())))?;
        if run >= workloads[w].runs {
            let expected = format!("a run below {}", workloads[w].runs);
            return Err(unknown("run", &run.to_string(), expected));
        }
        self.again_at(w, v, run)?.ok_or_else(|| {
            let expected = "a workload that runs on the machine itself: guests are not traced";
            unknown("workload", workload, expected.to_string())
        })
    }

    /// Run `run` of a workload under a variant, both by their places in the file; none where the workload is guests.
    pub(crate) fn again_at(
        &self,
        workload: usize,
        variant: usize,
        run: u32,
    ) -> Result<Option<Again<'_>>, ExperimentError> {
        let SimJob::Machine(scenario) =
            self.prepare_cell(&SimEngine, workload, variant)?.engine_job
        else {
            return Ok(None);
        };
        Ok(Some(Again {
            plan: self,
            workload: self.file.workloads[workload].name.clone(),
            variant: self.file.variants[variant].name.clone(),
            run,
            scenario,
            seed: self.seed(variant, run),
            machine: self.machine_of(variant)?,
            kernel: &self.kernels[variant],
        }))
    }
}

impl Again<'_> {
    /// CPUs of the machine, online or not.
    pub fn nr_cpus(&self) -> usize {
        self.scenario.topology().nr_cpus
    }

    /// Runs it, watched by `trace`.
    ///
    /// # Errors
    /// A run that fails, as it does without being watched.
    pub fn run(&self, trace: &mut impl Trace) -> Result<RunResult, ExperimentError> {
        self.scenario.run_traced(self.seed, trace).map_err(|e| ExperimentError::Run {
            workload: self.workload.clone(),
            variant: self.variant.clone(),
            run: self.run,
            reason: e.to_string(),
        })
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
        let refused = |found: String, expected: &str| ExperimentError::Store {
            file: self.plan.path.clone(),
            place: self.name(),
            found,
            expected: expected.to_string(),
        };
        let workload = stored.workloads.iter().find(|w| w.name == self.workload);
        let variant = workload.and_then(|w| w.variants.iter().find(|v| v.name == self.variant));
        let run = variant.and_then(|v| v.runs.iter().find(|r| r.run == self.run));
        let run = run.ok_or_else(|| refused("nothing".to_string(), "a stored run"))?;
        let now = result.counters.named();
        let mut both = now.iter().zip(&run.counters);
        let found = match both.find(|(now, then)| now != then) {
            Some((now, then)) => {
                format!("{} {}, where this build has {} {}", then.0, then.1, now.0, now.1)
            }
            None if run.seed != self.seed => {
                format!("seed {}, where this build has {}", run.seed, self.seed)
            }
            None => return Ok(()),
        };
        Err(refused(found, "a store of this build's runs"))
    }
}
