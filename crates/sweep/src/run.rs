//! Cells side by side on threads.

use crate::cell::Cell;
use crate::dataset::{Dataset, Summary};
use crate::error::SweepError;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{available_parallelism, scope};

/// How far a sweep is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Cells done, by this call or before.
    pub done: usize,
    /// Cells in all.
    pub cells: usize,
}

/// Runs the cells that `dataset` lacks on `threads` threads (0: one a CPU), until `stop` is set: cells that have begun end. A cell that
/// fails does not keep others from running; the summary says which are missing. The dataset has the same bytes for any number of threads.
///
/// # Errors
/// A dataset that cannot be written.
pub fn run(
    cells: &[Cell],
    dataset: &Dataset,
    threads: usize,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Summary, SweepError> {
    let missing = dataset.missing();
    let threads = match threads {
        0 => available_parallelism().map_or(1, NonZero::get),
        threads => threads,
    };
    let before = cells.len() - missing.len();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(before));
    let failed: Mutex<BTreeMap<usize, String>> = Mutex::default();
    let unwritten: Mutex<Option<SweepError>> = Mutex::default();
    let tell = |done: usize| progress(Progress { done, cells: cells.len() });
    let work = || {
        while !stop.load(Ordering::Relaxed) {
            let Some(&at) = missing.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            match cells[at].run() {
                Ok(bytes) => {
                    if let Err(e) = dataset.store(at, &bytes) {
                        *unwritten.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
                        return stop.store(true, Ordering::Relaxed);
                    }
                }
                Err(e) => {
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    failed.insert(at, e.to_string());
                }
            }
            tell(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    tell(before);
    scope(|scope| {
        for _ in 0..threads.min(missing.len()) {
            scope.spawn(work);
        }
    });
    if let Some(e) = unwritten.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(e);
    }
    dataset.summarise(&failed.into_inner().unwrap_or_else(PoisonError::into_inner))
}
