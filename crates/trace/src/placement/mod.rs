//! A kernel's wake-ups beside the model's: where the kernel sent each woken task, and where the model would have sent it.
//!
//! A [`Follower`] keeps the state that the trace tells. A wake-up is compared where the trace has the question and the answer of
//! `select_task_rq_fair`, which guests record by probes. The state may change in between, by other CPUs: where that would change the
//! model's answer, nobody can say what the kernel saw, and the wake-up counts as [`Placements::raced`]. Answers that depend on values
//! that a trace does not tell exactly count apart, too.

use crate::event::{Event, Kind, Sink, Task, TaskState};
use crate::{Comm, TraceError, WakeMemory};
use serde::Serialize;
pub use sim::follow::Ground;
use sim::follow::{Answer, Follower, Leaves, Named, Wake};
use sim::topology::Topology;

/// Flags of a wake-up from 5.11 on (`kernel/sched/sched.h`).
const WF_EXEC: u32 = 0x02;
const WF_FORK: u32 = 0x04;
const WF_SYNC: u32 = 0x10;
/// Differences that are kept.
const KEPT: usize = 50;

/// Wake-ups that were compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// All.
    pub all: u64,
    /// The same CPU.
    pub same_cpu: u64,
    /// The same last-level cache.
    pub same_llc: u64,
}

impl Count {
    /// Adds others.
    pub fn add(&mut self, other: Count) {
        self.all += other.all;
        self.same_cpu += other.same_cpu;
        self.same_llc += other.same_llc;
    }

    /// Shares of the same CPU and of the same cache, from 0 to 1; `None` without wake-ups.
    pub fn shares(self) -> Option<(f64, f64)> {
        let of = |part: u64| part as f64 / self.all as f64;
        (self.all > 0).then(|| (of(self.same_cpu), of(self.same_llc)))
    }
}

/// A wake-up that the model decides otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// When, in ns of the guest's clock.
    pub at_ns: u64,
    /// The woken task, as NAME-PID.
    pub task: String,
    /// Who ran on the waker's CPU.
    pub waker: String,
    /// The waker's CPU.
    pub cpu: u32,
    /// The CPU on which the task last ran.
    pub previous: u32,
    /// Whether the waker was about to sleep.
    pub sync: bool,
    /// The kernel's choice.
    pub kernel: u32,
    /// The model's.
    pub model: u32,
    /// By CPU: tasks on its queue, the running one included, and woken ones on their way to it.
    pub queues: Vec<(u32, u32)>,
}

/// What came of the comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Placements {
    /// Wake-ups whose inputs the trace determines.
    pub determined: Count,
    /// Those that loads decide (`wake_affine_weight`), which are rebuilt from the trace.
    pub by_load: Count,
    /// Those that depend on how far the search looks, whose limit is rebuilt from the trace.
    pub by_search: Count,
    /// Those during which another CPU changed what the answer depends on.
    pub raced: Count,
    /// Where the trace did not fit the state ([`Follower::repairs`]).
    pub repairs: u64,
    /// The first wake-ups that are determined and differ.
    pub differences: Vec<Difference>,
}

impl Placements {
    /// All wake-ups.
    pub fn all(&self) -> Count {
        let mut all = self.determined;
        [self.by_load, self.by_search, self.raced].into_iter().for_each(|c| all.add(c));
        all
    }
}

/// A question that waits for its answer.
struct Open {
    wake: Wake,
    task: Comm,
    answer: Answer,
    /// Another CPU did something since.
    disturbed: bool,
}

/// Takes a guest's trace and compares its wake-ups.
pub struct Judge<'a> {
    ground: &'a Ground,
    follower: Option<Follower<'a>>,
    bound: Vec<(u32, machine::CpuSet)>,
    /// By CPU: the task whose wake-up began last there.
    waking: Vec<Option<Task>>,
    open: Vec<Option<Open>>,
    found: Placements,
}

impl<'a> Judge<'a> {
    /// `ground` has the guest's machine and its kernel as a model; `bound` the tasks that may not use all CPUs.
    pub fn new(ground: &'a Ground, bound: Vec<(u32, machine::CpuSet)>) -> Judge<'a> {
        let cpus = ground.topology().nr_cpus;
        Judge {
            ground,
            follower: None,
            bound,
            waking: vec![None; cpus],
            open: (0..cpus).map(|_| None).collect(),
            found: Placements::default(),
        }
    }

    /// What was found.
    pub fn finish(self) -> Placements {
        let repairs = self.follower.map_or(0, |f| f.repairs());
        Placements { repairs, ..self.found }
    }

    /// The state at `at_ns`; at first that of a machine without tasks.
    fn follow(&mut self, at_ns: u64) -> &mut Follower<'a> {
        let (ground, bound) = (self.ground, &mut self.bound);
        let follower = self.follower.get_or_insert_with(|| {
            let mut new = Follower::new(ground, at_ns);
            bound.drain(..).for_each(|(pid, cpus)| new.bind(pid, cpus));
            new
        });
        follower.advance(at_ns);
        follower
    }

    fn asked(&mut self, event: &Event, previous: u32, flags: u32, memory: Option<WakeMemory>) {
        let at = event.cpu as usize;
        let placed = flags & (WF_EXEC | WF_FORK) != 0;
        let Some(task) = self.waking[at].filter(|_| !placed) else {
            // A child has its parent's memory, but for the CPU.
            if let Some(WakeMemory { flips, recent }) = memory.filter(|_| placed) {
                self.follow(event.at_ns).remembers(event.current.1, flips, recent as u16);
            }
            return;
        };
        if let Some(WakeMemory { flips, recent }) = memory {
            self.follow(event.at_ns).remembers(task.pid, flips, recent as u16);
        }
        let wake = Wake {
            task: named(&task),
            waker: event.current.1,
            cpu: event.cpu as u16,
            previous: previous as u16,
            sync: flags & WF_SYNC != 0,
        };
        let answer = self.follow(event.at_ns).answer(&wake);
        self.open[at] = Some(Open { wake, task: task.comm, answer, disturbed: false });
    }

    fn answered(&mut self, event: &Event, kernel: u32) {
        let Some(open) = self.open[event.cpu as usize].take() else { return };
        let follower = self.follow(event.at_ns);
        let answer = match open.disturbed {
            true => follower.answer(&open.wake),
            false => open.answer,
        };
        let queues = follower.queues();
        follower.noted(&open.wake);
        follower.sent(open.wake.task, kernel as u16);
        let model = u32::from(open.answer.cpu);
        let topology = self.ground.topology();
        let same_llc = model == kernel || shares_cache(topology, model, kernel);
        let count = Count { all: 1, same_cpu: (model == kernel).into(), same_llc: same_llc.into() };
        let raced = answer.cpu != open.answer.cpu;
        let kind = match (raced, open.answer) {
            (true, _) => &mut self.found.raced,
            (_, Answer { by_load: true, .. }) => &mut self.found.by_load,
            (_, Answer { by_search: true, .. }) => &mut self.found.by_search,
            _ => &mut self.found.determined,
        };
        kind.add(count);
        let determined = !raced && !open.answer.by_load && !open.answer.by_search;
        if determined && model != kernel && self.found.differences.len() < KEPT {
            self.found.differences.push(Difference {
                at_ns: event.at_ns,
                task: label(open.task, open.wake.task.pid),
                waker: label(event.current.0, event.current.1),
                cpu: event.cpu,
                previous: open.wake.previous.into(),
                sync: open.wake.sync,
                kernel,
                model,
                queues,
            });
        }
    }

    /// Another CPU changes the state while questions are open.
    fn disturb(&mut self, by: u32) {
        for (cpu, open) in self.open.iter_mut().enumerate() {
            if let Some(open) = open.as_mut().filter(|_| cpu != by as usize) {
                open.disturbed = true;
            }
        }
    }
}

impl Sink for Judge<'_> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        let cpus = self.waking.len();
        let named_cpu = match event.kind {
            Kind::Waking { target: cpu, .. }
            | Kind::Wakeup { target: cpu, .. }
            | Kind::WakeupNew { target: cpu, .. }
            | Kind::Migrate { to: cpu, .. }
            | Kind::PlaceAsked { previous: cpu, .. }
            | Kind::PlaceAnswered { cpu } => cpu,
            _ => event.cpu,
        };
        // The machine is another one's.
        if event.cpu.max(named_cpu) as usize >= cpus {
            return Err(TraceError::Cpu { found: event.cpu.max(named_cpu), cpus });
        }
        let cpu = event.cpu as u16;
        match event.kind {
            Kind::Waking { task, .. } => {
                self.waking[event.cpu as usize] = Some(task);
                self.follow(event.at_ns).waking(named(&task));
                self.disturb(event.cpu);
            }
            Kind::PlaceAsked { previous, flags, memory } => {
                self.asked(event, previous, flags, memory);
            }
            Kind::PlaceAnswered { cpu: kernel } => {
                self.answered(event, kernel);
                self.disturb(event.cpu);
            }
            Kind::Switch { prev, prev_state, next } => {
                let leaves = leaves(prev_state);
                self.follow(event.at_ns).switch(cpu, named(&prev), leaves, named(&next));
                self.disturb(event.cpu);
            }
            Kind::Wakeup { task, target } => {
                self.follow(event.at_ns).woken(named(&task), target as u16);
                self.disturb(event.cpu);
            }
            Kind::WakeupNew { task, target } => {
                let parent = event.current.1;
                self.follow(event.at_ns).forked(named(&task), parent, cpu, target as u16);
                self.disturb(event.cpu);
            }
            Kind::Migrate { task, to, .. } => {
                self.follow(event.at_ns).moved(named(&task), to as u16);
                self.disturb(event.cpu);
            }
            Kind::Frequency { .. }
            | Kind::Idle { .. }
            | Kind::Runnable { .. }
            | Kind::Clock { .. } => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}

fn named(task: &Task) -> Named {
    Named { pid: task.pid, priority: task.prio }
}

fn leaves(state: TaskState) -> Leaves {
    match state.0 {
        0 | TaskState::PREEMPTED => Leaves::Runnable,
        bits if bits & TaskState::GONE != 0 => Leaves::Exits,
        _ => Leaves::Sleeps,
    }
}

fn shares_cache(topology: &Topology, a: u32, b: u32) -> bool {
    topology.share_cache(a as u16, b as u16)
}

fn label(comm: Comm, pid: u32) -> String {
    format!("{}-{pid}", String::from_utf8_lossy(comm.as_bytes()))
}

#[cfg(test)]
mod tests;
