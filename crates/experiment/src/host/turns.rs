//! Runs in turns: the trial, then blocks of runs with all variants in a drawn order.

use super::bench::{Bench, Told};
use super::plan::Options;
use super::record::{Recorder, Spoiled, Tally};
use super::trial::Trial;
use crate::ExperimentError;
use crate::engine::EngineError;
use crate::journal::Journal;
use crate::run::{Cell, Progress};
use host::scheduler::{Gone, Loaded};
use host::{Computer, HostError};
use machine::CpuSet;
use results::Run;
use results::analysis::resampling;
use sim::rng::Stream;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A run: its cell and number.
pub(super) type Task = (usize, u32);

/// Most blocks of runs that go on until they are precise.
const MOST_BLOCKS: u32 = 10_000;
/// Runs of each half of a trial, if nobody says: no more than are planned, and no fewer than say something.
const TRIAL_RUNS: std::ops::RangeInclusive<u32> = 3..=10;

/// What a run measured, what was counted around it, and what spoils it.
struct Measured {
    metrics: Vec<f64>,
    counters: Vec<u64>,
    spoiled: Vec<Spoiled>,
}

/// A scheduler's failure with what was said of it, short enough for people.
fn not_enabled(error: HostError) -> EngineError {
    match error {
        HostError::NotEnabled { reason, gone: Gone { log, said } } => EngineError::Reported(
            format!("scheduler: {reason}: {}", vm::sched_ext::thrown_out(&log, &said)),
        ),
        other => other.into(),
    }
}

/// Runs in turns.
pub(super) struct Turns<'a> {
    pub(super) bench: &'a Bench,
    pub(super) options: &'a Options,
    pub(super) computer: &'a mut Computer,
    /// Changes that all variants share.
    pub(super) base: usize,
    pub(super) recorder: &'a Recorder,
    pub(super) stop: &'a AtomicBool,
    /// CPUs that commands get back which this process gave up.
    pub(super) all: Option<&'a CpuSet>,
    /// The variant whose settings are made.
    pub(super) current: Option<usize>,
    pub(super) tally: Tally,
}

impl Turns<'_> {
    fn of(&self, cell: usize) -> &Cell<()> {
        &self.bench.cells[cell]
    }

    /// Cells of the workload at `workload`.
    fn cells_of(&self, workload: usize) -> Vec<usize> {
        (0..self.bench.cells.len()).filter(|&c| self.of(c).workload == workload).collect()
    }

    fn workloads(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.bench.cells.iter().map(|c| c.workload).collect();
        all.dedup();
        all
    }

    fn planned(&self, workload: usize) -> u32 {
        self.bench.plan.file.workloads[workload].runs
    }

    /// Warm-up runs, and the baseline of each workload against itself.
    pub(super) fn trial(
        &mut self,
        stream: &mut Stream,
        tell: &mut dyn FnMut(Told),
    ) -> Result<(), ExperimentError> {
        for cell in 0..self.bench.cells.len() {
            for _ in 0..self.bench.jobs[self.of(cell).workload].warmup {
                self.one(cell, 0)?;
            }
        }
        let resampling = resampling().map_err(results::ResultsError::from)?;
        for workload in self.workloads() {
            let planned = self.planned(workload);
            let halves = self
                .options
                .trial_runs
                .unwrap_or(planned.clamp(*TRIAL_RUNS.start(), *TRIAL_RUNS.end()));
            let Some(&base) = self.cells_of(workload).first().filter(|_| halves > 0) else {
                continue;
            };
            let mut order: Vec<usize> = (0..2 * halves as usize).map(|at| at % 2).collect();
            stream.shuffle(&mut order);
            let mut values: [Vec<Vec<f64>>; 2] = Default::default();
            for (done, half) in order.iter().enumerate() {
                tell(Told::Trying(done, order.len()));
                values[*half].push(self.one(base, 0)?.metrics);
            }
            let cell = self.of(base);
            for (at, metric) in cell.metrics.iter().enumerate() {
                let half = |h: usize| values[h].iter().map(|run| run[at]).collect::<Vec<f64>>();
                let (a, b) = (half(0), half(1));
                let name = self.bench.names(cell).0;
                tell(Told::Trial(&Trial::of(name, metric, [&a, &b], planned, &resampling)));
            }
        }
        self.tally = Tally::default();
        Ok(())
    }

    /// Block by block, until each workload has its runs, or its intervals are narrow enough.
    pub(super) fn blocks(
        &mut self,
        stream: &mut Stream,
        journal: Option<&Journal>,
        tell: &mut dyn FnMut(Told),
    ) -> Result<BTreeMap<Task, Run>, ExperimentError> {
        let began = Instant::now();
        let mut runs: BTreeMap<Task, Run> = BTreeMap::new();
        let mut resumed = 0;
        let mut left: Vec<usize> = self.workloads();
        for number in 0..MOST_BLOCKS {
            left.retain(|&w| self.goes_on(w, number, began, &runs));
            if left.is_empty() {
                break;
            }
            let mut order = left.clone();
            stream.shuffle(&mut order);
            for workload in order {
                let mut cells = self.cells_of(workload);
                stream.shuffle(&mut cells);
                for cell in cells {
                    let names = self.bench.names(self.of(cell));
                    let kept = journal.and_then(|j| j.run(names, number, None)).cloned();
                    resumed += usize::from(kept.is_some());
                    let run = match kept {
                        Some(run) => run,
                        None => {
                            let run = self.one(cell, number)?;
                            journal.map(|j| j.keep(names, &run, None)).transpose()?;
                            run
                        }
                    };
                    runs.insert((cell, number), run);
                    tell(Told::Progress(self.progress(&runs, resumed)));
                }
            }
        }
        Ok(runs)
    }

    fn progress(&self, runs: &BTreeMap<Task, Run>, resumed: usize) -> Progress {
        let planned = |c: usize| self.planned(self.of(c).workload) as usize;
        let cells = self.bench.cells.len();
        let done = |c: &usize| runs.range((*c, 0)..(*c + 1, 0)).count() >= planned(*c);
        Progress {
            runs: runs.len(),
            runs_in_all: (0..cells).map(planned).sum::<usize>().max(runs.len()),
            cells: (0..cells).filter(done).count(),
            cells_in_all: cells,
            resumed,
        }
    }

    /// Whether the workload at `workload` has a block number `number`.
    fn goes_on(
        &self,
        workload: usize,
        number: u32,
        began: Instant,
        runs: &BTreeMap<Task, Run>,
    ) -> bool {
        if number < self.planned(workload) {
            return true;
        }
        let Some(until) = self.options.until else { return false };
        began.elapsed() < until.budget
            && self.widest(workload, runs).is_some_and(|w| w > until.percent)
    }

    /// Half the width, in percent, of the widest interval of a change; none where there is none.
    fn widest(&self, workload: usize, runs: &BTreeMap<Task, Run>) -> Option<f64> {
        let resampling = resampling().ok()?;
        let cells = self.cells_of(workload);
        let (base, others) = cells.split_first()?;
        let values = |cell: usize, at: usize| -> Vec<f64> {
            runs.range((cell, 0)..(cell + 1, 0)).map(|(_, run)| run.metrics[at]).collect()
        };
        let metrics = self.of(*base).metrics.iter().enumerate();
        let widths = metrics.flat_map(|(at, metric)| {
            let base = values(*base, at);
            others
                .iter()
                .filter_map(move |&cell| {
                    let percent = stats::percent_change(
                        &base,
                        &values(cell, at),
                        metric.better,
                        &resampling,
                    )?;
                    Some((percent.high - percent.low) / 2.0)
                })
                .collect::<Vec<f64>>()
        });
        widths.max_by(f64::total_cmp)
    }

    /// Run number `number` of a cell.
    fn one(&mut self, cell: usize, number: u32) -> Result<Run, ExperimentError> {
        let of = self.of(cell);
        let (workload, variant) = self.bench.names(of);
        let (workload, variant) = (workload.to_owned(), variant.to_owned());
        self.make_ready(cell).and_then(|()| self.measure(cell, number)).map_err(|reason| {
            ExperimentError::Run { workload, variant, run: number, reason: Box::new(reason) }
        })
    }

    /// Makes the settings of the cell's variant in place of those of the variant before.
    fn make_ready(&mut self, cell: usize) -> Result<(), EngineError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(HostError::Interrupted.into());
        }
        let variant = self.of(cell).variant;
        if self.current == Some(variant) {
            return Ok(());
        }
        self.current = None;
        self.computer.undo_from(self.base)?;
        if let Some(realised) = &self.bench.variants[variant] {
            realised.settings.apply(self.computer)?;
        }
        self.current = Some(variant);
        Ok(())
    }

    fn measure(&mut self, cell: usize, number: u32) -> Result<Run, EngineError> {
        let bench = self.bench;
        let of = &bench.cells[cell];
        let scheduler = bench.variants[of.variant].as_ref().and_then(|v| v.scheduler.as_ref());
        let work = bench.work.path();
        let loaded = match scheduler {
            Some(scheduler) => {
                let loaded = Loaded::load(self.computer, &scheduler.loader, work);
                Some(loaded.map_err(not_enabled)?)
            }
            None => None,
        };
        let measured = self.launch(of, loaded.as_ref(), work);
        let unloaded = match loaded {
            Some(loaded) => loaded.unload(self.computer),
            None => Ok(()),
        };
        let Measured { metrics, counters, spoiled } = measured?;
        unloaded?;
        self.tally.add(&spoiled);
        let seed = bench.plan.seed(of.variant, number);
        Ok(Run { run: number, seed, single_times: vec![vec![]; metrics.len()], metrics, counters })
    }

    fn launch(
        &mut self,
        cell: &Cell<()>,
        loaded: Option<&Loaded>,
        work: &Path,
    ) -> Result<Measured, EngineError> {
        let launch = self.bench.launch(cell, self.options, self.all)?;
        let before = self.recorder.before(self.computer, self.options.rest)?;
        let mut process = None;
        let (computer, recorder) = (&mut *self.computer, self.recorder);
        let ended = launch.run(work, &self.recorder.perf, self.stop, &mut |started| {
            process = Some(started);
            computer.started(started)?;
            recorder.follow(started)
        });
        // A run that was late or stopped is ended by then, and so is all that it started.
        if let Some(process) = process {
            self.computer.ended(process)?;
        }
        let ended = ended?;
        let (counters, spoiled) = self.recorder.after(self.computer, &before, &ended)?;
        if let Some(gone) = loaded.map(|l| l.stayed(self.computer)).transpose()?.flatten() {
            let Gone { log, said } = gone;
            return Err(EngineError::Reported(vm::sched_ext::thrown_out(&log, &said)));
        }
        let job = &self.bench.jobs[cell.workload];
        let metrics = job.values(&ended).map_err(EngineError::Reported)?;
        Ok(Measured { metrics, counters, spoiled })
    }
}
