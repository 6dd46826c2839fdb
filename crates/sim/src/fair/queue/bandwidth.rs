//! Quotas of groups (`cpu.max`): CFS bandwidth control as up to 6.17, where a queue without time leaves its CPU whole.
//!
//! A group has `quota` ns of CPU time in each period, of which its queues take slices as their tasks run
//! (`__assign_cfs_rq_runtime`). A queue whose slice is used up and that gets no other is throttled at the next choice of its
//! CPU: its entity leaves the queue above, and load tracking stands still below. The period's timer refills the pool and
//! gives throttled queues what they owe (`distribute_cfs_runtime`). A queue that becomes empty gives back what it does not
//! need; if somebody is throttled, the slack timer hands that out within the period.
//!
//! Whether time is used up shows where the running task is charged: at ticks above all, so a group may run over by a tick on
//! each CPU, which it pays back from the next period's quota.

use super::cfs_rq::CfsRq;
use super::entity::Leaving;
use super::hierarchy::Tasks;
use super::ids::{EntityId, QueueId};
use crate::class::Enqueue;
use crate::events::NEVER;
use crate::fair::{Fair, Quota, resched};
use crate::topology::Cpu;
use crate::world::World;

/// What a queue takes at a time (`sched_cfs_bandwidth_slice`).
const SLICE_NS: u64 = 5_000_000;
/// What a queue that becomes empty keeps (`min_cfs_rq_runtime`).
const KEPT_NS: i64 = 1_000_000;
/// How long returned time waits for more (`cfs_bandwidth_slack_period`).
const SLACK_NS: u64 = 5_000_000;
/// So shortly before a refill nothing is handed out (`min_bandwidth_expiration`).
const NEARLY_OVER_NS: u64 = 2_000_000;

/// What a queue has of its group's time.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::fair) struct Allowance {
    /// Its group has a quota (`runtime_enabled`).
    pub(super) enabled: bool,
    remaining_ns: i64,
    pub(in crate::fair) throttled: bool,
    /// Groups from its own up that are throttled on its CPU (`throttle_count`).
    count: u32,
    /// When its load tracking stopped, on the CPU's clock for that, and for how long it has stood still so far.
    stopped_ns: u64,
    stood_ns: u64,
    /// Since when tasks wait for time.
    since_ns: Option<u64>,
}

/// A group's pool (`struct cfs_bandwidth`).
#[derive(Debug, Clone)]
pub(in crate::fair) struct Bandwidth {
    quota: Quota,
    runtime_ns: u64,
    /// The pool after its last refill.
    snap_ns: u64,
    /// Nobody has taken time since the last refill.
    idle: bool,
    /// The end of the period, past where the timer does not run.
    expires_ns: u64,
    active: bool,
    slack_at_ns: u64,
    /// Who waits for time, in the order of coming.
    throttled: Vec<QueueId>,
    pub(in crate::fair) nr_periods: u64,
    pub(in crate::fair) nr_throttled: u64,
    pub(in crate::fair) throttled_ns: u64,
    pub(in crate::fair) nr_bursts: u64,
    pub(in crate::fair) burst_ns: u64,
}

impl Bandwidth {
    /// A full pool: a group's first period begins with its first task.
    pub(super) fn new(quota: Quota) -> Bandwidth {
        Bandwidth {
            quota,
            runtime_ns: quota.quota_ns,
            snap_ns: quota.quota_ns,
            idle: false,
            expires_ns: 0,
            active: false,
            slack_at_ns: NEVER,
            throttled: Vec::new(),
            nr_periods: 0,
            nr_throttled: 0,
            throttled_ns: 0,
            nr_bursts: 0,
            burst_ns: 0,
        }
    }

    /// `start_cfs_bandwidth`: periods follow each other from the group's beginning on, whether or not the timer runs.
    fn start(&mut self, now_ns: u64) {
        if !self.active {
            self.active = true;
            let period_ns = self.quota.period_ns;
            let over = now_ns.saturating_sub(self.expires_ns) / period_ns + 1;
            self.expires_ns += if self.expires_ns <= now_ns { over * period_ns } else { 0 };
        }
    }

    /// `__refill_cfs_bandwidth_runtime`.
    fn refill(&mut self) {
        self.runtime_ns += self.quota.quota_ns;
        let beyond_ns = self.snap_ns.saturating_sub(self.runtime_ns);
        self.nr_bursts += u64::from(beyond_ns > 0);
        self.burst_ns += beyond_ns;
        self.runtime_ns = self.runtime_ns.min(self.quota.quota_ns + self.quota.burst_ns);
        self.snap_ns = self.runtime_ns;
    }

    fn ends_within(&self, now_ns: u64, ns: u64) -> bool {
        self.expires_ns < now_ns + ns
    }

    /// When it next has something to do.
    pub(super) fn due_ns(&self) -> u64 {
        let expires_ns = if self.active { self.expires_ns } else { NEVER };
        expires_ns.min(self.slack_at_ns)
    }
}

impl CfsRq {
    /// The time by which its load is tracked (`cfs_rq_clock_pelt`).
    #[inline]
    pub(in crate::fair) fn clock_pelt_ns(&self, w: &World) -> u64 {
        let own = &self.allowance;
        match own.count > 0 {
            true => own.stopped_ns - own.stood_ns,
            false => w.pelt_clock_ns(self.cpu) - own.stood_ns,
        }
    }
}

impl Fair {
    /// `throttled_hierarchy`.
    pub(in crate::fair) fn throttled_hierarchy(&self, q: QueueId) -> bool {
        self.queues[q.index()].allowance.count > 0
    }

    fn bandwidth(&mut self, q: QueueId) -> Option<&mut Bandwidth> {
        let group = self.queues[q.index()].group;
        self.groups.get_mut(group as usize)?.bandwidth.as_mut()
    }

    /// `account_cfs_rq_runtime`.
    pub(super) fn account_cfs_rq_runtime(&mut self, w: &World, q: QueueId, ran_ns: u64) {
        let rq = &mut self.queues[q.index()];
        rq.allowance.remaining_ns -= ran_ns as i64;
        if rq.allowance.remaining_ns > 0 || rq.allowance.throttled {
            return;
        }
        let (cpu, runs) = (rq.cpu, rq.curr.is_some());
        if !self.assign_cfs_rq_runtime(w, q, SLICE_NS) && runs {
            self.rqs[cpu as usize].out_of_time = true;
        }
    }

    /// `__assign_cfs_rq_runtime`: takes from the pool what makes `wanted_ns`, as far as that goes; whether something is left.
    fn assign_cfs_rq_runtime(&mut self, w: &World, q: QueueId, wanted_ns: u64) -> bool {
        let missing_ns = wanted_ns as i64 - self.queues[q.index()].allowance.remaining_ns;
        let Some(pool) = self.bandwidth(q) else { return true };
        pool.start(w.now_ns);
        let amount_ns = pool.runtime_ns.min(missing_ns.max(0) as u64);
        pool.runtime_ns -= amount_ns;
        pool.idle &= amount_ns == 0;
        let due_ns = pool.due_ns();
        self.timer_ns = self.timer_ns.min(due_ns);
        let own = &mut self.queues[q.index()].allowance;
        own.remaining_ns += amount_ns as i64;
        own.remaining_ns > 0
    }

    /// `return_cfs_rq_runtime`, of a queue that has become empty.
    pub(super) fn return_cfs_rq_runtime(&mut self, w: &World, q: QueueId) {
        let rq = &mut self.queues[q.index()];
        let slack_ns = rq.allowance.remaining_ns - KEPT_NS;
        if !rq.allowance.enabled || rq.nr_queued > 0 || slack_ns <= 0 {
            return;
        }
        rq.allowance.remaining_ns -= slack_ns;
        let Some(pool) = self.bandwidth(q) else { return };
        pool.runtime_ns += slack_ns as u64;
        let wanted = pool.runtime_ns > SLICE_NS && !pool.throttled.is_empty();
        // `start_cfs_slack_bandwidth`.
        if wanted
            && pool.slack_at_ns == NEVER
            && !pool.ends_within(w.now_ns, SLACK_NS + NEARLY_OVER_NS)
        {
            pool.slack_at_ns = w.now_ns + SLACK_NS;
            self.timer_ns = self.timer_ns.min(w.now_ns + SLACK_NS);
        }
    }

    /// `check_enqueue_throttle` of a queue that has just got its first entity.
    pub(super) fn check_enqueue_throttle(&mut self, w: &mut World, q: QueueId) {
        let rq = &self.queues[q.index()];
        let own = rq.allowance;
        if own.enabled && rq.curr.is_none() && !own.throttled {
            self.account_cfs_rq_runtime(w, q, 0);
            if self.queues[q.index()].allowance.remaining_ns <= 0 {
                self.throttle_cfs_rq(w, q);
            }
        }
        let own = &mut self.queues[q.index()].allowance;
        if own.throttled && own.since_ns.is_none() {
            own.since_ns = Some(w.now_ns);
        }
    }

    /// `check_cfs_rq_runtime`: whether `q` has been throttled just now.
    pub(super) fn check_cfs_rq_runtime(&mut self, w: &mut World, q: QueueId) -> bool {
        let own = &self.queues[q.index()].allowance;
        if !own.enabled || own.remaining_ns > 0 {
            return false;
        }
        own.throttled || self.throttle_cfs_rq(w, q)
    }

    /// `throttle_cfs_rq`: the queue's entity, and those above that have nothing else, leave; false where there was time after
    /// all.
    fn throttle_cfs_rq(&mut self, w: &mut World, q: QueueId) -> bool {
        if self.assign_cfs_rq_runtime(w, q, 1) {
            return false;
        }
        if let Some(pool) = self.bandwidth(q) {
            pool.throttled.push(q);
        }
        self.stop_clocks(w, q);
        let mut tasks = self.all_tasks(q);
        let left = self.leave_above(w, q, &mut tasks);
        let cpu = self.queues[q.index()].cpu;
        if left {
            for _ in 0..tasks.queued {
                self.sub_nr_running(w, cpu);
            }
        }
        let rq = &mut self.queues[q.index()];
        rq.allowance.throttled = true;
        rq.allowance.since_ns = (rq.nr_queued > 0).then_some(w.now_ns);
        true
    }

    fn all_tasks(&self, q: QueueId) -> Tasks {
        let rq = &self.queues[q.index()];
        let idle = self.parent(q).is_some_and(|above| self.entities[above].idle);
        Tasks {
            queued: rq.h_nr_queued,
            delayed: rq.h_nr_delayed,
            idle: if idle { rq.h_nr_queued } else { rq.h_nr_idle },
        }
    }

    /// Takes the entity of `q` and `tasks` off all queues above; whether they counted up to the CPU.
    fn leave_above(&mut self, w: &World, q: QueueId, tasks: &mut Tasks) -> bool {
        let cpu = self.queues[q.index()].cpu;
        let mut next = self.parent(q);
        let mut leaves = true;
        while let Some(id) = next {
            if !self.entities[id].on_rq {
                return false;
            }
            let above = self.queue_of(id, cpu);
            if leaves {
                let delayed = self.entities[id].delayed;
                let how = Leaving { sleeps: true, delayed, at_once: true };
                self.dequeue_entity(w, above, id, how);
            } else {
                self.update_load_avg(w, above, id);
                self.se_update_runnable(id);
            }
            next = self.left(above, tasks);
            leaves &= self.queues[above.index()].load == 0;
        }
        true
    }

    /// `tg_throttle_down` of the group of `q` and those below: their load tracking stands still.
    fn stop_clocks(&mut self, w: &World, q: QueueId) {
        let cpu = self.queues[q.index()].cpu;
        let now_ns = w.pelt_clock_ns(cpu);
        self.for_each_below(q, |own| {
            if own.count == 0 {
                own.stopped_ns = now_ns;
            }
            own.count += 1;
        });
    }

    /// `tg_unthrottle_up`.
    fn start_clocks(&mut self, w: &World, q: QueueId) {
        let cpu = self.queues[q.index()].cpu;
        let now_ns = w.pelt_clock_ns(cpu);
        self.for_each_below(q, |own| {
            own.count -= 1;
            if own.count == 0 {
                own.stood_ns += now_ns - own.stopped_ns;
            }
        });
    }

    fn for_each_below(&mut self, q: QueueId, mut change: impl FnMut(&mut Allowance)) {
        let (rq, nr_cpus) = (&self.queues[q.index()], self.rqs.len());
        let cpu = rq.cpu;
        for &group in &self.groups[rq.group as usize].subtree {
            let below = QueueId::of_group(group as usize, cpu, nr_cpus);
            change(&mut self.queues[below.index()].allowance);
        }
    }

    /// `unthrottle_cfs_rq`.
    fn unthrottle_cfs_rq(&mut self, w: &mut World, q: QueueId) {
        let own = &mut self.queues[q.index()].allowance;
        own.throttled = false;
        let waited_ns = own.since_ns.take().map_or(0, |since_ns| w.now_ns - since_ns);
        if let Some(pool) = self.bandwidth(q) {
            pool.throttled.retain(|&other| other != q);
            pool.throttled_ns += waited_ns;
        }
        self.start_clocks(w, q);
        let cpu = self.queues[q.index()].cpu;
        if self.queues[q.index()].load > 0 {
            let mut tasks = self.all_tasks(q);
            if self.join_above(w, q, &mut tasks) {
                for _ in 0..tasks.queued {
                    self.add_nr_running(w, cpu);
                }
                self.overload |= w.cpus[cpu as usize].nr_running > 1;
            }
        }
        if w.cpus[cpu as usize].curr.is_none() && self.queues[cpu as usize].nr_queued > 0 {
            resched(w, cpu);
        }
    }

    /// Puts the entity of `q` and `tasks` on the queues above; whether they count up to the CPU.
    fn join_above(&mut self, w: &mut World, q: QueueId, tasks: &mut Tasks) -> bool {
        let cpu = self.queues[q.index()].cpu;
        let (mut next, mut joins): (Option<EntityId>, bool) = (self.parent(q), true);
        while let Some(id) = next {
            let above = self.queue_of(id, cpu);
            if joins && self.entities[id].delayed {
                let how = Leaving { sleeps: true, delayed: true, at_once: true };
                self.dequeue_entity(w, above, id, how);
            }
            joins &= !self.entities[id].on_rq;
            if joins {
                self.enqueue_entity(w, above, id, Enqueue::Wakeup { migrated: false });
            } else {
                self.update_load_avg_and_group(w, above, id);
                self.se_update_runnable(id);
            }
            next = self.joined(above, tasks);
            if self.queues[above.index()].allowance.throttled {
                return false;
            }
        }
        true
    }

    /// `distribute_cfs_runtime`: gives throttled queues of `group` what they owe and a little more; whether some still wait.
    fn distribute_cfs_runtime(&mut self, w: &mut World, group: usize) -> bool {
        let mut at = 0;
        let mut waiting = false;
        while let Some(pool) = &mut self.groups[group].bandwidth
            && let Some(&q) = pool.throttled.get(at)
        {
            if pool.runtime_ns == 0 {
                return true;
            }
            let own = &mut self.queues[q.index()].allowance;
            let amount_ns = pool.runtime_ns.min((1 - own.remaining_ns) as u64);
            pool.runtime_ns -= amount_ns;
            own.remaining_ns += amount_ns as i64;
            if own.remaining_ns > 0 {
                self.unthrottle_cfs_rq(w, q);
            } else {
                waiting = true;
                at += 1;
            }
        }
        waiting
    }

    /// Does what is due of all groups' timers.
    pub(in crate::fair) fn bandwidth_timers(&mut self, w: &mut World) {
        for group in 1..self.groups.len() {
            let Some(pool) = &self.groups[group].bandwidth else { continue };
            let (ends, slack) = (pool.active && pool.expires_ns <= w.now_ns, pool.slack_at_ns);
            if ends {
                self.sched_cfs_period_timer(w, group);
            }
            if slack <= w.now_ns {
                self.sched_cfs_slack_timer(w, group);
            }
        }
        let pools = self.groups.iter().filter_map(|g| g.bandwidth.as_ref());
        self.timer_ns = pools.map(Bandwidth::due_ns).min().unwrap_or(NEVER);
    }

    /// `do_sched_cfs_period_timer`.
    fn sched_cfs_period_timer(&mut self, w: &mut World, group: usize) {
        let Some(pool) = &mut self.groups[group].bandwidth else { return };
        let mut throttled = !pool.throttled.is_empty();
        pool.nr_periods += 1;
        pool.refill();
        if pool.idle && !throttled {
            pool.active = false;
            return;
        }
        pool.expires_ns += pool.quota.period_ns;
        pool.idle = !throttled;
        pool.nr_throttled += u64::from(throttled);
        while throttled && self.groups[group].bandwidth.as_ref().is_some_and(|p| p.runtime_ns > 0) {
            throttled = self.distribute_cfs_runtime(w, group);
        }
    }

    /// `do_sched_cfs_slack_timer`.
    fn sched_cfs_slack_timer(&mut self, w: &mut World, group: usize) {
        let Some(pool) = &mut self.groups[group].bandwidth else { return };
        pool.slack_at_ns = NEVER;
        if !pool.ends_within(w.now_ns, NEARLY_OVER_NS) && pool.runtime_ns > SLICE_NS {
            self.distribute_cfs_runtime(w, group);
        }
    }

    /// `rq_online_fair`, `rq_offline_fair`: groups have no quota on a CPU that goes.
    pub(in crate::fair) fn limit_groups(&mut self, w: &mut World, cpu: Cpu, online: bool) {
        for group in 1..self.groups.len() {
            if self.groups[group].bandwidth.is_none() {
                continue;
            }
            let q = QueueId::of_group(group, cpu, self.rqs.len());
            let own = &mut self.queues[q.index()].allowance;
            own.enabled = online;
            if !online {
                own.remaining_ns = 1;
                if own.throttled {
                    self.unthrottle_cfs_rq(w, q);
                }
            }
        }
    }
}
