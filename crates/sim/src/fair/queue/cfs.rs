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

use crate::class::Enqueue;
use crate::fair::Fair;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

/// Runnable tasks beyond which the period grows, and from which the preempted task is remembered
/// (`sched_nr_latency`).
const NR_LATENCY: u64 = 8;

impl Fair {
    /// `task_fork_fair`: the child starts a slice behind, if that is not before its parent.
    pub(super) fn cfs_fork(&mut self, w: &World, cpu: Cpu, task: TaskId, parent: TaskId) {
        self.update_curr(w, cpu);
        let weight = self.entities[task.index()].weight;
        let debit_ns = if self.rules.start_debit {
            let slice_ns = self.sched_slice(w, cpu, weight, true);
            self.entities[task.index()].virtual_ns(slice_ns)
        } else {
            0
        };
        let min_vruntime = self.queues[cpu as usize].min_vruntime;
        let placed = min_vruntime.wrapping_add(debit_ns);
        let start = max_vruntime(self.entities[parent.index()].vruntime, placed);
        self.entities[task.index()].vruntime = start.wrapping_sub(min_vruntime);
    }

    /// A task that comes from another queue takes its distance to the minimum along.
    pub(super) fn cfs_renormalise(&mut self, cpu: Cpu, task: TaskId, why: Enqueue) {
        if !matches!(why, Enqueue::Wakeup { migrated: false }) {
            let entity = &mut self.entities[task.index()];
            let min_vruntime = self.queues[cpu as usize].min_vruntime;
            entity.vruntime = min_vruntime.wrapping_add(entity.vruntime);
        }
    }

    /// `place_entity` of a sleeper: a credit of a latency, or half of one (`GENTLE_FAIR_SLEEPERS`), no more.
    pub(super) fn cfs_place_sleeper(&mut self, cpu: Cpu, task: TaskId) {
        let latency_ns = self.tunables.latency_ns;
        let credit_ns = if self.rules.gentle_fair_sleepers { latency_ns / 2 } else { latency_ns };
        let entity = &mut self.entities[task.index()];
        let earliest = self.queues[cpu as usize].min_vruntime.wrapping_sub(credit_ns);
        entity.vruntime = max_vruntime(entity.vruntime, earliest);
    }

    pub(super) fn update_min_vruntime(&mut self, cpu: Cpu) {
        let rq = &mut self.queues[cpu as usize];
        let running = rq.curr.map(|c| &self.entities[c.index()]).filter(|e| e.on_rq);
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
    pub(in crate::fair) fn cfs_pick(&self, cpu: Cpu) -> Option<TaskId> {
        let rq = &self.queues[cpu as usize];
        let (_, left) = rq.leftmost()?;
        let close = |task: TaskId| self.wakeup_lead(task, left) < 1;
        let mut chosen = left;
        if rq.skip == Some(left)
            && let Some((_, second)) = rq.second().filter(|&(_, s)| close(s))
        {
            chosen = second;
        }
        let buddy = [rq.next, rq.last].into_iter().flatten();
        let buddy = buddy.filter(|b| self.entities[b.index()].on_rq).find(|&b| close(b));
        Some(buddy.unwrap_or(chosen))
    }

    /// Time that a task of `weight` gets in turn (`sched_slice`); `joins` for one that is not queued yet.
    fn sched_slice(&self, w: &World, cpu: Cpu, weight: u64, joins: bool) -> u64 {
        let nr = u64::from(w.cpus[cpu as usize].nr_running) + u64::from(joins);
        let min_granularity_ns = self.tunables.min_granularity_ns;
        let period_ns =
            if nr > NR_LATENCY { nr * min_granularity_ns } else { self.tunables.latency_ns };
        let total = self.queues[cpu as usize].weight + if joins { weight } else { 0 };
        let slice_ns = period_ns * weight / total.max(weight);
        if self.rules.base_slice { slice_ns.max(min_granularity_ns) } else { slice_ns }
    }

    pub(super) fn check_preempt_tick(&mut self, w: &World, cpu: Cpu, curr: TaskId) -> bool {
        let Some((leftmost, _)) = self.queues[cpu as usize].leftmost() else { return false };
        let entity = &self.entities[curr.index()];
        let mut ideal_ns = self.sched_slice(w, cpu, entity.weight, false);
        if self.rules.tick_slice_at_most_latency {
            ideal_ns = ideal_ns.min(self.tunables.latency_ns);
        }
        let ran_ns = entity.sum_exec_ns - entity.prev_sum_exec_ns;
        if ran_ns > ideal_ns {
            self.queues[cpu as usize].clear_buddies(curr);
            return true;
        }
        let behind = entity.vruntime.wrapping_sub(leftmost) as i64;
        ran_ns >= self.tunables.min_granularity_ns && behind > 0 && behind as u64 > ideal_ns
    }

    /// `wakeup_preempt_entity`: -1 if `leader` is not behind `other`, 1 if it is by more than the wake-up
    /// granularity of `other`, else 0.
    fn wakeup_lead(&self, leader: TaskId, other: TaskId) -> i32 {
        let (a, b) = (&self.entities[leader.index()], &self.entities[other.index()]);
        let behind = a.vruntime.wrapping_sub(b.vruntime) as i64;
        if behind <= 0 {
            -1
        } else {
            i32::from(behind as u64 > b.virtual_ns(self.tunables.wakeup_granularity_ns))
        }
    }

    /// The woken task is ahead by more than the wake-up granularity; the woken task becomes `next`, the running one `last` with
    /// `LAST_BUDDY` and enough tasks.
    pub(super) fn cfs_preempts(&mut self, cpu: Cpu, curr: TaskId, woken: TaskId) -> bool {
        if self.wakeup_lead(curr, woken) < 1 {
            return false;
        }
        let long = u64::from(self.queues[cpu as usize].nr_queued) >= NR_LATENCY;
        let rq = &mut self.queues[cpu as usize];
        rq.next = Some(woken);
        if self.rules.last_buddy && long {
            rq.last = Some(curr);
        }
        true
    }

    /// `yield_task_fair`: the next choice passes over the task.
    pub(in crate::fair) fn cfs_yield(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        if self.queues[cpu as usize].nr_queued > 1 {
            self.queues[cpu as usize].clear_buddies(task);
            self.update_curr(w, cpu);
            self.queues[cpu as usize].skip = Some(task);
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
