//! Entities on a queue: what CFS and EEVDF have in common.
//!
//! [`Entity`] is what the class knows of a task or of a group on one CPU. The functions here are about one queue; `hierarchy`
//! calls them for each queue from a task's own up to that of its CPU. Enqueue, dequeue, put and tick first charge the
//! running entity for its time (`update_curr`), then bring load averages up to date (`update_load_avg`). Only then weight
//! and order change, as averages are to see what held until now. Where CFS and EEVDF differ, `cfs` or `eevdf` is asked.
//!
//! The running entity is not in order, but counts in the queue's weight and number; `put_prev_entity` puts it back. With
//! EEVDF an entity that goes to sleep may stay queued (`delayed`) until it is picked. Averages and estimates change
//! through `track`, but for the first load of a forked task. The task's state and CPU are the engine's and only read here.

use super::ids::{EntityId, QueueId};
use super::weight::{self, NICE_0_WEIGHT, scale_load, scale_load_down};
use crate::class::Enqueue;
use crate::fair::Fair;
use crate::fair::track::util_est::UtilEst;
use crate::pelt::Pelt;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

/// What the class knows of a task or of a group on one CPU (`sched_entity`, and the wake-up fields of `task_struct`).
#[derive(Debug, Clone, Default)]
pub(in crate::fair) struct Entity {
    /// 1024 for nice 0 (`scale_load_down(load.weight)`).
    pub(in crate::fair) weight: u64,
    /// The same in finer units, in which a group's share on a CPU is (`load.weight`).
    pub(super) load: u64,
    /// The group that it is in, from 1 on; 0 for none.
    pub(in crate::fair) group: u32,
    /// `SCHED_IDLE`, or a group with `cpu.idle` (`se_is_idle`).
    pub(in crate::fair) idle: bool,
    /// `SCHED_BATCH`: it preempts nobody when it wakes.
    pub(in crate::fair) batch: bool,
    /// Absolute, on a queue or since it last was on one. With CFS relative to a queue's minimum while it moves, and
    /// before it first is on one.
    pub(super) vruntime: u64,
    pub(in crate::fair) exec_start_ns: u64,
    pub(in crate::fair) sum_exec_ns: u64,
    pub(super) prev_sum_exec_ns: u64,
    pub(in crate::fair) on_rq: bool,

    /// EEVDF: virtual deadline; relative to the virtual runtime while `rel_deadline`.
    pub(super) deadline: u64,
    pub(super) rel_deadline: bool,
    /// EEVDF: `V - vruntime` when it left its queue.
    pub(super) vlag: i64,
    pub(in crate::fair) slice_ns: u64,
    /// The slice is the task's own (`sched_attr.sched_runtime`), or the shortest of a group's.
    pub(super) custom_slice: bool,
    /// The deadline it had when it was picked; while it has that one its slice is protected.
    pub(super) protected: u64,
    /// Asleep, but on its queue until its lag is used up.
    pub(in crate::fair) delayed: bool,

    /// Whether its load counts in the averages of its queue.
    pub(in crate::fair) attached: bool,
    pub(in crate::fair) avg: Pelt,
    /// Tasks that can run in a group (`runnable_weight`).
    pub(in crate::fair) runnable: u64,
    pub(in crate::fair) util_est: UtilEst,

    pub(in crate::fair) wakee_flips: u32,
    pub(in crate::fair) wakee_flip_decay: u64,
    pub(in crate::fair) last_wakee: Option<TaskId>,
    pub(in crate::fair) recent_used_cpu: Cpu,
}

impl Entity {
    /// A group's on one CPU: it counts in averages from the start (`init_entity_runnable_average`).
    pub(in crate::fair) fn of_group(above: u32, idle: bool, slice_ns: u64) -> Entity {
        let load = scale_load(NICE_0_WEIGHT);
        Entity {
            weight: NICE_0_WEIGHT,
            load,
            group: above,
            idle,
            slice_ns,
            attached: true,
            ..Entity::default()
        }
    }

    /// By what entities are in order: virtual deadlines with EEVDF, else virtual runtimes.
    #[inline]
    pub(in crate::fair) fn key(&self, eevdf: bool) -> u64 {
        if eevdf { self.deadline } else { self.vruntime }
    }

    /// `update_load_set`.
    pub(super) fn set_load(&mut self, load: u64) {
        self.load = load;
        self.weight = scale_load_down(load);
    }

    /// `calc_delta_fair`: real time as this entity's virtual time.
    #[inline]
    pub(super) fn virtual_ns(&self, ns: u64) -> u64 {
        if self.weight == NICE_0_WEIGHT { ns } else { ns * NICE_0_WEIGHT / self.weight }
    }
}

/// How an entity leaves its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Leaving {
    /// It sleeps or ends; otherwise it moves to another queue (`DEQUEUE_SLEEP`).
    pub(super) sleeps: bool,
    /// It should have left before, and now does (`DEQUEUE_DELAYED`).
    pub(super) delayed: bool,
    /// It may not stay on the queue for its lag (`DEQUEUE_SPECIAL`).
    pub(super) at_once: bool,
}

impl Fair {
    /// `sched_fork`.
    pub(in crate::fair) fn task_fork(
        &mut self,
        w: &mut World,
        task: TaskId,
        parent: Option<TaskId>,
    ) {
        let cpu = w.tasks[task.index()].cpu;
        let inherited = parent.map(|p| &self.entities[p.index()]);
        let weight = match inherited.is_some_and(|p| p.idle) {
            true => weight::IDLE_WEIGHT,
            false => weight::of_nice(w.tasks[task.index()].nice),
        };
        let mut entity = Entity {
            weight,
            load: scale_load(weight),
            group: w.tasks[task.index()].group,
            idle: inherited.is_some_and(|p| p.idle),
            batch: inherited.is_some_and(|p| p.batch),
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
        self.entities.tasks.push(entity);
        if let Some(parent) = parent.filter(|_| !self.rules.eevdf) {
            self.cfs_fork(w, cpu, task, parent);
        }
    }

    /// `update_curr`: charges the running entity for its time; whether it has used up its request (EEVDF).
    #[inline(always)]
    pub(super) fn update_curr(&mut self, w: &World, q: QueueId) -> bool {
        let curr = self.queues[q.index()].curr;
        curr.is_some_and(|curr| self.charge(w, q, curr))
    }

    /// Charges `curr`, which runs on `q`.
    #[inline(never)]
    fn charge(&mut self, w: &World, q: QueueId, curr: EntityId) -> bool {
        let entity = &mut self.entities[curr];
        let ran_ns = w.now_ns.saturating_sub(entity.exec_start_ns);
        if ran_ns == 0 {
            return false;
        }
        entity.exec_start_ns = w.now_ns;
        entity.sum_exec_ns += ran_ns;
        entity.vruntime = entity.vruntime.wrapping_add(entity.virtual_ns(ran_ns));
        let mut used_up = false;
        if !self.rules.eevdf {
            self.update_min_vruntime(q);
        } else if self.update_deadline(q, curr) {
            used_up = true;
            let rq = &mut self.queues[q.index()];
            rq.used_up = true;
            if rq.next == Some(curr) {
                rq.next = None;
            }
        }
        if self.queues[q.index()].allowance.enabled {
            self.account_cfs_rq_runtime(w, q, ran_ns);
        }
        used_up
    }

    /// `__enqueue_entity`.
    #[inline]
    pub(in crate::fair) fn put_in_order(&mut self, q: QueueId, id: EntityId) {
        let (rq, entity) = (&mut self.queues[q.index()], &self.entities[id]);
        if self.rules.eevdf {
            rq.virtual_time.add(entity);
        }
        rq.insert(entity.key(self.rules.eevdf), id);
    }

    /// `__dequeue_entity`, if the entity is not the running one.
    #[inline]
    pub(super) fn take_from_order(&mut self, q: QueueId, id: EntityId) {
        let rq = &mut self.queues[q.index()];
        if rq.remove(id) && self.rules.eevdf {
            rq.virtual_time.sub(&self.entities[id]);
        }
    }

    /// `enqueue_entity`.
    pub(super) fn enqueue_entity(&mut self, w: &mut World, q: QueueId, id: EntityId, why: Enqueue) {
        self.update_curr(w, q);
        if !self.rules.eevdf {
            self.cfs_renormalise(q, id, why);
        }
        self.update_load_avg_and_group(w, q, id);
        if id.is_group() {
            self.se_update_runnable(id);
            self.update_cfs_group(w, q, id);
        } else {
            self.enqueue_runnable_load_avg(q, id);
        }
        if self.rules.eevdf {
            self.eevdf_place(q, id, why == Enqueue::New);
        } else if matches!(why, Enqueue::Wakeup { .. }) {
            self.cfs_place_sleeper(q, id);
        }
        if let (true, Some(task)) = (self.numa.is_some(), id.task()) {
            self.account_numa_enqueue(w, w.tasks[task.index()].cpu, task);
        }
        let entity = &mut self.entities[id];
        entity.on_rq = true;
        let rq = &mut self.queues[q.index()];
        rq.load += entity.load;
        rq.nr_queued += 1;
        // A group whose last task has just gone to sleep is still the running one.
        let (alone, runs) = (rq.nr_queued == 1, rq.curr == Some(id));
        if !runs {
            self.put_in_order(q, id);
        }
        if alone {
            self.check_enqueue_throttle(w, q);
        }
    }

    /// `dequeue_entity`; whether the entity has left. Otherwise its departure is delayed.
    pub(super) fn dequeue_entity(
        &mut self,
        w: &World,
        q: QueueId,
        id: EntityId,
        how: Leaving,
    ) -> bool {
        self.update_curr(w, q);
        if how.sleeps && !how.delayed && !how.at_once && self.delays(q, id) {
            self.queues[q.index()].clear_buddies(id);
            self.update_load_avg(w, q, id);
            self.set_delayed(q, id);
            return false;
        }
        self.queues[q.index()].clear_buddies(id);
        self.update_load_avg_and_group(w, q, id);
        match id.is_group() {
            true => self.se_update_runnable(id),
            false => self.dequeue_runnable_load_avg(q, id),
        }
        if self.rules.eevdf {
            self.eevdf_leave(w, q, id, how.sleeps);
        }
        if self.queues[q.index()].curr != Some(id) {
            self.take_from_order(q, id);
        }
        if let (true, Some(task)) = (self.numa.is_some(), id.task()) {
            self.account_numa_dequeue(w.tasks[task.index()].cpu, task);
        }
        let rq = &mut self.queues[q.index()];
        let entity = &mut self.entities[id];
        entity.on_rq = false;
        rq.load -= entity.load;
        rq.nr_queued -= 1;
        if rq.put == Some(id) {
            rq.put = None;
        }
        if !how.sleeps {
            if !self.rules.eevdf {
                entity.vruntime = entity.vruntime.wrapping_sub(rq.min_vruntime);
            }
            self.detach_entity_load_avg(q, id);
            self.update_tg_load_avg(w, q);
        }
        self.return_cfs_rq_runtime(w, q);
        if id.is_group() {
            self.update_cfs_group(w, q, id);
        }
        if how.delayed {
            self.finish_delayed_dequeue_entity(id);
        }
        if !self.rules.eevdf {
            self.update_min_vruntime(q);
        }
        true
    }

    /// `put_prev_entity`.
    pub(super) fn put_prev_entity(&mut self, w: &World, q: QueueId, id: EntityId) {
        let queued = self.entities[id].on_rq;
        if queued {
            self.update_curr(w, q);
            self.update_load_avg(w, q, id);
            self.put_in_order(q, id);
        }
        let rq = &mut self.queues[q.index()];
        rq.curr = None;
        rq.put = queued.then_some(id);
    }

    /// `set_next_entity`. An entity that runs on has its turn go on: the kernel neither puts it nor sets it.
    pub(super) fn set_next_entity(&mut self, w: &World, q: QueueId, id: EntityId) {
        self.update_load_avg_and_group(w, q, id);
        let goes_on = self.queues[q.index()].put == Some(id);
        self.queues[q.index()].clear_buddies(id);
        self.take_from_order(q, id);
        let rq = &mut self.queues[q.index()];
        rq.curr = Some(id);
        rq.used_up = false;
        let entity = &mut self.entities[id];
        entity.exec_start_ns = w.now_ns;
        if !goes_on {
            entity.prev_sum_exec_ns = entity.sum_exec_ns;
            entity.protected = entity.deadline;
        }
    }

    /// `entity_tick`; whether the running entity has had its turn.
    pub(super) fn entity_tick(&mut self, w: &World, q: QueueId, curr: EntityId) -> bool {
        let used_up = self.update_curr(w, q);
        self.update_load_avg_and_group(w, q, curr);
        if curr.is_group() {
            self.update_cfs_group(w, q, curr);
        }
        if self.rules.eevdf {
            return self.queues[q.index()].nr_queued > 1
                && (used_up || self.did_preempt_short(q, curr));
        }
        self.check_preempt_tick(q, curr)
    }

    /// `reweight_entity`: a new load takes effect at once, also on an entity that is queued.
    pub(super) fn reweight_entity(&mut self, w: &World, q: QueueId, id: EntityId, load: u64) {
        let queued = self.entities[id].on_rq;
        let waits = queued && self.queues[q.index()].curr != Some(id);
        if queued {
            self.update_curr(w, q);
        }
        if waits {
            self.take_from_order(q, id);
        }
        if self.rules.eevdf {
            self.eevdf_reweight(q, id, load);
        }
        self.reweight_load_avg(q, id, scale_load_down(load));
        let entity = &mut self.entities[id];
        if queued {
            let rq = &mut self.queues[q.index()];
            rq.load = rq.load - entity.load + load;
        }
        entity.set_load(load);
        if waits {
            self.put_in_order(q, id);
        }
    }
}
