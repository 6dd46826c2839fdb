//! Work that goes on in other threads while Python's thread looks for ctrl-C and tells of progress.

use crate::error::fail;
use ::experiment::{ExperimentError, Further, Stoppable, When};
use definition::Plan;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::scope;
use std::time::Duration;

/// How often Python is asked for signals.
const LOOK: Duration = Duration::from_millis(50);

/// What is told of progress: done, and in all.
pub type Note<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// What is asked of an experiment beside its runs.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Which workloads' constants are moved; none.
    pub sensitivity: Option<When>,
    /// Whether constants are moved over their ranges.
    pub robust: bool,
}

/// All runs of `plan` on `threads` threads, and what else was `asked`, without the interpreter's lock. `tell` is called with the runs done
/// and the runs in all; each question adds its own to both.
///
/// # Errors
/// What the experiment refuses; what `tell` raises, and `KeyboardInterrupt`: then runs that have begun end first.
pub fn run(
    py: Python<'_>,
    plan: &Plan,
    threads: usize,
    asked: Asked,
    tell: Option<&Py<PyAny>>,
) -> PyResult<::results::Results> {
    Stoppable::check(plan).map_err(fail)?;
    let engine = Stoppable::default();
    let work = |note: Note<'_>| answered(plan, &engine, threads, asked, note);
    let (results, raised) = py.detach(|| watched(tell, &|| engine.stop(), work));
    match raised {
        Some(raised) => Err(raised),
        None => results.map_err(fail),
    }
}

fn answered(
    plan: &Plan,
    engine: &Stoppable,
    threads: usize,
    asked: Asked,
    note: Note<'_>,
) -> Result<::results::Results, ExperimentError> {
    let so_far = AtomicUsize::new(0);
    let progress = |before: usize, done: usize, all: usize| {
        so_far.fetch_max(before + all, Ordering::Relaxed);
        note(before + done, before + all);
    };
    let mut results =
        ::experiment::run(plan, engine, threads, &|p| progress(0, p.runs, p.runs_in_all))?;
    if let Some(when) = asked.sensitivity {
        let before = so_far.load(Ordering::Relaxed);
        let progress = |done, all| progress(before, done, all);
        let further = Further { until: Some(engine), progress: &progress, ..Further::new(threads) };
        results.sensitivity = Some(::experiment::sensitivity(plan, &results, when, further)?);
    }
    if asked.robust {
        let before = so_far.load(Ordering::Relaxed);
        let progress = |done, all| progress(before, done, all);
        let further = Further { until: Some(engine), progress: &progress, ..Further::new(threads) };
        results.robustness = Some(::experiment::robustness(plan, &results, further)?);
    }
    Ok(results)
}

/// Does `work` in another thread and waits for it. What `tell` or a signal raises meanwhile calls `stop`, and is returned when the work
/// has ended. Not to be called with the interpreter's lock.
pub fn watched<T: Send>(
    tell: Option<&Py<PyAny>>,
    stop: &dyn Fn(),
    work: impl FnOnce(Note<'_>) -> T + Send,
) -> (T, Option<PyErr>) {
    let latest: Mutex<Option<(usize, usize)>> = Mutex::new(None);
    let note = |done, all| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some((done, all));
    };
    let look = || {
        let now = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        Python::attach(|py| {
            py.check_signals()?;
            match (tell, now) {
                (Some(tell), Some(now)) => tell.call1(py, now).map(drop),
                _ => Ok(()),
            }
        })
    };
    scope(|scope| {
        let (ended, waits) = channel::<()>();
        let worker = scope.spawn(|| {
            // Dropped when the work ends, however it does.
            let _ended = ended;
            work(&note)
        });
        let mut raised = None;
        while waits.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if raised.is_none() {
                raised = look().err();
                if raised.is_some() {
                    stop();
                }
            }
        }
        let done = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        let raised = raised.or_else(|| look().err());
        (done, raised)
    })
}
