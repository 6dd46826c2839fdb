//! From a file to the programs of its threads.
//!
//! As rt-app does it: a main thread creates the others, which wait for each other, and then sleeps for the
//! duration or joins them all.

mod attributes;
mod events;
mod memory;
mod shared;
mod thread;

use super::ast::{Action, Loops, RtApp, Task};
use super::feature::{Feature, Ignored};
use super::{Params, RtAppError};
use crate::program::{MarkId, Metric, Op, ProgramId, Reading, Spawn, Spread, Workload};
use machine::CpuSet;
use shared::Shared;
use stats::Better;
use std::collections::BTreeMap;

/// Threads that a file can have at the start.
const MAX_THREADS: u64 = 4096;
/// Events of all threads together.
const MAX_EVENTS: u64 = 40_000;
/// `FORKS_LIMIT` of rt-app.
const MAX_FORKS: u64 = 1024;
/// Steps that a program can have: their numbers have 16 bits.
const MAX_STEPS: usize = u16::MAX as usize;
/// When the main thread starts.
const FIRST_WAKE_NS: u64 = 100_000;
/// How long that is drawn over: a tick at 100 Hz, so that ticks fall anywhere.
const WITHIN_NS: u64 = 10_000_000;

/// What a machine adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Costs {
    /// The clock at which `run` takes its time, in kHz: rt-app calibrates its loop at the highest speed.
    pub nominal_khz: f64,
    /// CPUs of a thread that says nothing.
    pub online: CpuSet,
    /// Whether there is `SCHED_DEADLINE`.
    pub deadlines: bool,
}

/// A file's workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The programs, spawns and metrics.
    pub workload: Workload,
    /// What was left out of it.
    pub ignored: Vec<Ignored>,
}

impl From<Workload> for Built {
    fn from(workload: Workload) -> Built {
        Built { workload, ignored: Vec::new() }
    }
}

struct Builder<'a> {
    app: &'a RtApp,
    params: &'a Params,
    costs: &'a Costs,
    w: Workload,
    shared: Shared<'a>,
    ignored: Vec<Ignored>,
    /// Programs of forked threads, by task.
    forked: BTreeMap<&'a str, ProgramId>,
}

/// Builds the workload of `app`.
///
/// # Errors
///
/// What is not simulated and not in `params.ignore`; a run without an end; forks of tasks that do not exist.
pub fn build(app: &RtApp, params: &Params, costs: &Costs) -> Result<Built, RtAppError> {
    let shared = Shared::new(app);
    let w = Workload::default();
    let mut b =
        Builder { app, params, costs, w, shared, ignored: Vec::new(), forked: BTreeMap::new() };
    if app.global.pi_enabled {
        b.leave_out(Feature::PiEnabled, "global.pi_enabled")?;
    }
    b.check_size()?;
    let (start, end) = (b.w.mark(), b.w.mark());
    let threads = b.threads(start, end)?;
    let mut ops = vec![Op::Mark(start)];
    ops.extend(b.shared.timers().map(thread::start));
    ops.extend(threads.into_iter().map(Op::Fork));
    match b.duration_ns()? {
        Some(mean_ns) => ops.push(Op::Sleep { mean_ns, spread: Spread::Fixed }),
        None => ops.push(Op::WaitChildren),
    }
    ops.extend([Op::Mark(end), Op::Stop]);
    let main = b.w.program("rt-app", ops);
    b.w.spawns.push(Spawn {
        first_wake_ns: FIRST_WAKE_NS,
        within_ns: WITHIN_NS,
        ..Spawn::new(main)
    });
    Ok(Built { workload: b.w, ignored: b.ignored })
}

impl<'a> Builder<'a> {
    fn refuse(&self, path: &str, found: &str, expected: &str) -> RtAppError {
        RtAppError::Refused {
            file: self.app.file.clone(),
            path: path.to_string(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    /// Notes that `feature` is left out at `path`, if that is allowed.
    fn leave_out(&mut self, feature: Feature, path: &str) -> Result<(), RtAppError> {
        if !self.params.ignore.contains(&feature) {
            return Err(RtAppError::NotSimulated {
                file: self.app.file.clone(),
                path: path.to_string(),
                feature: feature.name(),
            });
        }
        let ignored = Ignored { feature, path: path.to_string() };
        if !self.ignored.contains(&ignored) {
            self.ignored.push(ignored);
        }
        Ok(())
    }

    fn check_size(&self) -> Result<(), RtAppError> {
        let (mut threads, mut events) = (0u64, 0u64);
        for task in &self.app.tasks {
            let in_task: u64 = task.phases.iter().map(|phase| phase.events.len() as u64).sum();
            threads += u64::from(task.instances);
            events = events.saturating_add(in_task * u64::from(task.instances.max(1)));
        }
        for (found, max, what) in [
            (threads, MAX_THREADS, "threads at the start"),
            (events, MAX_EVENTS, "events of threads"),
        ] {
            if !(1..=max).contains(&found) {
                return Err(self.refuse(
                    "tasks",
                    &format!("{found} {what}"),
                    &format!("1 to {max}"),
                ));
            }
        }
        Ok(())
    }

    /// How long the main thread sleeps; `None` for until all threads have ended.
    fn duration_ns(&self) -> Result<Option<f64>, RtAppError> {
        let given = self.params.duration_s.or(self.app.global.duration_s.map(f64::from));
        if let Some(seconds) = given {
            let most = f64::from(u32::MAX);
            if seconds > 0.0 && seconds <= most {
                return Ok(Some(seconds * 1e9));
            }
            return Err(self.refuse("global.duration", &seconds.to_string(), "above 0 s"));
        }
        let endless = |task: &&Task| {
            let phase = task.phases.iter().any(|phase| phase.loops == Loops::Forever);
            task.loops == Loops::Forever || phase
        };
        match self.app.tasks.iter().find(endless) {
            None => Ok(None),
            Some(task) => {
                let path = format!("tasks.{}.loop", task.name);
                let expected = "a duration, in `global` or in the experiment";
                Err(self.refuse(&path, "no end", expected))
            }
        }
    }

    /// Programs of all threads of the start, and the metrics of their tasks.
    fn threads(&mut self, start: MarkId, end: MarkId) -> Result<Vec<ProgramId>, RtAppError> {
        let app = self.app;
        let parties = app.tasks.iter().map(|task| task.instances).sum();
        let together = self.w.barrier(parties);
        let mut programs = Vec::new();
        for (nth, task) in app.tasks.iter().enumerate().filter(|(_, task)| task.instances > 0) {
            let times = self.times(task);
            for _ in 0..task.instances {
                programs.push(self.thread(task, Some(together), times)?);
            }
            self.metrics(&app.label(nth), times, (start, end));
        }
        Ok(programs)
    }

    /// Histograms of a task.
    fn times(&mut self, task: &Task) -> thread::Times {
        let mut events = task.phases.iter().flat_map(|phase| &phase.events);
        let timed = events.any(|event| matches!(event.action, Action::Timer(_)));
        let period = self.w.histogram(None);
        let timers = timed.then(|| (self.w.histogram(None), self.w.histogram(None)));
        thread::Times { period, timers }
    }

    fn metrics(&mut self, task: &str, times: thread::Times, (from, to): (MarkId, MarkId)) {
        self.w.metrics.push(Metric {
            name: format!("{task}_loops_per_s"),
            unit: "loops/s".to_string(),
            better: Better::Higher,
            reading: Reading::RecordsPerSecond { histogram: times.period, units: 1.0, from, to },
        });
        if let Some((wakeup, response)) = times.timers {
            let percents = [50.0, 99.0, 100.0];
            let named = |what: &str| format!("{task}_{what}");
            self.w.metrics.extend(Metric::latencies(&named("wakeup"), wakeup, &percents));
            self.w.metrics.extend(Metric::latencies(&named("response"), response, &percents));
        }
    }
}
