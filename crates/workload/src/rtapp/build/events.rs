//! Events as steps: `run_event` of rt-app.

use super::shared::is_unique;
use super::thread::{Thread, Times, sleep};
use super::{Builder, MAX_FORKS, memory};
use crate::program::{Missed, Op, Since, Spread, Work};
use crate::rtapp::ast::{Action, Calibration, Event, Loops, Phase, Timer};
use crate::rtapp::feature::Feature;
use crate::rtapp::{RtAppError, Suspend};

impl<'a> Builder<'a> {
    pub(super) fn event(
        &mut self,
        t: &mut Thread<'a>,
        phase: &'a Phase,
        event: &'a Event,
    ) -> Result<(), RtAppError> {
        let (app, task) = (self.app, t.task);
        let path = || app.path(task, phase, event);
        match &event.action {
            Action::Run { us } => t.ops.push(Op::Compute(Work::fixed(self.cycles(*us)))),
            Action::Runtime { us } => t.ops.push(Op::RunFor(u64::from(*us) * 1000)),
            Action::Sleep { us } => t.ops.push(sleep(*us)),
            Action::Timer(timer) => self.timer(t, timer),
            Action::Yield => t.ops.push(Op::Yield),
            Action::Mem { .. } if self.params.ignore.contains(&Feature::Mem) => {
                self.leave_out(Feature::Mem, &path())?;
            }
            Action::MemRun(_) if self.params.ignore.contains(&Feature::Memrun) => {
                self.leave_out(Feature::Memrun, &path())?;
            }
            Action::Mem { .. } | Action::MemRun(_) => memory::event(t, app, &event.action),
            Action::IoRun { .. } => self.leave_out(Feature::Iorun, &path())?,
            Action::Fork { task } => {
                let path = path();
                self.fork(t, phase, task, &path)?;
            }
            Action::Suspend { name } => {
                let own = t.task.name.as_str();
                let named = name.as_deref().filter(|name| !name.is_empty());
                let name = match self.params.suspend {
                    Suspend::OwnName => own,
                    Suspend::Named => named.unwrap_or(own),
                };
                let (cond, lock) = self.cond_and_lock(name, name);
                t.ops.extend([Op::Lock(lock), Op::Wait { cond, lock }, Op::Unlock(lock)]);
            }
            Action::Resume { name } => {
                let (cond, lock) = self.cond_and_lock(name, name);
                t.ops.extend([Op::Lock(lock), Op::Broadcast(cond), Op::Unlock(lock)]);
            }
            other => self.synchronize(t, other),
        }
        Ok(())
    }

    /// Events on things that are shared by name.
    fn synchronize(&mut self, t: &mut Thread<'a>, action: &'a Action) {
        let (w, shared) = (&mut self.w, &mut self.shared);
        match action {
            Action::Lock { mutex } => t.ops.push(Op::Lock(shared.lock(w, mutex))),
            Action::Unlock { mutex } => t.ops.push(Op::Unlock(shared.lock(w, mutex))),
            Action::Signal { condition } => t.ops.push(Op::Signal(shared.cond(w, condition))),
            Action::Broadcast { condition } => t.ops.push(Op::Broadcast(shared.cond(w, condition))),
            Action::Barrier { name } => t.ops.push(Op::Barrier(shared.barrier(w, name))),
            Action::SemPost { name } => t.ops.push(Op::Send(shared.semaphore(w, name))),
            Action::SemWait { name } => t.ops.push(Op::Receive(shared.semaphore(w, name))),
            Action::Wait { condition, mutex } => {
                let (cond, lock) = self.cond_and_lock(condition, mutex);
                t.ops.push(Op::Wait { cond, lock });
            }
            Action::Sync { condition, mutex } => {
                let (cond, lock) = self.cond_and_lock(condition, mutex);
                t.ops.extend([Op::Signal(cond), Op::Wait { cond, lock }]);
            }
            _ => {}
        }
    }

    fn cond_and_lock(&mut self, cond: &'a str, lock: &'a str) -> (crate::CondId, crate::LockId) {
        (self.shared.cond(&mut self.w, cond), self.shared.lock(&mut self.w, lock))
    }

    /// Work that takes `us` at the nominal clock: whole turns of rt-app's loop where the file says how long one is.
    fn cycles(&self, us: u32) -> f64 {
        let ns = u64::from(us) * 1000;
        let whole_ns = match self.app.global.calibration {
            Calibration::NsPerLoop(turn) => ns - ns % u64::from(turn),
            Calibration::Cpu(_) => ns,
        };
        whole_ns as f64 * self.costs.nominal_khz / 1e6
    }

    fn timer(&mut self, t: &mut Thread<'a>, timer: &'a Timer) {
        let Some(&id) = t.timers.get(timer.name.as_str()) else { return };
        let absolute = self.shared.is_absolute(t.nth, &timer.name);
        let missed = if absolute { Missed::CatchUp } else { Missed::Restart };
        let period_ns = u64::from(timer.period_us) * 1000;
        let wait = Op::TimerWait { timer: id, period_ns, spread: Spread::Fixed, missed };
        match t.times.timers {
            Some((wakeup, response)) => t.ops.extend([
                Op::Record { histogram: response, since: Since::Due },
                wait,
                Op::Record { histogram: wakeup, since: Since::Due },
            ]),
            None => t.ops.push(wait),
        }
    }

    fn fork(
        &mut self,
        t: &mut Thread<'a>,
        phase: &Phase,
        name: &str,
        path: &str,
    ) -> Result<(), RtAppError> {
        let Some(task) = self.app.tasks.iter().find(|task| task.name == name) else {
            return Err(self.refuse(path, &format!("\"{name}\""), "the name of a task"));
        };
        let times = |loops| match loops {
            Loops::Times(times) => Some(u64::from(times)),
            Loops::Forever => None,
        };
        let forks = times(t.task.loops).zip(times(phase.loops)).map(|(a, b)| a.saturating_mul(b));
        if forks.is_none_or(|forks| forks > MAX_FORKS) {
            let expected = format!("a loop with at most {MAX_FORKS} turns");
            return Err(self.refuse(path, "a fork in a longer loop", &expected));
        }
        let mut actions = task.phases.iter().flat_map(|p| &p.events).map(|event| &event.action);
        let fits = |action: &Action| match action {
            // Each forked thread would have its own timer and be one more party; a fork of a fork has no end.
            Action::Timer(timer) => !is_unique(&timer.name),
            Action::Barrier { .. } | Action::Fork { .. } => false,
            _ => true,
        };
        if !actions.all(fits) {
            let expected = "a task without `unique` timers, barriers and forks";
            return Err(self.refuse(path, &format!("a fork of \"{name}\""), expected));
        }
        let program = match self.forked.get(name) {
            Some(&program) => program,
            None => {
                // Forked threads are not measured.
                let times = Times { period: self.w.histogram(None), timers: None };
                let program = self.thread(task, None, times)?;
                self.forked.insert(&task.name, program);
                program
            }
        };
        t.ops.push(Op::Fork(program));
        Ok(())
    }
}
