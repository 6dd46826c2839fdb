//! Virtual runtime: who runs next, for how long, and who preempts whom.

use super::{Fair, NICE_0_WEIGHT};
use crate::class::Enqueue;
use crate::pelt::Pelt;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

/// Runnable tasks beyond which the period grows (`sched_nr_latency`).
const NR_LATENCY: u64 = 8;

/// Weights by nice value from -20 to 19: one step is about a tenth of a CPU (`sched_prio_to_weight`).
const NICE_WEIGHTS: [u64; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];

fn weight_of(nice: i8) -> u64 {
    NICE_WEIGHTS[(i32::from(nice) + 20).clamp(0, 39) as usize]
}

/// What the class knows of a task (`sched_entity` and the wake-up fields of `task_struct`).
#[derive(Debug, Clone, Default)]
pub(super) struct Entity {
    pub(super) weight: u64,
    pub(super) vruntime: u64,
    pub(super) exec_start_ns: u64,
    pub(super) sum_exec_ns: u64,
    prev_sum_exec_ns: u64,
    pub(super) on_rq: bool,
    /// Whether its load counts in the averages of its CPU's queue.
    pub(super) attached: bool,
    pub(super) avg: Pelt,
    pub(super) wakee_flips: u32,
    pub(super) wakee_flip_decay: u64,
    pub(super) last_wakee: Option<TaskId>,
    pub(super) recent_used_cpu: Cpu,
}

impl Fair {
    /// `sched_fork` and `task_fork_fair`: the child starts a slice behind its parent.
    pub(super) fn task_fork(&mut self, w: &mut World, task: TaskId, parent: Option<TaskId>) {
        let cpu = w.tasks[task.index()].cpu;
        let mut entity = Entity {
            weight: weight_of(w.tasks[task.index()].nice),
            recent_used_cpu: cpu,
            ..Entity::default()
        };
        entity.avg.load_avg = entity.weight;
        entity.avg.runnable_avg = entity.weight;
        self.entities.push(entity);
        let Some(parent) = parent else {
            // A task of the start has slept for long and left no load.
            self.entities[task.index()].avg = Pelt::default();
            return;
        };
        self.update_curr(w, cpu);
        let slice = self.sched_slice(w, cpu, self.entities[task.index()].weight, true);
        let rq = &self.queues[cpu as usize];
        let start = self.entities[parent.index()].vruntime.max(rq.min_vruntime + slice);
        self.entities[task.index()].vruntime = start - rq.min_vruntime;
    }

    /// `update_curr`: charges the running task for its time.
    pub(super) fn update_curr(&mut self, w: &World, cpu: Cpu) {
        let rq = &mut self.queues[cpu as usize];
        let Some(curr) = rq.curr else { return };
        let entity = &mut self.entities[curr.index()];
        let ran_ns = w.now_ns.saturating_sub(entity.exec_start_ns);
        if ran_ns == 0 {
            return;
        }
        entity.exec_start_ns = w.now_ns;
        entity.sum_exec_ns += ran_ns;
        entity.vruntime += ran_ns * NICE_0_WEIGHT / entity.weight;
        self.update_min_vruntime(cpu);
    }

    fn update_min_vruntime(&mut self, cpu: Cpu) {
        let rq = &mut self.queues[cpu as usize];
        let running = rq.curr.filter(|c| self.entities[c.index()].on_rq);
        let running = running.map(|c| self.entities[c.index()].vruntime);
        let waiting = rq.leftmost().map(|(v, _)| v);
        let least = match (running, waiting) {
            (Some(a), Some(b)) => a.min(b),
            (Some(a), None) | (None, Some(a)) => a,
            (None, None) => rq.min_vruntime,
        };
        rq.min_vruntime = rq.min_vruntime.max(least);
    }

    /// `enqueue_entity`.
    pub(super) fn enqueue_entity(&mut self, w: &World, cpu: Cpu, task: TaskId, why: Enqueue) {
        self.update_curr(w, cpu);
        let relative = !matches!(why, Enqueue::Wakeup { migrated: false });
        let rq = &self.queues[cpu as usize];
        let entity = &mut self.entities[task.index()];
        if relative {
            entity.vruntime = rq.min_vruntime.wrapping_add(entity.vruntime);
        }
        self.update_load_avg(w, cpu, Some(task));
        self.enqueue_runnable_load_avg(cpu, task);
        let credit_ns = self.tunables.latency_ns / 2;
        let rq = &mut self.queues[cpu as usize];
        let entity = &mut self.entities[task.index()];
        rq.weight += entity.weight;
        if matches!(why, Enqueue::Wakeup { .. }) {
            // place_entity: a sleeper gets half a latency of credit (GENTLE_FAIR_SLEEPERS), no more.
            entity.vruntime = max_vruntime(entity.vruntime, rq.min_vruntime - credit_ns);
        }
        rq.insert(entity.vruntime, task);
        entity.on_rq = true;
    }

    /// `dequeue_entity`; without `sleeps` the task is moving to another queue.
    pub(super) fn dequeue_entity(&mut self, w: &World, cpu: Cpu, task: TaskId, sleeps: bool) {
        self.update_curr(w, cpu);
        self.update_load_avg(w, cpu, Some(task));
        self.dequeue_runnable_load_avg(cpu, task);
        let rq = &mut self.queues[cpu as usize];
        if rq.curr != Some(task) {
            rq.remove(task);
        }
        let entity = &mut self.entities[task.index()];
        entity.on_rq = false;
        rq.weight -= entity.weight;
        if !sleeps {
            entity.vruntime = entity.vruntime.wrapping_sub(rq.min_vruntime);
            self.detach_entity_load_avg(cpu, task);
        }
        self.update_min_vruntime(cpu);
    }

    /// `put_prev_entity`.
    pub(super) fn put_prev_entity(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        if self.entities[task.index()].on_rq {
            self.update_curr(w, cpu);
            self.update_load_avg(w, cpu, Some(task));
            let vruntime = self.entities[task.index()].vruntime;
            self.queues[cpu as usize].insert(vruntime, task);
        }
        self.queues[cpu as usize].curr = None;
    }

    /// `pick_next_entity` and `set_next_entity`.
    pub(super) fn pick_next_entity(&mut self, w: &World, cpu: Cpu) -> Option<TaskId> {
        let next = self.next_entity(cpu)?;
        self.update_load_avg(w, cpu, Some(next));
        let rq = &mut self.queues[cpu as usize];
        if rq.leftmost().is_some_and(|(_, task)| task == next) {
            rq.pop();
        } else {
            rq.remove(next);
        }
        rq.curr = Some(next);
        let entity = &mut self.entities[next.index()];
        entity.exec_start_ns = w.now_ns;
        entity.prev_sum_exec_ns = entity.sum_exec_ns;
        Some(next)
    }

    /// The leftmost, or the second if the leftmost yielded and is not ahead by a wake-up granularity.
    fn next_entity(&mut self, cpu: Cpu) -> Option<TaskId> {
        let rq = &mut self.queues[cpu as usize];
        let (left, first) = rq.leftmost()?;
        let skipped = rq.skip.take().is_some_and(|s| s == first);
        let granularity_ns = self.tunables.wakeup_granularity_ns;
        let second = rq.second().filter(|(v, _)| skipped && v - left <= granularity_ns);
        Some(second.map_or(first, |(_, second)| second))
    }

    /// `yield_task_fair`: the running task is charged and passed over once.
    pub(super) fn yield_task_fair(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        self.update_curr(w, cpu);
        self.queues[cpu as usize].skip = Some(task);
    }

    /// `reweight_entity` of a queued or running task.
    pub(super) fn reweight_entity(&mut self, w: &World, task: TaskId, nice: i8) {
        let cpu = w.tasks[task.index()].cpu;
        let (new, old) = (weight_of(nice), self.entities[task.index()].weight);
        self.update_curr(w, cpu);
        self.update_load_avg(w, cpu, Some(task));
        self.dequeue_runnable_load_avg(cpu, task);
        self.detach_entity_load_avg(cpu, task);
        let entity = &mut self.entities[task.index()];
        entity.weight = new;
        entity.avg.load_avg = entity.avg.load_avg * new / old;
        entity.avg.runnable_avg = entity.avg.runnable_avg * new / old;
        self.attach_entity_load_avg(cpu, task);
        self.enqueue_runnable_load_avg(cpu, task);
        let rq = &mut self.queues[cpu as usize];
        rq.weight = rq.weight + new - old;
    }

    /// Time that a task of `weight` gets in turn (`sched_slice`); `joins` for one that is not queued yet.
    fn sched_slice(&self, w: &World, cpu: Cpu, weight: u64, joins: bool) -> u64 {
        let nr = u64::from(w.cpus[cpu as usize].nr_running) + u64::from(joins);
        let period_ns = if nr > NR_LATENCY {
            nr * self.tunables.min_granularity_ns
        } else {
            self.tunables.latency_ns
        };
        let total = self.queues[cpu as usize].weight + if joins { weight } else { 0 };
        period_ns * weight / total.max(weight)
    }

    /// `task_tick_fair`; whether the running task has had its turn.
    pub(super) fn task_tick(&mut self, w: &World, cpu: Cpu) -> bool {
        let Some(curr) = self.queues[cpu as usize].curr else { return false };
        self.update_curr(w, cpu);
        self.update_load_avg(w, cpu, Some(curr));
        self.check_preempt_tick(w, cpu, curr)
    }

    fn check_preempt_tick(&self, w: &World, cpu: Cpu, curr: TaskId) -> bool {
        let Some((leftmost, _)) = self.queues[cpu as usize].leftmost() else { return false };
        let entity = &self.entities[curr.index()];
        let ideal_ns = self.sched_slice(w, cpu, entity.weight, false);
        let ran_ns = entity.sum_exec_ns - entity.prev_sum_exec_ns;
        if ran_ns > ideal_ns {
            return true;
        }
        ran_ns >= self.tunables.min_granularity_ns
            && entity.vruntime.saturating_sub(leftmost) > ideal_ns
    }

    /// `check_preempt_wakeup`: the woken task is ahead by more than the wake-up granularity.
    pub(super) fn check_preempt_wakeup(&mut self, w: &World, task: TaskId) -> bool {
        let cpu = w.tasks[task.index()].cpu;
        let Some(curr) = self.queues[cpu as usize].curr else { return true };
        if curr == task {
            return false;
        }
        self.update_curr(w, cpu);
        let woken = &self.entities[task.index()];
        let lead = self.entities[curr.index()].vruntime.saturating_sub(woken.vruntime);
        lead > self.tunables.wakeup_granularity_ns * NICE_0_WEIGHT / woken.weight
    }

    /// `migrate_task_rq_fair` of a waking task: what it leaves behind is taken off its old queue later.
    pub(super) fn migrate_task_rq(&mut self, w: &World, task: TaskId) {
        let cpu = w.tasks[task.index()].cpu;
        self.remove_entity_load_avg(cpu, task);
        let min_vruntime = self.queues[cpu as usize].min_vruntime;
        let entity = &mut self.entities[task.index()];
        entity.vruntime = entity.vruntime.wrapping_sub(min_vruntime);
        entity.exec_start_ns = 0;
    }
}

/// `max_vruntime`: the later of two virtual runtimes, which may have wrapped: a long sleeper that comes from a queue
/// far ahead of this one is behind zero here.
fn max_vruntime(a: u64, b: u64) -> u64 {
    if (b.wrapping_sub(a) as i64) > 0 { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::max_vruntime;

    #[test]
    fn a_vruntime_behind_zero_is_early() {
        assert_eq!(max_vruntime(5u64.wrapping_sub(9), 3), 3);
        assert_eq!(max_vruntime(7, 3), 7);
    }
}
