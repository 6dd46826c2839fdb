//! Runs of an experiment with its machine's constants moved, all at once by the rows of a two-level design.
//!
//! Only constants that matter to a workload are moved. Where nothing that is prepared differs, no run can; what is left is
//! moved alone in the first run of each variant, and a constant that changes none of them is left where it is. Each row is run
//! once under every variant, with the seed of the run of its number, and once more as its mirror.

use crate::ExperimentError;
use crate::engine::{Engine, EngineError, SimEngine, SimJob};
use crate::journal::Journal;
use crate::run::prepare_on;
use definition::Plan;
use machine::Machine;
use machine::costs::nearest;
use rayon::prelude::*;
use results::Results;
use results::sensitivity::{FACTOR, INSTRUCTIONS, LINES, LeftOut, Moved, Row, Sensitivity};
use stats::TwoLevel;
use std::sync::Arc;
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
    constants: Vec<String>,
    fixed: Vec<String>,
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

/// What all runs need.
struct Moving<'a> {
    plan: &'a Plan,
    results: &'a Results,
    journal: Option<&'a Journal>,
}

/// A run's metrics, or why it failed.
type Ran = Result<Vec<f64>, String>;

/// Runs workloads of `plan` with moved constants, on `threads` threads (0: one a CPU), those apart that `journal` has; `results`
/// are those of the constants as they are. `progress` is told runs done and runs in all. The number of threads changes nothing.
///
/// # Errors
/// An experiment that cannot be prepared, and a journal that cannot be written. A workload whose runs fail when its constants
/// are moved is left out, with the reason.
pub fn sensitivity(
    plan: &Plan,
    results: &Results,
    when: When,
    threads: usize,
    journal: Option<&Journal>,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Sensitivity, ExperimentError> {
    let pool = crate::run::pool(plan, threads)?;
    let moving = Moving { plan, results, journal };
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for w in 0..plan.file.workloads.len() {
        match pool.install(|| moving.ready(w, when))? {
            Ok(ready) => all.push(ready),
            Err(reason) => left_out.push(left(plan, w, reason)),
        }
    }
    let tasks: Vec<Task> = all.iter().enumerate().flat_map(|(at, r)| tasks(at, r)).collect();
    let done = AtomicUsize::new(0);
    progress(0, tasks.len());
    let ran: Vec<Ran> = pool.install(|| {
        let run = |task: &Task| {
            let ran = moving.row(&all[task.ready], *task);
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, tasks.len());
            ran
        };
        tasks.par_iter().map(run).collect::<Result<_, ExperimentError>>()
    })?;
    let mut ran = ran.into_iter();
    let mut workloads = Vec::new();
    for ready in &all {
        match rows(ready, &mut ran) {
            Ok(rows) => workloads.push(Moved {
                workload: plan.file.workloads[ready.workload].name.clone(),
                constants: ready.constants.clone(),
                fixed: ready.fixed.clone(),
                rows,
            }),
            Err(reason) => left_out.push(left(plan, ready.workload, reason)),
        }
    }
    Ok(Sensitivity { factor: FACTOR, workloads, left_out })
}

fn left(plan: &Plan, workload: usize, reason: String) -> LeftOut {
    LeftOut { workload: plan.file.workloads[workload].name.clone(), reason }
}

/// All runs of a workload, in the order in which [`rows`] takes them.
fn tasks(at: usize, ready: &Ready) -> Vec<Task> {
    let mut all = Vec::new();
    for row in 0..ready.design.rows() {
        for mirrored in [false, true] {
            let of = |variant| Task { ready: at, variant, row, mirrored };
            all.extend((0..ready.variants.len()).map(of));
        }
    }
    all
}

/// The rows of a workload from its runs, or why one of them failed.
fn rows(ready: &Ready, ran: &mut impl Iterator<Item = Ran>) -> Result<Vec<Row>, String> {
    let variants = ready.variants.len();
    let all: Vec<Ran> = ran.take(2 * variants * ready.design.rows()).collect();
    let all: Vec<Vec<f64>> = all.into_iter().collect::<Result<_, _>>()?;
    let row = |both: &[Vec<f64>]| {
        let (row, mirror) = both.split_at(variants);
        Row { row: row.to_vec(), mirror: mirror.to_vec() }
    };
    Ok(all.chunks(2 * variants).map(row).collect())
}

impl Moving<'_> {
    /// What of a workload can be moved, or why nothing is.
    fn ready(&self, w: usize, when: When) -> Result<Result<Ready, String>, ExperimentError> {
        let (plan, variants) = (self.plan, self.plan.file.variants_of(w));
        if variants.len() < 2 {
            return Ok(Err("there is nothing to compare".to_string()));
        }
        if variants.iter().any(|&v| plan.file.variants[v].source.is_some()) {
            return Ok(Err("constants are not moved under a tree's own code".to_string()));
        }
        let runs = plan.file.workloads[w].runs as usize;
        let too_many = |rows: usize| when == When::Cheap && 2 * rows > runs;
        let few = "that takes more runs than a variant has; `--sensitivity always` makes them";
        if too_many(TwoLevel::LEAST_ROWS) {
            return Ok(Err(few.to_string()));
        }
        let (constants, fixed) = self.read(w, &variants)?;
        let matter = |name: &String| match self.changes(w, &variants, name) {
            Ok(true) => Some(Ok(name.clone())),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        };
        let constants: Vec<String> =
            constants.par_iter().filter_map(matter).collect::<Result<_, _>>()?;
        let design = TwoLevel::of(constants.len());
        if too_many(design.rows()) {
            return Ok(Err(few.to_string()));
        }
        Ok(Ok(Ready { workload: w, variants, constants, fixed, design }))
    }

    /// Constants that change what is prepared of a workload, and those of them that the simulator refuses when they move.
    fn read(
        &self,
        w: usize,
        variants: &[usize],
    ) -> Result<(Vec<String>, Vec<String>), ExperimentError> {
        let prepared = |moves: &[(&str, f64)]| {
            let of = |&v: &usize| moved_job(self.plan, (w, v), moves);
            variants.iter().map(of).collect::<Result<Vec<SimJob>, ExperimentError>>()
        };
        let before = format!("{:?}", prepared(&[])?);
        let read =
            |&name: &&str| match (prepared(&[(name, FACTOR)]), prepared(&[(name, 1.0 / FACTOR)])) {
                (Ok(up), Ok(down)) => {
                    let differs = [up, down].iter().any(|jobs| format!("{jobs:?}") != before);
                    differs.then_some((name.to_string(), true))
                }
                _ => Some((name.to_string(), false)),
            };
        let names = self.plan.machine.constants.iter().map(|(name, _)| name);
        let names: Vec<&str> = names.chain([INSTRUCTIONS, LINES]).collect();
        let read: Vec<(String, bool)> = names.par_iter().filter_map(read).collect();
        let (moved, fixed): (Vec<_>, Vec<_>) = read.into_iter().partition(|(_, moves)| *moves);
        let names = |all: Vec<(String, bool)>| all.into_iter().map(|c| c.0).collect();
        Ok((names(moved), names(fixed)))
    }

    /// Whether the first run of some variant gives another value where `name` alone is moved up.
    fn changes(&self, w: usize, variants: &[usize], name: &str) -> Result<bool, ExperimentError> {
        let stored = self.results.workload(&self.plan.file.workloads[w].name);
        for &v in variants {
            let variant = &self.plan.file.variants[v].name;
            let first = stored.and_then(|w| w.variant(variant)?.runs.first());
            let ran = self.run((w, v), 0, name, &[(name, FACTOR)])?;
            if ran.ok().as_ref() != first.map(|run| &run.metrics) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn row(&self, ready: &Ready, task: Task) -> Result<Ran, ExperimentError> {
        let moves = |(at, name): (usize, &String)| {
            let up = ready.design.is_up(task.row, at) != task.mirrored;
            (name.clone(), if up { FACTOR } else { 1.0 / FACTOR })
        };
        let moves: Vec<(String, f64)> = ready.constants.iter().enumerate().map(moves).collect();
        let moves: Vec<(&str, f64)> = moves.iter().map(|(name, f)| (name.as_str(), *f)).collect();
        let called = if task.mirrored { "mirror" } else { "row" };
        self.run((ready.workload, ready.variants[task.variant]), task.row as u32, called, &moves)
    }

    /// Run `number` with `moves`, which the journal calls `called`.
    fn run(
        &self,
        (w, v): (usize, usize),
        number: u32,
        called: &str,
        moves: &[(&str, f64)],
    ) -> Result<Ran, ExperimentError> {
        let plan = self.plan;
        let of = (plan.file.workloads[w].name.as_str(), plan.file.variants[v].name.as_str());
        if let Some(run) = self.journal.and_then(|j| j.run(of, number, Some(called))) {
            return Ok(Ok(run.metrics.clone()));
        }
        let seed = plan.seed(v, number);
        let run = moved_job(plan, (w, v), moves)
            .map_err(|e| e.to_string())
            .and_then(|job| SimEngine.run(&job, number, seed).map_err(|e| e.to_string()));
        if let (Ok(run), Some(journal)) = (&run, self.journal) {
            journal.keep(of, run, Some(called))?;
        }
        Ok(run.map(|run| run.metrics))
    }
}

/// A workload under a variant, its machine's constants moved.
fn moved_job(
    plan: &Plan,
    (w, v): (usize, usize),
    moves: &[(&str, f64)],
) -> Result<SimJob, ExperimentError> {
    let version = plan.kernels[v].version;
    let machine = moved(plan.machine_of(v)?, (version.major, version.minor), moves);
    let machine = machine.map_err(|reason| ExperimentError::Refused {
        file: plan.path.clone(),
        field: "costs".to_string(),
        reason: Box::new(reason),
    })?;
    Ok(prepare_on(plan, &SimEngine, (w, v), &machine)?.job)
}

/// `machine` with each constant of `moves` times its factor, and its costs for a kernel of `release` likewise.
fn moved(
    mut machine: Machine,
    release: (u16, u16),
    moves: &[(&str, f64)],
) -> Result<Machine, EngineError> {
    let (mut instructions, mut lines) = (1.0, 1.0);
    for &(name, factor) in moves {
        match name {
            INSTRUCTIONS => instructions *= factor,
            LINES => lines *= factor,
            _ => machine.constants = machine.constants.scaled(name, factor),
        }
    }
    if (instructions, lines) != (1.0, 1.0) {
        let table = match &machine.costs {
            Some(table) => table.scaled(instructions, lines),
            None => nearest(machine.arch, release)
                .map_err(|e| EngineError::Reported(e.to_string()))?
                .scaled(instructions, lines),
        };
        machine.costs = Some(Arc::new(table));
    }
    Ok(machine)
}
