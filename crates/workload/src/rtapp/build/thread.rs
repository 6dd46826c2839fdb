//! The program of one thread: `thread_body` of rt-app.

use super::shared::is_unique;
use super::{Builder, MAX_STEPS, memory};
use crate::program::{BarrierId, HistogramId, Missed, Op, ProgramId, Since, Spread, TimerId};
use crate::rtapp::RtAppError;
use crate::rtapp::ast::{Action, Loops, Phase, Task};
use std::collections::BTreeMap;

/// Where a task's times go.
#[derive(Clone, Copy)]
pub(super) struct Times {
    /// Lengths of phase loops, as rt-app's `period`.
    pub(super) period: HistogramId,
    /// For tasks with timers: how late a thread runs after one, and from when one was due to the next wait.
    pub(super) timers: Option<(HistogramId, HistogramId)>,
}

/// A thread under construction.
pub(super) struct Thread<'a> {
    pub(super) task: &'a Task,
    /// The task's number in the file.
    pub(super) nth: usize,
    pub(super) times: Times,
    pub(super) ops: Vec<Op>,
    /// Its timers, its own and shared ones.
    pub(super) timers: BTreeMap<&'a str, TimerId>,
    /// What its memory events touch.
    pub(super) working_set_bytes: f64,
}

impl<'a> Builder<'a> {
    /// A thread of `task`, which waits for the others at `together` unless it is forked.
    pub(super) fn thread(
        &mut self,
        task: &'a Task,
        together: Option<BarrierId>,
        times: Times,
    ) -> Result<ProgramId, RtAppError> {
        let nth = self.app.tasks.iter().position(|t| std::ptr::eq(t, task)).unwrap_or(usize::MAX);
        let timers = self.timers(task);
        let working_set_bytes = memory::working_set_bytes(self.app, task);
        let mut t = Thread { task, nth, times, ops: Vec::new(), timers, working_set_bytes };
        t.ops.extend(together.map(Op::Barrier));
        if task.delay_us > 0 {
            t.ops.push(sleep(task.delay_us));
        }
        self.task_attributes(&mut t)?;
        self.start_timers(&mut t);
        if task.loops != Loops::Times(0) {
            let first = t.ops.len();
            for (nth, phase) in task.phases.iter().enumerate() {
                self.phase(&mut t, nth, phase)?;
            }
            repeat(&mut t.ops, first, task.loops);
        }
        if t.ops.iter().any(|op| matches!(op, Op::Fork(_))) {
            // rt-app joins forked threads too.
            t.ops.push(Op::WaitChildren);
        }
        if t.ops.len() > MAX_STEPS {
            let path = format!("tasks.{}", task.name);
            let found = format!("{} steps", t.ops.len());
            return Err(self.refuse(&path, &found, &format!("at most {MAX_STEPS}")));
        }
        Ok(self.w.program(&task.name, t.ops))
    }

    /// The timers that a thread of `task` uses.
    fn timers(&mut self, task: &'a Task) -> BTreeMap<&'a str, TimerId> {
        let mut timers = BTreeMap::new();
        for event in task.phases.iter().flat_map(|phase| &phase.events) {
            if let Action::Timer(timer) = &event.action {
                let name = timer.name.as_str();
                timers.entry(name).or_insert_with(|| match is_unique(name) {
                    true => self.w.timer(),
                    false => self.shared.timer(&mut self.w, name),
                });
            }
        }
        timers
    }

    /// rt-app's timers count from the thread's start, not from where they are first waited for: a wait of no time
    /// starts a timer. Shared ones the main thread has started; a thread that has no other starts one that it has no
    /// use for, since times are recorded from when it was last due.
    fn start_timers(&mut self, t: &mut Thread<'a>) {
        let own = t.timers.iter().filter(|(name, _)| is_unique(name)).map(|(_, &timer)| timer);
        let mut own: Vec<TimerId> = own.collect();
        if own.is_empty() && t.times.timers.is_some() {
            own.push(self.w.timer());
        }
        t.ops.extend(own.into_iter().map(start));
    }

    fn phase(
        &mut self,
        t: &mut Thread<'a>,
        nth: usize,
        phase: &'a Phase,
    ) -> Result<(), RtAppError> {
        self.phase_attributes(t, nth, phase)?;
        let first = t.ops.len();
        t.ops.push(Op::Stamp);
        for event in &phase.events {
            self.event(t, phase, event)?;
        }
        t.ops.push(Op::Record { histogram: t.times.period, since: Since::Stamp });
        repeat(&mut t.ops, first, phase.loops);
        Ok(())
    }
}

/// Starts a timer.
pub(super) fn start(timer: TimerId) -> Op {
    Op::TimerWait { timer, period_ns: 0, spread: Spread::Fixed, missed: Missed::CatchUp }
}

pub(super) fn sleep(us: u32) -> Op {
    Op::Sleep { mean_ns: f64::from(us) * 1e3, spread: Spread::Fixed }
}

/// Closes a loop whose body begins with step `first`.
fn repeat(ops: &mut Vec<Op>, first: usize, loops: Loops) {
    // A program that is too long for the number is refused when it is whole.
    let to = u16::try_from(first).unwrap_or(u16::MAX);
    match loops {
        Loops::Times(1) => {}
        Loops::Times(times) => ops.push(Op::Loop { to, times }),
        Loops::Forever => ops.push(Op::Loop { to, times: 0 }),
    }
}
