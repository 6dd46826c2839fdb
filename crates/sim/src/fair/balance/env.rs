//! One balancing attempt: for whom, at which level, how much of what should move.
//!
//! `load_balance` makes an [`Env`] (`struct lb_env`) and hands it from room to room. `busiest` or `groups` sets the
//! imbalance and in what it is counted; `source` reads it; `detach` takes off what each task counts, and notes tasks
//! that may not go to the destination and where else they may. From these notes `load_balance` changes the destination,
//! or leaves a CPU out and tries again.
//!
//! It holds an attempt's state and decides nothing. What outlasts an attempt (intervals, failures, costs) is in the
//! queue's `DomainState`. [`CpuIdle`] also says which counters an attempt goes to.

use crate::counters::{Balancing, Counters};
use crate::topology::{Cpu, SimDomain};
use machine::CpuSet;

/// For whom balancing is done (`enum cpu_idle_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fair) enum CpuIdle {
    /// An idle CPU.
    Idle,
    /// A busy CPU.
    Busy,
    /// A CPU that is about to go idle.
    NewlyIdle,
}

impl CpuIdle {
    /// The counters of such a CPU's attempts.
    pub(in crate::fair) fn counters(self, counters: &mut Counters) -> &mut Balancing {
        match self {
            CpuIdle::Idle => &mut counters.lb_idle,
            CpuIdle::Busy => &mut counters.lb_not_idle,
            CpuIdle::NewlyIdle => &mut counters.lb_newly_idle,
        }
    }
}

/// In what an imbalance is counted (`enum migration_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fair) enum Migration {
    /// Load.
    Load,
    /// Utilisation.
    Util,
    /// Tasks.
    Task,
    /// A task that is too big for its CPU.
    Misfit,
}

/// One attempt (`struct lb_env`).
#[derive(Clone)]
pub(in crate::fair) struct Env<'a> {
    pub(in crate::fair) domain: &'a SimDomain,
    /// Level of the domain in the chain of `cpu`.
    pub(in crate::fair) level: usize,
    /// The CPU for which balancing was started: the domain and its state are this one's.
    pub(in crate::fair) cpu: Cpu,
    /// The CPU that pulls; another of the group where tasks may not go to the first.
    pub(in crate::fair) dst_cpu: Cpu,
    pub(in crate::fair) idle: CpuIdle,
    /// CPUs still considered; domains hold online ones only.
    pub(in crate::fair) cpus: CpuSet,
    /// Whether these are all of the domain.
    pub(in crate::fair) whole: bool,
    /// What to move, in units of `migration_type`.
    pub(in crate::fair) imbalance: i64,
    pub(in crate::fair) migration_type: Migration,
    /// No task of the source may go to `dst_cpu` (`LBF_ALL_PINNED`).
    pub(super) all_pinned: bool,
    /// Some task of a source may not go to `dst_cpu` (`LBF_SOME_PINNED`).
    pub(super) some_pinned: bool,
    /// Another CPU of the destination group to which such a task may go (`LBF_DST_PINNED`).
    pub(super) new_dst_cpu: Option<Cpu>,
}

impl<'a> Env<'a> {
    pub(in crate::fair) fn new(
        domain: &'a SimDomain,
        level: usize,
        cpu: Cpu,
        idle: CpuIdle,
    ) -> Env<'a> {
        Env {
            domain,
            level,
            cpu,
            dst_cpu: cpu,
            idle,
            cpus: domain.span.clone(),
            whole: true,
            imbalance: 0,
            migration_type: Migration::Load,
            all_pinned: false,
            some_pinned: false,
            new_dst_cpu: None,
        }
    }

    /// Considers `cpu` no more.
    pub(super) fn exclude(&mut self, cpu: Cpu) {
        self.cpus.remove(cpu as usize);
        self.whole = false;
    }

    /// Whether the CPU has nothing else to do.
    pub(super) fn is_idle(&self) -> bool {
        self.idle != CpuIdle::Busy
    }
}
