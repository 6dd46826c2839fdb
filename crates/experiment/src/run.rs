//! The jobs of a plan run in parallel, those apart that a journal has already.

use crate::ExperimentError;
use crate::engine::{Engine, EngineError};
use crate::journal::Journal;
use definition::Plan;
use machine::Machine;
use rayon::prelude::*;
use results::{Ignored, MetricInfo, Results, Run, VariantRuns, WorkloadResults};
use std::sync::atomic::{AtomicUsize, Ordering};
use workload::Counter;
use workload::rtapp::Built;

/// How far an experiment is. A cell is a workload under a variant, all its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Runs done, those resumed included.
    pub runs: usize,
    /// Runs in all.
    pub runs_in_all: usize,
    /// Cells done.
    pub cells: usize,
    /// Cells in all.
    pub cells_in_all: usize,
    /// Runs that an earlier, interrupted command has done.
    pub resumed: usize,
}

/// Counts what is done, by several threads.
struct Tally<'a> {
    progress: &'a (dyn Fn(Progress) + Sync),
    runs_in_all: usize,
    resumed: usize,
    runs: AtomicUsize,
    cells: AtomicUsize,
    /// By job: runs that are left.
    left: Vec<AtomicUsize>,
}

impl Tally<'_> {
    /// Whether this was the last run of its job.
    fn done(&self, job: usize) -> bool {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let is_last = self.left[job].fetch_sub(1, Ordering::Relaxed) == 1;
        if is_last {
            self.cells.fetch_add(1, Ordering::Relaxed);
        }
        self.report();
        is_last
    }

    fn report(&self) {
        (self.progress)(Progress {
            runs: self.runs.load(Ordering::Relaxed),
            runs_in_all: self.runs_in_all,
            cells: self.cells.load(Ordering::Relaxed),
            cells_in_all: self.left.len(),
            resumed: self.resumed,
        });
    }
}

/// A workload under a variant, ready to run.
#[derive(Debug)]
pub(crate) struct Cell<J> {
    /// Its place in the file.
    pub(crate) workload: usize,
    /// Its variant's.
    pub(crate) variant: usize,
    pub(crate) metrics: Vec<MetricInfo>,
    pub(crate) ignored: Vec<Ignored>,
    pub(crate) job: J,
}

/// Runs everything of `plan` on `threads` threads (0: one a CPU), calling `progress` before the first run and after each.
/// Results do not depend on the number of threads.
///
/// # Errors
/// What the engine cannot run, a run that fails, threads that cannot be started.
pub fn run<E: Engine>(
    plan: &Plan,
    engine: &E,
    threads: usize,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Results, ExperimentError> {
    run_from(plan, engine, threads, None, progress)
}

/// [`run`] of what `journal` lacks, adding each run to it; the results are those of running all.
///
/// # Errors
/// As [`run`], and a journal that cannot be written.
pub fn run_from<E: Engine>(
    plan: &Plan,
    engine: &E,
    threads: usize,
    journal: Option<&Journal>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Results, ExperimentError> {
    let cells = prepare_all(plan, engine)?;
    let runs = |cell: &Cell<E::Job>| plan.file.workloads[cell.workload].runs;
    let tasks: Vec<(usize, u32)> = cells
        .iter()
        .enumerate()
        .flat_map(|(c, cell)| (0..runs(cell)).map(move |run| (c, run)))
        .collect();
    let pool = pool(plan, threads)?;
    let tally = Tally {
        progress,
        runs_in_all: tasks.len(),
        resumed: journal.map_or(0, Journal::len),
        runs: AtomicUsize::new(0),
        cells: AtomicUsize::new(0),
        left: cells.iter().map(|cell| AtomicUsize::new(runs(cell) as usize)).collect(),
    };
    tally.report();
    let runs: Vec<Run> = pool.install(|| {
        tasks
            .par_iter()
            .map(|&(c, number)| {
                let run = kept_or_run(plan, engine, &cells[c], number, journal)?;
                if tally.done(c) {
                    engine.finished(&cells[c].job);
                }
                Ok(run)
            })
            .collect::<Result<_, ExperimentError>>()
    })?;
    Ok(collect(
        plan,
        engine.name(),
        (engine.counters(plan), engine.counted(plan)),
        &cells,
        &tasks,
        runs,
    ))
}

fn prepare_all<E: Engine>(plan: &Plan, engine: &E) -> Result<Vec<Cell<E::Job>>, ExperimentError> {
    let mut cells = Vec::new();
    for w in 0..plan.file.workloads.len() {
        for v in plan.file.variants_of(w) {
            cells.push(prepare(plan, engine, w, v)?);
        }
    }
    Ok(cells)
}

/// The workload at `w` under the variant at `v`.
pub(crate) fn prepare<E: Engine>(
    plan: &Plan,
    engine: &E,
    w: usize,
    v: usize,
) -> Result<Cell<E::Job>, ExperimentError> {
    prepare_on(plan, engine, (w, v), &plan.machine_of(v)?)
}

/// The same on `machine`, which stands for the variant's.
pub(crate) fn prepare_on<E: Engine>(
    plan: &Plan,
    engine: &E,
    (w, v): (usize, usize),
    machine: &Machine,
) -> Result<Cell<E::Job>, ExperimentError> {
    let (entry, variant) = (&plan.file.workloads[w], &plan.file.variants[v]);
    let refused = |reason: EngineError| ExperimentError::Refused {
        file: plan.path.clone(),
        field: format!("workload `{}`, variant `{}`", entry.name, variant.name),
        reason: Box::new(reason),
    };
    let built = plan.workload(entry, machine).map_err(|e| refused(e.into()))?;
    if !variant.command_line().is_empty() {
        return Err(refused(EngineError::CommandLine));
    }
    if let Some(field) = variant.of_kernels().filter(|_| variant.source.is_none()) {
        return Err(refused(EngineError::OfKernels(field)));
    }
    if variant.host.is_some() {
        return Err(refused(EngineError::OfHost));
    }
    if variant.source.is_some() && variant.numa_balancing == Some(true) {
        return Err(refused(EngineError::NumaBalancing));
    }
    if let Some(scheduler) = &variant.scheduler {
        return Err(refused(EngineError::Scheduler(scheduler.program.clone())));
    }
    let Built { workload, ignored } = built;
    let setting = plan.setting(v);
    let metrics = engine.metrics(&workload, &setting);
    let job = engine
        .prepare(plan, (w, v), machine, &plan.kernels[v], workload, &setting)
        .map_err(refused)?;
    Ok(Cell { workload: w, variant: v, metrics, ignored, job })
}

fn kept_or_run<E: Engine>(
    plan: &Plan,
    engine: &E,
    cell: &Cell<E::Job>,
    number: u32,
    journal: Option<&Journal>,
) -> Result<Run, ExperimentError> {
    let workload = &plan.file.workloads[cell.workload].name;
    let variant = &plan.file.variants[cell.variant].name;
    if let Some(run) = journal.and_then(|j| j.run((workload, variant), number, None)) {
        return Ok(run.clone());
    }
    let run = engine.run(&cell.job, number, plan.seed(cell.variant, number)).map_err(|reason| {
        match reason {
            EngineError::Stopped => ExperimentError::Stopped,
            reason => ExperimentError::Run {
                workload: workload.clone(),
                variant: variant.clone(),
                run: number,
                reason: Box::new(reason),
            },
        }
    })?;
    if let Some(journal) = journal {
        journal.keep((workload, variant), &run, None)?;
    }
    Ok(run)
}

/// Runs as results, by the cells that they are of.
pub(crate) fn collect<J>(
    plan: &Plan,
    engine: results::Engine,
    (counters, counted): (Vec<Counter>, Vec<String>),
    cells: &[Cell<J>],
    tasks: &[(usize, u32)],
    runs: Vec<Run>,
) -> Results {
    let mut all = tasks.iter().zip(runs).peekable();
    let mut workloads: Vec<WorkloadResults> = Vec::new();
    for (c, cell) in cells.iter().enumerate() {
        let mut runs = Vec::new();
        while let Some((_, run)) = all.next_if(|(task, _)| task.0 == c) {
            runs.push(run);
        }
        let variant = VariantRuns { name: plan.file.variants[cell.variant].name.clone(), runs };
        let entry = &plan.file.workloads[cell.workload];
        match workloads.last_mut() {
            Some(w) if w.name == entry.name => w.variants.push(variant),
            _ => workloads.push(WorkloadResults {
                name: entry.name.clone(),
                title: entry.title.clone(),
                metrics: cell.metrics.clone(),
                ignored: cell.ignored.clone(),
                variants: vec![variant],
            }),
        }
    }
    Results {
        engine,
        experiment: plan.file.clone(),
        constants: plan.machine.constants.clone(),
        counted,
        counters,
        workloads,
        computers: vec![],
        sensitivity: None,
        robustness: None,
    }
}

/// Threads on which runs go side by side.
pub(crate) fn pool(plan: &Plan, threads: usize) -> Result<rayon::ThreadPool, ExperimentError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
        ExperimentError::Field {
            file: plan.path.clone(),
            field: "threads".to_string(),
            found: threads.to_string(),
            expected: format!("a number of threads that can be started ({e})"),
        }
    })
}
