//! One run under a tree's code, checked for what a scheduler has to keep.

use super::single::{Which, single};
use super::{Answer, Check};
use crate::ExperimentError;
use crate::engine::EngineError;
use definition::Plan;
use sim::inspect::Margins;
use std::path::PathBuf;
use tree::Library;

/// What became of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Inspected {
    /// It came to its end; with what the kernel warned of, and who called the first time.
    Ran {
        /// Such as `WARN at kernel/sched/fair.c:123`.
        warnings: Vec<(String, String)>,
        /// How near it came to the bounds.
        margins: Margins,
    },
    /// It did not, or an invariant does not hold: why, and what was warned of before.
    Failed(String),
}

/// Run 0 of the first workload of `plan` under its first variant, whose library is `library`, in a process that is started for it:
/// `replica` is the program that serves, with its arguments.
///
/// # Errors
/// An experiment that cannot be run by anybody, and a process that cannot be started.
pub fn inspected(
    plan: &Plan,
    library: &Library,
    replica: &(PathBuf, Vec<String>),
) -> Result<Inspected, ExperimentError> {
    let which = Which { workload: 0, variant: 0, run: 0 };
    Ok(match single(plan, which, Check::Invariants, library, replica)? {
        Ok(Answer::Inspected { warnings, margins }) => Inspected::Ran { warnings, margins },
        Ok(Answer::Failed(reason)) => Inspected::Failed(reason),
        Ok(_) => {
            let reason = "replica: found other results than were asked for".to_string();
            return Err(which.failed(plan, EngineError::Reported(reason)));
        }
        Err(reason) => Inspected::Failed(reason.to_string()),
    })
}
