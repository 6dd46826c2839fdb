//! What the class's own tests share: scenarios, a world at rest, tasks put on queues by hand.

use super::Fair;
use crate::class::{Class, Enqueue};
use crate::kernel_locks::KernelLocks;
use crate::queue_lines::QueueLines;
use crate::rng::{Purpose, Stream};
use crate::scenario::Scenario;
use crate::topology::Cpu;
use crate::world::{CpuState, Phase, Task, TaskId, World};
use kernel::Kernel;
use machine::{CpuSet, Machine};
use workload::{ProgramId, Workload};

/// `machine` under `release` with mechanisms switched.
pub(crate) fn scenario(machine: &Machine, release: &str, switches: &[(&str, bool)]) -> Scenario {
    let kernel = switches.iter().fold(Kernel::new(release.parse().unwrap()), |k, &(name, on)| {
        k.with_named(name, on).unwrap()
    });
    Scenario::new(machine, &kernel, Workload::default()).unwrap()
}

/// The first `cpus` CPUs of the catalog's `name`.
pub(crate) fn machine(name: &str, cpus: usize) -> Machine {
    let machine = machine::catalog::load(name).unwrap();
    machine.with_online(CpuSet::first_n(cpus)).unwrap()
}

/// All CPUs idle and no task, an eternity after boot.
pub(crate) fn world(scenario: &Scenario) -> (World<'_>, Fair) {
    let (topo, hw) = (&scenario.setup.topo, &scenario.setup.hw);
    let mut w = World {
        now_ns: 0,
        tick_period_ns: 4_000_000,
        hz: 250,
        tick_phase_ns: 0,
        jiffies: 0,
        next_tick_ns: 0,
        topo,
        hw,
        cpus: (0..topo.nr_cpus).map(|_| CpuState::new()).collect(),
        tasks: Vec::new(),
        busy: vec![0; topo.pipelines.len()],
        requests: Vec::new(),
        notes: Vec::new(),
        pelt_clocks: Vec::new(),
        uclamp: None,
        locks: KernelLocks::new(topo),
        pages: Default::default(),
        queue_lines: QueueLines::new(topo),
        balance_draws: Stream::new(0, Purpose::Balance),
        counters: Default::default(),
    };
    w.advance(100_000_000_000);
    (w, Fair::new(topo, &scenario.setup.kernel))
}

/// A task that sleeps and last ran on `cpu`, long ago.
pub(super) fn asleep(w: &mut World, fair: &mut Fair, cpu: Cpu) -> TaskId {
    let task = TaskId(w.tasks.len() as u32);
    w.tasks.push(Task::new(ProgramId(0), cpu, w.topo.online_set.clone()));
    fair.task_fork(w, task, None);
    task
}

/// A task that waits on `cpu`, of full load and not cache hot.
pub(super) fn waiting(w: &mut World, fair: &mut Fair, cpu: Cpu) -> TaskId {
    let task = asleep(w, fair, cpu);
    let entity = &mut fair.entities[task.index()];
    entity.avg.load_avg = entity.weight;
    if fair.rules.runnable_load {
        entity.avg.runnable_avg = entity.weight;
    }
    fair.enqueue(w, task, Enqueue::Moved);
    task
}

/// A task that runs on `cpu`, of full load.
pub(super) fn running(w: &mut World, fair: &mut Fair, cpu: Cpu) -> TaskId {
    let task = waiting(w, fair, cpu);
    w.cpus[cpu as usize].curr = fair.pick_next(w, cpu);
    w.cpus[cpu as usize].phase = Phase::Running;
    assert_eq!(w.cpus[cpu as usize].curr, Some(task), "the first task of its CPU");
    task
}

/// Sets what the queue of `cpu` averages: load, utilisation, and runnable time from 5.7 on (load of what is queued
/// before).
pub(super) fn averages(fair: &mut Fair, cpu: Cpu, load: u64, util: u64, runnable: u64) {
    fair.sums.touch(cpu);
    let avg = &mut fair.queues[cpu as usize].avg;
    (avg.load_avg, avg.util_avg, avg.runnable_avg) = (load, util, runnable);
    // Sums that go with them, so that ageing by nothing leaves them.
    let divider = avg.divider();
    avg.load_sum = load * divider;
    avg.util_sum = util * divider;
    avg.runnable_sum = runnable * divider;
}
