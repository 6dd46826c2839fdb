//! Records a simulated run while it executes.

use kernel::priority::DEFAULT_PRIO;
use machine::CpuSet;
use sim::Trace;
use sim::topology::Cpu;
use sim::world::TaskId;
use trace::TraceError;
use trace::{Comm, Context, Event, Kind, Sink, Task, TaskState};

/// State of a task.
#[derive(Debug, Clone, Copy)]
struct Known {
    comm: Comm,
    prio: i32,
    /// Its `prev_state` at the next switch.
    state: TaskState,
    /// Not yet enqueued for the first time, so it is placed without `sched_migrate_task` (`wake_up_new_task`).
    new: bool,
    /// Between `sched_waking` and `sched_wakeup`: the CPU that wakes it, and whether in an interrupt.
    woken_by: Option<(Cpu, bool)>,
}

/// What a CPU is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Running {
    Idle,
    Stopper,
    Task(TaskId),
}

/// State of a CPU.
#[derive(Debug, Clone, Copy)]
struct CpuKnown {
    running: Running,
    in_idle_state: bool,
    runnable: u32,
}

/// An observer for [`sim::Scenario::run_traced`] that turns a run into records.
///
/// Thread IDs are the simulator's own: the stopper of CPU n is 2 + n, and tasks follow in order of creation.
#[derive(Debug)]
pub struct Recorder<S> {
    to: S,
    cpus: Vec<CpuKnown>,
    tasks: Vec<Known>,
    written: u64,
    failure: Option<TraceError>,
}

impl<S: Sink> Recorder<S> {
    /// Creates an observer for a machine of `nr_cpus` CPUs. Its records go to the sink `to`.
    pub fn new(nr_cpus: usize, to: S) -> Recorder<S> {
        let cpu = CpuKnown { running: Running::Idle, in_idle_state: false, runnable: 0 };
        let (cpus, tasks) = (vec![cpu; nr_cpus], Vec::new());
        Recorder { to, cpus, tasks, written: 0, failure: None }
    }

    /// Ends the timeline. Returns the number of records and the sink.
    ///
    /// # Errors
    /// The first error of the sink during the whole run.
    pub fn finish(mut self) -> Result<(u64, S), TraceError> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        self.to.finish()?;
        Ok((self.written, self.to))
    }

    fn stopper(cpu: Cpu) -> Task {
        Task { comm: Comm::stopper(cpu.into()), pid: 2 + u32::from(cpu), prio: 0 }
    }

    fn task(&self, id: TaskId) -> Task {
        let known = &self.tasks[id.index()];
        let pid = 2 + self.cpus.len() as u32 + id.0;
        Task { comm: known.comm, pid, prio: known.prio }
    }

    fn running(&self, cpu: Cpu) -> Task {
        match self.cpus[usize::from(cpu)].running {
            Running::Idle => Task::idle(cpu.into()),
            Running::Stopper => Self::stopper(cpu),
            Running::Task(id) => self.task(id),
        }
    }

    fn put(&mut self, at_ns: u64, cpu: Cpu, interrupt: bool, kind: Kind) {
        if self.failure.is_some() {
            return;
        }
        let current = self.running(cpu);
        let event = Event {
            at_ns,
            cpu: cpu.into(),
            current: (current.comm, current.pid),
            context: Context::locked(interrupt),
            kind,
        };
        self.written += 1;
        self.failure = self.to.event(&event).err();
    }

    fn switch_to(&mut self, at_ns: u64, cpu: Cpu, next: Running) {
        let prev = self.running(cpu);
        let prev_state = match self.cpus[usize::from(cpu)].running {
            Running::Task(id) => self.tasks[id.index()].state,
            Running::Stopper => TaskState::INTERRUPTIBLE,
            Running::Idle => TaskState::RUNNING,
        };
        let next_task = match next {
            Running::Idle => Task::idle(cpu.into()),
            Running::Stopper => Self::stopper(cpu),
            Running::Task(id) => self.task(id),
        };
        self.put(at_ns, cpu, false, Kind::Switch { prev, prev_state, next: next_task });
        self.cpus[usize::from(cpu)].running = next;
    }

    /// The stopper is done, and no other task follows.
    fn leave_stopper(&mut self, at_ns: u64, cpu: Cpu) {
        if self.cpus[usize::from(cpu)].running == Running::Stopper {
            self.switch_to(at_ns, cpu, Running::Idle);
        }
    }
}

impl<S: Sink> Trace for Recorder<S> {
    fn created(&mut self, _at_ns: u64, _task: TaskId, program: &str, _allowed: &CpuSet) {
        self.tasks.push(Known {
            comm: Comm::new(program),
            prio: DEFAULT_PRIO,
            state: TaskState::RUNNING,
            new: true,
            woken_by: None,
        });
    }

    fn nice(&mut self, _at_ns: u64, task: TaskId, nice: i8) {
        self.tasks[task.index()].prio = DEFAULT_PRIO + i32::from(nice);
    }

    fn blocked(&mut self, _at_ns: u64, task: TaskId, for_io: bool) {
        self.tasks[task.index()].state =
            if for_io { TaskState::UNINTERRUPTIBLE } else { TaskState::INTERRUPTIBLE };
    }

    fn exited(&mut self, _at_ns: u64, task: TaskId) {
        self.tasks[task.index()].state = TaskState::DEAD;
    }

    fn switch(&mut self, at_ns: u64, cpu: Cpu, _previous: Option<TaskId>, next: Option<TaskId>) {
        self.switch_to(at_ns, cpu, next.map_or(Running::Idle, Running::Task));
    }

    fn stopped(&mut self, at_ns: u64, cpu: Cpu, _task: TaskId) {
        self.switch_to(at_ns, cpu, Running::Stopper);
    }

    fn waking(&mut self, at_ns: u64, task: TaskId, by: Cpu, waker: Option<TaskId>, previous: Cpu) {
        let known = &mut self.tasks[task.index()];
        known.new = false;
        known.state = TaskState::RUNNING;
        known.woken_by = Some((by, waker.is_none()));
        let kind = Kind::Waking { task: self.task(task), target: previous.into() };
        self.put(at_ns, by, waker.is_none(), kind);
    }

    fn wakeup(&mut self, at_ns: u64, task: TaskId, by: Cpu, target: Cpu) {
        let interrupt = self.tasks[task.index()].woken_by.take().is_some_and(|(_, irq)| irq);
        let kind = Kind::Wakeup { task: self.task(task), target: target.into() };
        self.put(at_ns, by, interrupt, kind);
    }

    fn wakeup_new(&mut self, at_ns: u64, task: TaskId, by: Cpu, target: Cpu) {
        self.tasks[task.index()].new = false;
        let kind = Kind::WakeupNew { task: self.task(task), target: target.into() };
        self.put(at_ns, by, false, kind);
    }

    fn migrate(&mut self, at_ns: u64, task: TaskId, from: Cpu, to: Cpu) {
        let known = &self.tasks[task.index()];
        if known.new {
            return;
        }
        let (by, interrupt) = match known.woken_by {
            Some(waker) => waker,
            None if self.cpus[usize::from(from)].running == Running::Stopper => (from, false),
            // The balancer pulls.
            None => (to, false),
        };
        let kind = Kind::Migrate { task: self.task(task), from: from.into(), to: to.into() };
        self.put(at_ns, by, interrupt, kind);
    }

    fn runnable(&mut self, at_ns: u64, cpu: Cpu, tasks: u32) {
        let known = &mut self.cpus[usize::from(cpu)];
        if std::mem::replace(&mut known.runnable, tasks) != tasks {
            self.put(at_ns, cpu, false, Kind::Runnable { tasks });
        }
    }

    fn idle(&mut self, at_ns: u64, cpu: Cpu, state: Option<usize>) {
        if state.is_some() {
            self.leave_stopper(at_ns, cpu);
        }
        self.cpus[usize::from(cpu)].in_idle_state = state.is_some();
        let state = state.map(|s| s as u32);
        self.put(at_ns, cpu, false, Kind::Idle { cpu: cpu.into(), state });
    }

    fn frequency(&mut self, at_ns: u64, cpu: Cpu, khz: u32) {
        self.put(at_ns, cpu, false, Kind::Frequency { cpu: cpu.into(), khz });
    }

    fn clock(&mut self, at_ns: u64, cpu: Cpu, khz: u32) {
        self.put(at_ns, cpu, false, Kind::Clock { khz });
    }

    fn offline(&mut self, at_ns: u64, cpu: Cpu) {
        self.leave_stopper(at_ns, cpu);
        if self.cpus[usize::from(cpu)].in_idle_state {
            self.idle(at_ns, cpu, None);
        }
        self.runnable(at_ns, cpu, 0);
    }
}
