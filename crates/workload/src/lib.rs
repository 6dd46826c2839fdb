//! Programs as data: what the tasks of a benchmark do, how long between sleeps, who wakes whom.
//!
//! A [`Workload`] is a set of programs over shared queues, locks, flags and counters, the tasks that exist at the
//! start, users on other machines, and the metrics that come out. An engine runs it; nothing here knows about scheduling.

pub mod background;
pub mod benchmarks;
mod check;
pub mod counter;
pub mod daytrader;
pub mod dbench;
pub mod ebizzy;
pub mod false_sharing;
pub mod gitsource;
pub mod hackbench;
pub mod kernbench;
pub mod kvm;
pub mod launch;
pub mod netperf;
mod no_costs;
pub mod program;
pub mod rtapp;
pub mod schbench;
pub mod sched_pipe;
pub mod stream;
pub mod tbench;
mod window;

pub use benchmarks::{Benchmark, BuildError, Target};
pub use counter::Counter;
pub use program::{
    BarrierId, Capacity, Clients, CondId, CounterId, Device, DeviceId, FlagId, Histogram,
    HistogramId, LineId, LockId, MarkId, MemoryUse, Metric, Missed, Op, Program, ProgramId, Queue,
    QueueId, QueueKind, Reading, Since, Spawn, Spread, TimerId, Work, Workload,
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
