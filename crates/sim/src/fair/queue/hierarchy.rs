//! A task's moments on all its queues: its own, and those of the groups above up to that of its CPU.
//!
//! Without groups, a task has one queue and each loop here runs once. A group's entity is queued while its queue has
//! something to run. Numbers of tasks (`h_nr_*`) are those of a queue and all below it, up to one that is throttled, whose
//! tasks count nowhere above. `nr_running` of a CPU is the engine's to see; it changes here alone.

use super::entity::Leaving;
use super::ids::{EntityId, QueueId};
use super::weight::{self, scale_load};
use crate::class::{Dequeue, Enqueue};
use crate::fair::Fair;
use crate::topology::Cpu;
use crate::world::{TaskId, World};
use workload::Policy;

/// Tasks that come to a queue or leave it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tasks {
    pub(super) queued: u32,
    /// Those of them that are asleep.
    pub(super) delayed: u32,
    /// Those of them that count as `SCHED_IDLE`.
    pub(super) idle: u32,
}

impl Fair {
    /// `cfs_rq_of` of an entity on `cpu`.
    #[inline]
    pub(in crate::fair) fn queue_of(&self, id: EntityId, cpu: Cpu) -> QueueId {
        match self.entities[id].group {
            0 => QueueId::root(cpu),
            group => QueueId::of_group(group as usize, cpu, self.rqs.len()),
        }
    }

    /// The queue of `task` on the CPU that it is on.
    pub(in crate::fair) fn task_cfs_rq(&self, w: &World, task: TaskId) -> QueueId {
        self.queue_of(task.into(), w.tasks[task.index()].cpu)
    }

    /// `parent_entity` of what is on `q`.
    #[inline]
    pub(in crate::fair) fn parent(&self, q: QueueId) -> Option<EntityId> {
        q.entity(self.rqs.len())
    }

    /// `group_cfs_rq`: the queue that a group's entity stands for.
    pub(in crate::fair) fn group_cfs_rq(&self, id: EntityId) -> Option<QueueId> {
        QueueId::owned_by(id, self.rqs.len())
    }

    /// The fair task that runs on `cpu`.
    pub(in crate::fair) fn running_task(&self, cpu: Cpu) -> Option<TaskId> {
        let mut curr = self.queues[cpu as usize].curr?;
        while let Some(q) = self.group_cfs_rq(curr) {
            curr = self.queues[q.index()].curr?;
        }
        curr.task()
    }

    /// `enqueue_task_fair`.
    pub(in crate::fair) fn enqueue_task(&mut self, w: &mut World, task: TaskId, why: Enqueue) {
        let cpu = w.tasks[task.index()].cpu;
        let entity = &self.entities[task.index()];
        let mut tasks =
            Tasks { queued: 1, delayed: u32::from(entity.delayed), idle: u32::from(entity.idle) };
        if !entity.delayed {
            self.util_est_enqueue(cpu, task);
        }
        let (mut next, mut why, mut slice_ns) = (Some(EntityId::from(task)), why, 0);
        while let Some(id) = next.filter(|&id| !self.entities[id].on_rq) {
            let q = self.queue_of(id, cpu);
            if id.is_group() && self.rules.group_slice {
                let entity = &mut self.entities[id];
                (entity.slice_ns, entity.custom_slice) = (slice_ns, true);
            }
            self.enqueue_entity(w, q, id, why);
            next = self.joined(q, &mut tasks);
            if self.queues[q.index()].allowance.throttled {
                return;
            }
            slice_ns = self.min_slice_above(q);
            why = Enqueue::Wakeup { migrated: false };
        }
        if let Some(id) = next
            && self.entities[id].delayed
        {
            self.requeue_delayed_entity(w, self.queue_of(id, cpu), id);
        }
        while let Some(id) = next {
            let q = self.queue_of(id, cpu);
            self.update_above(w, q, id, slice_ns);
            next = self.joined(q, &mut tasks);
            if self.queues[q.index()].allowance.throttled {
                return;
            }
            slice_ns = self.min_slice_above(q);
        }
        self.add_nr_running(w, cpu);
    }

    /// Counts `tasks` on `q`; the entity above it.
    pub(super) fn joined(&mut self, q: QueueId, tasks: &mut Tasks) -> Option<EntityId> {
        let rq = &mut self.queues[q.index()];
        rq.h_nr_queued += tasks.queued;
        rq.h_nr_delayed += tasks.delayed;
        rq.h_nr_idle += tasks.idle;
        self.counted_above(q, tasks)
    }

    /// Counts `tasks` off `q`; the entity above it.
    pub(super) fn left(&mut self, q: QueueId, tasks: &mut Tasks) -> Option<EntityId> {
        let rq = &mut self.queues[q.index()];
        rq.h_nr_queued -= tasks.queued;
        rq.h_nr_delayed -= tasks.delayed;
        rq.h_nr_idle -= tasks.idle;
        self.counted_above(q, tasks)
    }

    /// All tasks below an idle group are idle to those above it (`cfs_rq_is_idle`).
    fn counted_above(&self, q: QueueId, tasks: &mut Tasks) -> Option<EntityId> {
        let above = self.parent(q)?;
        if self.entities[above].idle {
            tasks.idle = tasks.queued;
        }
        Some(above)
    }

    /// The shortest slice on `q`, where the entity above takes it (`cfs_rq_min_slice`, 6.12).
    fn min_slice_above(&self, q: QueueId) -> u64 {
        if !self.rules.group_slice || self.parent(q).is_none() {
            return 0;
        }
        let rq = &self.queues[q.index()];
        let mut least_ns = u64::MAX;
        if let Some(curr) = rq.curr.map(|c| &self.entities[c]).filter(|e| e.on_rq) {
            least_ns = curr.slice_ns;
        }
        for &(_, id) in rq.waiting() {
            least_ns = least_ns.min(self.entities[id].slice_ns);
        }
        least_ns
    }

    /// What changes for a group's entity that stays on `q` when something below it changed.
    fn update_above(&mut self, w: &World, q: QueueId, id: EntityId, slice_ns: u64) {
        self.update_load_avg_and_group(w, q, id);
        self.se_update_runnable(id);
        self.update_cfs_group(w, q, id);
        if self.rules.group_slice {
            self.entities[id].slice_ns = slice_ns;
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
        let how = Leaving { sleeps: leaves, delayed: false, at_once: why == Dequeue::Exit };
        let left = self.dequeue_entities(w, cpu, task.into(), how);
        if left && leaves && !self.rules.util_est_before_leaving {
            self.util_est_update(w, task);
        }
    }

    /// `dequeue_entities`: a task or a group's entity leaves its queue, and so do the entities above that have nothing left
    /// to run; whether it has left.
    fn dequeue_entities(&mut self, w: &mut World, cpu: Cpu, first: EntityId, how: Leaving) -> bool {
        let entity = &self.entities[first];
        let task = u32::from(!first.is_group());
        let mut tasks = Tasks {
            queued: task,
            delayed: task & u32::from(entity.delayed),
            idle: task & u32::from(entity.idle),
        };
        let (mut next, mut leaving, mut slice_ns) = (Some(first), how, 0);
        while let Some(id) = next {
            let q = self.queue_of(id, cpu);
            if !self.dequeue_entity(w, q, id, leaving) {
                if id == first && !id.is_group() {
                    return false;
                }
                slice_ns = self.min_slice_above(q);
                break;
            }
            next = self.left(q, &mut tasks);
            if self.queues[q.index()].allowance.throttled {
                return true;
            }
            if self.queues[q.index()].load > 0 {
                slice_ns = self.min_slice_above(q);
                // The CPU stays with the group whose task sleeps within its turn.
                if how.sleeps && !self.throttled_hierarchy(q) {
                    self.set_next_buddy(next, cpu);
                }
                break;
            }
            leaving = Leaving { sleeps: true, delayed: false, at_once: false };
        }
        while let Some(id) = next {
            let q = self.queue_of(id, cpu);
            self.update_above(w, q, id, slice_ns);
            next = self.left(q, &mut tasks);
            if self.queues[q.index()].allowance.throttled {
                return true;
            }
            slice_ns = self.min_slice_above(q);
        }
        if tasks.queued > 0 {
            self.sub_nr_running(w, cpu);
        }
        true
    }

    /// `set_next_buddy` of an entity and those above.
    pub(super) fn set_next_buddy(&mut self, first: Option<EntityId>, cpu: Cpu) {
        let mut next = first;
        while let Some(id) = next {
            let entity = &self.entities[id];
            if !entity.on_rq || entity.idle {
                return;
            }
            let q = self.queue_of(id, cpu);
            self.queues[q.index()].next = Some(id);
            next = self.parent(q);
        }
    }

    /// `set_delayed`: an entity sleeps and stays on `q`. A group's has no tasks left.
    pub(super) fn set_delayed(&mut self, q: QueueId, id: EntityId) {
        self.entities[id].delayed = true;
        self.count_delayed(q, id, 1);
    }

    /// `clear_delayed`.
    pub(super) fn clear_delayed(&mut self, q: QueueId, id: EntityId) {
        self.entities[id].delayed = false;
        self.count_delayed(q, id, -1);
    }

    fn count_delayed(&mut self, q: QueueId, id: EntityId, by: i32) {
        if id.is_group() {
            return;
        }
        let mut at = Some(q);
        while let Some(q) = at {
            let rq = &mut self.queues[q.index()];
            rq.h_nr_delayed = rq.h_nr_delayed.wrapping_add_signed(by);
            if rq.allowance.throttled {
                return;
            }
            let cpu = rq.cpu;
            at = self.parent(q).map(|above| self.queue_of(above, cpu));
        }
    }

    /// `put_prev_task_fair`.
    pub(in crate::fair) fn put_prev_task(&mut self, w: &mut World, cpu: Cpu, task: TaskId) {
        self.rqs[cpu as usize].put = Some(task);
        let mut next = Some(EntityId::from(task));
        while let Some(id) = next {
            let q = self.queue_of(id, cpu);
            self.put_prev_entity(w, q, id);
            next = self.parent(q);
        }
    }

    /// `pick_next_task_fair` up to newidle balancing: delayed entities whose turn comes leave their queue instead, and queues
    /// that have used up their time are throttled.
    pub(in crate::fair) fn pick_next_task(&mut self, w: &mut World, cpu: Cpu) -> Option<TaskId> {
        let next = self.pick_task(w, cpu);
        if let Some(task) = next {
            self.set_next_task(w, cpu, task);
        }
        self.forget_put(cpu);
        next
    }

    fn pick_task(&mut self, w: &mut World, cpu: Cpu) -> Option<TaskId> {
        let root = QueueId::root(cpu);
        let mut q = root;
        loop {
            if self.check_cfs_rq_runtime(w, q) {
                q = root;
                continue;
            }
            let rq = &self.queues[q.index()];
            // A queue below the root that has just lost its last entity has nothing to choose from.
            let id = match self.rules.eevdf {
                true => self.pick_next_eevdf(q, rq.put),
                false => self.cfs_pick(q),
            }?;
            if self.entities[id].delayed {
                let how = Leaving { sleeps: true, delayed: true, at_once: false };
                self.dequeue_entities(w, cpu, id, how);
                q = root;
                continue;
            }
            match self.group_cfs_rq(id) {
                Some(below) => q = below,
                None => return id.task(),
            }
        }
    }

    /// `set_next_task_fair`.
    pub(in crate::fair) fn set_next_task(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        let mut next = Some(EntityId::from(task));
        while let Some(id) = next {
            let q = self.queue_of(id, cpu);
            self.set_next_entity(w, q, id);
            next = self.parent(q);
        }
    }

    /// The choice is made: no queue remembers who ran before it.
    pub(crate) fn forget_put(&mut self, cpu: Cpu) {
        let mut next = self.rqs[cpu as usize].put.take().map(EntityId::from);
        while let Some(id) = next {
            let q = self.queue_of(id, cpu);
            self.queues[q.index()].put = None;
            next = self.parent(q);
        }
    }

    /// `task_tick_fair`; whether the running task has had its turn.
    pub(in crate::fair) fn task_tick(&mut self, w: &World, cpu: Cpu) -> bool {
        let Some(task) = self.running_task(cpu) else { return false };
        let (mut next, mut resched) = (Some(EntityId::from(task)), false);
        while let Some(id) = next {
            let q = self.queue_of(id, cpu);
            resched |= self.entity_tick(w, q, id);
            next = self.parent(q);
        }
        resched | std::mem::take(&mut self.rqs[cpu as usize].out_of_time)
    }

    /// `check_preempt_wakeup`: whether the task just queued should run at once.
    pub(in crate::fair) fn check_preempt_wakeup(&mut self, w: &World, task: TaskId) -> bool {
        let cpu = w.tasks[task.index()].cpu;
        let Some(curr) = self.running_task(cpu) else { return true };
        if curr == task || !self.rules.wakeup_preemption {
            return false;
        }
        if self.throttled_hierarchy(self.task_cfs_rq(w, task)) {
            return false;
        }
        let (c, p) = (&self.entities[curr.index()], &self.entities[task.index()]);
        let bystander = p.idle || p.batch;
        if !self.rules.eevdf && c.idle && !p.idle {
            return true;
        }
        if !self.rules.eevdf && bystander {
            return false;
        }
        let (se, pse) = self.find_matching_se(curr.into(), task.into(), cpu);
        match (self.entities[se].idle, self.entities[pse].idle) {
            (true, false) => {
                self.cancel_protect_slice(se);
                return true;
            }
            (false, true) => return false,
            (true, true) | (false, false) if bystander => return false,
            (true, true) | (false, false) => {}
        }
        let q = self.queue_of(se, cpu);
        self.update_curr(w, q);
        if self.rules.eevdf {
            let rq = &self.queues[q.index()];
            rq.used_up && rq.nr_queued > 1 || self.eevdf_preempts(q, se, pse)
        } else {
            self.cfs_preempts(w, q, se, pse)
        }
    }

    /// `find_matching_se`: the entities above two tasks of one CPU that are on the same queue.
    fn find_matching_se(&self, a: EntityId, b: EntityId, cpu: Cpu) -> (EntityId, EntityId) {
        let (mut a, mut b) = (a, b);
        loop {
            let (qa, qb) = (self.queue_of(a, cpu), self.queue_of(b, cpu));
            if qa == qb {
                return (a, b);
            }
            let (da, db) = (self.depth_of(qa), self.depth_of(qb));
            if da >= db {
                a = self.parent(qa).unwrap_or(a);
            }
            if db >= da {
                b = self.parent(qb).unwrap_or(b);
            }
        }
    }

    /// `migrate_task_rq_fair` of a waking task: what it leaves behind is taken off its old queue later.
    pub(in crate::fair) fn migrate_task_rq(&mut self, w: &World, task: TaskId) {
        let q = self.task_cfs_rq(w, task);
        self.remove_entity_load_avg(q, task);
        let min_vruntime = self.queues[q.index()].min_vruntime;
        let entity = &mut self.entities[task.index()];
        if !self.rules.eevdf {
            entity.vruntime = entity.vruntime.wrapping_sub(min_vruntime);
        }
        entity.exec_start_ns = 0;
    }

    /// `__setscheduler_params` of a task of this class: an idle one has a weight of its own.
    pub(in crate::fair) fn set_fair_policy(&mut self, w: &mut World, task: TaskId, policy: Policy) {
        let idle = policy == Policy::Idle;
        let weight = match idle {
            true => weight::IDLE_WEIGHT,
            false => weight::of_nice(w.tasks[task.index()].nice),
        };
        let cpu = w.tasks[task.index()].cpu;
        self.any_idle |= idle && self.rules.sched_idle;
        let entity = &mut self.entities[task.index()];
        let was = std::mem::replace(&mut entity.idle, idle);
        entity.batch = policy == Policy::Batch;
        if entity.on_rq && was != idle {
            self.recount_idle(task.into(), cpu);
        }
        self.reweight_entity(w, self.task_cfs_rq(w, task), task.into(), scale_load(weight));
    }

    /// A queued task became idle, or no longer is: it counts so up to the first idle group.
    fn recount_idle(&mut self, task: EntityId, cpu: Cpu) {
        let by = if self.entities[task].idle { 1 } else { -1 };
        let mut next = Some(task);
        while let Some(id) = next {
            let q = self.queue_of(id, cpu);
            let rq = &mut self.queues[q.index()];
            rq.h_nr_idle = rq.h_nr_idle.wrapping_add_signed(by);
            let throttled = rq.allowance.throttled;
            next = self.parent(q).filter(|&above| !throttled && !self.entities[above].idle);
        }
    }

    /// `sched_idle_cpu`: whether a CPU has tasks, and all of them count as `SCHED_IDLE` (5.4).
    pub(in crate::fair) fn sched_idle_cpu(&self, w: &World, cpu: Cpu) -> bool {
        let tasks = w.cpus[cpu as usize].nr_running;
        self.any_idle && tasks > 0 && tasks == self.queues[cpu as usize].h_nr_idle
    }

    /// `choose_idle_cpu`: whether a woken task finds `cpu` as good as idle.
    #[inline]
    pub(in crate::fair) fn choose_idle_cpu(&self, w: &World, cpu: Cpu) -> bool {
        w.idle_cpu(cpu) || self.sched_idle_cpu(w, cpu)
    }

    /// `reweight_task`: `nice` takes effect at once, also on a task that is queued.
    pub(in crate::fair) fn reweight_task(&mut self, w: &World, task: TaskId, nice: i8) {
        if !self.entities[task.index()].idle {
            let load = scale_load(weight::of_nice(nice));
            self.reweight_entity(w, self.task_cfs_rq(w, task), task.into(), load);
        }
    }
}
