//! The jobs of a plan run in parallel, those apart that a journal has already.

use crate::ExperimentError;
use crate::engine::{Engine, Sample};
use crate::journal::Journal;
use crate::plan::{Job, Plan};
use crate::power;
use crate::results::{Results, Run, VariantRuns, WorkloadResults};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    fn done(&self, job: usize) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        if self.left[job].fetch_sub(1, Ordering::Relaxed) == 1 {
            self.cells.fetch_add(1, Ordering::Relaxed);
        }
        self.report();
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

impl Plan {
    /// Runs everything on `threads` threads (0: one a CPU), calling `progress` before the first run and after each.
    /// Results do not depend on the number of threads.
    pub fn run<E: Engine>(
        &self,
        engine: &E,
        threads: usize,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Results, ExperimentError> {
        self.run_from(engine, threads, None, progress)
    }

    /// [`Plan::run`] of what `journal` lacks, adding each run to it; the results are those of running all.
    pub fn run_from<E: Engine>(
        &self,
        engine: &E,
        threads: usize,
        journal: Option<&Journal>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Results, ExperimentError> {
        let jobs = self.prepare(engine)?;
        let runs = |job: &Job<E::Job>| self.file.workloads[job.workload].runs;
        let tasks: Vec<(usize, u32)> = jobs
            .iter()
            .enumerate()
            .flat_map(|(j, job)| (0..runs(job)).map(move |run| (j, run)))
            .collect();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
            ExperimentError::Field {
                file: self.path.clone(),
                field: "threads".to_string(),
                found: threads.to_string(),
                expected: format!("a number of threads that can be started ({e})"),
            }
        })?;
        let tally = Tally {
            progress,
            runs_in_all: tasks.len(),
            resumed: journal.map_or(0, Journal::len),
            runs: AtomicUsize::new(0),
            cells: AtomicUsize::new(0),
            left: jobs.iter().map(|job| AtomicUsize::new(runs(job) as usize)).collect(),
        };
        tally.report();
        let samples: Vec<Sample> = pool.install(|| {
            tasks
                .par_iter()
                .map(|&(j, run)| {
                    let sample = self.kept_or_run(engine, &jobs[j], run, journal)?;
                    tally.done(j);
                    Ok(sample)
                })
                .collect::<Result<_, _>>()
        })?;
        Ok(self.collect(engine.name(), &jobs, &tasks, samples))
    }

    fn kept_or_run<E: Engine>(
        &self,
        engine: &E,
        job: &Job<E::Job>,
        run: u32,
        journal: Option<&Journal>,
    ) -> Result<Sample, ExperimentError> {
        let workload = &self.file.workloads[job.workload].name;
        let variant = &self.file.variants[job.variant].name;
        if let Some(sample) = journal.and_then(|j| j.sample(workload, variant, run)) {
            return Ok(sample.clone());
        }
        let sample =
            engine.run(&job.engine_job, self.seed(job.variant, run)).map_err(|reason| {
                ExperimentError::Run {
                    workload: workload.clone(),
                    variant: variant.clone(),
                    run,
                    reason,
                }
            })?;
        if let Some(journal) = journal {
            journal.keep(workload, variant, run, &sample)?;
        }
        Ok(sample)
    }

    pub(crate) fn collect<J>(
        &self,
        engine: &str,
        jobs: &[Job<J>],
        tasks: &[(usize, u32)],
        samples: Vec<Sample>,
    ) -> Results {
        let mut samples = tasks.iter().zip(samples).peekable();
        let mut workloads: Vec<WorkloadResults> = Vec::new();
        for (j, job) in jobs.iter().enumerate() {
            let mut runs = Vec::new();
            while let Some((&(_, run), sample)) = samples.next_if(|&(&(of, _), _)| of == j) {
                let (mut metrics, mut single_times) = (sample.metrics, sample.single_times);
                if let Some(watts) = sample.power_w {
                    metrics.extend(power::values(&job.metrics, &metrics, watts));
                }
                single_times.resize(metrics.len(), vec![]);
                runs.push(Run {
                    run,
                    seed: self.seed(job.variant, run),
                    metrics,
                    single_times,
                    counters: sample.counters,
                });
            }
            let name = self.file.variants[job.variant].name.clone();
            let variant = VariantRuns { name, runs };
            let entry = &self.file.workloads[job.workload];
            match workloads.last_mut() {
                Some(w) if w.name == entry.name => w.variants.push(variant),
                _ => workloads.push(WorkloadResults {
                    name: entry.name.clone(),
                    title: entry.title.clone(),
                    metrics: job.metrics.clone(),
                    ignored: job.ignored.clone(),
                    variants: vec![variant],
                }),
            }
        }
        Results {
            engine: engine.to_string(),
            experiment: self.file.clone(),
            constants: self.machine.constants.clone(),
            workloads,
        }
    }
}
