//! Programs as data: what the tasks of a benchmark do, how long between sleeps, who wakes whom.
//!
//! A [`Workload`] is a set of programs over shared queues, locks, flags and counters, the tasks that exist at the
//! start, users on other machines, and the metrics that come out. An engine runs it; nothing here knows about scheduling.

pub mod background;
mod benchmarks;
pub mod build;
mod check;
mod clock_costs;
pub mod command;
pub mod copies;
pub mod counter;
pub mod daytrader;
pub mod dbench;
mod distribution;
pub mod ebizzy;
pub mod false_sharing;
mod footprint;
pub mod gitsource;
pub mod hackbench;
pub mod kernbench;
pub mod kvm;
mod launch;
pub mod netperf;
mod no_costs;
pub mod noisy;
pub mod oltp;
pub mod parallel;
pub mod pipeline;
mod placement;
mod process;
mod program;
pub mod replay;
pub mod rtapp;
pub mod schbench;
pub mod sched_pipe;
pub mod service;
pub mod stream;
pub mod tbench;
pub mod together;
mod window;

/// Calls `$then!` with the table of the built-in benchmarks, a line for each:
/// * its module, which is also its name in experiment files;
/// * its variant of [`Benchmark`];
/// * `costs` where its module builds it from `Params` and `Costs`, `online` where from the CPUs that are online as well, `file` where from the text of `Params::file`, `trace` where from
///   the recording `Params::trace`;
/// * why guests in QEMU cannot run it, where they cannot.
///
/// The order is that of `docs/workloads.md` and then `docs/fleet-workloads.md`.
#[macro_export]
macro_rules! for_each_benchmark {
    ($then:ident) => {
        $then! {
            ebizzy Ebizzy costs;
            sched_pipe SchedPipe costs;
            hackbench Hackbench costs;
            schbench Schbench costs;
            netperf Netperf costs;
            daytrader Daytrader costs
                (not in guests: "its users are on other machines, and a guest is alone");
            false_sharing FalseSharing costs;
            stream Stream online;
            tbench Tbench costs;
            dbench Dbench costs;
            kernbench Kernbench costs
                (not in guests: "it has no compiler and no kernel's sources");
            gitsource Gitsource costs (not in guests: "it has no git, its tests or their perl");
            kvm Kvm costs (not in guests: "guests have no guests of their own");
            rt_app RtApp file;
            replay Replay trace
                (not in guests: "it is what tasks did, and no program");
            command Command costs
                (not in guests: "its programs are this computer's");
            service Service costs;
            oltp Oltp costs;
            parallel Parallel online;
            copies Copies online;
            pipeline Pipeline costs;
            build Build costs;
            noisy Noisy costs;
        }
    };
}

pub use benchmarks::{Benchmark, BuildError, Target, no_traces};
pub use counter::Counter;
pub use distribution::Distribution;
pub use footprint::Footprint;
pub use placement::{Nodes, Placement};
pub use program::{
    BarrierId, Capacity, Chunks, Clients, CondId, Condition, ConnectionId, CounterId, Device,
    DeviceId, FlagId, Histogram, HistogramId, IdleExit, LineId, LockId, MarkId, MemoryUse, Metric,
    Missed, Op, Policy, Pool, PoolId, Program, ProgramId, Queue, QueueId, QueueKind, Reading,
    Since, Spawn, Spread, TimerId, Work, Workload,
};
/// rt-app under its name in experiment files.
pub use rtapp as rt_app;
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
