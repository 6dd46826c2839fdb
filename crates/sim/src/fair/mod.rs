//! The fair class of Linux from 4.18 on (`kernel/sched/fair.c`): CFS or EEVDF, PELT, wake-up placement, balancing.
//!
//! Functions carry the kernel's names, so that a kernel developer finds their way. `place` says where a task goes that
//! wakes up or is new, `queue` who runs next on a CPU, `track` how much of it tasks use, and `balance` moves tasks
//! between CPUs; `numa` brings tasks and memory together; `hotplug` takes new domains over. `rules` says which release has which rule, and nothing else here knows
//! a release. The class decides and keeps its queues; it changes no task's state, which is the engine's.
//!
//! Left out: core scheduling, energy-aware placement, utilisation clamps. What a CPU
//! spends on balancing before it goes idle shows in its cost accounting only: it goes idle at once.

mod balance;
mod decide;
mod follow;
mod hotplug;
mod numa;
mod place;
mod queue;
mod rules;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod track;

use crate::class::{Class, Dequeue, Enqueue, Faulted, Hint, Select};
use crate::counters::Counters;
use crate::events::NEVER;
use crate::pelt::LOAD_AVG_MAX;
use crate::topology::{Cpu, Topology};
use crate::world::{NohzKick, Request, TaskId, World};
use balance::busiest::LoadStats;
use balance::nohz::Nohz;
use balance::sums::GroupSums;
pub(crate) use follow::Supposed;
use kernel::Kernel;
pub(crate) use place::wakeup::WakeUp;
use queue::cfs_rq::CfsRq;
use queue::group::TaskGroup;
use queue::ids::Entities;
use queue::rq::RunQueue;
pub(crate) use queue::weight::of_nice as weight_of_nice;
use rules::Rules;
use workload::Policy;

/// Shortest idle time that makes balancing pay, and how long a task counts as cache hot
/// (`sysctl_sched_migration_cost`), in ns.
const MIGRATION_COST_NS: u64 = 500_000;

/// Preemption tunables, which grow with the number of CPUs (`update_sysctl`, `SCHED_TUNABLESCALING_LOG`).
#[derive(Debug, Clone, Copy)]
struct Tunables {
    latency_ns: u64,
    min_granularity_ns: u64,
    wakeup_granularity_ns: u64,
    /// EEVDF: length of a request.
    base_slice_ns: u64,
}

impl Tunables {
    fn new(cpus: usize, rules: &Rules) -> Tunables {
        let factor = 1 + u64::from(cpus.clamp(1, 8).ilog2());
        Tunables {
            latency_ns: 6_000_000 * factor,
            min_granularity_ns: 750_000 * factor,
            wakeup_granularity_ns: 1_000_000 * factor,
            base_slice_ns: rules.normalized_base_slice_ns * factor,
        }
    }
}

/// A group as the class takes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Group {
    /// The group that it is in, by its place from 1 on; 0 for the root. It stands before this one.
    pub(crate) above: usize,
    /// Its weight (`tg->shares`, scaled down), 1024 for `cpu.weight` 100.
    pub(crate) shares: u64,
    /// `cpu.idle`.
    pub(crate) idle: bool,
    /// `cpu.max`.
    pub(crate) quota: Option<Quota>,
}

/// A quota of CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quota {
    /// CPU time in each period, in ns.
    pub(crate) quota_ns: u64,
    /// The period, in ns.
    pub(crate) period_ns: u64,
    /// What may be saved from earlier periods, in ns (`cpu.max.burst`).
    pub(crate) burst_ns: u64,
}

/// State shared by the CPUs of one LLC (`sched_domain_shared`).
#[derive(Debug, Clone, Default)]
struct LlcState {
    has_idle_cores: bool,
    nr_busy_cpus: u32,
    /// CPUs that a search for an idle one may look at, by the utilisation of the LLC (`SIS_UTIL`).
    nr_idle_scan: u64,
}

/// The class.
#[derive(Debug)]
pub struct Fair {
    rules: Rules,
    tunables: Tunables,
    entities: Entities,
    /// The queue of each CPU, then those of each group.
    queues: Vec<CfsRq>,
    rqs: Vec<RunQueue>,
    /// By number, the root's at 0; none at all where no task is in a group.
    groups: Vec<TaskGroup>,
    /// Whether some task or group may be idle.
    any_idle: bool,
    /// NUMA balancing, where it is on.
    numa: Option<Box<numa::Numa>>,
    /// When a group's quota next has something to do.
    timer_ns: u64,
    llcs: Vec<LlcState>,
    nohz: Nohz,
    /// Whether any CPU of the root domain had more than one task when last looked at (`rd->overload`).
    overload: bool,
    /// Whether clusters below LLCs are searched first (`sched_cluster_active`).
    cluster_active: bool,
    /// Whether placement looks at the capacities of CPUs (`sched_asym_cpucap_active`, 5.10).
    asym_capacity: bool,
    /// Room for the groups of the domain that is being balanced.
    group_stats: Vec<LoadStats>,
    sums: GroupSums,
    /// Whether a governor listens, and the CPUs whose utilisation was brought up to date since it last asked.
    util_watched: bool,
    util_changes: Vec<Cpu>,
}

impl Fair {
    /// The same with control groups, each behind the one that it is in.
    pub(crate) fn with_groups(topo: &Topology, kernel: &Kernel, groups: &[Group]) -> Fair {
        let mut fair = Fair::new(topo, kernel);
        if !groups.is_empty() {
            fair.add_groups(groups);
        }
        fair
    }

    /// Empty queues for the CPUs of `topo` under the rules of `kernel`.
    pub fn new(topo: &Topology, kernel: &Kernel) -> Fair {
        // As on a machine that has been up and idle: its cores were idle when their CPUs last went idle, and an idle CPU has balanced
        // its LLC. From boot until then a kernel finds no idle CPU (`SIS_UTIL`), which lasts for a moment.
        let llcs = topo.llcs.iter().map(|llc| {
            let online = || llc.cpus.iter().filter(|&&c| topo.online_set.contains(c as usize));
            LlcState {
                has_idle_cores: online().any(|&c| topo.smt[c as usize].len() > 1),
                nr_busy_cpus: online().count() as u32,
                nr_idle_scan: online().count() as u64,
            }
        });
        let rules = Rules::new(kernel);
        Fair {
            cluster_active: rules.searches_clusters(topo),
            asym_capacity: rules.looks_at_capacity(topo),
            tunables: Tunables::new(topo.online.len(), &rules),
            rules,
            entities: Entities::default(),
            queues: (0..topo.nr_cpus).map(|cpu| CfsRq::new(cpu as Cpu, 0)).collect(),
            rqs: (0..topo.nr_cpus).map(|cpu| RunQueue::new(&topo.domains[cpu])).collect(),
            groups: Vec::new(),
            any_idle: false,
            numa: None,
            timer_ns: NEVER,
            llcs: llcs.collect(),
            nohz: Nohz::new(topo.nr_cpus),
            overload: false,
            group_stats: Vec::new(),
            sums: GroupSums::new(topo),
            util_watched: false,
            util_changes: Vec::new(),
        }
    }
}

impl Class for Fair {
    fn fork(&mut self, w: &mut World, task: TaskId, parent: Option<TaskId>) {
        self.task_fork(w, task, parent);
        self.init_numa_balancing(w, task, parent);
    }

    fn select_cpu(&mut self, w: &mut World, task: TaskId, why: Select) -> Cpu {
        if why == Select::Exec {
            self.forget_numa_faults(task);
        }
        self.select_task_rq(w, task, why)
    }

    fn migrate(&mut self, w: &mut World, task: TaskId) {
        self.migrate_task_rq(w, task);
    }

    fn enqueue(&mut self, w: &mut World, task: TaskId, why: Enqueue) {
        let cpu = w.tasks[task.index()].cpu;
        match why {
            Enqueue::New => self.post_init_entity_util_avg(w, task),
            Enqueue::Wakeup { .. } => self.rqs[cpu as usize].end_of_idle(w.now_ns, w.jiffies()),
            Enqueue::Moved => {}
        }
        if self.util_watched && w.tasks[task.index()].in_iowait {
            w.cpus[cpu as usize].woken_from_io = true;
            self.util_changes.push(cpu);
        }
        self.enqueue_task(w, task, why);
        if w.cpus[cpu as usize].nr_running == 2 {
            self.overload = true;
        }
    }

    fn dequeue(&mut self, w: &mut World, task: TaskId, why: Dequeue) {
        self.dequeue_task(w, task, why);
    }

    fn requeue(&mut self, w: &mut World, task: TaskId) -> bool {
        self.requeue_delayed(w, task)
    }

    fn yield_task(&mut self, w: &mut World, cpu: Cpu, task: TaskId) {
        if self.rules.eevdf {
            self.eevdf_yield(w, cpu, task);
        } else {
            self.cfs_yield(w, cpu, task);
        }
    }

    fn reweight(&mut self, w: &mut World, task: TaskId, nice: i8) {
        self.reweight_task(w, task, nice);
    }

    fn set_slice(&mut self, _: &mut World, task: TaskId, slice_ns: u64) {
        if self.rules.custom_slice {
            self.give_slice(task, slice_ns);
        }
    }

    fn dead(&mut self, w: &mut World, task: TaskId) {
        self.remove_entity_load_avg(self.task_cfs_rq(w, task), task);
    }

    fn preempts(&mut self, w: &mut World, task: TaskId) -> bool {
        self.check_preempt_wakeup(w, task)
    }

    fn put_prev(&mut self, w: &mut World, cpu: Cpu, task: TaskId) {
        self.put_prev_task(w, cpu, task);
    }

    fn pick_next(&mut self, w: &mut World, cpu: Cpu) -> Option<TaskId> {
        self.pick_next_task(w, cpu)
    }

    fn tick(&mut self, w: &mut World, cpu: Cpu) -> bool {
        let resched = self.task_tick(w, cpu);
        self.task_tick_numa(w, cpu);
        self.cpu_load_update_active(w, cpu);
        self.trigger_load_balance(w, cpu);
        resched
    }

    fn newidle(&mut self, w: &mut World, cpu: Cpu) -> bool {
        self.newidle_balance(w, cpu)
    }

    fn idle(&mut self, w: &mut World, cpu: Cpu, tick_stopped: bool) {
        self.update_idle_core(w, cpu);
        if tick_stopped {
            self.nohz_balance_enter_idle(w, cpu);
        }
    }

    fn nohz_balance(&mut self, w: &mut World, cpu: Cpu, kick: NohzKick) {
        if w.idle_cpu(cpu) {
            self.nohz_idle_balance(w, cpu, kick, true);
        }
    }

    fn rebuild_domains(&mut self, w: &mut World, cpu: Cpu, online: bool) {
        self.partition_sched_domains(w, cpu, online);
    }

    fn push(&mut self, w: &mut World, from: Cpu, to: Cpu) -> bool {
        self.active_load_balance(w, from, to)
    }

    fn stopper_wakes(&mut self, w: &World, cpu: Cpu) {
        self.overload |= w.cpus[cpu as usize].nr_running > 0;
    }

    fn watch_util(&mut self) {
        self.util_watched = true;
    }

    fn timer_ns(&self) -> u64 {
        self.timer_ns
    }

    fn timer(&mut self, w: &mut World) {
        self.bandwidth_timers(w);
    }

    fn hinting_faults(&mut self, w: &mut World, task: TaskId, hints: &[Hint]) -> Faulted {
        self.note_hinting_faults(w, task, hints)
    }

    fn numa_move(&mut self, w: &mut World, task: TaskId, to: Cpu) {
        self.move_waiting(w, task, to);
    }

    fn count(&self, counters: &mut Counters) {
        counters.numa.add_pages(self.numa_pages());
        for pool in self.groups.iter().filter_map(|g| g.bandwidth.as_ref()) {
            counters.bandwidth.periods += pool.nr_periods;
            counters.bandwidth.throttled += pool.nr_throttled;
            counters.bandwidth.throttled_us += pool.throttled_ns / 1000;
        }
    }

    fn set_policy(&mut self, w: &mut World, task: TaskId, policy: Policy) {
        self.set_fair_policy(w, task, policy);
    }

    fn take_util_changes(&mut self, changed: &mut Vec<Cpu>) {
        changed.clear();
        std::mem::swap(&mut self.util_changes, changed);
    }

    fn util(&self, cpu: Cpu) -> u64 {
        let rq = &self.queues[cpu as usize];
        let runnable = if self.rules.runnable_boost { rq.avg.runnable_avg } else { 0 };
        rq.avg.util_avg.max(rq.util_est).max(runnable)
    }

    fn saturated(&self, cpu: Cpu) -> bool {
        let always = (LOAD_AVG_MAX - 1024) * 1024 - LOAD_AVG_MAX;
        self.queues[cpu as usize].avg.util_sum >= always
    }
}

/// Asks `cpu` to look at its queue, which the balancer has filled.
fn resched(w: &mut World, cpu: Cpu) {
    w.requests.push(Request::Resched(cpu));
}
