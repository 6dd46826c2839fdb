//! EEVDF, from 6.6: the eligible task with the earliest virtual deadline runs.
//!
//! A task is eligible while it has had no more than its share: its virtual runtime is not past the weighted average
//! `V` of those queued. Its deadline is a slice of virtual time after its virtual runtime.

use super::entity::Entity;
use super::rq::{RunQueue, VirtualTime};
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
    fn with(mut self, curr: Option<&Entity>) -> VirtualTime {
        if let Some(entity) = curr {
            self.add(entity);
        }
        self
    }

    /// Moves what virtual runtimes are compared with.
    fn shift(&mut self, by: i64) {
        self.weighted -= self.load * by;
        self.zero = self.zero.wrapping_add_signed(by);
    }
}

impl Fair {
    fn running(&self, rq: &RunQueue) -> Option<&Entity> {
        rq.curr.map(|c| &self.entities[c.index()]).filter(|e| e.on_rq)
    }

    /// `avg_vruntime`: `V`, rounded so that a task at it is eligible.
    pub(super) fn avg_vruntime(&mut self, cpu: Cpu) -> u64 {
        let rq = &self.queues[cpu as usize];
        let all = rq.virtual_time.with(self.running(rq));
        let by = if all.load > 0 { all.weighted.div_euclid(all.load) } else { 0 };
        let time = &mut self.queues[cpu as usize].virtual_time;
        time.shift(by);
        time.zero
    }

    /// `entity_eligible`.
    fn entity_eligible(&self, cpu: Cpu, task: TaskId) -> bool {
        let rq = &self.queues[cpu as usize];
        let all = rq.virtual_time.with(self.running(rq));
        all.weighted >= all.key(&self.entities[task.index()]) * all.load
    }

    /// `update_deadline`: a new request when the last one is used up; whether it is.
    pub(super) fn update_deadline(&mut self, cpu: Cpu, task: TaskId) -> bool {
        let entity = &mut self.entities[task.index()];
        if (entity.vruntime.wrapping_sub(entity.deadline) as i64) < 0 {
            return false;
        }
        if !entity.custom_slice {
            entity.slice_ns = self.tunables.base_slice_ns;
        }
        entity.deadline = entity.vruntime.wrapping_add(entity.virtual_ns(entity.slice_ns));
        self.avg_vruntime(cpu);
        true
    }

    /// `place_entity`: at `V` less the lag it left with, which is inflated so that it is the same once the task
    /// itself counts in `V`.
    pub(super) fn eevdf_place(&mut self, _w: &World, cpu: Cpu, task: TaskId, new: bool) {
        let average = self.avg_vruntime(cpu);
        let rq = &self.queues[cpu as usize];
        let load = rq.virtual_time.with(self.running(rq)).load;
        let keeps_lag = self.rules.place_lag && rq.nr_queued > 0 && load > 0;
        let half = self.rules.place_deadline_initial && new;
        let entity = &mut self.entities[task.index()];
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
    pub(super) fn eevdf_leave(&mut self, w: &World, cpu: Cpu, task: TaskId, sleeps: bool) {
        self.update_entity_lag(w, cpu, task);
        if self.rules.place_rel_deadline && !sleeps {
            let entity = &mut self.entities[task.index()];
            entity.deadline = entity.deadline.wrapping_sub(entity.vruntime);
            entity.rel_deadline = true;
        }
    }

    fn update_entity_lag(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        let average = self.avg_vruntime(cpu);
        let entity = &mut self.entities[task.index()];
        let limit = entity.virtual_ns((2 * entity.slice_ns).max(w.tick_period_ns)) as i64;
        entity.vlag = (average.wrapping_sub(entity.vruntime) as i64).clamp(-limit, limit);
    }

    fn protect_slice(&self, task: TaskId) -> bool {
        let entity = &self.entities[task.index()];
        self.rules.run_to_parity && entity.protected == entity.deadline
    }

    /// `pick_eevdf`; `curr` is the task that runs or ran until now, whether or not it is back among the waiting.
    pub(in crate::fair) fn pick_eevdf(&self, cpu: Cpu, curr: Option<TaskId>) -> Option<TaskId> {
        let rq = &self.queues[cpu as usize];
        let curr = curr.filter(|c| self.entities[c.index()].on_rq);
        if rq.nr_queued <= 1 {
            return curr.or(rq.leftmost().map(|(_, task)| task));
        }
        let curr = curr.filter(|&c| self.entity_eligible(cpu, c));
        if let Some(curr) = curr.filter(|&c| self.protect_slice(c)) {
            return Some(curr);
        }
        let waiting = rq.waiting().iter().rev();
        let best = waiting.copied().find(|&(_, task)| self.entity_eligible(cpu, task));
        let Some((deadline, best)) = best else { return curr };
        match curr {
            Some(c) if (self.entities[c.index()].deadline.wrapping_sub(deadline) as i64) < 0 => {
                Some(c)
            }
            _ => Some(best),
        }
    }

    /// `check_preempt_wakeup_fair`: the woken task is the one to pick now. One with a shorter slice ends the
    /// protection of the running one's (`PREEMPT_SHORT`).
    pub(super) fn eevdf_preempts(&mut self, cpu: Cpu, curr: TaskId, woken: TaskId) -> bool {
        if self.do_preempt_short(cpu, curr, woken) {
            let entity = &mut self.entities[curr.index()];
            entity.protected = entity.deadline.wrapping_add(1);
        }
        self.pick_eevdf(cpu, Some(curr)) == Some(woken)
    }

    fn do_preempt_short(&self, cpu: Cpu, curr: TaskId, woken: TaskId) -> bool {
        let (c, p) = (&self.entities[curr.index()], &self.entities[woken.index()]);
        if !self.rules.preempt_short
            || p.slice_ns >= c.slice_ns
            || !self.entity_eligible(cpu, woken)
        {
            return false;
        }
        (p.deadline.wrapping_sub(c.deadline) as i64) < 0 || !self.entity_eligible(cpu, curr)
    }

    /// `did_preempt_short`: a running task that lost its protection goes once its lag is used up.
    pub(super) fn did_preempt_short(&self, cpu: Cpu, curr: TaskId) -> bool {
        self.rules.preempt_short && !self.protect_slice(curr) && !self.entity_eligible(cpu, curr)
    }

    /// Whether a task that goes to sleep stays queued until its lag is used up (`DELAY_DEQUEUE`).
    pub(super) fn delays(&self, cpu: Cpu, task: TaskId) -> bool {
        self.rules.eevdf && self.rules.delay_dequeue && !self.entity_eligible(cpu, task)
    }

    /// A delayed task's turn has come: it leaves (`finish_delayed_dequeue_entity`).
    pub(super) fn finish_delayed_dequeue(&mut self, w: &mut World, cpu: Cpu, task: TaskId) {
        self.sub_nr_running(w, cpu);
        self.queues[cpu as usize].nr_delayed -= 1;
        self.dequeue_entity(w, cpu, task, true);
        let entity = &mut self.entities[task.index()];
        entity.delayed = false;
        if self.rules.delay_zero {
            entity.vlag = entity.vlag.min(0);
        }
    }

    /// `requeue_delayed_entity`: a task woken while its departure was delayed is just there again.
    pub(in crate::fair) fn requeue_delayed(&mut self, w: &mut World, task: TaskId) -> bool {
        if !self.entities[task.index()].delayed {
            return false;
        }
        let cpu = w.tasks[task.index()].cpu;
        self.util_est_enqueue(cpu, task);
        if self.rules.delay_zero {
            self.update_curr(w, cpu);
            self.update_entity_lag(w, cpu, task);
            if self.entities[task.index()].vlag > 0 {
                self.replace_without_lag(w, cpu, task);
            }
        }
        self.update_load_avg(w, cpu, Some(task));
        self.entities[task.index()].delayed = false;
        self.queues[cpu as usize].nr_delayed -= 1;
        true
    }

    fn replace_without_lag(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        let waits = self.queues[cpu as usize].curr != Some(task);
        if waits {
            self.take_from_order(cpu, task);
        }
        self.queues[cpu as usize].nr_queued -= 1;
        self.entities[task.index()].vlag = 0;
        self.eevdf_place(w, cpu, task, false);
        self.queues[cpu as usize].nr_queued += 1;
        if waits {
            self.put_in_order(cpu, task);
        }
    }

    /// `reweight_eevdf`: lag and what is left to the deadline keep their real size under the new weight; the task
    /// is not in order meanwhile.
    pub(super) fn eevdf_reweight(&mut self, cpu: Cpu, task: TaskId, weight: u64) {
        let queued = self.entities[task.index()].on_rq;
        let rq = &self.queues[cpu as usize];
        let waits = queued && rq.curr != Some(task);
        let entity = &self.entities[task.index()];
        let scaled = |v: i64| v * entity.weight as i64 / weight as i64;
        if !queued {
            let vlag = scaled(entity.vlag);
            self.entities[task.index()].vlag = vlag;
            return;
        }
        // V with this task, which is out of order if it waits.
        let all = rq.virtual_time.with(self.running(rq)).with(Some(entity).filter(|_| waits));
        let average = all.zero.wrapping_add_signed(all.weighted.div_euclid(all.load.max(1)));
        let lag = scaled(average.wrapping_sub(entity.vruntime) as i64);
        let left = scaled(entity.deadline.wrapping_sub(average) as i64);
        let entity = &mut self.entities[task.index()];
        entity.vruntime = average.wrapping_add_signed(-lag);
        entity.deadline = average.wrapping_add_signed(left);
    }

    /// `yield_task_fair`: an eligible task gives up the rest of its request.
    pub(in crate::fair) fn eevdf_yield(&mut self, w: &World, cpu: Cpu, task: TaskId) {
        if self.queues[cpu as usize].nr_queued <= 1 {
            return;
        }
        self.update_curr(w, cpu);
        if self.entity_eligible(cpu, task) {
            let entity = &mut self.entities[task.index()];
            entity.vruntime = entity.deadline;
            self.update_deadline(cpu, task);
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
