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

/// The runs, and then the answers to what else is asked.
fn answered(
    plan: &Plan,
    engine: &Stoppable,
    threads: usize,
    asked: Asked,
    note: Note<'_>,
) -> Result<::results::Results, ExperimentError> {
    let told = Told { note, all: AtomicUsize::new(0) };
    let mut results =
        ::experiment::run(plan, engine, threads, &|p| told.tell(0, p.runs, p.runs_in_all))?;
    if let Some(when) = asked.sensitivity {
        let moved = told.next(engine, threads, |further| {
            ::experiment::sensitivity(plan, &results, when, further)
        });
        results.sensitivity = Some(moved?);
    }
    if asked.robust {
        let moved =
            told.next(engine, threads, |further| ::experiment::robustness(plan, &results, further));
        results.robustness = Some(moved?);
    }
    Ok(results)
}

/// Progress over several questions, each of which counts its own runs.
struct Told<'a> {
    note: Note<'a>,
    /// Runs in all, of all questions so far.
    all: AtomicUsize,
}

impl Told<'_> {
    fn tell(&self, before: usize, done: usize, all: usize) {
        self.all.fetch_max(before + all, Ordering::Relaxed);
        (self.note)(before + done, before + all);
    }

    /// What `ask` gives, whose runs are told as further ones.
    fn next<T>(&self, engine: &Stoppable, threads: usize, ask: impl FnOnce(Further<'_>) -> T) -> T {
        let before = self.all.load(Ordering::Relaxed);
        let progress = |done, all| self.tell(before, done, all);
        ask(Further { until: Some(engine), progress: &progress, ..Further::new(threads) })
    }
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
