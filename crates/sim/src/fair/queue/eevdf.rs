//! EEVDF, from 6.6: the eligible task with the earliest virtual deadline runs.
//!
//! A task is eligible while it has had no more than its share: its virtual runtime is not past the weighted average
//! `V` of those queued. Its deadline is a slice of virtual time after its virtual runtime.

use super::cfs_rq::{CfsRq, VirtualTime};
use super::entity::Entity;
use super::ids::{Entities, EntityId, QueueId};
use crate::fair::Fair;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

impl VirtualTime {
    fn key(self, entity: &Entity) -> i64 {
        entity.vruntime.wrapping_sub(self.zero) as i64
    }

    /// `avg_vruntime_add`.
    pub(in crate::fair) fn add(&mut self, entity: &Entity) {
        self.weighted += self.key(entity) * entity.weight as i64;
        self.load += entity.weight as i64;
    }

    /// `avg_vruntime_sub`.
    pub(in crate::fair) fn sub(&mut self, entity: &Entity) {
        self.weighted -= self.key(entity) * entity.weight as i64;
        self.load -= entity.weight as i64;
    }

    /// The same with a running task.
    #[inline]
    fn with(mut self, curr: Option<&Entity>) -> VirtualTime {
        if let Some(entity) = curr {
            self.add(entity);
        }
        self
    }

    /// `V` with the running entity, rounded so that one at it is eligible. Virtual runtimes are compared with it from now on.
    #[inline]
    fn average(&mut self, curr: Option<&Entity>) -> u64 {
        let all = self.with(curr);
        if all.load > 0 {
            self.shift(all.weighted.div_euclid(all.load));
        }
        self.zero
    }

    /// Moves what virtual runtimes are compared with.
    fn shift(&mut self, by: i64) {
        self.weighted -= self.load * by;
        self.zero = self.zero.wrapping_add_signed(by);
    }
}

/// The entity of `rq` that runs, unless it is about to sleep.
#[inline]
fn running<'a>(entities: &'a Entities, rq: &CfsRq) -> Option<&'a Entity> {
    rq.curr.map(|c| &entities[c]).filter(|e| e.on_rq)
}

impl Fair {
    /// `avg_vruntime`: `V`, rounded so that a task at it is eligible.
    #[inline]
    pub(super) fn avg_vruntime(&mut self, q: QueueId) -> u64 {
        let rq = &mut self.queues[q.index()];
        let running = running(&self.entities, rq);
        rq.virtual_time.average(running)
    }

    /// `entity_eligible`.
    fn entity_eligible(&self, q: QueueId, id: EntityId) -> bool {
        let rq = &self.queues[q.index()];
        let all = rq.virtual_time.with(running(&self.entities, rq));
        all.weighted >= all.key(&self.entities[id]) * all.load
    }

    /// `update_deadline`: a new request when the last one is used up; whether it is.
    #[inline]
    pub(super) fn update_deadline(&mut self, q: QueueId, id: EntityId) -> bool {
        let entity = &self.entities[id];
        let used_up = entity.vruntime.wrapping_sub(entity.deadline) as i64 >= 0;
        if used_up {
            self.renew_request(q, id);
        }
        used_up
    }

    #[inline(never)]
    fn renew_request(&mut self, q: QueueId, id: EntityId) {
        let entity = &mut self.entities[id];
        if !entity.custom_slice {
            entity.slice_ns = self.tunables.base_slice_ns;
        }
        entity.deadline = entity.vruntime.wrapping_add(entity.virtual_ns(entity.slice_ns));
        self.avg_vruntime(q);
    }

    /// `place_entity`: at `V` less the lag it left with, which is inflated so that it is the same once the task
    /// itself counts in `V`.
    pub(super) fn eevdf_place(&mut self, q: QueueId, id: EntityId, new: bool) {
        let rq = &mut self.queues[q.index()];
        let running = running(&self.entities, rq);
        let load = rq.virtual_time.with(running).load;
        let keeps_lag = self.rules.place_lag && rq.nr_queued > 0 && load > 0;
        let average = rq.virtual_time.average(running);
        let half = self.rules.place_deadline_initial && new;
        let entity = &mut self.entities[id];
        if !entity.custom_slice {
            entity.slice_ns = self.tunables.base_slice_ns;
        }
        let lag = if keeps_lag { entity.vlag * (load + entity.weight as i64) / load } else { 0 };
        entity.vruntime = average.wrapping_add_signed(-lag);
        if std::mem::take(&mut entity.rel_deadline) {
            entity.deadline = entity.deadline.wrapping_add(entity.vruntime);
            return;
        }
        let slice = entity.virtual_ns(entity.slice_ns);
        entity.deadline = entity.vruntime.wrapping_add(if half { slice / 2 } else { slice });
    }

    /// `update_entity_lag`, and the deadline of a task that moves (`PLACE_REL_DEADLINE`).
    pub(super) fn eevdf_leave(&mut self, w: &World, q: QueueId, id: EntityId, sleeps: bool) {
        self.update_entity_lag(w, q, id);
        if self.rules.place_rel_deadline && !sleeps {
            let entity = &mut self.entities[id];
            entity.deadline = entity.deadline.wrapping_sub(entity.vruntime);
            entity.rel_deadline = true;
        }
    }

    #[inline]
    fn update_entity_lag(&mut self, w: &World, q: QueueId, id: EntityId) {
        let average = self.avg_vruntime(q);
        let entity = &mut self.entities[id];
        let limit = entity.virtual_ns((2 * entity.slice_ns).max(w.tick_period_ns)) as i64;
        entity.vlag = (average.wrapping_sub(entity.vruntime) as i64).clamp(-limit, limit);
    }

    fn protect_slice(&self, id: EntityId) -> bool {
        let entity = &self.entities[id];
        self.rules.run_to_parity && entity.protected == entity.deadline
    }

    /// `pick_eevdf`; `curr` is the task that runs or ran until now, whether or not it is back among the waiting.
    #[inline]
    pub(in crate::fair) fn pick_eevdf(
        &self,
        q: QueueId,
        curr: Option<EntityId>,
    ) -> Option<EntityId> {
        let rq = &self.queues[q.index()];
        let curr = curr.filter(|&c| self.entities[c].on_rq);
        if rq.nr_queued <= 1 {
            return curr.or(rq.leftmost().map(|(_, id)| id));
        }
        self.pick_of_several(rq, q, curr)
    }

    fn pick_of_several(&self, rq: &CfsRq, q: QueueId, curr: Option<EntityId>) -> Option<EntityId> {
        let curr = curr.filter(|&c| self.entity_eligible(q, c));
        if let Some(curr) = curr.filter(|&c| self.protect_slice(c)) {
            return Some(curr);
        }
        let waiting = rq.waiting().iter().rev();
        let best = waiting.copied().find(|&(_, id)| self.entity_eligible(q, id));
        let Some((deadline, best)) = best else { return curr };
        match curr {
            Some(c) if (self.entities[c].deadline.wrapping_sub(deadline) as i64) < 0 => Some(c),
            _ => Some(best),
        }
    }

    /// `pick_next_entity`: a group's entity whose task sleeps within its turn goes on (`PICK_BUDDY`, 6.12).
    pub(super) fn pick_next_eevdf(&self, q: QueueId, curr: Option<EntityId>) -> Option<EntityId> {
        let buddy = self.queues[q.index()].next.filter(|_| self.rules.pick_buddy);
        buddy.filter(|&id| self.entity_eligible(q, id)).or_else(|| self.pick_eevdf(q, curr))
    }

    /// `cancel_protect_slice`.
    pub(super) fn cancel_protect_slice(&mut self, id: EntityId) {
        let entity = &mut self.entities[id];
        entity.protected = entity.deadline.wrapping_add(1);
    }

    /// `check_preempt_wakeup_fair`: the woken task is the one to pick now. One with a shorter slice ends the
    /// protection of the running one's (`PREEMPT_SHORT`).
    pub(super) fn eevdf_preempts(&mut self, q: QueueId, curr: EntityId, woken: EntityId) -> bool {
        if self.do_preempt_short(q, curr, woken) {
            self.cancel_protect_slice(curr);
        }
        self.pick_eevdf(q, Some(curr)) == Some(woken)
    }

    fn do_preempt_short(&self, q: QueueId, curr: EntityId, woken: EntityId) -> bool {
        let (c, p) = (&self.entities[curr], &self.entities[woken]);
        if !self.rules.preempt_short || p.slice_ns >= c.slice_ns || !self.entity_eligible(q, woken)
        {
            return false;
        }
        (p.deadline.wrapping_sub(c.deadline) as i64) < 0 || !self.entity_eligible(q, curr)
    }

    /// `did_preempt_short`: a running task that lost its protection goes once its lag is used up.
    pub(super) fn did_preempt_short(&self, q: QueueId, curr: EntityId) -> bool {
        self.rules.preempt_short && !self.protect_slice(curr) && !self.entity_eligible(q, curr)
    }

    /// Whether a task that goes to sleep stays queued until its lag is used up (`DELAY_DEQUEUE`).
    pub(super) fn delays(&self, q: QueueId, id: EntityId) -> bool {
        self.rules.eevdf && self.rules.delay_dequeue && !self.entity_eligible(q, id)
    }

    /// `finish_delayed_dequeue_entity`: a delayed entity has left.
    pub(super) fn finish_delayed_dequeue_entity(&mut self, id: EntityId) {
        let entity = &mut self.entities[id];
        entity.delayed = false;
        if self.rules.delay_zero {
            entity.vlag = entity.vlag.min(0);
        }
    }

    /// Whether a task that is woken has not left its queue yet; it is just there again then.
    pub(in crate::fair) fn requeue_delayed(&mut self, w: &mut World, task: TaskId) -> bool {
        if !self.entities[task.index()].delayed {
            return false;
        }
        let cpu = w.tasks[task.index()].cpu;
        self.util_est_enqueue(cpu, task);
        self.requeue_delayed_entity(w, self.queue_of(task.into(), cpu), task.into());
        true
    }

    /// `requeue_delayed_entity`.
    pub(super) fn requeue_delayed_entity(&mut self, w: &World, q: QueueId, id: EntityId) {
        if self.rules.delay_zero {
            self.update_curr(w, q);
            self.update_entity_lag(w, q, id);
            if self.entities[id].vlag > 0 {
                self.replace_without_lag(q, id);
            }
        }
        self.update_load_avg(w, q, id);
        self.clear_delayed(q, id);
    }

    fn replace_without_lag(&mut self, q: QueueId, id: EntityId) {
        let waits = self.queues[q.index()].curr != Some(id);
        if waits {
            self.take_from_order(q, id);
        }
        self.queues[q.index()].nr_queued -= 1;
        self.entities[id].vlag = 0;
        self.eevdf_place(q, id, false);
        self.queues[q.index()].nr_queued += 1;
        if waits {
            self.put_in_order(q, id);
        }
    }

    /// `reweight_eevdf`: lag and what is left to the deadline keep their real size under the new load; the entity
    /// is not in order meanwhile.
    pub(super) fn eevdf_reweight(&mut self, q: QueueId, id: EntityId, load: u64) {
        let queued = self.entities[id].on_rq;
        let rq = &self.queues[q.index()];
        let waits = queued && rq.curr != Some(id);
        let entity = &self.entities[id];
        let scaled = |v: i64| scaled(v, entity.load, load);
        if !queued {
            let vlag = scaled(entity.vlag);
            self.entities[id].vlag = vlag;
            return;
        }
        // V with this task, which is out of order if it waits.
        let all =
            rq.virtual_time.with(running(&self.entities, rq)).with(Some(entity).filter(|_| waits));
        let average = all.zero.wrapping_add_signed(all.weighted.div_euclid(all.load.max(1)));
        let lag = scaled(average.wrapping_sub(entity.vruntime) as i64);
        let left = scaled(entity.deadline.wrapping_sub(average) as i64);
        let entity = &mut self.entities[id];
        entity.vruntime = average.wrapping_add_signed(-lag);
        entity.deadline = average.wrapping_add_signed(left);
    }

    /// `yield_task_fair`: an eligible task gives up the rest of its request.
    pub(in crate::fair) fn eevdf_yield(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        if self.queues[cpu as usize].h_nr_queued <= 1 {
            return;
        }
        let (id, q) = (EntityId::from(task), self.queue_of(task.into(), cpu));
        self.update_curr(w, q);
        if self.entity_eligible(q, id) {
            let entity = &mut self.entities[id];
            entity.vruntime = entity.deadline;
            self.update_deadline(q, id);
        }
    }

    /// `sched_attr.sched_runtime` of a fair task (6.12): its own slice; 0 for the default one.
    pub(in crate::fair) fn give_slice(&mut self, task: TaskId, slice_ns: u64) {
        let entity = &mut self.entities[task.index()];
        entity.custom_slice = slice_ns > 0;
        entity.slice_ns = if slice_ns > 0 {
            slice_ns.clamp(100_000, 100_000_000)
        } else {
            self.tunables.base_slice_ns
        };
    }
}

/// `value` times `from` by `to`, by way of 128 bits only where the product needs them.
fn scaled(value: i64, from: u64, to: u64) -> i64 {
    match value.checked_mul(from as i64) {
        Some(product) => product / to as i64,
        None => (i128::from(value) * i128::from(from) / i128::from(to)) as i64,
    }
}
