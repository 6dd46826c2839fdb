//! One balancing attempt: for whom, at which level, how much of what should move.

use crate::counters::{Balancing, Counters};
use crate::topology::{Cpu, SimDomain};
use machine::CpuSet;

/// For whom balancing is done (`enum cpu_idle_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CpuIdle {
    /// An idle CPU.
    Idle,
    /// A busy CPU.
    Busy,
    /// A CPU that is about to go idle.
    NewlyIdle,
}

impl CpuIdle {
    /// The counters of such a CPU's attempts.
    pub(super) fn counters(self, counters: &mut Counters) -> &mut Balancing {
        match self {
            CpuIdle::Idle => &mut counters.lb_idle,
            CpuIdle::Busy => &mut counters.lb_not_idle,
            CpuIdle::NewlyIdle => &mut counters.lb_newly_idle,
        }
    }
}

/// In what an imbalance is counted (`enum migration_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Migration {
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
pub(super) struct Env<'a> {
    pub(super) domain: &'a SimDomain,
    /// Level of the domain in the chain of `cpu`.
    pub(super) level: usize,
    /// The CPU for which balancing was started: the domain and its state are this one's.
    pub(super) cpu: Cpu,
    /// The CPU that pulls; another of the group where tasks may not go to the first.
    pub(super) dst: Cpu,
    pub(super) idle: CpuIdle,
    /// CPUs still considered; domains hold online ones only.
    pub(super) cpus: CpuSet,
    /// Whether these are all of the domain.
    pub(super) whole: bool,
    /// What to move, in units of `migration`.
    pub(super) imbalance: i64,
    pub(super) migration: Migration,
    /// No task of the source may go to `dst` (`LBF_ALL_PINNED`).
    pub(super) all_pinned: bool,
    /// Some task of a source may not go to `dst` (`LBF_SOME_PINNED`).
    pub(super) some_pinned: bool,
    /// Another CPU of the destination group to which such a task may go (`LBF_DST_PINNED`).
    pub(super) new_dst: Option<Cpu>,
}

impl<'a> Env<'a> {
    pub(super) fn new(domain: &'a SimDomain, level: usize, cpu: Cpu, idle: CpuIdle) -> Env<'a> {
        Env {
            domain,
            level,
            cpu,
            dst: cpu,
            idle,
            cpus: domain.span.clone(),
            whole: true,
            imbalance: 0,
            migration: Migration::Load,
            all_pinned: false,
            some_pinned: false,
            new_dst: None,
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
