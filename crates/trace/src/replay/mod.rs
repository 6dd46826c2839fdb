//! A trace as a workload: what its tasks did, in work instead of time, and who waited for whom.
//!
//! Each task becomes a program of its own. A stretch on a CPU becomes work: its time at the clock of the moment, times the thread's share
//! of its core (`Pace`). A wake-up by a task is a message to the woken task's queue, at the point of the waker's program where it
//! happened, and a sleep that ended by one is the reading of that queue. So a task that is slower or elsewhere delays those who wait for
//! it, and each queue holds what came too early. A wake-up by an interrupt has no cause that a trace tells: the sleep becomes one of the
//! same length, on a timer, or on a device if it was uninterruptible. A soft interrupt that runs on top of a task counts as the task, as
//! with a message over loopback, unless tasks of that name are often woken by soft interrupts on idle CPUs too.
//!
//! The work has what the kernel did in it ([`Workload::has_kernel_work`]), at the distances of the trace: another placement changes
//! waits, shares of cores, clocks and idle exits, not the lines that a message moves. Tasks of real-time classes are left out; what they
//! wake counts as woken by interrupts.

mod build;
mod fidelity;
mod pace;
mod rtapp;
mod sleeps;
mod tasks;

pub use build::Builder;
pub use fidelity::{Figure, figures};
pub use rtapp::rt_app;

use crate::Comm;
use serde::Serialize;
use workload::{IdleExit, Workload};

/// The programs' clock when the trace begins, in ns: until then all find their places, and the load of that is forgotten.
pub const LEAD_NS: u64 = 1_000_000_000;

/// What was made of a trace.
#[derive(Debug)]
pub struct Replay {
    /// The workload. Its metrics are `makespan_s`, from the trace's begin to the last step, and latencies: from a message to its reading.
    pub workload: Workload,
    /// What it is made of.
    pub made: Made,
}

/// What a workload is made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Made {
    /// Length of the trace, in ns.
    pub length_ns: u64,
    /// Tasks.
    pub tasks: usize,
    /// Tasks of real-time classes, which are left out.
    pub left_out: usize,
    /// Wake-ups by tasks.
    pub by_tasks: u64,
    /// Wake-ups by interrupts.
    pub by_interrupts: u64,
    /// Forks.
    pub forks: u64,
    /// From the begin of a wake-up on the CPU itself, by an interrupt, until the task ran there, if the CPU idled: mean, in ns.
    pub local_exit_ns: Option<u64>,
    /// The same for wake-ups from another CPU.
    pub remote_exit_ns: Option<u64>,
}

impl Made {
    /// How long idle CPUs took; what a trace lacks of it is as the other.
    pub fn idle_exit(&self) -> Option<IdleExit> {
        let remote_ns = self.remote_exit_ns.or(self.local_exit_ns)?;
        Some(IdleExit { local_ns: self.local_exit_ns.unwrap_or(remote_ns), remote_ns })
    }
}

/// How replays differ from what a trace tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// Names of a waker and a woken task between which wake-ups are synchronous (`WF_SYNC`), where no probe tells.
    pub sync: Vec<(String, String)>,
    /// What comes before is left out, in ns of the trace's clock.
    pub from_ns: Option<u64>,
    /// What comes from then on is left out.
    pub to_ns: Option<u64>,
    /// Who wakes is left out: every sleep is one of its length.
    pub without_wakers: bool,
    /// Who forks is left out: new tasks begin when they began.
    pub without_forks: bool,
    /// A new task begins on the CPU where it began in the trace; otherwise where the replay's kernel puts it.
    pub keeps_forks: bool,
    /// Idle CPUs take as long as the trace's until they run a woken task; otherwise as long as the machine says.
    pub keeps_idle_exits: bool,
}

/// Whether the options name the pair.
fn named(options: &Options, waker: &Comm, woken: &Comm) -> bool {
    let is = |name: &str, comm: &Comm| name.as_bytes() == comm.as_bytes();
    options.sync.iter().any(|(a, b)| is(a, waker) && is(b, woken))
}

#[cfg(test)]
mod tests;
