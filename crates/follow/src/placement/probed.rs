//! Wake-ups of a guest, whose probes tell when `select_task_rq_fair` is asked and what it answers.

use super::follow::{Closed, State};
use super::{FirstPass, Ground, Placements};
use sim::follow::Answer;
use trace::{Event, Kind, Sink, Task};
use trace::{TraceError, WakeMemory, wake_flags};

/// Takes a guest's trace and compares its wake-ups.
pub struct Probed<'a> {
    state: State<'a>,
    /// By CPU: the task whose wake-up began last there.
    waking: Vec<Option<Task>>,
    /// Probes tell what tasks remember.
    tells_memory: bool,
    found: Placements,
}

impl<'a> Probed<'a> {
    /// `ground` has the guest's machine and its kernel as a model, `first` has read the trace before, `bound` has the tasks that may not use
    /// all CPUs.
    pub fn new(
        ground: &'a Ground,
        first: &'a FirstPass,
        bound: Vec<(u32, machine::CpuSet)>,
    ) -> Probed<'a> {
        let waking = vec![None; ground.topology().nr_cpus];
        let (state, found) = (State::new(ground, first, bound), Placements::default());
        Probed { state, waking, tells_memory: false, found }
    }

    /// What was found.
    pub fn finish(self) -> Placements {
        Placements { repairs: self.state.repairs(), ..self.found }
    }

    fn asked(&mut self, event: &Event, previous: u32, flags: u32, memory: Option<WakeMemory>) {
        let placed = flags & (wake_flags::EXEC | wake_flags::FORK) != 0;
        let task = self.waking[event.cpu as usize].filter(|_| !placed);
        self.tells_memory |= memory.is_some();
        if let Some(WakeMemory { flips, recent }) = memory {
            // A child has its parent's memory, but for the CPU.
            let of = task.map(|t| t.pid).or(placed.then_some(event.current.1));
            if let Some(pid) = of {
                self.state.at(event.at_ns).remembers(pid, flips, recent as u16);
            }
        }
        if let Some(task) = task {
            self.state.ask(event, &task, previous, flags & wake_flags::SYNC != 0);
        }
    }

    fn answered(&mut self, event: &Event, kernel: u32) {
        let sync = self.state.open(event.cpu).is_some_and(|open| open.wake.sync);
        if let Some(closed) = self.state.close(event.cpu, event.at_ns, kernel, sync) {
            self.note(event.at_ns, &closed);
        }
        self.state.disturb(event.cpu);
    }

    fn note(&mut self, at_ns: u64, closed: &Closed) {
        let kind = match (closed.raced, closed.open.answer) {
            (true, _) => &mut self.found.raced,
            (_, Answer { by_load: true, .. }) => &mut self.found.by_load,
            (_, Answer { by_search: true, .. }) => &mut self.found.by_search,
            (_, Answer { by_partners: true, .. }) if !self.tells_memory => {
                &mut self.found.by_memory
            }
            (_, Answer { by_halving: true, .. }) => &mut self.found.by_memory,
            _ => {
                if closed.model() != closed.kernel {
                    let sync = Some(closed.open.wake.sync);
                    self.found.differs(|| closed.difference(at_ns, sync));
                }
                &mut self.found.determined
            }
        };
        kind.add(closed.count(self.state.topology(), closed.model()));
    }
}

impl Sink for Probed<'_> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        self.state.check(event)?;
        if let Kind::Waking { task, .. } = event.kind {
            self.waking[event.cpu as usize] = Some(task);
        }
        match event.kind {
            Kind::PlaceAsked { previous, flags, memory } => {
                self.asked(event, previous, flags, memory);
            }
            Kind::PlaceAnswered { cpu: kernel } => self.answered(event, kernel),
            _ => self.state.take(event),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}
