//! A fair queue: entities in order, and the averages of what is on it. Each CPU has one, and each group has one on each CPU.
//!
//! Entities that wait are a list sorted by a key, the leftmost last. `insert` puts an entity behind those with the same key.
//! The key is the caller's: virtual runtime with CFS, virtual deadline with EEVDF. The running entity is not in the list.
//!
//! The other fields belong to the rooms that read and write them: `queue` (buddies, weight, virtual time), `track` (averages)
//! and `bandwidth`. A queue knows entities by number only, and tells nobody of a change: who changes load or tasks tells
//! balancing's sums.

use super::bandwidth::Allowance;
use super::ids::EntityId;
use super::weight::scale_load_down;
use crate::pelt::Pelt;
use crate::topology::Cpu;

/// Load of tasks that left while the queue could not be updated (`cfs_rq->removed`).
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::fair) struct Removed {
    pub(in crate::fair) nr: u32,
    pub(in crate::fair) load_avg: u64,
    pub(in crate::fair) util_avg: u64,
    pub(in crate::fair) runnable_avg: u64,
}

/// The weighted sum from which EEVDF reads the average virtual runtime (`avg_vruntime`, `avg_load`,
/// `zero_vruntime`); the running entity counts apart.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct VirtualTime {
    /// Sum of `weight x (vruntime - zero)` over those who wait.
    pub(super) weighted: i64,
    /// Sum of their weights.
    pub(in crate::fair) load: i64,
    /// What virtual runtimes are compared with.
    pub(super) zero: u64,
}

/// What a group's queue tells the levels above of its load.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::fair) struct ToParent {
    /// Tasks came or went since the entity above was last told (`propagate`).
    pub(in crate::fair) propagate: bool,
    /// The change of runnable time that they make (`prop_runnable_sum`).
    pub(in crate::fair) runnable_sum: i64,
    /// The part of this queue in the group's load (`tg_load_avg_contrib`), and when it was last brought up to date.
    pub(in crate::fair) contributed: u64,
    pub(in crate::fair) told_ns: u64,
}

/// One queue (`struct cfs_rq`).
#[derive(Debug, Clone)]
pub(in crate::fair) struct CfsRq {
    pub(in crate::fair) cpu: Cpu,
    /// The group at its place, from 1 on; 0 for the queue of a CPU.
    pub(in crate::fair) group: u32,
    /// Queued entities, not the running one: by virtual runtime (CFS) or virtual deadline (EEVDF), the leftmost last.
    waiting: Vec<(u64, EntityId)>,
    pub(in crate::fair) curr: Option<EntityId>,
    /// The running entity has used up its request since it was picked: `update_curr` asks for another choice.
    pub(super) used_up: bool,
    /// Queued entities, the running and the delayed ones included (`nr_queued`, `nr_running` up to 6.12).
    pub(in crate::fair) nr_queued: u32,
    /// Tasks on this queue and those below it (`h_nr_queued`, `h_nr_running` up to 6.12).
    pub(in crate::fair) h_nr_queued: u32,
    /// Those of them that sleep and have not left yet (`h_nr_delayed`).
    pub(in crate::fair) h_nr_delayed: u32,
    /// Those of them that are `SCHED_IDLE`, or below a group that is (`h_nr_idle`, `idle_h_nr_running`).
    pub(in crate::fair) h_nr_idle: u32,
    /// Sum of the scaled loads of queued entities, the running one included (`load.weight`).
    pub(in crate::fair) load: u64,
    pub(super) min_vruntime: u64,
    pub(super) virtual_time: VirtualTime,
    /// The woken entity that preempted, the one that it preempted, and the one that yielded.
    pub(in crate::fair) next: Option<EntityId>,
    pub(in crate::fair) last: Option<EntityId>,
    pub(in crate::fair) skip: Option<EntityId>,
    /// The entity that ran until the current choice.
    pub(in crate::fair) put: Option<EntityId>,
    pub(in crate::fair) avg: Pelt,
    /// Load average at the first question for a task's load in a tick, and that tick (`h_load`, `last_h_load_update`).
    pub(in crate::fair) h_load: u64,
    pub(in crate::fair) h_load_tick: u64,
    /// Sum of the estimated utilisation of queued tasks (`util_est.enqueued`); on the queue of a CPU only.
    pub(in crate::fair) util_est: u64,
    pub(in crate::fair) removed: Removed,
    pub(in crate::fair) to_parent: ToParent,
    pub(in crate::fair) allowance: Allowance,
}

impl CfsRq {
    pub(in crate::fair) fn new(cpu: Cpu, group: u32) -> CfsRq {
        // As in the kernel, far from the wrap so that arithmetic on it cannot go under.
        let start = 1 << 40;
        CfsRq {
            cpu,
            group,
            waiting: Vec::with_capacity(if group == 0 { 16 } else { 0 }),
            curr: None,
            used_up: false,
            nr_queued: 0,
            h_nr_queued: 0,
            h_nr_delayed: 0,
            h_nr_idle: 0,
            load: 0,
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
            to_parent: ToParent::default(),
            allowance: Allowance::default(),
        }
    }

    /// Sum of the weights of queued entities, 1024 for nice 0 (`scale_load_down(load.weight)`).
    pub(in crate::fair) fn weight(&self) -> u64 {
        scale_load_down(self.load)
    }

    /// Tasks that can run, on this queue and below (`h_nr_runnable`).
    pub(in crate::fair) fn h_nr_runnable(&self) -> u32 {
        self.h_nr_queued - self.h_nr_delayed
    }

    /// `__enqueue_entity`: behind those with the same key. Keys may wrap.
    #[inline]
    pub(in crate::fair) fn insert(&mut self, key: u64, entity: EntityId) {
        let behind = |k: u64| (k.wrapping_sub(key) as i64) > 0;
        // Most queues have nobody else.
        if self.waiting.last().is_none_or(|&(k, _)| behind(k)) {
            self.waiting.push((key, entity));
        } else {
            let at = self.waiting.partition_point(|&(k, _)| behind(k));
            self.waiting.insert(at, (key, entity));
        }
    }

    /// `__dequeue_entity`; whether the entity was there.
    #[inline]
    pub(in crate::fair) fn remove(&mut self, entity: EntityId) -> bool {
        if self.waiting.last().is_some_and(|&(_, e)| e == entity) {
            self.waiting.pop();
            return true;
        }
        let at = self.waiting.iter().rposition(|&(_, e)| e == entity);
        if let Some(at) = at {
            self.waiting.remove(at);
        }
        at.is_some()
    }

    /// Replaces those who wait, in order, the leftmost last.
    pub(super) fn set_waiting(&mut self, waiting: Vec<(u64, EntityId)>) {
        self.waiting = waiting;
    }

    /// The first in order among those who wait, with its key.
    pub(super) fn leftmost(&self) -> Option<(u64, EntityId)> {
        self.waiting.last().copied()
    }

    /// The one behind the leftmost.
    pub(in crate::fair) fn second(&self) -> Option<(u64, EntityId)> {
        self.waiting.iter().rev().nth(1).copied()
    }

    /// Those who wait, in the order in which balancing looks at them: the last in order first.
    pub(in crate::fair) fn waiting(&self) -> &[(u64, EntityId)] {
        &self.waiting
    }

    /// `clear_buddies`: `entity` is nobody's favourite any more.
    #[inline]
    pub(super) fn clear_buddies(&mut self, entity: EntityId) {
        for buddy in [&mut self.next, &mut self.last, &mut self.skip] {
            if *buddy == Some(entity) {
                *buddy = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::TaskId;

    #[test]
    fn the_leftmost_is_the_smallest_and_equals_keep_their_order() {
        let mut rq = CfsRq::new(0, 0);
        let id = |task| EntityId::from(TaskId(task));
        for (vruntime, task) in [(5, 0), (3, 1), (5, 2), (3, 3)] {
            rq.insert(vruntime, id(task));
        }
        assert!(rq.remove(id(1)) && !rq.remove(id(1)));
        assert_eq!(rq.second(), Some((5, id(0))));
        let mut order = Vec::new();
        while let Some((_, entity)) = rq.leftmost() {
            order.push(entity);
            rq.remove(entity);
        }
        assert_eq!(order, [3, 0, 2].map(id));
    }
}
