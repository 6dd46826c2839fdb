//! What happened in a trace: how long tasks waited and ran, where wake-ups landed, which CPUs idled while somebody waited, who moved and
//! who woke whom.
//!
//! An [`Inspector`] follows tasks and CPUs from event to event. A task is known from its first event on, so what was running or waiting
//! before a trace begins counts from there. Memory grows with the number of tasks and names, not with the length of the trace.

mod levels;
mod moves;
pub(crate) mod spread;
mod tasks;
mod violations;
mod wakers;

pub use levels::{Clocks, IdleStates, Level};
pub use moves::{Moves, PingPong, Reason};
pub use spread::Spread;
pub use tasks::{Group, TaskFigures};
pub use violations::{Conservation, Violation};
pub use wakers::{Edge, dot};

use crate::event::{Event, Kind, Sink, Task, TaskState};
use crate::{Comm, TraceError};
use levels::Levels;
use machine::Machine;
use machine::distance::{Distance, Distances};
use moves::Mover;
use serde::Serialize;
use spread::Recorded;
use std::collections::HashMap;
use tasks::Tasks;
use violations::Watch;
use wakers::Wakers;

/// Everything that an inspection gives. Times are in ns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// Time of the first and the last event.
    pub from_ns: u64,
    /// See there.
    pub to_ns: u64,
    /// Events that were looked at.
    pub events: u64,
    /// CPUs that made events.
    pub cpus: usize,
    /// Events that did not fit what was known, such as a switch from another task than the one that ran: the trace lost some.
    pub repairs: u64,
    /// By name of tasks, those that ran longest first.
    pub groups: Vec<Group>,
    /// Tasks that ran longest, the longest first.
    pub tasks: Vec<TaskFigures>,
    /// How long tasks waited in sum: from a wake-up, or from being preempted, until they ran.
    pub waited_ns: u64,
    /// By distance from the waking CPU: wake-ups, and how long it took until the task ran.
    pub wakeups: Vec<(&'static str, Spread)>,
    /// Idle CPUs while somebody waited.
    pub conservation: Conservation,
    /// Moves of tasks by reason and distance.
    pub moves: Moves,
    /// Over time: runnable tasks, idle CPUs, and how uneven queues were.
    pub levels: Vec<Level>,
    /// Who wakes whom, by name, the most frequent pairs first.
    pub wakers: Vec<Edge>,
    /// By CPU: time at each clock, where the trace has it.
    pub clocks: Vec<Clocks>,
    /// By CPU: time in each idle state, where the trace has it.
    pub idle_states: Vec<IdleStates>,
}

impl Inspection {
    /// Leaves no more than the first `most` names, tasks, tasks that go back and forth, and pairs of wakers.
    pub fn shorten(&mut self, most: usize) {
        self.groups.truncate(most);
        self.tasks.truncate(most);
        self.moves.ping_pong.truncate(most);
        self.wakers.truncate(most);
    }
}

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// It sleeps, or nobody knows.
    Away,
    /// `sched_waking` was seen, on the waker's CPU.
    Waking,
    /// On the queue of a CPU.
    Queued(usize),
    /// On a CPU.
    Running(usize),
}

/// A task as it is now.
#[derive(Debug)]
struct Now {
    comm: Comm,
    place: Place,
    /// Since when it is there.
    since_ns: u64,
    /// Its last wake-up; none where it waits for another reason.
    woken: Option<Woken>,
    /// The CPU on which it was last.
    cpu: Option<usize>,
    /// Whether it belongs to one CPU.
    is_bound: bool,
}

/// A wake-up.
#[derive(Debug, Clone, Copy)]
struct Woken {
    at_ns: u64,
    /// The waking CPU.
    by: usize,
    /// Who woke.
    waker: Comm,
}

/// Takes a trace.
pub struct Inspector {
    distances: Distances,
    first_ns: Option<u64>,
    last_ns: u64,
    events: u64,
    repairs: u64,
    waited_ns: u64,
    seen: Vec<bool>,
    /// By CPU: who runs; none before it is known, 0 for the idle task.
    running: Vec<Option<u32>>,
    now: HashMap<u32, Now>,
    tasks: Tasks,
    wakeups: [Recorded; Distance::COUNT],
    watch: Watch,
    mover: Mover,
    levels: Levels,
    wakers: Wakers,
}

impl Inspector {
    /// For a trace of `machine`.
    pub fn new(machine: &Machine) -> Inspector {
        let cpus = machine.cpus.len();
        Inspector {
            distances: Distances::new(machine),
            first_ns: None,
            last_ns: 0,
            events: 0,
            repairs: 0,
            waited_ns: 0,
            seen: vec![false; cpus],
            running: vec![None; cpus],
            now: HashMap::new(),
            tasks: Tasks::default(),
            wakeups: std::array::from_fn(|_| Recorded::new()),
            watch: Watch::new(cpus),
            mover: Mover::new(machine),
            levels: Levels::new(cpus),
            wakers: Wakers::default(),
        }
    }

    /// What came of it, all of it.
    pub fn finish(mut self) -> Inspection {
        let (from_ns, to_ns) = (self.first_ns.unwrap_or(0), self.last_ns);
        let names: HashMap<u32, Comm> =
            self.now.iter().map(|(&pid, now)| (pid, now.comm)).collect();
        let (groups, tasks) = self.tasks.finish(&names);
        let distances = Distance::ALL.iter().zip(&self.wakeups);
        let (clocks, idle_states) = self.levels.finish_states(to_ns);
        Inspection {
            from_ns,
            to_ns,
            events: self.events,
            cpus: self.seen.iter().filter(|seen| **seen).count(),
            repairs: self.repairs,
            groups,
            tasks,
            waited_ns: self.waited_ns,
            wakeups: distances
                .filter(|(_, r)| r.count() > 0)
                .map(|(d, r)| (d.name(), r.spread()))
                .collect(),
            conservation: self.watch.finish(to_ns, to_ns.saturating_sub(from_ns)),
            moves: self.mover.finish(&names),
            levels: self.levels.finish(to_ns),
            wakers: self.wakers.finish(),
            clocks,
            idle_states,
        }
    }

    fn task(&mut self, task: &Task, at_ns: u64) -> &mut Now {
        let now = self.now.entry(task.pid).or_insert_with(|| Now {
            comm: task.comm,
            place: Place::Away,
            since_ns: at_ns,
            woken: None,
            cpu: None,
            is_bound: is_of_one_cpu(&task.comm),
        });
        // A task may get another name.
        if now.comm != task.comm {
            now.comm = task.comm;
            now.is_bound = is_of_one_cpu(&task.comm);
        }
        now
    }

    /// Takes `pid` from a queue, if it is on one.
    fn leave_queue(&mut self, pid: u32, at_ns: u64) {
        let Some(now) = self.now.get_mut(&pid) else { return };
        if let Place::Queued(cpu) = now.place {
            self.watch.waits(pid, cpu, at_ns, false, now.is_bound);
            self.levels.waits(cpu, at_ns, -1);
            now.place = Place::Away;
        }
    }

    fn queue(&mut self, pid: u32, cpu: usize, at_ns: u64) {
        let Some(now) = self.now.get_mut(&pid) else { return };
        (now.place, now.since_ns, now.cpu) = (Place::Queued(cpu), at_ns, Some(cpu));
        self.watch.waits(pid, cpu, at_ns, true, now.is_bound);
        self.levels.waits(cpu, at_ns, 1);
    }

    fn waking(&mut self, event: &Event, task: &Task) {
        let at_ns = event.at_ns;
        let now = self.task(task, at_ns);
        if now.place == Place::Away {
            (now.place, now.since_ns, now.woken) = (Place::Waking, at_ns, Some(woken_by(event)));
        }
        self.wakers.woke(waker_of(event), task.comm);
    }

    fn woken(&mut self, event: &Event, task: &Task, target: usize) {
        let at_ns = event.at_ns;
        let now = self.task(task, at_ns);
        match now.place {
            // On a queue or a CPU already: nothing to wait for.
            Place::Queued(_) | Place::Running(_) => return,
            // Without `sched_waking`, this is the first that is heard of it.
            Place::Away => now.woken = Some(woken_by(event)),
            Place::Waking => {}
        }
        self.queue(task.pid, target, at_ns);
    }

    fn switch(&mut self, event: &Event, prev: &Task, state: TaskState, next: &Task) {
        let (at_ns, cpu) = (event.at_ns, event.cpu as usize);
        if self.running[cpu].is_some_and(|pid| pid != prev.pid) {
            self.repairs += 1;
            self.stopped(cpu, at_ns);
        }
        // The next one first, so that never both wait.
        if next.pid != 0 {
            self.switched_in(cpu, next, at_ns);
        }
        if prev.pid != 0 {
            self.switched_out(cpu, prev, state, at_ns);
        }
        self.running[cpu] = Some(next.pid);
        self.watch.runs(cpu, at_ns, next.pid != 0);
        self.levels.runs(cpu, at_ns, next.pid != 0);
    }

    /// Whoever was thought to run on `cpu` does not.
    fn stopped(&mut self, cpu: usize, at_ns: u64) {
        let Some(now) = self.running[cpu].and_then(|pid| self.now.get_mut(&pid)) else { return };
        if now.place == Place::Running(cpu) {
            (now.place, now.since_ns) = (Place::Away, at_ns);
        }
    }

    fn switched_out(&mut self, cpu: usize, task: &Task, state: TaskState, at_ns: u64) {
        let now = self.task(task, at_ns);
        if now.place == Place::Running(cpu) {
            let (comm, ran_ns) = (now.comm, at_ns.saturating_sub(now.since_ns));
            self.tasks.ran(task.pid, comm, ran_ns);
        }
        self.leave_queue(task.pid, at_ns);
        let stays = state.is_runnable();
        let now = self.task(task, at_ns);
        (now.place, now.since_ns, now.woken, now.cpu) = (Place::Away, at_ns, None, Some(cpu));
        if stays {
            self.queue(task.pid, cpu, at_ns);
        }
    }

    fn switched_in(&mut self, cpu: usize, task: &Task, at_ns: u64) {
        let now = self.task(task, at_ns);
        let (place, since_ns, woken, comm) = (now.place, now.since_ns, now.woken.take(), now.comm);
        let waits_since_ns = woken.as_ref().map_or(since_ns, |woken| woken.at_ns);
        if let Place::Queued(_) | Place::Waking = place {
            self.waited_ns += at_ns.saturating_sub(waits_since_ns);
            self.tasks.waited(task.pid, comm, at_ns.saturating_sub(since_ns));
        }
        if let Some(woken) = woken {
            let latency_ns = at_ns.saturating_sub(woken.at_ns);
            let distance = self.distances.between(woken.by, cpu);
            self.tasks.woke(task.pid, comm, latency_ns);
            self.wakeups[distance as usize].add(latency_ns);
            self.wakers.ran(woken.waker, comm, distance);
        }
        self.leave_queue(task.pid, at_ns);
        self.mover.runs(task.pid, cpu, at_ns);
        let now = self.task(task, at_ns);
        (now.place, now.since_ns, now.cpu) = (Place::Running(cpu), at_ns, Some(cpu));
    }

    fn moved(&mut self, event: &Event, task: &Task, from: usize, to: usize) {
        let at_ns = event.at_ns;
        let place = self.task(task, at_ns).place;
        let reason = match place {
            Place::Waking => Reason::WakeUp,
            // Where `sched_waking` is not traced, a sleeping task that moves is being woken, or was just made.
            Place::Away => Reason::WakeUp,
            _ if event.current.0.as_bytes().starts_with(b"migration/") => Reason::Stopper,
            _ if event.cpu as usize == to => Reason::Pulled,
            _ => Reason::Other,
        };
        self.mover.moved(reason, self.distances.between(from, to));
        if let Place::Queued(_) = place {
            let since_ns = self.task(task, at_ns).since_ns;
            self.leave_queue(task.pid, at_ns);
            self.queue(task.pid, to, at_ns);
            // It waits since it came to the first queue.
            self.task(task, at_ns).since_ns = since_ns;
        }
    }
}

impl Sink for Inspector {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        event.check_cpus(self.running.len())?;
        if !event.kind.is_tracepoint() {
            return Ok(());
        }
        let at_ns = event.at_ns;
        self.first_ns.get_or_insert(at_ns);
        self.last_ns = self.last_ns.max(at_ns);
        self.events += 1;
        self.seen[event.cpu as usize] = true;
        match &event.kind {
            Kind::Switch { prev, prev_state, next } => self.switch(event, prev, *prev_state, next),
            Kind::Waking { task, .. } => self.waking(event, task),
            Kind::Wakeup { task, target } => self.woken(event, task, *target as usize),
            Kind::WakeupNew { task, target } => {
                self.task(task, at_ns).place = Place::Away;
                self.woken(event, task, *target as usize);
                self.mover.forked();
            }
            Kind::Migrate { task, from, to } => {
                self.moved(event, task, *from as usize, *to as usize);
            }
            Kind::Frequency { cpu, khz } => self.levels.clock(*cpu as usize, at_ns, *khz),
            Kind::Idle { cpu, state } => self.levels.idle_state(*cpu as usize, at_ns, *state),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}

fn woken_by(event: &Event) -> Woken {
    Woken { at_ns: event.at_ns, by: event.cpu as usize, waker: waker_of(event) }
}

/// Who wakes: the task that runs, or the interrupt that interrupts it.
fn waker_of(event: &Event) -> Comm {
    match event.context.flags & (crate::Context::HARDIRQ | crate::Context::SOFTIRQ) {
        0 if event.current.1 != 0 => event.current.0,
        0 => Comm::new("idle"),
        flags if flags & crate::Context::HARDIRQ != 0 => Comm::new("hardirq"),
        _ => Comm::new("softirq"),
    }
}

/// Whether a task of this name belongs to one CPU, as kernel threads called `NAME/CPU` do.
pub fn is_of_one_cpu(comm: &Comm) -> bool {
    const OF_ONE: [&str; 8] = [
        "migration/",
        "ksoftirqd/",
        "cpuhp/",
        "kworker/",
        "rcuc/",
        "rcuop/",
        "idle_inject/",
        "watchdog/",
    ];
    let name = String::from_utf8_lossy(comm.as_bytes()).into_owned();
    let is = |start: &&str| {
        let Some(rest) = name.strip_prefix(*start) else { return false };
        rest.starts_with(|c: char| c.is_ascii_digit())
    };
    OF_ONE.iter().any(is)
}

#[cfg(test)]
mod tests;
