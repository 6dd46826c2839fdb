//! The class is a parameter: one that never spreads tasks runs like any other, and loses.

use crate::machines;
use crate::watch::Watch;
use crate::workloads::{ebizzy, scenario};
use sim::class::{Class, Dequeue, Enqueue, Select};
use sim::topology::Cpu;
use sim::world::{NohzKick, TaskId, World};
use std::collections::VecDeque;

/// Every task on the first CPU it may use, a tick each in turn.
struct FirstCpu {
    waiting: Vec<VecDeque<TaskId>>,
    running: Vec<Option<TaskId>>,
}

impl FirstCpu {
    fn new(nr_cpus: usize) -> FirstCpu {
        FirstCpu { waiting: vec![VecDeque::new(); nr_cpus], running: vec![None; nr_cpus] }
    }
}

impl Class for FirstCpu {
    fn fork(&mut self, _: &mut World, _: TaskId, _: Option<TaskId>) {}

    fn select_cpu(&mut self, w: &mut World, task: TaskId, _: Select) -> Cpu {
        let task = &w.tasks[task.index()];
        task.allowed.first().map_or(task.cpu, |c| c as Cpu)
    }

    fn migrate(&mut self, _: &mut World, _: TaskId) {}

    fn enqueue(&mut self, w: &mut World, task: TaskId, _: Enqueue) {
        let cpu = w.tasks[task.index()].cpu as usize;
        self.waiting[cpu].push_back(task);
        w.cpus[cpu].nr_running += 1;
    }

    fn dequeue(&mut self, w: &mut World, task: TaskId, _: Dequeue) {
        let cpu = w.tasks[task.index()].cpu as usize;
        self.waiting[cpu].retain(|&t| t != task);
        self.running[cpu] = self.running[cpu].filter(|&t| t != task);
        w.cpus[cpu].nr_running -= 1;
    }

    fn requeue(&mut self, _: &mut World, _: TaskId) -> bool {
        false
    }

    fn yield_task(&mut self, _: &mut World, _: Cpu, _: TaskId) {}

    fn reweight(&mut self, _: &mut World, _: TaskId, _: i8) {}

    fn set_slice(&mut self, _: &mut World, _: TaskId, _: u64) {}

    fn dead(&mut self, _: &mut World, _: TaskId) {}

    fn preempts(&mut self, _: &mut World, _: TaskId) -> bool {
        false
    }

    fn put_prev(&mut self, _: &mut World, cpu: Cpu, _: TaskId) {
        if let Some(task) = self.running[cpu as usize].take() {
            self.waiting[cpu as usize].push_back(task);
        }
    }

    fn pick_next(&mut self, _: &mut World, cpu: Cpu) -> Option<TaskId> {
        self.running[cpu as usize] = self.waiting[cpu as usize].pop_front();
        self.running[cpu as usize]
    }

    fn tick(&mut self, _: &mut World, cpu: Cpu) -> bool {
        !self.waiting[cpu as usize].is_empty()
    }

    fn rebuild_domains(&mut self, _: &mut World, _: Cpu, _: bool) {}

    fn newidle(&mut self, _: &mut World, _: Cpu) -> bool {
        false
    }

    fn idle(&mut self, _: &mut World, _: Cpu, _: bool) {}

    fn nohz_balance(&mut self, _: &mut World, _: Cpu, _: NohzKick) {}

    fn push(&mut self, _: &mut World, _: Cpu, _: Cpu) -> bool {
        false
    }
}

#[test]
fn a_class_that_never_spreads_loses() {
    let machine = machines::power9();
    let scenario = scenario(&machine, ebizzy(&machine, 4, 0.5, Some("0-7")));
    let mut watch = Watch::new(machine.cpus.len());
    let class = FirstCpu::new(machine.cpus.len());
    let bad = scenario.run_with(class, 1, &mut watch).expect("a run").metrics[0];
    let fair = scenario.run(1).expect("a run").metrics[0];
    assert!(watch.wrong.is_empty(), "{:?}", watch.wrong);
    assert!(fair > 2.0 * bad, "fair {fair}, first CPU {bad}");
}
