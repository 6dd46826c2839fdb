//! A CPU's fair run queue: tasks in order, load averages, balancing state.
//!
//! Tasks that wait are a list sorted by a key, the leftmost last. `insert` puts a task behind those with the same key.
//! The key is the caller's: virtual runtime with CFS, virtual deadline with EEVDF. The running task is not in the list.
//!
//! The other fields belong to the rooms that read and write them: `queue` (buddies, weight, virtual time), `track`
//! (averages, `cpu_load`), `balance` (domains, costs) and `place` (the cost of searches). Only average idle times have
//! their rules here: `end_of_idle` when a wake-up ends an idle period, `age_wake_avg_idle` when a search asks.
//!
//! A queue knows tasks by number only, and tells nobody of a change: who changes load or tasks tells balancing's sums.

use crate::fair::MIGRATION_COST_NS;
use crate::fair::balance::newidle::SuccessRate;
use crate::pelt::Pelt;
use crate::topology::SimDomain;
use crate::world::TaskId;

/// Indices of `rq->cpu_load` (`CPU_LOAD_IDX_MAX`).
pub(in crate::fair) const LOAD_INDICES: usize = 5;

/// What balancing remembers of one domain of one CPU.
#[derive(Debug, Clone)]
pub(in crate::fair) struct DomainState {
    /// Tick of the last attempt.
    pub(in crate::fair) last_balance: u64,
    pub(in crate::fair) balance_interval_ms: u64,
    pub(in crate::fair) nr_balance_failed: u32,
    pub(in crate::fair) max_newidle_cost_ns: u64,
    pub(in crate::fair) next_decay: u64,
    pub(in crate::fair) newidle_rate: SuccessRate,
    /// `avg_scan_cost` of the wake-up scan, in ns.
    pub(in crate::fair) avg_scan_cost_ns: u64,
}

impl DomainState {
    /// As `sd_init` leaves the domains of one CPU, built at tick `jiffies`.
    pub(in crate::fair) fn of_chain(domains: &[SimDomain], jiffies: u64) -> Vec<DomainState> {
        domains
            .iter()
            .map(|d| DomainState {
                last_balance: jiffies,
                balance_interval_ms: d.min_interval_ms,
                nr_balance_failed: 0,
                max_newidle_cost_ns: 0,
                next_decay: jiffies,
                newidle_rate: SuccessRate::new(),
                avg_scan_cost_ns: 0,
            })
            .collect()
    }
}

/// Load of tasks that left while the queue could not be updated (`cfs_rq->removed`).
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::fair) struct Removed {
    pub(in crate::fair) nr: u32,
    pub(in crate::fair) load_avg: u64,
    pub(in crate::fair) util_avg: u64,
    pub(in crate::fair) runnable_avg: u64,
}

/// The weighted sum from which EEVDF reads the average virtual runtime (`avg_vruntime`, `avg_load`,
/// `zero_vruntime`); the running task counts apart.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct VirtualTime {
    /// Sum of `weight x (vruntime - zero)` over those who wait.
    pub(super) weighted: i64,
    /// Sum of their weights.
    pub(in crate::fair) load: i64,
    /// What virtual runtimes are compared with.
    pub(super) zero: u64,
}

/// One run queue.
#[derive(Debug, Clone)]
pub(in crate::fair) struct RunQueue {
    /// Queued tasks, not the running one: by virtual runtime (CFS) or virtual deadline (EEVDF), the leftmost last.
    waiting: Vec<(u64, TaskId)>,
    pub(in crate::fair) curr: Option<TaskId>,
    /// The running task has used up its request since it was picked: `update_curr` asks for another choice.
    pub(super) used_up: bool,
    /// Queued tasks, the running and the delayed ones included (`nr_queued`).
    pub(super) nr_queued: u32,
    /// Those of them that sleep and have not left yet (`h_nr_delayed`).
    pub(in crate::fair) nr_delayed: u32,
    /// Sum of the weights of queued tasks, the running one included.
    pub(in crate::fair) weight: u64,
    pub(super) min_vruntime: u64,
    pub(super) virtual_time: VirtualTime,
    /// The woken task that preempted, the task that it preempted, and the task that yielded.
    pub(in crate::fair) next: Option<TaskId>,
    pub(in crate::fair) last: Option<TaskId>,
    pub(in crate::fair) skip: Option<TaskId>,
    /// The task that ran until the current choice.
    pub(in crate::fair) put: Option<TaskId>,
    pub(in crate::fair) avg: Pelt,
    /// Load average at the first question for a task's load in a tick, and that tick (`h_load`, `last_h_load_update`).
    pub(in crate::fair) h_load: u64,
    pub(in crate::fair) h_load_tick: u64,
    /// Sum of the estimated utilisation of queued tasks (`util_est.enqueued`).
    pub(in crate::fair) util_est: u64,
    pub(in crate::fair) removed: Removed,
    pub(in crate::fair) cpu_load: [u64; LOAD_INDICES],
    pub(in crate::fair) last_load_update: u64,
    pub(in crate::fair) domains: Vec<DomainState>,
    /// Tick of the next balancing.
    pub(in crate::fair) next_balance: u64,
    pub(in crate::fair) avg_idle_ns: u64,
    /// Average idle time that wake-ups may spend on searching, and the tick to which it has aged (5.14).
    pub(in crate::fair) wake_avg_idle_ns: u64,
    pub(in crate::fair) wake_stamp: u64,
    pub(in crate::fair) idle_since_ns: Option<u64>,
    pub(in crate::fair) max_idle_balance_cost_ns: u64,
    /// A push off this CPU is under way.
    pub(in crate::fair) active_balance: bool,
}

impl RunQueue {
    pub(in crate::fair) fn new(domains: &[SimDomain]) -> RunQueue {
        // As in the kernel, far from the wrap so that arithmetic on it cannot go under.
        let start = 1 << 40;
        RunQueue {
            waiting: Vec::with_capacity(16),
            curr: None,
            used_up: false,
            nr_queued: 0,
            nr_delayed: 0,
            weight: 0,
            min_vruntime: start,
            virtual_time: VirtualTime { zero: start, ..VirtualTime::default() },
            next: None,
            last: None,
            skip: None,
            put: None,
            avg: Pelt::default(),
            h_load: 0,
            h_load_tick: u64::MAX,
            util_est: 0,
            removed: Removed::default(),
            cpu_load: [0; LOAD_INDICES],
            last_load_update: 0,
            domains: DomainState::of_chain(domains, 0),
            next_balance: 0,
            avg_idle_ns: 2 * MIGRATION_COST_NS,
            wake_avg_idle_ns: 2 * MIGRATION_COST_NS,
            wake_stamp: 0,
            idle_since_ns: None,
            max_idle_balance_cost_ns: MIGRATION_COST_NS,
            active_balance: false,
        }
    }

    /// `__enqueue_entity`: behind those with the same key. Keys may wrap.
    pub(in crate::fair) fn insert(&mut self, key: u64, task: TaskId) {
        let at = self.waiting.partition_point(|&(k, _)| (k.wrapping_sub(key) as i64) > 0);
        self.waiting.insert(at, (key, task));
    }

    /// `__dequeue_entity`; whether the task was there.
    pub(in crate::fair) fn remove(&mut self, task: TaskId) -> bool {
        let at = self.waiting.iter().rposition(|&(_, t)| t == task);
        if let Some(at) = at {
            self.waiting.remove(at);
        }
        at.is_some()
    }

    /// Replaces those who wait, in order, the leftmost last.
    pub(super) fn set_waiting(&mut self, waiting: Vec<(u64, TaskId)>) {
        self.waiting = waiting;
    }

    /// The first in order among those who wait, with its key.
    pub(super) fn leftmost(&self) -> Option<(u64, TaskId)> {
        self.waiting.last().copied()
    }

    /// The one behind the leftmost.
    pub(in crate::fair) fn second(&self) -> Option<(u64, TaskId)> {
        self.waiting.iter().rev().nth(1).copied()
    }

    /// Those who wait, in the order in which balancing looks at them: the last in order first.
    pub(in crate::fair) fn waiting(&self) -> &[(u64, TaskId)] {
        &self.waiting
    }

    /// `update_avg` of `avg_idle` when a wake-up ends an idle period (`ttwu_do_wakeup`).
    pub(in crate::fair) fn end_of_idle(&mut self, now_ns: u64, jiffies: u64) {
        if let Some(since_ns) = self.idle_since_ns.take() {
            let difference = (now_ns - since_ns) as i64 - self.avg_idle_ns as i64;
            let average = self.avg_idle_ns as i64 + (difference >> 3);
            self.avg_idle_ns = (average.max(0) as u64).min(2 * self.max_idle_balance_cost_ns);
            self.wake_stamp = jiffies;
            self.wake_avg_idle_ns = self.avg_idle_ns / 2;
        }
    }

    /// `wake_avg_idle`, halved for every tick since it was set.
    pub(in crate::fair) fn age_wake_avg_idle(&mut self, jiffies: u64) -> u64 {
        let ticks = jiffies.saturating_sub(self.wake_stamp).min(63);
        self.wake_avg_idle_ns >>= ticks;
        self.wake_stamp = self.wake_stamp.max(jiffies);
        self.wake_avg_idle_ns
    }

    /// `clear_buddies`: `task` is nobody's favourite any more.
    pub(super) fn clear_buddies(&mut self, task: TaskId) {
        for buddy in [&mut self.next, &mut self.last, &mut self.skip] {
            if *buddy == Some(task) {
                *buddy = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leftmost_is_the_smallest_and_equals_keep_their_order() {
        let mut rq = RunQueue::new(&[]);
        for (vruntime, task) in [(5, 0), (3, 1), (5, 2), (3, 3)] {
            rq.insert(vruntime, TaskId(task));
        }
        assert!(rq.remove(TaskId(1)) && !rq.remove(TaskId(1)));
        assert_eq!(rq.second(), Some((5, TaskId(0))));
        let mut order = Vec::new();
        while let Some((_, task)) = rq.leftmost() {
            order.push(task.0);
            rq.remove(task);
        }
        assert_eq!(order, [3, 0, 2]);
    }
}
