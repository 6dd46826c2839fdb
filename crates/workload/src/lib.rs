//! Programs as data: what the tasks of a benchmark do, how long between sleeps, who wakes whom.
//!
//! A [`Workload`] is a set of programs over shared pipes, flags and counters, the tasks that exist at the
//! start, and the metrics that come out. An engine runs it; nothing here knows about scheduling.

pub mod background;
pub mod ebizzy;
pub mod launch;
pub mod program;
pub mod rtapp;
pub mod sched_pipe;

pub use program::{
    CounterId, FlagId, MarkId, Metric, Op, PipeId, Program, ProgramId, Reading, Spawn, Spread,
    Work, Workload,
};
pub use stats::Better;

/// A workload parameter that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{program}: {field}: found {found}, expected {expected}")]
pub struct WorkloadError {
    /// The program.
    pub program: &'static str,
    /// Its parameter.
    pub field: &'static str,
    /// What was given.
    pub found: String,
    /// What is possible.
    pub expected: &'static str,
}
