//! Workers of the kernel that sample for governors.

use kernel::{Kernel, Version};
use machine::CpuSet;
use setting::{Frequency, Governor, Setting};
use sim::topology::Cpu;
use sim::world::TaskId;
use sim::{Scenario, Trace};
use workload::{Op, Spawn, Spread, Work, Workload};

const MS: u64 = 1_000_000;

/// Workers, what runs where, and each frequency that was asked for.
#[derive(Default)]
struct Seen {
    workers: Vec<TaskId>,
    /// By CPU.
    running: Vec<Option<TaskId>>,
    /// How often a worker began to run.
    samples: usize,
    /// Whether the worker of the CPU ran when a frequency was asked for.
    asked_by_worker: Vec<bool>,
    /// Of each sample on CPU 0: whether it came right from idle, before the task that woke up.
    from_idle: Vec<bool>,
}

impl Trace for Seen {
    fn created(&mut self, _: u64, task: TaskId, program: &str, _: &CpuSet) {
        if program == "kworker" {
            self.workers.push(task);
        }
    }

    fn switch(&mut self, _: u64, cpu: Cpu, previous: Option<TaskId>, next: Option<TaskId>) {
        self.running.resize(self.running.len().max(cpu as usize + 1), None);
        self.running[cpu as usize] = next;
        if next.is_some_and(|task| self.workers.contains(&task)) {
            self.samples += 1;
            if cpu == 0 {
                self.from_idle.push(previous.is_none());
            }
        }
    }

    fn frequency(&mut self, at_ns: u64, cpu: Cpu, _: u32) {
        // A policy begins at its lowest frequency.
        if at_ns == 0 {
            return;
        }
        let worker = self.workers.get(cpu as usize);
        let running = self.running.get(cpu as usize).copied().flatten();
        self.asked_by_worker.push(running.is_some() && running == worker.copied());
    }
}

/// A second of a task on CPU 0 that works and sleeps for `ms` each, at P2.
fn half_load(governor: Governor, ms: f64) -> Seen {
    let mut w = Workload::default();
    let ops = vec![
        Op::Compute(Work::fixed(ms * 1.5e6)),
        Op::Sleep { mean_ns: ms * 1e6, spread: Spread::Fixed },
        Op::Loop { to: 0, times: 0 },
    ];
    let program = w.program("half", ops);
    let stop = w.program("stop", vec![Op::Stop]);
    let on = |cpu| Some(CpuSet::single(cpu));
    w.spawns.push(Spawn { affinity: on(0), ..Spawn::new(program) });
    w.spawns.push(Spawn { affinity: on(8), first_wake_ns: 1_000 * MS, ..Spawn::new(stop) });
    let machine = machine::catalog::load("epyc-7742-1s-nps1").expect("the catalog holds it");
    let setting = Setting { frequency: Some(Frequency::new(governor)), ..Setting::default() };
    let kernel = Kernel::new(Version::new(5, 9));
    let scenario = Scenario::in_setting(&machine, &kernel, w, &setting).expect("a scenario");
    let mut seen = Seen::default();
    scenario.run_traced(1, &mut seen).expect("a run");
    seen
}

#[test]
fn a_worker_of_the_cpu_samples_for_ondemand() {
    let seen = half_load(Governor::Ondemand, 3.0);
    assert_eq!(seen.workers.len(), 128, "one a CPU");
    // Two ticks of 4 ms at least between samples, and a task that wakes up every 6 ms or less.
    assert!((70..=126).contains(&seen.samples), "{}", seen.samples);
    assert!(seen.asked_by_worker.len() > 10, "{:?}", seen.asked_by_worker);
    assert!(seen.asked_by_worker.iter().all(|&by_worker| by_worker));
}

#[test]
fn a_worker_waits_behind_the_task_or_goes_before_it_as_the_queue_has_it() {
    let seen = half_load(Governor::Ondemand, 3.0);
    let before = seen.from_idle.iter().filter(|&&from_idle| from_idle).count();
    assert!(before > 0 && before < seen.from_idle.len(), "{before} of {}", seen.from_idle.len());
}

#[test]
fn schedutil_asks_in_the_scheduler() {
    let seen = half_load(Governor::Schedutil, 300.0);
    assert!(seen.workers.is_empty() && seen.samples == 0);
    assert!(!seen.asked_by_worker.is_empty());
}
