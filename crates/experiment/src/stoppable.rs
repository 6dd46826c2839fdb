//! The simulator, until somebody says stop: runs that have begun end, no other one begins.

use crate::ExperimentError;
use crate::engine::{Engine, EngineError, SimEngine, SimJob};
use definition::Plan;
use kernel::Kernel;
use machine::Machine;
use results::Run;
use setting::Setting;
use std::sync::atomic::{AtomicBool, Ordering};
use workload::Workload;

/// [`SimEngine`], which begins no run once [`Stoppable::stop`] was called: [`crate::run`] then ends with
/// [`ExperimentError::Stopped`]. Runs that are made are the same.
#[derive(Debug, Default)]
pub struct Stoppable(AtomicBool);

impl Stoppable {
    /// Begins no further run; from any thread.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`Stoppable::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Refuses an experiment of which some variant runs under a kernel tree's own code, which needs a process for itself.
    ///
    /// # Errors
    /// The first such variant.
    pub fn check(plan: &Plan) -> Result<(), ExperimentError> {
        match plan.file.variants.iter().find(|v| v.source.is_some()) {
            None => Ok(()),
            Some(variant) => Err(ExperimentError::Field {
                file: plan.path.clone(),
                field: format!("variant `{}`: source", variant.name),
                found: "a kernel tree".to_string(),
                expected: "none: only the command `schedscape run` runs a tree's own code"
                    .to_string(),
            }),
        }
    }
}

impl Engine for Stoppable {
    type Job = SimJob;

    fn prepare(
        &self,
        plan: &Plan,
        at: (usize, usize),
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<SimJob, EngineError> {
        SimEngine.prepare(plan, at, machine, kernel, workload, setting)
    }

    fn run(&self, job: &SimJob, run: u32, seed: u64) -> Result<Run, EngineError> {
        match self.is_stopped() {
            true => Err(EngineError::Stopped),
            false => SimEngine.run(job, run, seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use definition::ExperimentFile;
    use std::sync::atomic::AtomicUsize;

    const FEW: &str = "name = \"few\"\nmachine = \"power9-big-core\"\n\
        variant = [{ name = \"a\", kernel = \"6.12\" }]\n\
        [[workload]]\nname = \"w\"\nruns = 8\n\
        sched_pipe = { loops = 1000, loops_run = 10 }\n";

    fn plan(text: &str) -> Plan {
        Plan::new(ExperimentFile::parse(text, "few.toml").unwrap(), "few.toml").unwrap()
    }

    #[test]
    fn runs_are_the_simulators_until_it_is_stopped() {
        let plan = plan(FEW);
        let all = crate::run(&plan, &Stoppable::default(), 2, &|_| {}).unwrap();
        assert_eq!(all, crate::run(&plan, &SimEngine, 1, &|_| {}).unwrap());
        let (engine, runs) = (Stoppable::default(), AtomicUsize::new(0));
        let stop = |progress: crate::Progress| {
            runs.store(progress.runs, Ordering::Relaxed);
            if progress.runs == 2 {
                engine.stop();
            }
        };
        let stopped = crate::run(&plan, &engine, 1, &stop).unwrap_err();
        assert!(matches!(stopped, ExperimentError::Stopped), "{stopped}");
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_tree_is_left_to_the_command() {
        let from = "{ name = \"a\", kernel = \"6.12\" }";
        let text = FEW.replace(from, "{ name = \"a\", source = { kernel = \"6.12\" } }");
        let error = Stoppable::check(&plan(&text)).unwrap_err();
        assert_eq!(error.wrong().field.as_deref(), Some("variant `a`: source"));
        assert!(Stoppable::check(&plan(FEW)).is_ok());
    }
}
