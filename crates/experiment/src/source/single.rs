//! One run in a process that is started for it.

use super::ask::Replicas;
use super::{Answer, Ask, Check, Start};
use crate::ExperimentError;
use crate::engine::{EngineError, SimEngine};
use crate::run::prepare;
use definition::Plan;
use std::path::PathBuf;
use tree::Library;

/// Which run: the places of its workload and variant in the file, and its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Which {
    pub(super) workload: usize,
    pub(super) variant: usize,
    pub(super) run: u32,
}

impl Which {
    /// Why there is no answer, as an error of this run.
    pub(super) fn failed(self, plan: &Plan, reason: EngineError) -> ExperimentError {
        ExperimentError::Run {
            workload: plan.file.workloads[self.workload].name.clone(),
            variant: plan.file.variants[self.variant].name.clone(),
            run: self.run,
            reason: Box::new(reason),
        }
    }
}

/// What `replica`, the program that serves and its arguments, answers with `library` when it is asked for `check` in this run: the
/// inner error is the run's.
///
/// # Errors
/// An experiment that cannot be run by anybody, and a process that cannot be started.
pub(super) fn single(
    plan: &Plan,
    which: Which,
    check: Check,
    library: &Library,
    replica: &(PathBuf, Vec<String>),
) -> Result<Result<Answer, EngineError>, ExperimentError> {
    let Which { workload, variant, run } = which;
    prepare(plan, &SimEngine, workload, variant)?;
    let start = Start {
        library: library.file.clone(),
        experiment: plan.file.clone(),
        path: plan.path.clone(),
        workload,
        variant,
        check,
        coverage: None,
    };
    let of = (plan.file.workloads[workload].name.clone(), plan.file.variants[variant].name.clone());
    let replicas = Replicas::new(replica.clone(), library.environment.clone(), of, &start)
        .map_err(|reason| which.failed(plan, reason))?;
    Ok(replicas.ask(Ask::Run { run, seed: plan.seed(variant, run) }))
}
