//! Whether a run goes on: until a task stops it, or it cannot. Nothing is left to wait for, a loop takes no time, or a
//! task does what it may not do.
//!
//! The event loop looks at [`Progress`]: before each event whether a task has stopped the run and whether anything is
//! still active, after it whether there is a failure. Other rooms count what is active as tasks and users come, sleep
//! and go. `too_many_steps` counts the steps of all tasks at one point in time, and `misuse` takes a reason; both note
//! program and step. `stuck` says what the tasks that are not daemons wait for, the first eight one by one.
//!
//! The errors are made here, and the loop returns them. Nothing here changes a task or a CPU.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use crate::SimError;
use crate::trace::Trace;
use crate::world::{State, Task, TaskId};

/// Steps at one point in time that no program needs.
const MOST_STEPS: u32 = 1_000_000;
/// Waiting tasks that an error names.
const NAMED: usize = 8;

/// What the event loop looks at.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Tasks other than daemons that run or have a timer, and users who think.
    pub(super) active: u32,
    /// Steps without time since `steps_at_ns`.
    steps: u32,
    steps_at_ns: u64,
    /// A task stopped the run.
    pub(super) stopped: bool,
    /// Why the run cannot go on.
    pub(super) failure: Option<SimError>,
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// Counts a step that took no time; whether there were too many.
    pub(super) fn too_many_steps(&mut self, task: TaskId) -> bool {
        if self.progress.steps_at_ns != self.w.now_ns {
            (self.progress.steps_at_ns, self.progress.steps) = (self.w.now_ns, 0);
        }
        self.progress.steps += 1;
        if self.progress.steps < MOST_STEPS {
            return false;
        }
        let (program, step) = self.place_in_program(task);
        self.progress.failure = Some(SimError::Endless { program, step });
        true
    }

    /// Whether the run has ended well: a task stopped it, or it is a trace's and all of its tasks are gone.
    pub(super) fn is_over(&self) -> bool {
        let is_replay = self.progress.active == 0 && self.setup.workload.has_kernel_work;
        self.progress.stopped
            || is_replay && self.w.tasks.iter().all(|t| t.daemon || t.state == State::Dead)
    }

    /// Ends the run because of what `task` does in its step.
    pub(super) fn misuse(&mut self, task: TaskId, reason: &'static str) -> Step {
        let (program, step) = self.place_in_program(task);
        self.progress.failure = Some(SimError::Misuse { program, step, reason });
        Step::Busy
    }

    fn place_in_program(&self, task: TaskId) -> (String, u32) {
        let t = &self.w.tasks[task.index()];
        (self.setup.workload.programs[t.program.index()].name.clone(), t.pc)
    }

    /// What every task that is no daemon waits for.
    pub(super) fn stuck(&self) -> SimError {
        let waiting = |t: &&Task| !t.daemon && t.state != State::Dead;
        let all: Vec<(usize, &Task)> =
            self.w.tasks.iter().enumerate().filter(|(_, t)| waiting(t)).collect();
        let mut waits: Vec<String> =
            all.iter().take(NAMED).map(|&(at, t)| self.wait_of(at, t)).collect();
        if all.len() > NAMED {
            waits.push(format!("and {} more", all.len() - NAMED));
        }
        if waits.is_empty() {
            waits.push("every task has exited and none stopped the run".to_string());
        }
        SimError::Stuck { at_ns: self.w.now_ns, waits: waits.join(", ") }
    }

    fn wait_of(&self, at: usize, t: &Task) -> String {
        let what = match t.state {
            State::Reading(q) => format!("a message in queue {}", q.0),
            State::Writing(q) => format!("room in queue {}", q.0),
            State::Locking(l) => match self.holder(l) {
                Some(holder) => format!("mutex {} held by task {}", l.0, holder.0),
                None => format!("mutex {}", l.0),
            },
            State::Conditional(c) => format!("condition {}", c.0),
            State::AtBarrier(b) => format!("the other parties of barrier {}", b.0),
            State::Waiting => format!("{} children", t.children),
            State::Loading => "its child to load a program".to_string(),
            State::Runnable | State::Sleeping | State::Dead => "a CPU".to_string(),
        };
        let name = &self.setup.workload.programs[t.program.index()].name;
        format!("task {at} `{name}` waits for {what}")
    }
}
