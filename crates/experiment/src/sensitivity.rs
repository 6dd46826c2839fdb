//! Runs of an experiment with its machine's constants moved, all at once by the rows of a two-level design.
//!
//! Only constants that matter to a workload are moved. Each row is run once under every variant, with the seed of the run of its
//! number, and once more as its mirror.

use crate::ExperimentError;
use crate::moving::{Further, Matter, Moving, Ran, design_runs, left, rows};
use definition::Plan;
use rayon::prelude::*;
use results::Results;
use results::sensitivity::{FACTOR, Moved, Sensitivity};
use stats::TwoLevel;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Which workloads' constants are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Those for which it takes no more runs than the workload has by itself.
    Cheap,
    /// All that can be.
    Always,
}

/// A workload to be run with moved constants.
struct Ready {
    workload: usize,
    variants: Vec<usize>,
    matter: Matter,
    design: TwoLevel,
}

/// One run: of which workload of the list, variant by its place there, row, and whether it is the mirror.
#[derive(Clone, Copy)]
struct Task {
    ready: usize,
    variant: usize,
    row: usize,
    mirrored: bool,
}

/// Runs workloads of `plan` with moved constants; `results` are those of the constants as they are.
///
/// # Errors
/// An experiment that cannot be prepared, a journal that cannot be written, and somebody who stops it. A workload whose runs fail when its constants
/// are moved is left out, with the reason.
pub fn sensitivity(
    plan: &Plan,
    results: &Results,
    when: When,
    further: Further<'_>,
) -> Result<Sensitivity, ExperimentError> {
    let pool = crate::run::pool(plan, further.threads)?;
    let (moving, progress) = (Moving { plan, results, further }, further.progress);
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for w in 0..plan.file.workloads.len() {
        match pool.install(|| ready(&moving, w, when))? {
            Ok(ready) => all.push(ready),
            Err(reason) => left_out.push(left(plan, w, reason)),
        }
    }
    let tasks: Vec<Task> = all.iter().enumerate().flat_map(|(at, r)| tasks(at, r)).collect();
    let done = AtomicUsize::new(0);
    progress(0, tasks.len());
    let ran: Vec<Ran> = pool.install(|| {
        let run = |task: &Task| {
            let ran = row(&moving, &all[task.ready], *task);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, tasks.len());
            ran
        };
        tasks.par_iter().map(run).collect::<Result<_, ExperimentError>>()
    })?;
    let mut ran = ran.into_iter();
    let mut workloads = Vec::new();
    for ready in &all {
        match rows(&ready.design, ready.variants.len(), &mut ran) {
            Ok(rows) => workloads.push(Moved {
                workload: plan.file.workloads[ready.workload].name.clone(),
                constants: ready.matter.constants.clone(),
                fixed: ready.matter.fixed.clone(),
                rows,
            }),
            Err(reason) => left_out.push(left(plan, ready.workload, reason)),
        }
    }
    Ok(Sensitivity { factor: FACTOR, workloads, left_out })
}

fn tasks(ready: usize, of: &Ready) -> impl Iterator<Item = Task> {
    let runs = design_runs(&of.design, of.variants.len()).into_iter();
    runs.map(move |(row, mirrored, variant)| Task { ready, variant, row, mirrored })
}

/// What of a workload can be moved, or why nothing is.
fn ready(moving: &Moving, w: usize, when: When) -> Result<Result<Ready, String>, ExperimentError> {
    let variants = match moving.variants(w) {
        Ok(variants) => variants,
        Err(reason) => return Ok(Err(reason)),
    };
    let runs = moving.plan.file.workloads[w].runs as usize;
    let too_many = |rows: usize| when == When::Cheap && 2 * rows > runs;
    let few = "that takes more runs than a variant has; `--sensitivity always` makes them";
    if too_many(TwoLevel::LEAST_ROWS) {
        return Ok(Err(few.to_string()));
    }
    let matter = moving.matter(w, &variants, &|_| [1.0 / FACTOR, FACTOR])?;
    let design = TwoLevel::of(matter.constants.len());
    if too_many(design.rows()) {
        return Ok(Err(few.to_string()));
    }
    Ok(Ok(Ready { workload: w, variants, matter, design }))
}

fn row(moving: &Moving, ready: &Ready, task: Task) -> Result<Ran, ExperimentError> {
    let moves = |(at, name): (usize, &String)| {
        let up = ready.design.is_up(task.row, at) != task.mirrored;
        (name.clone(), if up { FACTOR } else { 1.0 / FACTOR })
    };
    let moves: Vec<(String, f64)> = ready.matter.constants.iter().enumerate().map(moves).collect();
    let moves: Vec<(&str, f64)> = moves.iter().map(|(name, f)| (name.as_str(), *f)).collect();
    let called = if task.mirrored { "mirror" } else { "row" };
    moving.run((ready.workload, ready.variants[task.variant]), task.row as u32, called, &moves)
}
