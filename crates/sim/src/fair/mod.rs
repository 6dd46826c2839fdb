//! The fair class of Linux 4.18 (`kernel/sched/fair.c`): CFS, PELT, wake-up placement, load-based balancing.
//!
//! Functions carry the kernel's names, so that a kernel developer finds his way. Left out so far: task groups,
//! bandwidth control, util_est, next and last buddies, NUMA balancing, asymmetric packing, and the retries of
//! `load_balance` for tasks that may run on another CPU of the destination group.

mod balance;
mod busiest;
mod entity;
mod idlest;
mod load;
mod nohz;
mod queue;
mod rules;
mod wakeup;

use crate::class::{Class, Dequeue, Enqueue, Select};
use crate::topology::{Cpu, Topology};
use crate::world::{NohzKick, Request, TaskId, World};
use busiest::Stats;
use entity::Entity;
use kernel::Kernel;
use nohz::Nohz;
use queue::RunQueue;
use rules::Rules;

/// Weight of nice 0 (`NICE_0_LOAD`, scaled down).
const NICE_0_WEIGHT: u64 = 1024;
/// Shortest idle time that makes balancing pay, and how long a task counts as cache hot
/// (`sysctl_sched_migration_cost`), in ns.
const MIGRATION_COST_NS: u64 = 500_000;

/// Preemption tunables, which grow with the number of CPUs (`update_sysctl`, `SCHED_TUNABLESCALING_LOG`).
#[derive(Debug, Clone, Copy)]
struct Tunables {
    latency_ns: u64,
    min_granularity_ns: u64,
    wakeup_granularity_ns: u64,
}

impl Tunables {
    fn new(cpus: usize) -> Tunables {
        let factor = 1 + u64::from(cpus.clamp(1, 8).ilog2());
        Tunables {
            latency_ns: 6_000_000 * factor,
            min_granularity_ns: 750_000 * factor,
            wakeup_granularity_ns: 1_000_000 * factor,
        }
    }
}

/// State shared by the CPUs of one LLC (`sched_domain_shared`).
#[derive(Debug, Clone, Default)]
struct LlcState {
    has_idle_cores: bool,
    nr_busy_cpus: u32,
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
    /// Room for the groups of the domain that is being balanced.
    group_stats: Vec<Stats>,
}

impl Fair {
    /// Empty queues for the CPUs of `topo` under the rules of `kernel`.
    pub fn new(topo: &Topology, kernel: &Kernel) -> Fair {
        let llcs = topo.llcs.iter().map(|llc| LlcState {
            has_idle_cores: false,
            nr_busy_cpus: llc.cpus.iter().filter(|&&c| topo.online_set.contains(c as usize)).count()
                as u32,
        });
        Fair {
            rules: Rules::new(kernel),
            tunables: Tunables::new(topo.online.len()),
            entities: Vec::with_capacity(64),
            queues: (0..topo.nr_cpus).map(|cpu| RunQueue::new(&topo.domains[cpu])).collect(),
            llcs: llcs.collect(),
            nohz: Nohz::new(topo.nr_cpus),
            overload: false,
            group_stats: Vec::new(),
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
            Enqueue::Wakeup { .. } => self.queues[cpu as usize].end_of_idle(w.now_ns),
            Enqueue::Moved => {}
        }
        self.enqueue_entity(w, cpu, task, why);
        w.cpus[cpu as usize].nr_running += 1;
        if w.cpus[cpu as usize].nr_running == 2 {
            self.overload = true;
        }
    }

    fn dequeue(&mut self, w: &mut World, task: TaskId, why: Dequeue) {
        let cpu = w.tasks[task.index()].cpu;
        self.dequeue_entity(w, cpu, task, why == Dequeue::Sleep);
        w.cpus[cpu as usize].nr_running -= 1;
    }

    fn yield_task(&mut self, w: &mut World, cpu: Cpu, task: TaskId) {
        self.yield_task_fair(w, cpu, task);
    }

    fn reweight(&mut self, w: &mut World, task: TaskId, nice: i8) {
        self.reweight_entity(w, task, nice);
    }

    // A slice of a task's own is a rule of 6.12's EEVDF.
    fn set_slice(&mut self, _w: &mut World, _task: TaskId, _slice_ns: u64) {}

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
        self.pick_next_entity(w, cpu)
    }

    fn tick(&mut self, w: &mut World, cpu: Cpu) -> bool {
        let resched = self.task_tick(w, cpu);
        self.cpu_load_update_active(w, cpu);
        self.trigger_load_balance(w, cpu);
        resched
    }

    fn newidle(&mut self, w: &mut World, cpu: Cpu) -> bool {
        self.idle_balance(w, cpu)
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

    fn push(&mut self, w: &mut World, from: Cpu, to: Cpu) -> bool {
        self.active_load_balance(w, from, to)
    }
}

/// Asks `cpu` to look at its queue, which the balancer has filled.
fn resched(w: &mut World, cpu: Cpu) {
    w.requests.push(Request::Resched(cpu));
}
