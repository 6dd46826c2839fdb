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
        let cells = self.bench.cells().enumerate();
        let whole = cells.filter(|(_, (workload, _))| !workload.ends_with(SHORT));
        whole
            .map(|(at, (workload, variant))| {
                let lacks = |what: &str| self.lacks(workload, variant, what);
                let short = format!("{workload}{SHORT}");
                let half = self.bench.cells().position(|cell| cell == (&short, variant));
                let half = half.ok_or_else(|| lacks("no run with half of its work"))?;
                let work = |name: &str| {
                    let entry = self.bench.plan.file.workload(name);
                    let work = entry.and_then(|entry| Work::of(entry.alone()?));
                    work.ok_or_else(|| lacks("no units of work"))
                };
                let (long, less) = (work(workload)?, work(&short)?);
                let work = (&long, &less);
                let (guest, alone) = guest(work, (&counted[at], &counted[half]))
                    .ok_or_else(|| lacks("a guest's run that lacks a count"))?;
                let modelled = modelled(work, &simulated, (workload, &short), variant)
                    .ok_or_else(|| lacks("no simulated run, or one that lacks a count"))?;
                let names = [&*self.bench.plan.machine.name, workload, variant];
                Ok(Compared::new(names, long.unit, (&guest, &modelled), alone))
            })
            .collect()
    }

    fn lacks(&self, workload: &str, variant: &str, found: &str) -> ExperimentError {
        ExperimentError::Field {
            file: self.bench.plan.path.clone(),
            field: format!("workload `{workload}`, variant `{variant}`"),
            found: found.to_string(),
            expected: "the same counts of both sides, of whole and half of the work".to_string(),
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

/// The guest's figures for each unit; none where a run lacks a count.
fn guest(
    (long, short): (&Work, &Work),
    (runs, short_runs): (&[Counted], &[Counted]),
) -> Option<(Figures, Guest)> {
    let sum = |work: &Work, runs: &[Counted]| sum(runs.iter().map(|run| counted(work, run)));
    let figures = Figures::of(&sum(long, runs)?, &sum(short, short_runs)?);
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
    Some((figures, alone))
}

/// The sum of all runs; none where there is no run or one lacks a count.
fn sum(mut runs: impl Iterator<Item = Option<Figures>>) -> Option<Figures> {
    let first = runs.next()??;
    runs.try_fold(first, |sum, run| Some(sum.plus(&run?)))
}

fn counted(work: &Work, run: &Counted) -> Option<Figures> {
    let scheduler = |name: &str| run.scheduler.get(name).map(|&count| count as f64);
    Some(Figures {
        units: work.units(&run.values)?,
        elapsed_us: work.elapsed_us(&run.values)?,
        kernel_instructions: run.kernel_instructions as f64,
        lines: run.stalls(),
        wakeups: scheduler("ttwu_count")?,
        switches: scheduler("context_switches")?,
    })
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
        sum(runs.iter().map(|run| charged(work, results, of, run)))
    };
    Some(Figures::of(&sum(long, workload)?, &sum(short, shorter)?))
}

fn charged(work: &Work, results: &Results, of: &WorkloadResults, run: &Run) -> Option<Figures> {
    let names = of.metrics.iter().map(|metric| metric.name.clone());
    let values: BTreeMap<String, f64> = names.zip(run.metrics.iter().copied()).collect();
    let counter = |name: &str| {
        let at = results.counters.iter().position(|counter| counter.name == name)?;
        run.counters.get(at).map(|&count| count as f64)
    };
    let mut lines = [0.0; Distance::COUNT];
    for (lines, distance) in lines.iter_mut().zip(Distance::ALL) {
        *lines = counter(&format!("lines_{}", distance.name()))?;
    }
    Some(Figures {
        units: work.units(&values)?,
        elapsed_us: work.elapsed_us(&values)?,
        kernel_instructions: counter("kernel_instructions")?,
        lines,
        wakeups: counter("ttwu_count")?,
        switches: counter("context_switches")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_lacks_a_count_is_no_run_that_counted_nothing() {
        let params = workload::sched_pipe::Params { loops: 100_000, loops_run: 100, cpus: None };
        let work = Work::of(&workload::Benchmark::SchedPipe(params)).unwrap();
        let all = |skipped: &str| Counted {
            values: BTreeMap::from([("seconds".to_owned(), 2.0)]),
            scheduler: ["ttwu_count", "context_switches"]
                .into_iter()
                .filter(|&name| name != skipped)
                .map(|name| (name.to_owned(), 7))
                .collect(),
            ..Counted::default()
        };
        let found = counted(&work, &all("")).unwrap();
        assert_eq!((found.units, found.wakeups, found.switches), (200.0, 7.0, 7.0));
        for skipped in ["ttwu_count", "context_switches"] {
            assert_eq!(counted(&work, &all(skipped)), None, "{skipped}");
        }
        assert_eq!(counted(&work, &Counted { values: BTreeMap::new(), ..all("") }), None);
        assert_eq!(sum([Some(found), None].into_iter()), None);
        assert_eq!(sum([Some(found), Some(found)].into_iter()).unwrap().units, 400.0);
        assert_eq!(sum(std::iter::empty()), None);
    }
}
