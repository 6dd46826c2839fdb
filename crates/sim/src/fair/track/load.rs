//! Load averages of tasks and queues, and the `cpu_load` history that balancing before 5.3 compares.
//!
//! `update_load_avg` ages the task, takes off the queue what has left it, ages the queue, and attaches a task that
//! counts nowhere yet. A queued task that moves is detached at once. When a task wakes on another CPU or dies, its old
//! queue notes what to take off (`removed`) and does so at its next update. A new task gets a first utilisation before
//! it is attached (`post_init_entity_util_avg`). Up to 5.6 the runnable average of a queue is the load of what is
//! queued, so it changes at enqueue and dequeue as well; from 5.7 on it counts runnable tasks.
//!
//! `cpu_load`, `cpu_util` and the like, with a task's own share or without, answer placement and balancing from
//! averages as they stand. The sums and their decay are `crate::pelt`'s, time is the CPU's PELT clock. Every change of
//! a queue's averages is told to balancing's sums (`touch`), one that may change utilisation also to governors
//! (`util_changed`).

use crate::fair::Fair;
use crate::fair::queue::cfs_rq::CfsRq;
use crate::fair::queue::entity::Entity;
use crate::fair::queue::ids::{EntityId, QueueId};
use crate::fair::queue::rq::LOAD_INDICES;
use crate::fair::rules::Rules;
use crate::pelt::{LOAD_AVG_MAX, Pelt};
use crate::topology::Cpu;
use crate::world::{TaskId, World};

impl Fair {
    /// `update_load_avg`: ages an entity on this queue, then the queue; attaches a task that counts nowhere yet. Whether
    /// averages of the queue changed.
    pub(in crate::fair) fn update_load_avg(&mut self, w: &World, q: QueueId, id: EntityId) -> bool {
        let below = self.group_cfs_rq(id);
        let tells = below.is_some_and(|below| self.queues[below.index()].to_parent.propagate);
        let rq = &mut self.queues[q.index()];
        let entity = &mut self.entities[id];
        let now_ns = rq.clock_pelt_ns(w);
        let steady = rq.removed.nr == 0 && entity.attached && !tells;
        // Brought up to date less than a unit of time ago, as by the enqueueing of a task that runs at once.
        let just_now = |avg: &Pelt| now_ns.wrapping_sub(avg.last_update_ns) < Pelt::UNIT_NS;
        if steady && just_now(&rq.avg) && just_now(&entity.avg) {
            return false;
        }
        if entity.attached {
            let running = rq.curr == Some(id);
            let aged = entity.age(now_ns, running, below.is_some(), self.rules.runnable_load);
            if aged {
                entity.util_est.util_changed();
            }
        }
        let changed = rq.age(now_ns, &self.rules);
        if changed {
            self.touch_queue(q);
        }
        if steady { changed } else { self.propagate_or_attach(q, id) || changed }
    }

    /// The rare ends of an update: what a group's queue has to tell goes up, and a task that counts nowhere yet is attached.
    #[cold]
    fn propagate_or_attach(&mut self, q: QueueId, id: EntityId) -> bool {
        let told = self.propagate_entity_load_avg(q, id);
        let attaches = !self.entities[id].attached;
        if attaches {
            self.attach_entity_load_avg(q, id);
        }
        told || attaches
    }

    /// The same, and the group hears of it (`UPDATE_TG`).
    #[inline]
    pub(in crate::fair) fn update_load_avg_and_group(
        &mut self,
        w: &World,
        q: QueueId,
        id: EntityId,
    ) {
        if self.update_load_avg(w, q, id) {
            self.update_tg_load_avg(w, q);
        }
    }

    /// `update_cfs_rq_load_avg`: takes off what left, then ages the queue; whether its averages changed.
    pub(super) fn update_cfs_rq_load_avg(&mut self, w: &World, q: QueueId) -> bool {
        let rq = &mut self.queues[q.index()];
        let now_ns = rq.clock_pelt_ns(w);
        let changed = rq.age(now_ns, &self.rules);
        if changed {
            self.touch_queue(q);
        }
        changed
    }

    /// Averages of a queue changed, which is somebody else's business only if it is a CPU's.
    #[inline]
    pub(super) fn touch_queue(&mut self, q: QueueId) {
        let rq = &self.queues[q.index()];
        if rq.group == 0 {
            self.util_changed(rq.cpu);
        }
    }

    /// `cfs_rq_util_change`: balancing sums anew, and a governor may want to know.
    fn util_changed(&mut self, cpu: Cpu) {
        self.sums.touch(cpu);
        if self.util_watched {
            self.util_changes.push(cpu);
        }
    }

    /// `attach_entity_load_avg`.
    pub(super) fn attach_entity_load_avg(&mut self, q: QueueId, id: EntityId) {
        self.touch_queue(q);
        let rq = &mut self.queues[q.index()];
        let entity = &mut self.entities[id];
        entity.avg.last_update_ns = rq.avg.last_update_ns;
        entity.avg.period_contrib = rq.avg.period_contrib;
        let divider = rq.avg.divider();
        entity.avg.util_sum = entity.avg.util_avg * divider;
        entity.avg.load_sum = entity.avg.load_avg * divider / entity.weight;
        entity.attached = true;
        if self.rules.runnable_load {
            entity.avg.runnable_sum = entity.avg.load_sum;
        } else {
            entity.avg.runnable_sum = entity.avg.runnable_avg * divider;
            rq.avg.runnable_avg += entity.avg.runnable_avg;
            rq.avg.runnable_sum += entity.avg.runnable_sum;
        }
        rq.avg.load_avg += entity.avg.load_avg;
        rq.avg.load_sum += entity.weight * entity.avg.load_sum;
        rq.avg.util_avg += entity.avg.util_avg;
        rq.avg.util_sum += entity.avg.util_sum;
        let load_sum = entity.avg.load_sum;
        rq.add_tg_cfs_propagate(load_sum as i64);
    }

    /// `detach_entity_load_avg`.
    pub(in crate::fair) fn detach_entity_load_avg(&mut self, q: QueueId, id: EntityId) {
        self.touch_queue(q);
        let rq = &mut self.queues[q.index()];
        let entity = &mut self.entities[id];
        rq.avg.load_avg = rq.avg.load_avg.saturating_sub(entity.avg.load_avg);
        rq.avg.load_sum = rq.avg.load_sum.saturating_sub(entity.weight * entity.avg.load_sum);
        rq.avg.util_avg = rq.avg.util_avg.saturating_sub(entity.avg.util_avg);
        rq.avg.util_sum = rq.avg.util_sum.saturating_sub(entity.avg.util_sum);
        self.rules.bound_load_sum(&mut rq.avg);
        if !self.rules.runnable_load {
            let sub = |a: &mut u64, b: u64| *a = a.saturating_sub(b);
            sub(&mut rq.avg.runnable_avg, entity.avg.runnable_avg);
            sub(&mut rq.avg.runnable_sum, entity.avg.runnable_sum);
        }
        entity.attached = false;
        let load_sum = entity.avg.load_sum;
        rq.add_tg_cfs_propagate(-(load_sum as i64));
    }

    /// `remove_entity_load_avg`: a task that is not queued goes; its old queue learns of it at its next update.
    pub(in crate::fair) fn remove_entity_load_avg(&mut self, q: QueueId, task: TaskId) {
        let rq = &mut self.queues[q.index()];
        let entity = &mut self.entities[task.index()];
        if !entity.attached {
            return;
        }
        if entity.avg.update_sum(rq.avg.last_update_ns, 0, 0, false) {
            let runnable_weight = if self.rules.runnable_load { entity.weight } else { 1 };
            entity.avg.update_avg(entity.weight, runnable_weight);
        }
        rq.removed.nr += 1;
        rq.removed.load_avg += entity.avg.load_avg;
        rq.removed.util_avg += entity.avg.util_avg;
        if !self.rules.runnable_load {
            rq.removed.runnable_avg += entity.avg.runnable_avg;
        }
        entity.attached = false;
    }

    /// `enqueue_runnable_load_avg` (up to 5.6, which has no groups here): what is queued counts apart.
    pub(in crate::fair) fn enqueue_runnable_load_avg(&mut self, q: QueueId, id: EntityId) {
        if !self.rules.runnable_load {
            return;
        }
        self.sums.touch(self.queues[q.index()].cpu);
        let rq = &mut self.queues[q.index()];
        let entity = &self.entities[id];
        rq.avg.runnable_avg += entity.avg.runnable_avg;
        rq.avg.runnable_sum += entity.weight * entity.avg.runnable_sum;
    }

    /// `dequeue_runnable_load_avg` (up to 5.6).
    pub(in crate::fair) fn dequeue_runnable_load_avg(&mut self, q: QueueId, id: EntityId) {
        if !self.rules.runnable_load {
            return;
        }
        self.sums.touch(self.queues[q.index()].cpu);
        let rq = &mut self.queues[q.index()];
        let entity = &self.entities[id];
        rq.avg.runnable_avg = rq.avg.runnable_avg.saturating_sub(entity.avg.runnable_avg);
        rq.avg.runnable_sum =
            rq.avg.runnable_sum.saturating_sub(entity.weight * entity.avg.runnable_sum);
    }

    /// `post_init_entity_util_avg`: a new task starts with half of the utilisation that is left, or in
    /// proportion to its queue's.
    pub(in crate::fair) fn post_init_entity_util_avg(&mut self, w: &World, task: TaskId) {
        let q = self.task_cfs_rq(w, task);
        self.update_cfs_rq_load_avg(w, q);
        let queue = self.queues[q.index()].avg;
        let entity = &mut self.entities[task.index()];
        let cap = 1024u64.saturating_sub(queue.util_avg) / 2;
        if cap > 0 {
            entity.avg.util_avg = match queue.util_avg {
                0 => cap,
                util => (util * entity.weight / (queue.load_avg + 1)).min(cap),
            };
            entity.avg.util_sum = entity.avg.util_avg * LOAD_AVG_MAX;
        }
        if !self.rules.runnable_load {
            entity.avg.runnable_avg = entity.avg.util_avg;
        }
        self.attach_entity_load_avg(q, task.into());
        self.update_tg_load_avg(w, q);
    }

    /// `update_blocked_averages`: brings the queues of a CPU up to date before it is compared, those of groups first; whether
    /// load is left on one.
    pub(in crate::fair) fn update_blocked_averages(&mut self, w: &World, cpu: Cpu) -> bool {
        let mut blocked = false;
        for group in (1..self.groups.len()).rev() {
            let q = QueueId::of_group(group, cpu, self.rqs.len());
            blocked |= self.update_blocked_group(w, q);
        }
        self.update_cfs_rq_load_avg(w, QueueId::root(cpu));
        let avg = &self.queues[cpu as usize].avg;
        blocked |= avg.load_avg > 0 || avg.util_avg > 0;
        self.nohz.has_blocked_load[cpu as usize] = blocked;
        blocked
    }

    /// One group's queue in `__update_blocked_fair`; whether load is left on it.
    fn update_blocked_group(&mut self, w: &World, q: QueueId) -> bool {
        let rq = &self.queues[q.index()];
        let decayed = rq.load == 0 && rq.avg.load_sum == 0 && rq.avg.util_sum == 0;
        if decayed && rq.removed.nr == 0 && !rq.to_parent.propagate && rq.to_parent.contributed == 0
        {
            return false;
        }
        if self.update_cfs_rq_load_avg(w, q) {
            self.update_tg_load_avg(w, q);
        }
        if let Some(above) = self.parent(q) {
            // `skip_blocked_update`.
            let own = &self.entities[above].avg;
            let skips = own.load_avg == 0 && own.util_avg == 0;
            if !skips || self.queues[q.index()].to_parent.propagate {
                let cpu = self.queues[q.index()].cpu;
                self.update_load_avg_and_group(w, self.queue_of(above, cpu), above);
            }
        }
        let avg = &self.queues[q.index()].avg;
        avg.load_avg > 0 || avg.util_avg > 0
    }

    /// `cpu_load`: the queue's load average; up to 5.6 that of what is queued (`cpu_runnable_load`).
    pub(in crate::fair) fn cpu_load(&self, cpu: Cpu) -> u64 {
        let avg = &self.queues[cpu as usize].avg;
        if self.rules.runnable_load { avg.runnable_avg } else { avg.load_avg }
    }

    /// `cpu_runnable`: the average number of runnable tasks x 1024 (5.7).
    pub(in crate::fair) fn cpu_runnable(&self, cpu: Cpu) -> u64 {
        self.queues[cpu as usize].avg.runnable_avg
    }

    /// `weighted_cpuload`: load of what is queued.
    pub(super) fn weighted_cpuload(&self, cpu: Cpu) -> u64 {
        self.queues[cpu as usize].avg.runnable_avg
    }

    /// `source_load`: a low guess of a CPU's load, so that tasks stay.
    pub(in crate::fair) fn source_load(&self, cpu: Cpu, index: usize) -> u64 {
        let now = self.weighted_cpuload(cpu);
        if index == 0 { now } else { now.min(self.rqs[cpu as usize].cpu_load[index - 1]) }
    }

    /// `target_load`: a high guess of a CPU's load, so that tasks stay away.
    pub(in crate::fair) fn target_load(&self, cpu: Cpu, index: usize) -> u64 {
        let now = self.weighted_cpuload(cpu);
        if index == 0 { now } else { now.max(self.rqs[cpu as usize].cpu_load[index - 1]) }
    }

    /// `update_cfs_rq_h_load`: what the load of a queue is worth to its CPU, kept for the rest of the tick.
    pub(in crate::fair) fn update_h_load(&mut self, w: &World, q: QueueId) {
        let mut at = Some(q);
        while let Some(q) = at {
            let h_load = self.h_load(w, q);
            let rq = &mut self.queues[q.index()];
            (rq.h_load_tick, rq.h_load) = (w.jiffies(), h_load);
            let cpu = rq.cpu;
            at = self.parent(q).map(|above| self.queue_of(above, cpu));
        }
    }

    /// The load of a queue as its CPU has it: its share of the load of the queue above, and so on up.
    fn h_load(&self, w: &World, q: QueueId) -> u64 {
        let rq = &self.queues[q.index()];
        if rq.h_load_tick == w.jiffies() {
            return rq.h_load;
        }
        let Some(id) = self.parent(q) else { return rq.avg.load_avg };
        let above = self.queue_of(id, rq.cpu);
        let load = self.h_load(w, above) * self.entities[id].avg.load_avg;
        load / (self.queues[above.index()].avg.load_avg + 1)
    }

    /// `task_h_load`: a task's load, scaled by what its queue's load was at this tick's first question and is now. In a tick in
    /// which many tasks join a queue, each counts for little.
    pub(in crate::fair) fn task_h_load(&self, w: &World, task: TaskId) -> u64 {
        let q = self.task_cfs_rq(w, task);
        let load = self.entities[task.index()].avg.load_avg;
        load * self.h_load(w, q) / (self.queues[q.index()].avg.load_avg + 1)
    }

    /// `cpu_util`: utilisation or its estimate, at most the CPU's capacity.
    pub(in crate::fair) fn cpu_util(&self, w: &World, cpu: Cpu) -> u64 {
        let rq = &self.queues[cpu as usize];
        rq.avg.util_avg.max(rq.util_est).min(w.topo.capacity[cpu as usize])
    }

    /// `cpu_util_cfs_boost`: at least the runnable average, so that tasks that wait count (6.5); before that [`Fair::cpu_util`].
    pub(in crate::fair) fn boosted_util(&self, w: &World, cpu: Cpu) -> u64 {
        let runnable = if self.rules.runnable_boost { self.cpu_runnable(cpu) } else { 0 };
        self.cpu_util(w, cpu).max(runnable).min(w.topo.capacity[cpu as usize])
    }

    /// `cpu_avg_load_per_task`.
    pub(in crate::fair) fn cpu_avg_load_per_task(&self, w: &World, cpu: Cpu) -> u64 {
        let nr = u64::from(w.cpus[cpu as usize].nr_running);
        self.weighted_cpuload(cpu).checked_div(nr).unwrap_or(0)
    }

    /// `cpu_load_update_active`: one tick, after as many idle ones as were missed.
    pub(in crate::fair) fn cpu_load_update_active(&mut self, w: &World, cpu: Cpu) {
        let load = self.weighted_cpuload(cpu);
        self.cpu_load_update(w, cpu, load);
    }

    /// `cpu_load_update_idle`: an idle CPU's history, by whoever balances for it.
    pub(in crate::fair) fn cpu_load_update_idle(&mut self, w: &World, cpu: Cpu) {
        if self.weighted_cpuload(cpu) == 0 {
            self.cpu_load_update(w, cpu, 0);
        }
    }

    fn cpu_load_update(&mut self, w: &World, cpu: Cpu, load: u64) {
        let jiffies = w.jiffies();
        let rq = &mut self.rqs[cpu as usize];
        let pending = jiffies.saturating_sub(rq.last_load_update);
        if pending == 0 {
            return;
        }
        rq.last_load_update = jiffies;
        rq.cpu_load[0] = load;
        for i in 1..LOAD_INDICES {
            let scale = 1u64 << i;
            let old = decay_missed(rq.cpu_load[i], pending - 1, i as u32);
            // Rounding up keeps a rising load from stopping short of its target.
            let round = if load > old { scale - 1 } else { 0 };
            rq.cpu_load[i] = (old * (scale - 1) + load + round) >> i;
        }
    }

    /// Load without `task`'s own share (`cpu_load_without`).
    pub(in crate::fair) fn cpu_load_without(&self, w: &World, cpu: Cpu, task: TaskId) -> u64 {
        let entity = &self.entities[task.index()];
        let own = entity.attached && w.tasks[task.index()].cpu == cpu;
        let counts = own && (entity.on_rq || !self.rules.runnable_load);
        self.cpu_load(cpu).saturating_sub(if counts { self.task_h_load(w, task) } else { 0 })
    }

    /// Runnable average without `task`'s own share (`cpu_runnable_without`).
    pub(in crate::fair) fn cpu_runnable_without(&self, w: &World, cpu: Cpu, task: TaskId) -> u64 {
        let entity = &self.entities[task.index()];
        let own = entity.attached && w.tasks[task.index()].cpu == cpu && entity.on_rq;
        self.cpu_runnable(cpu).saturating_sub(if own { entity.avg.runnable_avg } else { 0 })
    }

    /// Utilisation without `task`'s own share (`cpu_util_without`, up to 4.18 `cpu_util_wake`).
    pub(in crate::fair) fn cpu_util_without(&self, w: &World, cpu: Cpu, task: TaskId) -> u64 {
        let entity = &self.entities[task.index()];
        let rq = &self.queues[cpu as usize];
        let own = entity.attached && w.tasks[task.index()].cpu == cpu;
        let less = |sum: u64, part: u64| if own { sum.saturating_sub(part) } else { sum };
        let util = less(rq.avg.util_avg, entity.avg.util_avg);
        let queued = if entity.on_rq { entity.util_est.estimate() } else { 0 };
        util.max(less(rq.util_est, queued)).min(w.topo.capacity[cpu as usize])
    }

    /// `reweight_entity` on the side of the load averages.
    pub(in crate::fair) fn reweight_load_avg(&mut self, q: QueueId, id: EntityId, weight: u64) {
        self.sums.touch(self.queues[q.index()].cpu);
        let old = self.rules.runnable_load;
        let rq = &mut self.queues[q.index()];
        let entity = &mut self.entities[id];
        let divider = entity.avg.divider();
        let was = (entity.avg.load_avg, entity.weight * entity.avg.load_sum);
        let was_runnable = (entity.avg.runnable_avg, entity.weight * entity.avg.runnable_sum);
        entity.avg.load_avg = weight * entity.avg.load_sum / divider;
        if old {
            entity.avg.runnable_avg = weight * entity.avg.runnable_sum / divider;
        }
        if entity.attached {
            rq.avg.load_avg = rq.avg.load_avg.saturating_sub(was.0) + entity.avg.load_avg;
            rq.avg.load_sum = rq.avg.load_sum.saturating_sub(was.1) + weight * entity.avg.load_sum;
        }
        if entity.on_rq && old {
            let avg = rq.avg.runnable_avg.saturating_sub(was_runnable.0);
            rq.avg.runnable_avg = avg + entity.avg.runnable_avg;
            let sum = rq.avg.runnable_sum.saturating_sub(was_runnable.1);
            rq.avg.runnable_sum = sum + weight * entity.avg.runnable_sum;
        }
    }
}

impl Entity {
    /// `__update_load_avg_se` by what held until `now_ns`; whether averages changed. `old` where only what is queued counts as
    /// runnable (up to 5.6).
    #[inline(always)]
    fn age(&mut self, now_ns: u64, running: bool, group: bool, old: bool) -> bool {
        let queued = u64::from(self.on_rq);
        let runnable = match (old, group) {
            (true, _) => queued,
            (false, true) => self.runnable << 10,
            (false, false) => u64::from(self.on_rq && !self.delayed) << 10,
        };
        let ended = self.avg.update_sum(now_ns, queued, runnable, running);
        if ended {
            self.avg.update_avg(self.weight, if old { self.weight } else { 1 });
        }
        ended
    }
}

impl CfsRq {
    /// Takes off what left, and counts what held until `now_ns` (`__update_load_avg_cfs_rq`); whether averages changed.
    #[inline(always)]
    fn age(&mut self, now_ns: u64, rules: &Rules) -> bool {
        let gone_runnable = if self.removed.nr > 0 { Some(self.take_removed(rules)) } else { None };
        let weight = self.weight();
        let runnable =
            if rules.runnable_load { weight } else { u64::from(self.h_nr_runnable()) << 10 };
        let ended = self.avg.update_sum(now_ns, weight, runnable, self.curr.is_some());
        if ended {
            self.avg.update_avg(1, 1);
        }
        let Some(gone) = gone_runnable else { return ended };
        if gone > 0 {
            self.add_tg_cfs_propagate(-(gone as i64));
        }
        true
    }

    /// Takes off what left; its runnable time.
    #[cold]
    fn take_removed(&mut self, rules: &Rules) -> u64 {
        let removed = std::mem::take(&mut self.removed);
        let avg = &mut self.avg;
        let divider = avg.divider();
        avg.load_avg = avg.load_avg.saturating_sub(removed.load_avg);
        avg.load_sum = avg.load_sum.saturating_sub(removed.load_avg * divider);
        avg.util_avg = avg.util_avg.saturating_sub(removed.util_avg);
        avg.util_sum = avg.util_sum.saturating_sub(removed.util_avg * divider);
        avg.runnable_avg = avg.runnable_avg.saturating_sub(removed.runnable_avg);
        let gone = removed.runnable_avg * divider;
        avg.runnable_sum = avg.runnable_sum.saturating_sub(gone);
        rules.bound_load_sum(avg);
        gone >> 10
    }
}

/// `decay_load_missed`: `load` after idle ticks, each of which takes off `1 / 2^index`.
fn decay_missed(load: u64, ticks: u64, index: u32) -> u64 {
    let mut left = load;
    for _ in 0..ticks {
        if left == 0 {
            break;
        }
        left -= (left >> index).max(1);
    }
    left
}
