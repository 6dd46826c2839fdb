//! The class is a parameter: one that never spreads tasks runs like any other, and loses.

use crate::machines;
use crate::watch::Watch;
use crate::workloads::{ebizzy, scenario};
use sim::class::{Class, Dequeue, Enqueue, Select};
use sim::topology::Cpu;
use sim::world::{NohzKick, TaskId, World};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use workload::{Condition, Device, Op, Spawn, Spread, Work, Workload};

/// Every task on the first CPU it may use, a tick each in turn.
struct FirstCpu {
    waiting: Vec<VecDeque<TaskId>>,
    running: Vec<Option<TaskId>>,
    io: Rc<RefCell<IoSeen>>,
}

/// What it sees of waits for I/O.
#[derive(Default)]
struct IoSeen {
    /// Tasks that were queued after one.
    queued: u32,
    /// Tasks of a CPU in one when a task went to sleep: the most and the last.
    most: u32,
    last: u32,
}

impl FirstCpu {
    fn new(nr_cpus: usize) -> FirstCpu {
        FirstCpu {
            waiting: vec![VecDeque::new(); nr_cpus],
            running: vec![None; nr_cpus],
            io: Rc::default(),
        }
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
        self.io.borrow_mut().queued += u32::from(w.tasks[task.index()].in_iowait);
    }

    fn dequeue(&mut self, w: &mut World, task: TaskId, _: Dequeue) {
        let cpu = w.tasks[task.index()].cpu as usize;
        self.waiting[cpu].retain(|&t| t != task);
        self.running[cpu] = self.running[cpu].filter(|&t| t != task);
        w.cpus[cpu].nr_running -= 1;
        let mut io = self.io.borrow_mut();
        io.last = w.cpus[cpu].nr_iowait;
        io.most = io.most.max(io.last);
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

    fn stopper_wakes(&mut self, _: &World, _: Cpu) {}

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

/// A task that looks at the tick's count after every 50 us of work sends a message where it has changed.
#[test]
fn files_get_a_new_time_with_each_tick() {
    let machine = machines::smt(1, 1);
    let mut w = Workload::default();
    let done = w.pipe();
    let cycles = 50e-6 * machine.constants.value("nominal_khz").expect("a clock") * 1e3;
    let same = Op::SkipIf { condition: Condition::SameJiffy, steps: 1 };
    let task = w.program(
        "writer",
        vec![
            Op::Compute(Work::fixed(cycles)),
            same,
            Op::Send(done),
            Op::Loop { to: 0, times: 2_000 },
            Op::Stop,
        ],
    );
    w.spawns.push(Spawn::new(task));
    let mut watch = Watch::new(1);
    let run = scenario(&machine, w).run_traced(1, &mut watch).expect("a run");
    let tick_ns = 4_000_000;
    let expected = run.end_ns / tick_ns;
    assert!(watch.sent.abs_diff(expected) <= 1, "{} of {expected}", watch.sent);
}

/// Two tasks that wait for I/O three times each and one that waits without it, served one at a time.
#[test]
fn a_class_sees_who_waits_for_io() {
    let machine = machines::smt(1, 1);
    let mut w = Workload::default();
    let device = w.device(Device { slots: 1, together: 1 });
    let done = w.pipe();
    let (service_ns, spread) = (1e6, Spread::Fixed);
    for iowait in [true, true, false] {
        let io = Op::Io { device, service_ns, spread, iowait };
        let task = w.program("io", vec![io, Op::Loop { to: 0, times: 3 }, Op::Send(done)]);
        w.spawns.push(Spawn::new(task));
    }
    let stop = [Op::Receive(done), Op::Loop { to: 0, times: 3 }, Op::Stop];
    let stop = w.program("stop", stop.to_vec());
    w.spawns.push(Spawn::new(stop));
    let class = FirstCpu::new(1);
    let io = Rc::clone(&class.io);
    let run = scenario(&machine, w).run_with(class, 1, &mut sim::NoTrace).expect("a run");
    let io = io.borrow();
    assert_eq!((io.queued, io.most, io.last), (6, 2, 0));
    let service_us = run.end_ns / 1_000;
    assert!((9_000..9_100).contains(&service_us), "{service_us} us");
}
