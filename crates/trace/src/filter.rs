//! Selects the records of a timeline: a time window, CPUs, tasks.

use crate::TraceError;
use crate::event::{Comm, Event, Kind, Sink, Task, TaskState};
use machine::CpuSet;

/// What to select.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// Start of the window in ns, inclusive.
    pub from_ns: Option<u64>,
    /// End of the window in ns, exclusive.
    pub to_ns: Option<u64>,
    /// Records made by these CPUs or about them; `None` selects all.
    pub cpus: Option<CpuSet>,
    /// Records about these tasks, by name or thread ID; an empty list selects all.
    pub tasks: Vec<String>,
}

/// Passes selected records on to another sink.
#[derive(Debug)]
pub struct Filter<S> {
    choice: Choice,
    /// The selected names, truncated as in records.
    comms: Vec<Comm>,
    pids: Vec<u32>,
    /// Whether tasks that are not selected are replaced by the idle task.
    blank_others: bool,
    passed: u64,
    to: S,
}

impl<S: Sink> Filter<S> {
    /// Creates a filter in front of `to`. With `blank_others`, a switch from a selected task to another one goes to the idle
    /// task instead. Formats that draw a task until the next switch would otherwise show the other task running.
    pub fn new(choice: Choice, blank_others: bool, to: S) -> Filter<S> {
        let comms = choice.tasks.iter().map(|name| Comm::new(name)).collect();
        let pids = choice.tasks.iter().filter_map(|name| name.parse().ok()).collect();
        Filter { choice, comms, pids, blank_others, passed: 0, to }
    }

    /// Number of tracepoint records that passed.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    fn in_window(&self, at_ns: u64) -> bool {
        self.choice.from_ns.is_none_or(|from| from <= at_ns)
            && self.choice.to_ns.is_none_or(|to| at_ns < to)
    }

    fn on_cpu(&self, event: &Event) -> bool {
        let Some(cpus) = &self.choice.cpus else { return true };
        let among = |cpu: u32| cpus.contains(cpu as usize);
        among(event.cpu)
            || match event.kind {
                Kind::Waking { target, .. }
                | Kind::Wakeup { target, .. }
                | Kind::WakeupNew { target, .. } => among(target),
                Kind::Migrate { from, to, .. } => among(from) || among(to),
                Kind::Frequency { cpu, .. } | Kind::Idle { cpu, .. } => among(cpu),
                Kind::Switch { .. }
                | Kind::Runnable { .. }
                | Kind::Clock { .. }
                | Kind::PlaceAsked { .. }
                | Kind::PlaceAnswered { .. } => false,
            }
    }

    fn chosen(&self, task: &Task) -> bool {
        self.comms.contains(&task.comm) || self.pids.contains(&task.pid)
    }

    /// The record to pass on, if any.
    fn pass(&self, event: &Event) -> Option<Event> {
        if !self.in_window(event.at_ns) || !self.on_cpu(event) {
            return None;
        }
        if self.choice.tasks.is_empty() {
            return Some(*event);
        }
        match event.kind {
            Kind::Switch { prev, prev_state, next } => {
                let (from, to) = (self.chosen(&prev), self.chosen(&next));
                let idle = Task::idle(event.cpu);
                let kind = match (from, to) {
                    (false, false) => return None,
                    (true, false) if self.blank_others => {
                        Kind::Switch { prev, prev_state, next: idle }
                    }
                    (false, true) if self.blank_others => {
                        Kind::Switch { prev: idle, prev_state: TaskState::RUNNING, next }
                    }
                    _ => event.kind,
                };
                Some(Event { kind, ..*event })
            }
            Kind::Waking { task, .. }
            | Kind::Wakeup { task, .. }
            | Kind::WakeupNew { task, .. }
            | Kind::Migrate { task, .. } => self.chosen(&task).then_some(*event),
            Kind::Frequency { .. }
            | Kind::Idle { .. }
            | Kind::Runnable { .. }
            | Kind::Clock { .. } => Some(*event),
            // They do not name the task.
            Kind::PlaceAsked { .. } | Kind::PlaceAnswered { .. } => None,
        }
    }
}

impl<S: Sink> Sink for Filter<S> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        let Some(event) = self.pass(event) else { return Ok(()) };
        self.passed += u64::from(event.kind.is_tracepoint());
        self.to.event(&event)
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.to.finish()
    }
}
