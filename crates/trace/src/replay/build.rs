//! The programs, from event to event.

use super::pace::Pace;
use super::sleeps::{Soft, SoftInterrupts};
use super::tasks::{Life, Origin, Place, Sleep};
use super::{LEAD_NS, Made, Options, Replay, named};
use crate::TraceError;
use crate::event::{Context, Event, Kind, Sink, Task, TaskState, wake_flags};
use crate::inspect::spread::Recorded;
use kernel::priority::{MAX_RT_PRIO, nice_of};
use machine::constants::MissingConstant;
use machine::{CpuSet, Machine};
use std::collections::HashMap;
use workload::{
    Device, DeviceId, HistogramId, MarkId, Metric, Op, ProgramId, Queue, QueueId, QueueKind,
    Reading, Spawn, Spread, Workload,
};

/// Name of the task that notes when the trace begins.
const CLOCK: &str = "replay";

/// Takes a trace of a machine.
pub struct Builder {
    options: Options,
    pace: Pace,
    first_ns: Option<u64>,
    last_ns: u64,
    cpus: usize,
    /// By PID: a task by number, none for those that are left out.
    numbers: HashMap<u32, Option<usize>>,
    lives: Vec<Life>,
    /// By CPU: whether it is known to be busy, the task that runs there, and until when its work is counted.
    busy: Vec<bool>,
    running: Vec<Option<usize>>,
    counted_ns: Vec<u64>,
    /// By CPU: the task whose wake-up began last there, and its waker.
    waking: Vec<Option<usize>>,
    soft: SoftInterrupts,
    exits: [Recorded; 2],
    left_out: usize,
    by_interrupts: u64,
    by_tasks: u64,
    forks: u64,
}

impl Builder {
    /// For a trace of `machine`.
    ///
    /// # Errors
    /// A machine without a nominal clock.
    pub fn new(machine: &Machine, options: &Options) -> Result<Builder, MissingConstant> {
        let cpus = machine.cpus.len();
        Ok(Builder {
            options: options.clone(),
            pace: Pace::new(machine)?,
            first_ns: None,
            last_ns: 0,
            cpus,
            numbers: HashMap::new(),
            lives: Vec::new(),
            busy: vec![false; cpus],
            running: vec![None; cpus],
            counted_ns: vec![0; cpus],
            waking: vec![None; cpus],
            soft: SoftInterrupts::default(),
            exits: std::array::from_fn(|_| Recorded::new()),
            left_out: 0,
            by_interrupts: 0,
            by_tasks: 0,
            forks: 0,
        })
    }

    /// The workload.
    ///
    /// # Errors
    /// A trace without tasks, or with more of them than a workload can have.
    pub fn finish(mut self) -> Result<Replay, TraceError> {
        const MOST: usize = u16::MAX as usize;
        if self.lives.is_empty() || self.lives.len() >= MOST {
            return Err(TraceError::Replay { found: self.lives.len() });
        }
        (0..self.cpus).for_each(|cpu| self.count(cpu, self.last_ns));
        self.settle_soft_interrupts();
        let exit = |of: &Recorded| (of.count() > 0).then(|| of.spread().mean_ns as u64);
        let made = Made {
            length_ns: self.last_ns - self.first_ns.unwrap_or(self.last_ns),
            tasks: self.lives.len(),
            left_out: self.left_out,
            by_tasks: self.by_tasks,
            by_interrupts: self.by_interrupts,
            forks: self.forks,
            local_exit_ns: exit(&self.exits[0]),
            remote_exit_ns: exit(&self.exits[1]),
        };
        let keeps = self.options.keeps_idle_exits;
        let mut workload = self.workload();
        workload.idle_exit = made.idle_exit().filter(|_| keeps);
        Ok(Replay { workload, made })
    }

    fn workload(mut self) -> Workload {
        let mut workload = Workload { has_kernel_work: true, ..Workload::default() };
        let (begin, end) = (workload.mark(), workload.mark());
        let latency = workload.histogram(None);
        workload.device(Device { slots: u16::MAX, together: 1 });
        let first_ns = self.first_ns.unwrap_or(0);
        for life in &mut self.lives {
            let kind = if life.is_sync() { QueueKind::Pipe } else { QueueKind::Futex };
            workload.queue(Queue::unbounded(kind));
            let mut ops = prefix(life, self.cpus);
            ops.extend(life.finish(end));
            let name = String::from_utf8_lossy(life.comm.as_bytes()).into_owned();
            let program = workload.program(&name, ops);
            workload.spawns.extend(spawn(life, program, first_ns));
        }
        let clock = workload.program(CLOCK, vec![Op::Mark(begin)]);
        workload.spawns.push(Spawn { first_wake_ns: LEAD_NS, ..Spawn::new(clock) });
        workload.metrics = metrics(begin, end, latency);
        workload
    }

    /// Wake-ups by soft interrupts that no task is behind become sleeps.
    fn settle_soft_interrupts(&mut self) {
        for soft in std::mem::take(&mut self.soft.on_tasks) {
            if self.soft.is_from_outside(&self.lives[soft.woken].comm) {
                let (waker, step) = soft.waker;
                self.lives[waker].ops[step] = Op::Compute(workload::Work::fixed(0.0));
                self.lives[soft.woken]
                    .slept(soft.sleep, sleeps(soft.sleep, soft.at_ns, self.first_ns));
                self.by_interrupts += 1;
                self.by_tasks -= 1;
            }
        }
    }

    /// The work of the task on `cpu` counts up to `at_ns`.
    fn count(&mut self, cpu: usize, at_ns: u64) {
        let ns = at_ns.saturating_sub(self.counted_ns[cpu]);
        self.counted_ns[cpu] = at_ns;
        if let Some(task) = self.running[cpu] {
            self.lives[task].work(ns as f64 * self.pace.rate(cpu));
        }
    }

    fn set_busy(&mut self, cpu: usize, busy: bool, at_ns: u64) {
        if self.busy[cpu] != busy {
            for nth in 0..self.pace.siblings(cpu).len() {
                self.count(self.pace.siblings(cpu)[nth], at_ns);
            }
            self.busy[cpu] = busy;
            self.pace.set_busy(cpu, busy);
        }
    }

    /// The number of a task; none if it is left out. One that was not seen before has `origin`.
    fn number(&mut self, task: &Task, origin: Origin) -> Option<usize> {
        if let Some(&known) = self.numbers.get(&task.pid) {
            if let Some(number) = known {
                self.lives[number].comm = task.comm;
            }
            return known;
        }
        let number = (task.pid != 0 && task.prio >= MAX_RT_PRIO).then(|| {
            let queue = QueueId(self.lives.len() as u16);
            self.lives.push(Life::new(task.comm, task.prio, origin, queue));
            self.lives.len() - 1
        });
        self.left_out += usize::from(task.pid != 0 && number.is_none());
        self.numbers.insert(task.pid, number);
        number
    }

    /// Who runs on the CPU of an event, if it is a task that the programs have.
    fn current(&self, event: &Event) -> Option<usize> {
        let number = self.numbers.get(&event.current.1).copied().flatten()?;
        (self.running[event.cpu as usize] == Some(number)).then_some(number)
    }

    fn switch(&mut self, event: &Event, prev: &Task, state: TaskState, next: &Task) {
        let (at_ns, cpu) = (event.at_ns, event.cpu as usize);
        self.count(cpu, at_ns);
        let is_new = !self.numbers.contains_key(&prev.pid);
        if let Some(number) = self.number(prev, self.there(at_ns, cpu, true)) {
            let life = &mut self.lives[number];
            // It ran before the trace begins.
            if is_new && matches!(life.origin, Origin::There { .. }) {
                let ns = at_ns - self.first_ns.unwrap_or(at_ns);
                life.work(ns as f64 * self.pace.rate(cpu));
            }
            match state {
                state if state.is_runnable() => life.place = Place::Waits,
                state if state.is_gone() => {
                    self.numbers.remove(&prev.pid);
                }
                state => {
                    let uninterruptible = state.0 & TaskState::UNINTERRUPTIBLE.0 != 0;
                    life.falls_asleep(Some(at_ns), uninterruptible);
                }
            }
        }
        self.running[cpu] = None;
        let idle_before = prev.pid == 0;
        self.set_busy(cpu, next.pid != 0, at_ns);
        if let Some(number) = self.number(next, self.there(at_ns, cpu, true)) {
            self.runs(number, cpu, at_ns, idle_before);
        }
    }

    fn runs(&mut self, number: usize, cpu: usize, at_ns: u64, idle_before: bool) {
        // It woke without a record of it.
        if self.lives[number].place == Place::Sleeps {
            self.by_interrupt(number, at_ns);
        }
        let life = &mut self.lives[number];
        (life.place, life.early) = (Place::Runs, None);
        if let Some((woken_ns, by)) = life.woken.take()
            && idle_before
        {
            self.exits[usize::from(by != cpu)].add(at_ns - woken_ns);
        }
        self.running[cpu] = Some(number);
        self.counted_ns[cpu] = at_ns;
    }

    /// A task that the trace has not told of before.
    fn there(&self, at_ns: u64, cpu: usize, runs: bool) -> Origin {
        // What is there at the begin shows within moments, or has slept.
        match self.first_ns {
            Some(first) if runs && at_ns > first + LEAD_NS => Origin::Came { at_ns, cpu },
            _ => Origin::There { cpu, runs },
        }
    }

    fn waking(&mut self, event: &Event, task: &Task, previous: usize) {
        let (at_ns, by) = (event.at_ns, event.cpu as usize);
        let Some(number) = self.number(task, Origin::There { cpu: previous, runs: false }) else {
            return;
        };
        let life = &mut self.lives[number];
        // The first that is heard of it: it slept.
        if life.ops.is_empty() && life.sleep.is_none() && life.place == Place::Waits {
            life.falls_asleep(None, false);
        }
        let (comm, place) = (life.comm, life.place);
        let hard = event.context.flags & Context::HARDIRQ != 0;
        let soft = event.context.flags & Context::SOFTIRQ != 0;
        let waker = self.current(event).filter(|_| !hard && !self.options.without_wakers);
        if place != Place::Sleeps {
            self.lives[number].early = Some((waker, by));
            return;
        }
        self.lives[number].woken = Some((at_ns, by));
        match waker {
            Some(waker) => self.by_task(event, waker, number, soft),
            None => {
                if soft && !hard && event.current.1 == 0 {
                    self.soft.on_idle(comm);
                }
                self.by_interrupt(number, at_ns);
            }
        }
    }

    /// `sched_wakeup`, of a task that no `sched_waking` has told of since it sleeps.
    fn woken(&mut self, event: &Event, task: &Task, target: usize) {
        let known = self.numbers.get(&task.pid).copied().flatten();
        let Some(number) = known else { return self.waking(event, task, target) };
        if self.lives[number].place != Place::Sleeps {
            return;
        }
        match self.lives[number].early.take() {
            Some((Some(waker), by)) if self.lives[waker].sleep.is_none() => {
                self.lives[number].woken = Some((event.at_ns, by));
                self.by_task(event, waker, number, false);
            }
            Some((_, by)) => {
                self.lives[number].woken = Some((event.at_ns, by));
                self.by_interrupt(number, event.at_ns);
            }
            None => self.waking(event, task, target),
        }
    }

    fn by_task(&mut self, event: &Event, waker: usize, woken: usize, soft: bool) {
        self.count(event.cpu as usize, event.at_ns);
        let queue = self.lives[woken].queue;
        let step = self.lives[waker].step(Op::Send(queue));
        self.by_tasks += 1;
        let names = (self.lives[waker].comm, self.lives[woken].comm);
        // A soft interrupt on top of a task is the network's, whose wake-ups are (`sock_def_readable`).
        let sync = soft || named(&self.options, &names.0, &names.1);
        let life = &mut self.lives[woken];
        life.sync[0] += u64::from(sync);
        life.sync[1] += 1;
        life.place = Place::Waits;
        self.waking[event.cpu as usize] = Some(woken);
        if let Some(sleep) = life.sleep.take()
            && soft
        {
            let soft = Soft { waker: (waker, step), woken, sleep, at_ns: event.at_ns };
            self.soft.on_task(names.1, soft);
        }
    }

    /// Nobody that the trace tells ends the sleep.
    fn by_interrupt(&mut self, woken: usize, at_ns: u64) {
        let life = &mut self.lives[woken];
        life.place = Place::Waits;
        if let Some(sleep) = life.sleep.take() {
            life.slept(sleep, sleeps(sleep, at_ns, self.first_ns));
            self.by_interrupts += 1;
        }
    }

    fn forked(&mut self, event: &Event, child: &Task, target: usize) {
        self.numbers.remove(&child.pid);
        let parent = self.current(event).filter(|_| !self.options.without_forks);
        let origin = match parent {
            Some(_) => Origin::Forked,
            None => Origin::Came { at_ns: event.at_ns, cpu: target },
        };
        let Some(number) = self.number(child, origin) else { return };
        if let Some(parent) = parent {
            self.count(event.cpu as usize, event.at_ns);
            self.lives[parent].step(Op::Fork(ProgramId(number as u16)));
            self.forks += 1;
            if self.options.keeps_forks {
                let cpus = [CpuSet::from_iter([target]), CpuSet::first_n(self.cpus)];
                let steps = cpus.map(Op::SetAffinity);
                steps.into_iter().for_each(|op| {
                    self.lives[number].step(op);
                });
            }
            let nice = nice_of(child.prio);
            if self.lives[parent].prio != child.prio {
                self.lives[number].step(Op::SetNice(nice));
            }
        }
    }

    fn is_within(&self, at_ns: u64) -> bool {
        let (from, to) = (self.options.from_ns, self.options.to_ns);
        from.is_none_or(|from| at_ns >= from) && to.is_none_or(|to| at_ns < to)
    }
}

impl Sink for Builder {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        event.check_cpus(self.cpus)?;
        if !self.is_within(event.at_ns) {
            return Ok(());
        }
        if self.first_ns.is_none() {
            self.first_ns = Some(event.at_ns);
            self.counted_ns.fill(event.at_ns);
        }
        self.last_ns = event.at_ns;
        match &event.kind {
            Kind::Switch { prev, prev_state, next } => self.switch(event, prev, *prev_state, next),
            Kind::Waking { task, target } => self.waking(event, task, *target as usize),
            // Without `sched_waking` it is the first that is heard of the wake-up.
            Kind::Wakeup { task, target } => {
                self.woken(event, task, *target as usize);
            }
            Kind::WakeupNew { task, target } => self.forked(event, task, *target as usize),
            Kind::PlaceAsked { flags, .. } => {
                if let Some(number) = self.waking[event.cpu as usize].take()
                    && flags & (wake_flags::EXEC | wake_flags::FORK) == 0
                {
                    self.lives[number].sync[0] += u64::from(flags & wake_flags::SYNC != 0);
                }
            }
            Kind::Frequency { cpu, khz } => {
                self.count(*cpu as usize, event.at_ns);
                self.pace.set_khz(*cpu as usize, *khz);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}

/// A sleep that ended by itself at `at_ns`: on a timer, or on a device.
fn sleeps(sleep: Sleep, at_ns: u64, first_ns: Option<u64>) -> Op {
    // One that began before the trace begins with the trace.
    let lead = if sleep.since_ns.is_none() { LEAD_NS } else { 0 };
    let since_ns = sleep.since_ns.or(first_ns).unwrap_or(at_ns);
    let ns = (at_ns.saturating_sub(since_ns) + lead) as f64;
    if sleep.uninterruptible {
        let (device, spread) = (DeviceId(0), Spread::Fixed);
        return Op::Io { device, service_ns: ns, spread, iowait: true };
    }
    Op::Sleep { mean_ns: ns, spread: Spread::Fixed }
}

/// Steps that bring a task to where it is when the trace begins.
fn prefix(life: &Life, cpus: usize) -> Vec<Op> {
    let all = CpuSet::first_n(cpus);
    let free = life.bound.is_none().then_some(Op::SetAffinity(all));
    let Origin::There { runs, .. } = life.origin else { return Vec::new() };
    let sleep = Op::Sleep { mean_ns: LEAD_NS as f64, spread: Spread::Fixed };
    free.into_iter().chain(runs.then_some(sleep)).collect()
}

/// A task that nobody forks.
fn spawn(life: &Life, program: ProgramId, first_ns: u64) -> Option<Spawn> {
    let (cpu, first_wake_ns) = match life.origin {
        Origin::There { cpu, .. } => (Some(cpu), 0),
        Origin::Came { at_ns, .. } => (life.bound, at_ns - first_ns + LEAD_NS),
        Origin::Forked => return None,
    };
    let affinity = cpu.map(|cpu| [cpu].into_iter().collect());
    let nice = nice_of(life.prio);
    Some(Spawn { affinity, nice, first_wake_ns, ..Spawn::new(program) })
}

fn metrics(begin: MarkId, end: MarkId, latency: HistogramId) -> Vec<Metric> {
    let makespan = Metric {
        name: "makespan_s".to_string(),
        unit: "s".to_string(),
        better: workload::Better::Lower,
        reading: Reading::Seconds { from: begin, to: end, scale: 1.0 },
    };
    let latencies = Metric::latencies("latency", latency, &[50.0, 99.0]);
    std::iter::once(makespan).chain(latencies).collect()
}
