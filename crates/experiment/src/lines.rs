//! An experiment in guests that a plugin watches and in the simulator: cache lines and instructions of both.
//!
//! Every workload runs twice, the second time with half of its work. What is compared is the difference of the two, for each
//! message or request, so the programs' start and end and what happens once are in no figure.

mod work;

use crate::guests::{Bench, Counted, Counting, Options, Told};
use crate::run::{Progress, run};
use crate::{ExperimentError, SimEngine};
use definition::Plan;
use definition::file::WorkloadEntry;
use machine::distance::Distance;
use results::lines::{Compared, Figures, Guest};
use results::{Results, Run, WorkloadResults};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
pub use work::Work;
use workload::Benchmark;

/// What the shorter runs' workloads are called, behind the name of the longer ones'.
const SHORT: &str = ", half";

/// An experiment whose lines are to be counted.
#[derive(Debug)]
pub struct Watched {
    /// Its workloads and their shorter forms, as guests can run them.
    pub bench: Bench,
}

impl Watched {
    /// What of `plan` guests can run, with shorter forms of all workloads.
    ///
    /// # Errors
    /// A benchmark whose work is not counted in units, and an experiment of which nothing is left.
    pub fn of(mut plan: Plan, options: &Options) -> Result<Watched, ExperimentError> {
        let mut both = Vec::new();
        for entry in std::mem::take(&mut plan.file.workloads) {
            let short = shorter(&entry).ok_or_else(|| ExperimentError::Field {
                file: plan.path.clone(),
                field: format!("workload `{}`", entry.name),
                found: entry.benchmarks().map(Benchmark::name).collect::<Vec<_>>().join(", "),
                expected: format!(
                    "one of {}, whose work has units, and enough of it to be halved",
                    Work::BENCHMARKS.join(", ")
                ),
            })?;
            both.extend([entry, short]);
        }
        plan.file.workloads = both;
        Ok(Watched { bench: Bench::of(plan, options)? })
    }

    /// Counts in guests, then simulates.
    ///
    /// # Errors
    /// All that can happen to guests and simulated runs.
    pub fn compare(
        &self,
        options: &Options,
        counting: Counting,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Vec<Compared>, ExperimentError> {
        let counted = self.bench.count(options, counting, stop, tell)?;
        let simulated = run(&self.bench.plan, &SimEngine, 0, &|_: Progress| {})?;
        let mut all = Vec::new();
        for (at, (workload, variant)) in self.bench.cells().enumerate() {
            let short = format!("{workload}{SHORT}");
            let Some(half) = self.bench.cells().position(|cell| cell == (&short, variant)) else {
                continue;
            };
            let entry = |name: &str| self.bench.plan.file.workload(name);
            let of = |name: &str| Work::of(entry(name)?.alone()?);
            if let (Some(long), Some(less)) = (of(workload), of(&short)) {
                let work = (&long, &less);
                let guest = guest(work, (&counted[at], &counted[half]));
                let modelled = modelled(work, &simulated, (workload, &short), variant)
                    .ok_or_else(|| self.lacks(workload, variant))?;
                let names = [&*self.bench.plan.machine.name, workload, variant];
                all.push(Compared::new(names, long.unit, (&guest.0, &modelled), guest.1));
            }
        }
        Ok(all)
    }

    fn lacks(&self, workload: &str, variant: &str) -> ExperimentError {
        ExperimentError::Field {
            file: self.bench.plan.path.clone(),
            field: format!("workload `{workload}`, variant `{variant}`"),
            found: "no simulated run of it".to_string(),
            expected: "one beside each guest's".to_string(),
        }
    }
}

/// The workload with half of its work.
fn shorter(entry: &WorkloadEntry) -> Option<WorkloadEntry> {
    let mut short = entry.clone();
    short.name.push_str(SHORT);
    short.parts[0].benchmark = Work::halved(entry.alone()?)?;
    Some(short)
}

/// The guest's figures for each unit.
fn guest(
    (long, short): (&Work, &Work),
    (runs, short_runs): (&[Counted], &[Counted]),
) -> (Figures, Guest) {
    let sum = |work: &Work, runs: &[Counted]| {
        runs.iter().map(|run| counted(work, run)).fold(Figures::default(), |a, b| a.plus(&b))
    };
    let figures = Figures::of(&sum(long, runs), &sum(short, short_runs));
    let each = |of: &dyn Fn(&Counted) -> f64| {
        let sum = |runs: &[Counted]| runs.iter().map(of).sum::<f64>();
        (sum(runs) - sum(short_runs)) / figures.units
    };
    let lines = |lines: &[u64; Distance::COUNT]| lines.iter().sum::<u64>() as f64;
    let alone = Guest {
        user_instructions: each(&|run| run.user_instructions as f64),
        reads: each(&|run| lines(&run.reads)),
        atomics: each(&|run| lines(&run.atomics)),
        store_waits: each(&|run| run.store_waits.iter().sum()),
        writes: each(&|run| lines(&run.writes)),
    };
    (figures, alone)
}

fn counted(work: &Work, run: &Counted) -> Figures {
    let scheduler = |name: &str| run.scheduler.get(name).copied().unwrap_or(0) as f64;
    Figures {
        units: work.units(&run.values),
        elapsed_us: work.elapsed_us(&run.values),
        kernel_instructions: run.kernel_instructions as f64,
        lines: run.stalls(),
        wakeups: scheduler("ttwu_count"),
        switches: scheduler("context_switches"),
    }
}

/// The simulator's figures for each unit.
fn modelled(
    (long, short): (&Work, &Work),
    results: &Results,
    (workload, shorter): (&str, &str),
    variant: &str,
) -> Option<Figures> {
    let sum = |work: &Work, name: &str| -> Option<Figures> {
        let of = results.workload(name)?;
        let runs = &of.variants.iter().find(|v| v.name == variant)?.runs;
        let each = runs.iter().map(|run| charged(work, results, of, run));
        Some(each.fold(Figures::default(), |a, b| a.plus(&b)))
    };
    Some(Figures::of(&sum(long, workload)?, &sum(short, shorter)?))
}

fn charged(work: &Work, results: &Results, of: &WorkloadResults, run: &Run) -> Figures {
    let names = of.metrics.iter().map(|metric| metric.name.clone());
    let values: BTreeMap<String, f64> = names.zip(run.metrics.iter().copied()).collect();
    let counter = |name: &str| {
        let at = results.counters.iter().position(|counter| counter.name == name);
        at.and_then(|at| run.counters.get(at)).copied().unwrap_or(0) as f64
    };
    Figures {
        units: work.units(&values),
        elapsed_us: work.elapsed_us(&values),
        kernel_instructions: counter("kernel_instructions"),
        lines: Distance::ALL.map(|distance| counter(&format!("lines_{}", distance.name()))),
        wakeups: counter("ttwu_count"),
        switches: counter("context_switches"),
    }
}
