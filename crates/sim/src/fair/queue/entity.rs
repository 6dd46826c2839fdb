//! Tasks on run queues: what CFS and EEVDF have in common.
//!
//! [`Entity`] is what the class knows of a task, and the functions are the kernel's moments: fork, enqueue, pick, tick,
//! preemption, put, dequeue, migration, change of nice. Enqueue, dequeue, put and tick first charge the running task
//! for its time (`update_curr`), then bring load averages up to date (`update_load_avg`). Only then weight and order
//! change, as averages are to see what held until now. Where CFS and EEVDF differ, `cfs` or `eevdf` is asked.
//!
//! The running task is not in order, but counts in the queue's weight and tasks; `put_prev_entity` puts it back. With
//! EEVDF a task that goes to sleep may stay queued (`delayed`) until it is picked. Averages and estimates change
//! through `track`, but for the first load of a forked task. `nr_running` is `balance`'s: `dequeue_task` has it
//! lowered, but who calls `enqueue_entity` has it raised. The task's state and CPU are the engine's and only read here.

use super::weight::{self, NICE_0_WEIGHT};
use crate::class::{Dequeue, Enqueue};
use crate::fair::Fair;
use crate::fair::track::util_est::UtilEst;
use crate::pelt::Pelt;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

/// What the class knows of a task (`sched_entity` and the wake-up fields of `task_struct`).
#[derive(Debug, Clone, Default)]
pub(in crate::fair) struct Entity {
    pub(in crate::fair) weight: u64,
    /// Absolute, on a queue or since it last was on one. With CFS relative to a queue's minimum while it moves, and
    /// before it first is on one.
    pub(super) vruntime: u64,
    pub(in crate::fair) exec_start_ns: u64,
    pub(super) sum_exec_ns: u64,
    pub(super) prev_sum_exec_ns: u64,
    pub(in crate::fair) on_rq: bool,

    /// EEVDF: virtual deadline; relative to the virtual runtime while `rel_deadline`.
    pub(super) deadline: u64,
    pub(super) rel_deadline: bool,
    /// EEVDF: `V - vruntime` when it left its queue.
    pub(super) vlag: i64,
    pub(in crate::fair) slice_ns: u64,
    /// The slice is the task's own (`sched_attr.sched_runtime`).
    pub(super) custom_slice: bool,
    /// The deadline it had when it was picked; while it has that one its slice is protected.
    pub(super) protected: u64,
    /// Asleep, but on its queue until its lag is used up.
    pub(in crate::fair) delayed: bool,

    /// Whether its load counts in the averages of its CPU's queue.
    pub(in crate::fair) attached: bool,
    pub(in crate::fair) avg: Pelt,
    pub(in crate::fair) util_est: UtilEst,

    pub(in crate::fair) wakee_flips: u32,
    pub(in crate::fair) wakee_flip_decay: u64,
    pub(in crate::fair) last_wakee: Option<TaskId>,
    pub(in crate::fair) recent_used_cpu: Cpu,
}

impl Entity {
    /// `calc_delta_fair`: real time as this task's virtual time.
    pub(super) fn virtual_ns(&self, ns: u64) -> u64 {
        if self.weight == NICE_0_WEIGHT { ns } else { ns * NICE_0_WEIGHT / self.weight }
    }
}

impl Fair {
    /// By what tasks are in order: virtual deadlines with EEVDF, else virtual runtimes.
    pub(in crate::fair) fn key(&self, task: TaskId) -> u64 {
        let entity = &self.entities[task.index()];
        if self.rules.eevdf { entity.deadline } else { entity.vruntime }
    }

    /// `sched_fork`.
    pub(in crate::fair) fn task_fork(
        &mut self,
        w: &mut World,
        task: TaskId,
        parent: Option<TaskId>,
    ) {
        let cpu = w.tasks[task.index()].cpu;
        let inherited = parent.map(|p| &self.entities[p.index()]);
        let mut entity = Entity {
            weight: weight::of_nice(w.tasks[task.index()].nice),
            slice_ns: inherited.map_or(self.tunables.base_slice_ns, |p| p.slice_ns),
            custom_slice: inherited.is_some_and(|p| p.custom_slice),
            // `dup_task_struct` copies them, and nothing resets them.
            wakee_flips: inherited.map_or(0, |p| p.wakee_flips),
            wakee_flip_decay: inherited.map_or(0, |p| p.wakee_flip_decay),
            last_wakee: inherited.and_then(|p| p.last_wakee),
            recent_used_cpu: cpu,
            ..Entity::default()
        };
        // A task of the start has slept for long and left no load.
        if parent.is_some() {
            entity.avg.load_avg = entity.weight;
            entity.avg.runnable_avg = if self.rules.runnable_load { entity.weight } else { 0 };
        }
        self.entities.push(entity);
        if let Some(parent) = parent.filter(|_| !self.rules.eevdf) {
            self.cfs_fork(w, cpu, task, parent);
        }
    }

    /// `update_curr`: charges the running task for its time; whether it has used up its request (EEVDF).
    pub(super) fn update_curr(&mut self, w: &World, cpu: Cpu) -> bool {
        let rq = &mut self.queues[cpu as usize];
        let Some(curr) = rq.curr else { return false };
        let entity = &mut self.entities[curr.index()];
        let ran_ns = w.now_ns.saturating_sub(entity.exec_start_ns);
        if ran_ns == 0 {
            return false;
        }
        entity.exec_start_ns = w.now_ns;
        entity.sum_exec_ns += ran_ns;
        entity.vruntime = entity.vruntime.wrapping_add(entity.virtual_ns(ran_ns));
        if !self.rules.eevdf {
            self.update_min_vruntime(cpu);
            return false;
        }
        let used_up = self.update_deadline(cpu, curr);
        self.queues[cpu as usize].used_up |= used_up;
        used_up
    }

    /// `__enqueue_entity`.
    pub(in crate::fair) fn put_in_order(&mut self, cpu: Cpu, task: TaskId) {
        let key = self.key(task);
        let rq = &mut self.queues[cpu as usize];
        if self.rules.eevdf {
            rq.virtual_time.add(&self.entities[task.index()]);
        }
        rq.insert(key, task);
    }

    /// `__dequeue_entity`, if the task is not the running one.
    pub(super) fn take_from_order(&mut self, cpu: Cpu, task: TaskId) {
        let rq = &mut self.queues[cpu as usize];
        if rq.remove(task) && self.rules.eevdf {
            rq.virtual_time.sub(&self.entities[task.index()]);
        }
    }

    /// `enqueue_entity`.
    pub(in crate::fair) fn enqueue_entity(
        &mut self,
        w: &World,
        cpu: Cpu,
        task: TaskId,
        why: Enqueue,
    ) {
        self.update_curr(w, cpu);
        if !self.rules.eevdf {
            self.cfs_renormalise(cpu, task, why);
        }
        self.update_load_avg(w, cpu, Some(task));
        self.enqueue_runnable_load_avg(cpu, task);
        if !self.entities[task.index()].delayed {
            self.util_est_enqueue(cpu, task);
        }
        if self.rules.eevdf {
            self.eevdf_place(w, cpu, task, why == Enqueue::New);
        } else if matches!(why, Enqueue::Wakeup { .. }) {
            self.cfs_place_sleeper(cpu, task);
        }
        let entity = &mut self.entities[task.index()];
        entity.on_rq = true;
        let rq = &mut self.queues[cpu as usize];
        rq.weight += entity.weight;
        rq.nr_queued += 1;
        rq.nr_delayed += u32::from(entity.delayed);
        self.put_in_order(cpu, task);
    }

    /// `dequeue_entity`; without `sleeps` the task is moving to another queue.
    pub(in crate::fair) fn dequeue_entity(
        &mut self,
        w: &World,
        cpu: Cpu,
        task: TaskId,
        sleeps: bool,
    ) {
        self.update_curr(w, cpu);
        self.queues[cpu as usize].clear_buddies(task);
        self.update_load_avg(w, cpu, Some(task));
        self.dequeue_runnable_load_avg(cpu, task);
        if self.rules.eevdf {
            self.eevdf_leave(w, cpu, task, sleeps);
        }
        if self.queues[cpu as usize].curr != Some(task) {
            self.take_from_order(cpu, task);
        }
        let rq = &mut self.queues[cpu as usize];
        let entity = &mut self.entities[task.index()];
        entity.on_rq = false;
        rq.weight -= entity.weight;
        rq.nr_queued -= 1;
        if rq.put == Some(task) {
            rq.put = None;
        }
        if !sleeps {
            if !self.rules.eevdf {
                entity.vruntime = entity.vruntime.wrapping_sub(rq.min_vruntime);
            }
            self.detach_entity_load_avg(cpu, task);
        }
        if !self.rules.eevdf {
            self.update_min_vruntime(cpu);
        }
    }

    /// `dequeue_task_fair`.
    pub(in crate::fair) fn dequeue_task(&mut self, w: &mut World, task: TaskId, why: Dequeue) {
        let cpu = w.tasks[task.index()].cpu;
        let leaves = why != Dequeue::Move;
        let delayed = self.entities[task.index()].delayed;
        if !delayed {
            self.util_est_dequeue(cpu, task);
        }
        if leaves && self.rules.util_est_before_leaving {
            self.util_est_update(w, task);
        }
        if leaves {
            self.update_curr(w, cpu);
        }
        if why == Dequeue::Sleep && self.delays(cpu, task) {
            self.update_load_avg(w, cpu, Some(task));
            self.entities[task.index()].delayed = true;
            self.queues[cpu as usize].nr_delayed += 1;
            return;
        }
        self.sub_nr_running(w, cpu);
        self.queues[cpu as usize].nr_delayed -= u32::from(delayed);
        self.dequeue_entity(w, cpu, task, leaves);
        if leaves && !self.rules.util_est_before_leaving {
            self.util_est_update(w, task);
        }
    }

    /// `put_prev_entity`.
    pub(in crate::fair) fn put_prev_entity(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        let queued = self.entities[task.index()].on_rq;
        if queued {
            self.update_curr(w, cpu);
            self.update_load_avg(w, cpu, Some(task));
            self.put_in_order(cpu, task);
        }
        let rq = &mut self.queues[cpu as usize];
        rq.curr = None;
        rq.put = queued.then_some(task);
    }

    /// `pick_next_task_fair` up to newidle balancing: delayed tasks whose turn comes leave their queue instead.
    pub(in crate::fair) fn pick_next_task(&mut self, w: &mut World, cpu: Cpu) -> Option<TaskId> {
        loop {
            let put = self.queues[cpu as usize].put.take();
            let next =
                if self.rules.eevdf { self.pick_eevdf(cpu, put) } else { self.cfs_pick(cpu) }?;
            if self.entities[next.index()].delayed {
                self.finish_delayed_dequeue(w, cpu, next);
                continue;
            }
            self.set_next_entity(w, cpu, next);
            return Some(next);
        }
    }

    /// `set_next_entity`.
    pub(in crate::fair) fn set_next_entity(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        self.update_load_avg(w, cpu, Some(task));
        self.queues[cpu as usize].clear_buddies(task);
        self.take_from_order(cpu, task);
        self.queues[cpu as usize].curr = Some(task);
        self.queues[cpu as usize].used_up = false;
        let entity = &mut self.entities[task.index()];
        entity.exec_start_ns = w.now_ns;
        entity.prev_sum_exec_ns = entity.sum_exec_ns;
        entity.protected = entity.deadline;
    }

    /// `task_tick_fair`; whether the running task has had its turn.
    pub(in crate::fair) fn task_tick(&mut self, w: &World, cpu: Cpu) -> bool {
        let Some(curr) = self.queues[cpu as usize].curr else { return false };
        let used_up = self.update_curr(w, cpu);
        self.update_load_avg(w, cpu, Some(curr));
        if self.rules.eevdf {
            return self.queues[cpu as usize].nr_queued > 1
                && (used_up || self.did_preempt_short(cpu, curr));
        }
        self.check_preempt_tick(w, cpu, curr)
    }

    /// `check_preempt_wakeup`: whether the task just queued should run at once.
    pub(in crate::fair) fn check_preempt_wakeup(&mut self, w: &World, task: TaskId) -> bool {
        let cpu = w.tasks[task.index()].cpu;
        let Some(curr) = self.queues[cpu as usize].curr else { return true };
        if curr == task || !self.rules.wakeup_preemption {
            return false;
        }
        self.update_curr(w, cpu);
        if self.rules.eevdf {
            let rq = &self.queues[cpu as usize];
            rq.used_up && rq.nr_queued > 1 || self.eevdf_preempts(cpu, curr, task)
        } else {
            self.cfs_preempts(cpu, curr, task)
        }
    }

    /// `migrate_task_rq_fair` of a waking task: what it leaves behind is taken off its old queue later.
    pub(in crate::fair) fn migrate_task_rq(&mut self, w: &World, task: TaskId) {
        let cpu = w.tasks[task.index()].cpu;
        self.remove_entity_load_avg(cpu, task);
        let min_vruntime = self.queues[cpu as usize].min_vruntime;
        let entity = &mut self.entities[task.index()];
        if !self.rules.eevdf {
            entity.vruntime = entity.vruntime.wrapping_sub(min_vruntime);
        }
        entity.exec_start_ns = 0;
    }

    /// `reweight_task`: `nice` takes effect at once, also on a task that is queued.
    pub(in crate::fair) fn reweight_task(&mut self, w: &World, task: TaskId, nice: i8) {
        let cpu = w.tasks[task.index()].cpu;
        let new = weight::of_nice(nice);
        let queued = self.entities[task.index()].on_rq;
        let waits = queued && self.queues[cpu as usize].curr != Some(task);
        if queued {
            self.update_curr(w, cpu);
        }
        if waits {
            self.take_from_order(cpu, task);
        }
        if self.rules.eevdf {
            self.eevdf_reweight(cpu, task, new);
        }
        self.reweight_load_avg(cpu, task, new);
        let entity = &mut self.entities[task.index()];
        if queued {
            let rq = &mut self.queues[cpu as usize];
            rq.weight = rq.weight - entity.weight + new;
        }
        entity.weight = new;
        if waits {
            self.put_in_order(cpu, task);
        }
    }
}
