//! Runs that go on in other threads while Python's thread looks for ctrl-C and tells of progress.

use crate::error::fail;
use ::experiment::{ExperimentError, Progress, Stoppable};
use definition::Plan;
use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::scope;
use std::time::Duration;

/// How often Python is asked for signals.
const LOOK: Duration = Duration::from_millis(50);

/// All runs of `plan` on `threads` threads, without the interpreter's lock. `tell` is called with the runs done and the runs in all.
///
/// # Errors
/// What the experiment refuses; what `tell` raises, and `KeyboardInterrupt`: then runs that have begun end first.
pub fn run(
    py: Python<'_>,
    plan: &Plan,
    threads: usize,
    tell: Option<&Py<PyAny>>,
) -> PyResult<::results::Results> {
    Stoppable::check(plan).map_err(fail)?;
    let engine = Stoppable::default();
    let runs = || told(plan, &engine, threads, tell);
    let (results, raised) = py.detach(runs);
    match (results, raised) {
        (_, Some(raised)) => Err(raised),
        (results, None) => results.map_err(fail),
    }
}

type Ended = (Result<::results::Results, ExperimentError>, Option<PyErr>);

fn told(plan: &Plan, engine: &Stoppable, threads: usize, tell: Option<&Py<PyAny>>) -> Ended {
    let latest: Mutex<Option<Progress>> = Mutex::new(None);
    let note = |progress| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(progress);
    };
    let look = || {
        let now = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
        Python::attach(|py| {
            py.check_signals()?;
            match (tell, now) {
                (Some(tell), Some(p)) => tell.call1(py, (p.runs, p.runs_in_all)).map(drop),
                _ => Ok(()),
            }
        })
    };
    scope(|scope| {
        let (ended, waits) = channel::<()>();
        let worker = scope.spawn(|| {
            // Dropped when the runs end, however they do.
            let _ended = ended;
            ::experiment::run(plan, engine, threads, &note)
        });
        let mut raised = None;
        while waits.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if raised.is_none() {
                raised = look().err();
                if raised.is_some() {
                    engine.stop();
                }
            }
        }
        let results = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
        let raised = raised.or_else(|| look().err());
        (results, raised)
    })
}
