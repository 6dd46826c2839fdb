//! What a first pass over a trace tells of what comes later in it: who runs when it begins, and who is about to exit.

use super::follow::{Leaves, leaves, named};
use sim::follow::Named;
use std::collections::HashMap;
use trace::{Event, Kind, Sink, TraceError};

/// Takes a trace before it is judged. Memory grows with the number of tasks.
#[derive(Debug, Clone, Default)]
pub struct FirstPass {
    /// By CPU.
    cpus: Vec<Seen>,
    /// By pid of those that exit: begin and end of the last stretch on a CPU, in ns.
    last: HashMap<u32, (u64, u64)>,
    /// By pid of tasks that the trace sees begin.
    parents: HashMap<u32, u32>,
}

/// What is known of a CPU.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// It has a record.
    any: bool,
    /// The task that ran when the trace began.
    ran: Option<Named>,
    /// Its last switch.
    switched_ns: u64,
}

impl FirstPass {
    /// Tasks that ran when the trace began, by CPU. A CPU without a record is taken to be idle.
    pub(super) fn running(&self) -> impl Iterator<Item = (u16, Named)> {
        let ran = |(cpu, seen): (usize, &Seen)| Some((cpu as u16, seen.ran?));
        self.cpus.iter().enumerate().filter_map(ran)
    }

    /// Whether the wake-up of `woken` by `waker` is what an exiting task tells its parent (`do_notify_parent`). It asks for a synchronous
    /// wake-up, which `select_task_rq_fair` does not grant to a task with `PF_EXITING`.
    pub(super) fn is_last_word(&self, at_ns: u64, waker: u32, woken: u32) -> bool {
        let exits = self.last.get(&waker).is_some_and(|&(from, to)| from <= at_ns && at_ns <= to);
        exits && self.parents.get(&waker) == Some(&woken)
    }
}

impl Sink for FirstPass {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        let cpu = event.cpu as usize;
        if cpu >= self.cpus.len() {
            self.cpus.resize(cpu + 1, Seen::default());
        }
        let seen = &mut self.cpus[cpu];
        if !std::mem::replace(&mut seen.any, true) {
            let ran = match event.kind {
                Kind::Switch { prev, .. } => named(&prev),
                _ => Named { pid: event.current.1, priority: kernel::priority::DEFAULT_PRIO },
            };
            seen.ran = (ran.pid != 0).then_some(ran);
        }
        match event.kind {
            Kind::Switch { prev, prev_state, .. } => {
                let from_ns = std::mem::replace(&mut seen.switched_ns, event.at_ns);
                if leaves(prev_state) == Leaves::Exits {
                    self.last.insert(prev.pid, (from_ns, event.at_ns));
                }
            }
            Kind::WakeupNew { task, .. } => {
                self.parents.insert(task.pid, event.current.1);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}
