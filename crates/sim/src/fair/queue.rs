//! A CPU's fair run queue: tasks by virtual runtime, load averages, balancing state.

use super::MIGRATION_COST_NS;
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
    /// `avg_scan_cost` of the wake-up scan, in ns.
    pub(super) avg_scan_cost_ns: u64,
}

/// Load of tasks that left while the queue could not be updated (`cfs_rq->removed`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Removed {
    pub(super) nr: u32,
    pub(super) load_avg: u64,
    pub(super) util_avg: u64,
}

/// One run queue.
#[derive(Debug)]
pub(super) struct RunQueue {
    /// Queued tasks, not the running one: by virtual runtime, the leftmost last.
    waiting: Vec<(u64, TaskId)>,
    pub(super) curr: Option<TaskId>,
    /// A task that yielded: another goes first (`cfs_rq->skip`).
    pub(super) skip: Option<TaskId>,
    /// Sum of the weights of queued tasks, the running one included.
    pub(super) weight: u64,
    pub(super) min_vruntime: u64,
    pub(super) avg: Pelt,
    pub(super) removed: Removed,
    pub(super) cpu_load: [u64; LOAD_INDICES],
    pub(super) last_load_update: u64,
    pub(super) domains: Vec<DomainState>,
    /// Tick of the next balancing.
    pub(super) next_balance: u64,
    pub(super) avg_idle_ns: u64,
    pub(super) idle_since_ns: Option<u64>,
    pub(super) max_idle_balance_cost_ns: u64,
    /// A push off this CPU is under way.
    pub(super) active_balance: bool,
}

impl RunQueue {
    pub(super) fn new(domains: &[SimDomain]) -> RunQueue {
        RunQueue {
            waiting: Vec::with_capacity(16),
            curr: None,
            skip: None,
            weight: 0,
            // As in the kernel, far below the wrap so that arithmetic on it cannot go under.
            min_vruntime: 1 << 40,
            avg: Pelt::default(),
            removed: Removed::default(),
            cpu_load: [0; LOAD_INDICES],
            last_load_update: 0,
            domains: domains
                .iter()
                .map(|d| DomainState {
                    last_balance: 0,
                    balance_interval_ms: d.min_interval_ms,
                    nr_balance_failed: 0,
                    max_newidle_cost_ns: 0,
                    next_decay: 0,
                    avg_scan_cost_ns: 0,
                })
                .collect(),
            next_balance: 0,
            avg_idle_ns: 2 * MIGRATION_COST_NS,
            idle_since_ns: None,
            max_idle_balance_cost_ns: MIGRATION_COST_NS,
            active_balance: false,
        }
    }

    /// `__enqueue_entity`: behind those with the same virtual runtime.
    pub(super) fn insert(&mut self, vruntime: u64, task: TaskId) {
        let at = self.waiting.partition_point(|&(v, _)| v > vruntime);
        self.waiting.insert(at, (vruntime, task));
    }

    /// `__dequeue_entity`.
    pub(super) fn remove(&mut self, task: TaskId) {
        if let Some(at) = self.waiting.iter().position(|&(_, t)| t == task) {
            self.waiting.remove(at);
        }
    }

    /// Smallest virtual runtime among those who wait.
    pub(super) fn leftmost(&self) -> Option<(u64, TaskId)> {
        self.waiting.last().copied()
    }

    /// The second by virtual runtime.
    pub(super) fn second(&self) -> Option<(u64, TaskId)> {
        self.waiting.iter().rev().nth(1).copied()
    }

    /// Takes the leftmost out.
    pub(super) fn pop(&mut self) -> Option<TaskId> {
        self.waiting.pop().map(|(_, task)| task)
    }

    /// Those who wait, in the order in which balancing looks at them: the last queued by virtual runtime first.
    pub(super) fn waiting(&self) -> &[(u64, TaskId)] {
        &self.waiting
    }

    /// `update_avg` of `avg_idle` when a wake-up ends an idle period (`ttwu_do_wakeup`).
    pub(super) fn end_of_idle(&mut self, now_ns: u64) {
        if let Some(since_ns) = self.idle_since_ns.take() {
            let difference = (now_ns - since_ns) as i64 - self.avg_idle_ns as i64;
            let average = self.avg_idle_ns as i64 + (difference >> 3);
            self.avg_idle_ns = (average.max(0) as u64).min(2 * self.max_idle_balance_cost_ns);
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
        rq.remove(TaskId(1));
        let order: Vec<u32> = std::iter::from_fn(|| rq.pop()).map(|t| t.0).collect();
        assert_eq!(order, [3, 0, 2]);
    }
}
