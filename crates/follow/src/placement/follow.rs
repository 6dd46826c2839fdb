//! The state that a trace tells, and the questions that are open in it.

use super::FirstPass;
use machine::CpuSet;
pub(super) use sim::follow::Leaves;
use sim::follow::{Answer, Follower, Ground, Named, Wake};
use sim::topology::Topology;
use trace::{Comm, TraceError};
use trace::{Context, Event, Kind, Task, TaskState};

/// A question that waits for its answer.
pub(super) struct Open {
    pub(super) wake: Wake,
    pub(super) task: Comm,
    pub(super) waker: (Comm, u32),
    pub(super) context: Context,
    pub(super) answer: Answer,
    /// Another CPU did something since.
    disturbed: bool,
}

/// A question with the kernel's answer.
pub(super) struct Closed {
    pub(super) open: Open,
    /// The CPU that the kernel chose.
    pub(super) kernel: u32,
    /// Whether the model would answer otherwise by now.
    pub(super) raced: bool,
    /// By CPU: tasks on its queue, and woken ones on their way to it.
    pub(super) queues: Vec<(u32, u32)>,
}

/// Follows a trace.
pub(super) struct State<'a> {
    ground: &'a Ground,
    first: &'a FirstPass,
    follower: Option<Follower<'a>>,
    bound: Vec<(u32, CpuSet)>,
    open: Vec<Option<Open>>,
}

impl<'a> State<'a> {
    pub(super) fn new(
        ground: &'a Ground,
        first: &'a FirstPass,
        bound: Vec<(u32, CpuSet)>,
    ) -> State<'a> {
        let open = (0..ground.topology().nr_cpus).map(|_| None).collect();
        State { ground, first, follower: None, bound, open }
    }

    pub(super) fn topology(&self) -> &Topology {
        self.ground.topology()
    }

    pub(super) fn repairs(&self) -> u64 {
        self.follower.as_ref().map_or(0, Follower::repairs)
    }

    /// The state at `at_ns`; at first that of a machine with nothing but the tasks that run when the trace begins.
    pub(super) fn at(&mut self, at_ns: u64) -> &mut Follower<'a> {
        let (ground, first, bound) = (self.ground, self.first, &mut self.bound);
        let follower = self.follower.get_or_insert_with(|| {
            let mut new = Follower::new(ground, at_ns);
            bound.drain(..).for_each(|(pid, cpus)| new.bind(pid, cpus));
            let cpus = ground.topology().nr_cpus;
            let running = first.running().filter(|&(cpu, _)| usize::from(cpu) < cpus);
            running.for_each(|(cpu, task)| new.ran_before(cpu, task));
            new
        });
        follower.advance(at_ns);
        follower
    }

    /// Asks where `task` goes, which `event` begins to wake.
    pub(super) fn ask(&mut self, event: &Event, task: &Task, previous: u32, sync: bool) {
        let wake = Wake {
            task: named(task),
            waker: event.current.1,
            cpu: event.cpu as u16,
            previous: previous as u16,
            sync: sync && !self.first.is_last_word(event.at_ns, event.current.1, task.pid),
        };
        let answer = self.at(event.at_ns).answer(&wake);
        self.open[event.cpu as usize] = Some(Open {
            wake,
            task: task.comm,
            waker: event.current,
            context: event.context,
            answer,
            disturbed: false,
        });
    }

    /// The open question of `cpu`.
    pub(super) fn open(&self, cpu: u32) -> Option<&Open> {
        self.open[cpu as usize].as_ref()
    }

    /// The task that the open question of `cpu` is about.
    pub(super) fn asked(&self, cpu: u32) -> Option<&Wake> {
        self.open[cpu as usize].as_ref().map(|open| &open.wake)
    }

    /// The CPU whose open question is about the task of `pid`.
    pub(super) fn asked_about(&self, pid: u32) -> Option<u32> {
        let is = |open: &Option<Open>| open.as_ref().is_some_and(|o| o.wake.task.pid == pid);
        self.open.iter().position(is).map(|cpu| cpu as u32)
    }

    /// The kernel sends the task to `kernel`, which answers the question that is open on `cpu`. The model remembers the wake-up as one with
    /// `sync`.
    pub(super) fn close(
        &mut self,
        cpu: u32,
        at_ns: u64,
        kernel: u32,
        sync: bool,
    ) -> Option<Closed> {
        let open = self.open[cpu as usize].take()?;
        let follower = self.at(at_ns);
        let raced = open.answer.by_arrival
            || open.disturbed && follower.answer(&open.wake).cpu != open.answer.cpu;
        let queues = follower.queues();
        follower.noted(&Wake { sync, ..open.wake });
        follower.sent(open.wake.task, kernel as u16);
        follower.just_chosen(cpu as u16, kernel as u16);
        Some(Closed { open, kernel, raced, queues })
    }

    /// What `event` says of tasks, queues and CPUs.
    pub(super) fn take(&mut self, event: &Event) {
        let cpu = event.cpu as u16;
        // The move of a woken task comes before the other CPU is told.
        if !matches!(event.kind, Kind::Migrate { .. }) {
            self.at(event.at_ns).went_on(cpu);
        }
        match event.kind {
            Kind::Waking { task, .. } => self.at(event.at_ns).waking(named(&task)),
            Kind::Switch { prev, prev_state, next } => {
                let leaves = leaves(prev_state);
                self.at(event.at_ns).switch(cpu, named(&prev), leaves, named(&next));
            }
            Kind::Wakeup { task, target } => {
                self.at(event.at_ns).woken(named(&task), target as u16);
            }
            Kind::WakeupNew { task, target } => {
                let parent = event.current.1;
                self.at(event.at_ns).forked(named(&task), parent, cpu, target as u16);
            }
            Kind::Migrate { task, to, .. } => self.at(event.at_ns).moved(named(&task), to as u16),
            _ => return,
        }
        self.disturb(event.cpu);
    }

    /// Refuses a CPU that the machine does not have: the machine is another one's.
    pub(super) fn check(&self, event: &Event) -> Result<(), TraceError> {
        event.check_cpus(self.open.len())
    }

    /// Another CPU changes the state while questions are open.
    pub(super) fn disturb(&mut self, by: u32) {
        for (cpu, open) in self.open.iter_mut().enumerate() {
            if let Some(open) = open.as_mut().filter(|_| cpu != by as usize) {
                open.disturbed = true;
            }
        }
    }
}

impl Closed {
    /// The model's choice.
    pub(super) fn model(&self) -> u32 {
        self.open.answer.cpu.into()
    }

    /// One wake-up, compared with the model's choice `model`.
    pub(super) fn count(&self, topology: &Topology, model: u32) -> super::Count {
        let same = model == self.kernel;
        let same_llc = same || topology.share_cache(model as u16, self.kernel as u16);
        super::Count { all: 1, same_cpu: same.into(), same_llc: same_llc.into() }
    }

    /// The wake-up as one that differs.
    pub(super) fn difference(&self, at_ns: u64, sync: Option<bool>) -> super::Difference {
        let wake = &self.open.wake;
        super::Difference {
            at_ns,
            task: label(self.open.task, wake.task.pid),
            waker: label(self.open.waker.0, self.open.waker.1),
            cpu: wake.cpu.into(),
            previous: wake.previous.into(),
            sync,
            kernel: self.kernel,
            model: self.model(),
            queues: self.queues.clone(),
        }
    }
}

pub(super) fn named(task: &Task) -> Named {
    Named { pid: task.pid, priority: task.prio }
}

pub(super) fn leaves(state: TaskState) -> Leaves {
    match state {
        state if state.is_runnable() => Leaves::Runnable,
        state if state.is_gone() => Leaves::Exits,
        _ => Leaves::Sleeps,
    }
}

fn label(comm: Comm, pid: u32) -> String {
    format!("{}-{pid}", String::from_utf8_lossy(comm.as_bytes()))
}
