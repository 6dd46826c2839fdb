//! One run under a tree's code, watched CPU by CPU.

use super::single::{Which, single};
use super::{Answer, Check};
use crate::ExperimentError;
use crate::engine::EngineError;
use definition::Plan;
use results::heat::Heat;
use std::path::PathBuf;
use tree::Library;

/// As [`crate::heat()`], for a variant whose source is `library`: in a process of its own, which `replica` serves, a program with its
/// arguments.
///
/// # Errors
/// An experiment that cannot be run, a process that cannot be started, and a run that fails.
pub fn watched(
    plan: &Plan,
    (workload, variant): (usize, usize),
    run: u32,
    library: &Library,
    replica: &(PathBuf, Vec<String>),
) -> Result<Heat, ExperimentError> {
    let which = Which { workload, variant, run };
    let reason = match single(plan, which, Check::Heat, library, replica)? {
        Ok(Answer::Watched(heat)) => return Ok(*heat),
        Ok(Answer::Failed(reason)) => EngineError::Reported(reason),
        Ok(_) => EngineError::Reported("replica: found other results than were asked for".into()),
        Err(reason) => reason,
    };
    Err(which.failed(plan, reason))
}
