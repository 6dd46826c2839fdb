//! CFS, up to 6.5: who runs next by virtual runtime, for how long, and who preempts whom.
//!
//! `entity` asks at each moment of a task's life. A child starts no earlier than its parent, with `START_DEBIT` a slice
//! behind the minimum (`cfs_fork`). A task that comes from elsewhere is put at its distance from the minimum
//! (`cfs_renormalise`), and a sleeper gets a bounded credit (`cfs_place_sleeper`). `cfs_pick` takes the leftmost, or
//! the second if the leftmost yielded and the second is close; a buddy that is close comes before both. A tick ends a
//! turn that has lasted a slice (`check_preempt_tick`), and a woken task preempts if it is ahead by more than the
//! wake-up granularity (`cfs_preempts`).
//!
//! Virtual runtimes, `min_vruntime` and buddies are written here. `entity` keeps the order, weights and numbers of
//! tasks; load averages are `track`'s. A virtual runtime may wrap, so two of them are compared by their difference
//! only.

use super::ids::{EntityId, QueueId};
use super::weight::scale_load_down;
use crate::class::Enqueue;
use crate::fair::Fair;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

/// Runnable tasks beyond which the period grows, and from which the preempted task is remembered
/// (`sched_nr_latency`).
const NR_LATENCY: u64 = 8;
/// What `SCHED_IDLE` gets at least (`sysctl_sched_idle_min_granularity`, 5.15).
const IDLE_MIN_GRANULARITY_NS: u64 = 750_000;

impl Fair {
    /// `task_fork_fair`: the child starts a slice behind, if that is not before its parent.
    pub(super) fn cfs_fork(&mut self, w: &World, cpu: Cpu, task: TaskId, parent: TaskId) {
        let q = self.queue_of(task.into(), cpu);
        self.update_curr(w, q);
        let debit_ns = if self.rules.start_debit {
            let slice_ns = self.sched_slice(q, task.into());
            self.entities[task.index()].virtual_ns(slice_ns)
        } else {
            0
        };
        let min_vruntime = self.queues[q.index()].min_vruntime;
        let placed = min_vruntime.wrapping_add(debit_ns);
        // Only a parent of the same group has a virtual time that says something here.
        let parent = &self.entities[parent.index()];
        let same = parent.group == self.entities[task.index()].group;
        let start = if same { max_vruntime(parent.vruntime, placed) } else { placed };
        self.entities[task.index()].vruntime = start.wrapping_sub(min_vruntime);
    }

    /// An entity that comes from another queue takes its distance to the minimum along.
    pub(super) fn cfs_renormalise(&mut self, q: QueueId, id: EntityId, why: Enqueue) {
        if !matches!(why, Enqueue::Wakeup { migrated: false }) {
            let entity = &mut self.entities[id];
            let min_vruntime = self.queues[q.index()].min_vruntime;
            entity.vruntime = min_vruntime.wrapping_add(entity.vruntime);
        }
    }

    /// `place_entity` of a sleeper: a credit of a latency, or half of one (`GENTLE_FAIR_SLEEPERS`), no more; an idle one gets
    /// a minimal granularity (6.0).
    pub(super) fn cfs_place_sleeper(&mut self, q: QueueId, id: EntityId) {
        let latency_ns = self.tunables.latency_ns;
        let idle = self.rules.idle_min_granularity && self.entities[id].idle;
        let credit_ns = match (idle, self.rules.gentle_fair_sleepers) {
            (true, true) => self.tunables.min_granularity_ns / 2,
            (true, false) => self.tunables.min_granularity_ns,
            (false, true) => latency_ns / 2,
            (false, false) => latency_ns,
        };
        let entity = &mut self.entities[id];
        let earliest = self.queues[q.index()].min_vruntime.wrapping_sub(credit_ns);
        entity.vruntime = max_vruntime(entity.vruntime, earliest);
    }

    pub(super) fn update_min_vruntime(&mut self, q: QueueId) {
        let rq = &mut self.queues[q.index()];
        let running = rq.curr.map(|c| &self.entities[c]).filter(|e| e.on_rq);
        let running = running.map(|e| e.vruntime);
        let waiting = rq.leftmost().map(|(v, _)| v);
        let least = match (running, waiting) {
            (Some(a), Some(b)) => min_vruntime(a, b),
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => rq.min_vruntime,
        };
        rq.min_vruntime = max_vruntime(rq.min_vruntime, least);
    }

    /// `pick_next_entity`: the leftmost, unless it yielded or a buddy is close behind it.
    pub(in crate::fair) fn cfs_pick(&self, q: QueueId) -> Option<EntityId> {
        let rq = &self.queues[q.index()];
        let (_, left) = rq.leftmost()?;
        let close = |id: EntityId| self.wakeup_lead(id, left) < 1;
        let mut chosen = left;
        if rq.skip == Some(left)
            && let Some((_, second)) = rq.second().filter(|&(_, s)| close(s))
        {
            chosen = second;
        }
        let buddy = [rq.next, rq.last].into_iter().flatten();
        let buddy = buddy.filter(|&b| self.entities[b].on_rq).find(|&b| close(b));
        Some(buddy.unwrap_or(chosen))
    }

    /// Time that an entity gets in turn, on its queue and by the shares of those above (`sched_slice`).
    fn sched_slice(&self, q: QueueId, first: EntityId) -> u64 {
        let cpu = self.queues[q.index()].cpu;
        // `ALT_PERIOD` (5.13) counts all tasks of the CPU.
        let counted = if self.rules.base_slice { QueueId::root(cpu) } else { q };
        let queue = &self.queues[counted.index()];
        let nr = if self.rules.base_slice { queue.h_nr_queued } else { queue.nr_queued };
        let nr = u64::from(nr) + u64::from(!self.entities[first].on_rq);
        let min_granularity_ns = self.tunables.min_granularity_ns;
        let mut slice_ns =
            if nr > NR_LATENCY { nr * min_granularity_ns } else { self.tunables.latency_ns };
        let mut next = Some(first);
        while let Some(id) = next {
            let entity = &self.entities[id];
            let q = self.queue_of(id, cpu);
            let joins = if entity.on_rq { 0 } else { entity.load };
            let total = scale_load_down(self.queues[q.index()].load + joins).max(entity.weight);
            slice_ns = slice_ns * entity.weight / total;
            next = self.parent(q);
        }
        let least_ns = match self.entities[first].idle && self.rules.idle_min_granularity {
            true => min_granularity_ns.min(IDLE_MIN_GRANULARITY_NS),
            false => min_granularity_ns,
        };
        if self.rules.base_slice { slice_ns.max(least_ns) } else { slice_ns }
    }

    pub(super) fn check_preempt_tick(&mut self, q: QueueId, curr: EntityId) -> bool {
        let Some((leftmost, _)) = self.queues[q.index()].leftmost() else { return false };
        let entity = &self.entities[curr];
        let mut ideal_ns = self.sched_slice(q, curr);
        if self.rules.tick_slice_at_most_latency {
            ideal_ns = ideal_ns.min(self.tunables.latency_ns);
        }
        let ran_ns = entity.sum_exec_ns - entity.prev_sum_exec_ns;
        if ran_ns > ideal_ns {
            self.queues[q.index()].clear_buddies(curr);
            return true;
        }
        let behind = entity.vruntime.wrapping_sub(leftmost) as i64;
        ran_ns >= self.tunables.min_granularity_ns && behind > 0 && behind as u64 > ideal_ns
    }

    /// `wakeup_preempt_entity`: -1 if `leader` is not behind `other`, 1 if it is by more than the wake-up
    /// granularity of `other`, else 0.
    fn wakeup_lead(&self, leader: EntityId, other: EntityId) -> i32 {
        let (a, b) = (&self.entities[leader], &self.entities[other]);
        let behind = a.vruntime.wrapping_sub(b.vruntime) as i64;
        if behind <= 0 {
            -1
        } else {
            i32::from(behind as u64 > b.virtual_ns(self.tunables.wakeup_granularity_ns))
        }
    }

    /// The woken entity of `q` is ahead by more than the wake-up granularity; it becomes `next` there and above, the running
    /// one `last` with `LAST_BUDDY` and enough tasks.
    pub(super) fn cfs_preempts(
        &mut self,
        w: &World,
        q: QueueId,
        curr: EntityId,
        woken: EntityId,
    ) -> bool {
        if self.wakeup_lead(curr, woken) < 1 {
            return false;
        }
        let cpu = self.queues[q.index()].cpu;
        self.set_next_buddy(Some(woken), cpu);
        let task = w.cpus[cpu as usize].curr.or(curr.task());
        let own = task.map_or(q, |task| self.queue_of(task.into(), cpu));
        let long = u64::from(self.queues[own.index()].nr_queued) >= NR_LATENCY;
        if self.rules.last_buddy && long && !curr.is_group() {
            self.set_last_buddy(curr, cpu);
        }
        true
    }

    /// `set_last_buddy` of an entity and those above.
    fn set_last_buddy(&mut self, first: EntityId, cpu: Cpu) {
        let mut next = Some(first);
        while let Some(id) = next.filter(|&id| self.entities[id].on_rq) {
            let q = self.queue_of(id, cpu);
            self.queues[q.index()].last = Some(id);
            next = self.parent(q);
        }
    }

    /// `yield_task_fair`: the next choice passes over the task.
    pub(in crate::fair) fn cfs_yield(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        if self.queues[cpu as usize].h_nr_queued > 1 {
            let q = self.queue_of(task.into(), cpu);
            self.queues[q.index()].clear_buddies(task.into());
            self.update_curr(w, q);
            self.set_skip_buddy(task.into(), cpu);
        }
    }

    /// `set_skip_buddy` of an entity and those above.
    fn set_skip_buddy(&mut self, first: EntityId, cpu: Cpu) {
        let mut next = Some(first);
        while let Some(id) = next {
            let q = self.queue_of(id, cpu);
            self.queues[q.index()].skip = Some(id);
            next = self.parent(q);
        }
    }
}

/// `max_vruntime`: the later of two virtual runtimes, which may have wrapped: a long sleeper that comes from a queue
/// far ahead of this one is behind zero here.
fn max_vruntime(a: u64, b: u64) -> u64 {
    if (b.wrapping_sub(a) as i64) > 0 { b } else { a }
}

fn min_vruntime(a: u64, b: u64) -> u64 {
    if (b.wrapping_sub(a) as i64) < 0 { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vruntime_behind_zero_is_early() {
        let behind = 5u64.wrapping_sub(9);
        assert_eq!((max_vruntime(behind, 3), min_vruntime(behind, 3)), (3, behind));
        assert_eq!((max_vruntime(7, 3), min_vruntime(7, 3)), (7, 3));
    }
}
