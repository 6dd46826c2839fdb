//! The fair class of Linux from 4.18 on (`kernel/sched/fair.c`): CFS or EEVDF, PELT, wake-up placement, balancing.
//!
//! Functions carry the kernel's names, so that a kernel developer finds their way. `place` says where a task goes that
//! wakes up or is new, `queue` who runs next on a CPU, `track` how much of it tasks use, and `balance` moves tasks
//! between CPUs; `hotplug` takes new domains over. `rules` says which release has which rule, and nothing else here knows
//! a release. The class decides and keeps its queues; it changes no task's state, which is the engine's.
//!
//! Left out: task groups, bandwidth control, core scheduling, NUMA balancing (`numa_balancing`),
//! energy-aware placement, utilisation clamps. What a CPU spends on balancing before it goes idle shows in its cost
//! accounting only: it goes idle at once.

mod balance;
mod decide;
mod follow;
mod hotplug;
mod place;
mod queue;
mod rules;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod track;

use crate::class::{Class, Dequeue, Enqueue, Select};
use crate::pelt::LOAD_AVG_MAX;
use crate::topology::{Cpu, Topology};
use crate::world::{NohzKick, Request, TaskId, World};
use balance::busiest::LoadStats;
use balance::nohz::Nohz;
use balance::sums::GroupSums;
pub(crate) use follow::Supposed;
use kernel::Kernel;
pub(crate) use place::wakeup::WakeUp;
use queue::entity::Entity;
use queue::rq::RunQueue;
use rules::Rules;

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
    entities: Vec<Entity>,
    queues: Vec<RunQueue>,
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
            entities: Vec::with_capacity(64),
            queues: (0..topo.nr_cpus).map(|cpu| RunQueue::new(&topo.domains[cpu])).collect(),
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
    }

    fn select_cpu(&mut self, w: &mut World, task: TaskId, why: Select) -> Cpu {
        self.select_task_rq(w, task, why)
    }

    fn migrate(&mut self, w: &mut World, task: TaskId) {
        self.migrate_task_rq(w, task);
    }

    fn enqueue(&mut self, w: &mut World, task: TaskId, why: Enqueue) {
        let cpu = w.tasks[task.index()].cpu;
        match why {
            Enqueue::New => self.post_init_entity_util_avg(w, cpu, task),
            Enqueue::Wakeup { .. } => self.queues[cpu as usize].end_of_idle(w.now_ns, w.jiffies()),
            Enqueue::Moved => {}
        }
        if self.util_watched && w.tasks[task.index()].in_iowait {
            w.cpus[cpu as usize].woken_from_io = true;
            self.util_changes.push(cpu);
        }
        self.enqueue_entity(w, cpu, task, why);
        self.add_nr_running(w, cpu);
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
        self.remove_entity_load_avg(w.tasks[task.index()].cpu, task);
    }

    fn preempts(&mut self, w: &mut World, task: TaskId) -> bool {
        self.check_preempt_wakeup(w, task)
    }

    fn put_prev(&mut self, w: &mut World, cpu: Cpu, task: TaskId) {
        self.put_prev_entity(w, cpu, task);
    }

    fn pick_next(&mut self, w: &mut World, cpu: Cpu) -> Option<TaskId> {
        self.pick_next_task(w, cpu)
    }

    fn tick(&mut self, w: &mut World, cpu: Cpu) -> bool {
        let resched = self.task_tick(w, cpu);
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

    fn watch_util(&mut self) {
        self.util_watched = true;
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
