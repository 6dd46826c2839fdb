//! Work conservation: CPUs that are idle while a task waits that may run there.
//!
//! A kernel may leave a task waiting for a while: newly idle balancing is skipped where it costs more than the CPU is idle, idle CPUs
//! balance at intervals of a domain's weight in ms, tasks that ran just now are left alone at first. So two things are checked:
//!
//! * A CPU is not idle all the time while another's queue has such a task all the time, for longer than [`bound_ns`].
//! * CPUs that go idle take tasks that wait in their LLC, if not each time: of [`MOST_LEFT`] chances with no excuse, at least one in
//!   [`ONE_IN`].
//!
//! Affinities excuse both from their first appearance on. Where a task may not move, a domain balances at longer and longer intervals
//! (`MAX_PINNED_INTERVAL`), and a group with such tasks counts as imbalanced: compared by load, it gets nothing if its tasks are heavy,
//! however many of its CPUs are idle.

use super::waits::TaskWaits;
use super::{Broken, Seen, Sight};
use crate::source::Queued;
use crate::topology::{Cpu, Topology};
use std::collections::BTreeSet;

/// A CPU that is idle for less on average may find balancing too expensive.
const IDLE_ENOUGH_NS: u64 = 500_000;
/// A task that waits for longer has no warm cache to lose (`sysctl_sched_migration_cost`, twice).
const COLD_NS: u64 = 1_000_000;
const MOST_LEFT: u64 = 40;
const ONE_IN: u64 = 20;

/// What is known of idle CPUs.
#[derive(Debug)]
pub(super) struct Idle {
    since_ns: Vec<Option<u64>>,
    /// By CPU: in this turn it has nothing to run any more, and the tasks that were moved to it.
    went: Vec<bool>,
    moved: Vec<BTreeSet<i64>>,
    waking: BTreeSet<i64>,
    /// Some task may not use all CPUs.
    pinned: bool,
    /// By queue and idle CPU: since when a task waits there that may run here; 0 for not.
    beside_ns: Vec<u64>,
    /// The longest of these in terms of its bound.
    pub(super) nearest: f64,
    pub(super) left: u64,
    pub(super) pulled: u64,
}

/// How long a CPU may be idle beside a queue. Within an LLC, ten rounds of balancing at twice the domain's weight in ms, the longest
/// interval of an idle CPU. Farther, where the kernel accepts some imbalance between nodes, four times as long.
fn bound_ns(topo: &Topology, queue: Cpu, idle: Cpu) -> u64 {
    let llc = topo.llc_of[usize::from(queue)];
    let (cpus, base_ms) = match llc == topo.llc_of[usize::from(idle)] {
        true => (topo.llcs[llc as usize].cpus.len(), 100),
        false => (topo.online.len(), 400),
    };
    (base_ms + 20 * cpus as u64) * 1_000_000
}

impl Idle {
    pub(super) fn new(cpus: usize) -> Idle {
        Idle {
            since_ns: vec![Some(0); cpus],
            went: vec![false; cpus],
            moved: vec![BTreeSet::new(); cpus],
            waking: BTreeSet::new(),
            pinned: false,
            beside_ns: vec![0; cpus * cpus],
            nearest: 0.0,
            left: 0,
            pulled: 0,
        }
    }

    pub(super) fn switched(&mut self, now_ns: u64, cpu: usize, previous: i64, next: i64) {
        self.went[cpu] = next == 0 && previous != 0;
        self.since_ns[cpu] = (next == 0).then_some(now_ns);
        // It would have been idle, and is not.
        self.pulled += u64::from(self.moved[cpu].contains(&next));
    }

    pub(super) fn waking(&mut self, pid: i64) {
        self.waking.insert(pid);
    }

    pub(super) fn woken(&mut self, pid: i64) {
        self.waking.remove(&pid);
    }

    pub(super) fn migrated(&mut self, pid: i64, to: usize) {
        if !self.waking.contains(&pid) {
            self.moved[to].insert(pid);
        }
    }

    /// Whether `cpu` went idle in the turn that ends.
    pub(super) fn turn_ended(&mut self, cpu: usize) -> bool {
        self.moved[cpu].clear();
        std::mem::take(&mut self.went[cpu])
    }

    /// `cpu` went idle; its LLC has been looked at.
    pub(super) fn went_idle(
        &mut self,
        sight: &Sight<'_>,
        cpu: Cpu,
        cpus: &[Seen],
        waits: &TaskWaits,
    ) -> Option<Broken> {
        let here = &cpus[usize::from(cpu)].sums;
        let unfit = here.avg_idle_ns < IDLE_ENOUGH_NS || here.wakeup_pending != 0;
        if unfit || here.active == 0 || self.pinned {
            return None;
        }
        let topo = sight.topo;
        let llc = &topo.llcs[topo.llc_of[usize::from(cpu)] as usize].cpus;
        // Another idle CPU may be nearer to the task.
        if llc.iter().any(|&c| c != cpu && self.since_ns[usize::from(c)].is_some()) {
            return None;
        }
        let cold = |pid: i64| waits.since_ns(pid).is_some_and(|at| at + COLD_NS < sight.now_ns);
        let could = llc.iter().any(|&queue| {
            let mut waiting = cpus[usize::from(queue)].waiting();
            waiting.any(|task| cold(task.pid) && may_use(sight, task, cpu))
        });
        self.left += u64::from(could);
        if self.left < MOST_LEFT || self.pulled * ONE_IN >= self.left {
            return None;
        }
        let what = format!(
            "CPUs went idle {} times while a task waited in their LLC that they could have taken, and took one {} times",
            self.left, self.pulled
        );
        Some(sight.broken("work conservation", what))
    }

    /// All queues have been looked at.
    pub(super) fn look(&mut self, sight: &Sight<'_>, cpus: &[Seen]) -> Option<Broken> {
        let online = &sight.topo.online;
        let all = cpus.len();
        self.pinned |= online.iter().any(|&cpu| {
            let mut queued = cpus[usize::from(cpu)].queued.iter();
            queued.any(|task| is_pinned(sight, task))
        });
        if self.pinned || sight.switching || self.since_ns.iter().all(Option::is_none) {
            self.beside_ns.fill(0);
            return None;
        }
        for &queue in online {
            for &idle in online {
                let at = usize::from(queue) * all + usize::from(idle);
                match self.beside(sight, queue, idle, cpus) {
                    false => self.beside_ns[at] = 0,
                    true if self.beside_ns[at] == 0 => self.beside_ns[at] = sight.now_ns.max(1),
                    true => {}
                }
                if self.beside_ns[at] == 0 {
                    continue;
                }
                let idle_ns = self.since_ns[usize::from(idle)].unwrap_or(sight.now_ns);
                let long_ns = sight.now_ns - self.beside_ns[at].max(idle_ns);
                let bound_ns = bound_ns(sight.topo, queue, idle);
                self.nearest = self.nearest.max(long_ns as f64 / bound_ns as f64);
                if long_ns > bound_ns {
                    return Some(self.too_long(sight, queue, idle, (long_ns, bound_ns)));
                }
            }
        }
        None
    }

    /// Whether a task waits at `queue` that `idle`, which has nothing to run, may take.
    fn beside(&self, sight: &Sight<'_>, queue: Cpu, idle: Cpu, cpus: &[Seen]) -> bool {
        let (from, to) = (usize::from(queue), usize::from(idle));
        self.since_ns[to].is_some()
            && self.since_ns[from].is_none()
            && cpus[to].sums.wakeup_pending == 0
            && cpus[to].sums.active != 0
            && cpus[from].waiting().any(|task| may_use(sight, task, idle))
    }

    fn too_long(
        &self,
        sight: &Sight<'_>,
        queue: Cpu,
        idle: Cpu,
        (long_ns, bound_ns): (u64, u64),
    ) -> Broken {
        let ms = |ns: u64| ns as f64 / 1e6;
        let what = format!(
            "CPU {idle} was idle for {:.3} ms while tasks waited on CPU {queue} that may use it, expected at most {:.3} ms",
            ms(long_ns),
            ms(bound_ns)
        );
        sight.broken("work conservation", what)
    }
}

/// Whether a task of the workload may not use all CPUs.
fn is_pinned(sight: &Sight<'_>, task: &Queued) -> bool {
    let all_of = |word: usize| {
        let left = sight.topo.nr_cpus.saturating_sub(64 * word).min(64) as u32;
        u64::MAX.checked_shr(64 - left).unwrap_or(0)
    };
    let lacks = |(word, mask): (usize, &u64)| mask & all_of(word) != all_of(word);
    task.mask.iter().enumerate().any(lacks) && (sight.subject)(task.pid).is_some()
}

/// Whether a task of the workload may run on `cpu`. With a quota it may not where its group has none left, and that is not told of
/// other CPUs than its own.
fn may_use(sight: &Sight<'_>, task: &Queued, cpu: Cpu) -> bool {
    task.may_use(cpu.into()) && task.quota_ns == 0 && (sight.subject)(task.pid).is_some()
}
