//! A CPU's fair run queue: tasks in order, load averages, balancing state.

use super::MIGRATION_COST_NS;
use super::newidle::SuccessRate;
use crate::pelt::Pelt;
use crate::topology::SimDomain;
use crate::world::TaskId;

/// Indices of `rq->cpu_load` (`CPU_LOAD_IDX_MAX`).
pub(super) const LOAD_INDICES: usize = 5;

/// What balancing remembers of one domain of one CPU.
#[derive(Debug, Clone)]
pub(super) struct DomainState {
    /// Tick of the last attempt.
    pub(super) last_balance: u64,
    pub(super) balance_interval_ms: u64,
    pub(super) nr_balance_failed: u32,
    pub(super) max_newidle_cost_ns: u64,
    pub(super) next_decay: u64,
    pub(super) newidle_rate: SuccessRate,
    /// `avg_scan_cost` of the wake-up scan, in ns.
    pub(super) avg_scan_cost_ns: u64,
}

impl DomainState {
    /// As `sd_init` leaves the domains of one CPU, built at tick `jiffies`.
    pub(super) fn of_chain(domains: &[SimDomain], jiffies: u64) -> Vec<DomainState> {
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
pub(super) struct Removed {
    pub(super) nr: u32,
    pub(super) load_avg: u64,
    pub(super) util_avg: u64,
    pub(super) runnable_avg: u64,
}

/// The weighted sum from which EEVDF reads the average virtual runtime (`avg_vruntime`, `avg_load`,
/// `zero_vruntime`); the running task counts apart.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct VirtualTime {
    /// Sum of `weight x (vruntime - zero)` over those who wait.
    pub(super) weighted: i64,
    /// Sum of their weights.
    pub(super) load: i64,
    /// What virtual runtimes are compared with.
    pub(super) zero: u64,
}

/// One run queue.
#[derive(Debug)]
pub(super) struct RunQueue {
    /// Queued tasks, not the running one: by virtual runtime (CFS) or virtual deadline (EEVDF), the leftmost last.
    waiting: Vec<(u64, TaskId)>,
    pub(super) curr: Option<TaskId>,
    /// Queued tasks, the running and the delayed ones included (`nr_queued`).
    pub(super) nr_queued: u32,
    /// Sum of the weights of queued tasks, the running one included.
    pub(super) weight: u64,
    pub(super) min_vruntime: u64,
    pub(super) virtual_time: VirtualTime,
    /// The woken task that preempted, the task that it preempted, and the task that yielded.
    pub(super) next: Option<TaskId>,
    pub(super) last: Option<TaskId>,
    pub(super) skip: Option<TaskId>,
    /// The task that ran until the current choice.
    pub(super) put: Option<TaskId>,
    pub(super) avg: Pelt,
    /// Sum of the estimated utilisation of queued tasks (`util_est.enqueued`).
    pub(super) util_est: u64,
    pub(super) removed: Removed,
    pub(super) cpu_load: [u64; LOAD_INDICES],
    pub(super) last_load_update: u64,
    pub(super) domains: Vec<DomainState>,
    /// Tick of the next balancing.
    pub(super) next_balance: u64,
    pub(super) avg_idle_ns: u64,
    /// Average idle time that wake-ups may spend on searching, and the tick to which it has aged (5.14).
    pub(super) wake_avg_idle_ns: u64,
    pub(super) wake_stamp: u64,
    pub(super) idle_since_ns: Option<u64>,
    pub(super) max_idle_balance_cost_ns: u64,
    /// A push off this CPU is under way.
    pub(super) active_balance: bool,
}

impl RunQueue {
    pub(super) fn new(domains: &[SimDomain]) -> RunQueue {
        // As in the kernel, far from the wrap so that arithmetic on it cannot go under.
        let start = 1 << 40;
        RunQueue {
            waiting: Vec::with_capacity(16),
            curr: None,
            nr_queued: 0,
            weight: 0,
            min_vruntime: start,
            virtual_time: VirtualTime { zero: start, ..VirtualTime::default() },
            next: None,
            last: None,
            skip: None,
            put: None,
            avg: Pelt::default(),
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
    pub(super) fn insert(&mut self, key: u64, task: TaskId) {
        let at = self.waiting.partition_point(|&(k, _)| (k.wrapping_sub(key) as i64) > 0);
        self.waiting.insert(at, (key, task));
    }

    /// `__dequeue_entity`; whether the task was there.
    pub(super) fn remove(&mut self, task: TaskId) -> bool {
        let at = self.waiting.iter().rposition(|&(_, t)| t == task);
        if let Some(at) = at {
            self.waiting.remove(at);
        }
        at.is_some()
    }

    /// The first in order among those who wait, with its key.
    pub(super) fn leftmost(&self) -> Option<(u64, TaskId)> {
        self.waiting.last().copied()
    }

    /// The one behind the leftmost.
    pub(super) fn second(&self) -> Option<(u64, TaskId)> {
        self.waiting.iter().rev().nth(1).copied()
    }

    /// Those who wait, in the order in which balancing looks at them: the last in order first.
    pub(super) fn waiting(&self) -> &[(u64, TaskId)] {
        &self.waiting
    }

    /// `update_avg` of `avg_idle` when a wake-up ends an idle period (`ttwu_do_wakeup`).
    pub(super) fn end_of_idle(&mut self, now_ns: u64, jiffies: u64) {
        if let Some(since_ns) = self.idle_since_ns.take() {
            let difference = (now_ns - since_ns) as i64 - self.avg_idle_ns as i64;
            let average = self.avg_idle_ns as i64 + (difference >> 3);
            self.avg_idle_ns = (average.max(0) as u64).min(2 * self.max_idle_balance_cost_ns);
            self.wake_stamp = jiffies;
            self.wake_avg_idle_ns = self.avg_idle_ns / 2;
        }
    }

    /// `wake_avg_idle`, halved for every tick since it was set.
    pub(super) fn age_wake_avg_idle(&mut self, jiffies: u64) -> u64 {
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
