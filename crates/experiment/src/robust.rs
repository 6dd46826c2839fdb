//! Runs over the ranges in which a machine's constants may lie: the corners of a two-level design, then whatever places
//! `results::robust` wants to know more of.

use crate::ExperimentError;
use crate::engine::{Engine, SimEngine, SimJob};
use crate::moving::{Further, Matter, Moving, Ran, design_runs, left, rows};
use definition::Plan;
use machine::constants::COUNTED_FACTOR;
use rayon::prelude::*;
use results::Results;
use results::analysis::{WorkloadAnalysis, resampling};
use results::robust::{Explored, Point, Ranged, Robustness, wanted};
use results::sensitivity::{INSTRUCTIONS, LINES, Row};
use stats::{Resampling, TwoLevel};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs every workload of `plan` over the ranges of the constants that matter to it; `results` are those of the constants as they
/// are. What the first runs give decides what else is wanted.
///
/// # Errors
/// An experiment that cannot be prepared, a journal that cannot be written, and somebody who stops it. A workload whose runs fail
/// when its constants are moved is left out, with the reason.
pub fn robustness(
    plan: &Plan,
    results: &Results,
    further: Further<'_>,
) -> Result<Robustness, ExperimentError> {
    let pool = crate::run::pool(plan, further.threads)?;
    let resampling = resampling().map_err(results::ResultsError::from)?;
    let progress = further.progress;
    let tally = Tally { progress, done: AtomicUsize::new(0), wanted: AtomicUsize::new(0) };
    let moving = Moving { plan, results, further };
    let (mut workloads, mut left_out) = (Vec::new(), Vec::new());
    for (w, entry) in plan.file.workloads.iter().enumerate() {
        let of = Over { moving: &moving, tally: &tally, resampling: &resampling, w };
        match pool.install(|| of.explored(&entry.name))? {
            Ok(explored) => workloads.push(explored),
            Err(reason) => left_out.push(left(plan, w, reason)),
        }
    }
    Ok(Robustness { workloads, left_out })
}

/// Counts runs, by several threads.
struct Tally<'a> {
    progress: &'a (dyn Fn(usize, usize) + Sync),
    done: AtomicUsize,
    wanted: AtomicUsize,
}

impl Tally<'_> {
    fn want(&self, runs: usize) {
        let all = self.wanted.fetch_add(runs, Ordering::Relaxed) + runs;
        (self.progress)(self.done.load(Ordering::Relaxed), all);
    }

    fn done(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(done, self.wanted.load(Ordering::Relaxed));
    }
}

/// A workload with all that its runs need.
struct Over<'a> {
    moving: &'a Moving<'a>,
    tally: &'a Tally<'a>,
    resampling: &'a Resampling,
    w: usize,
}

impl Over<'_> {
    /// All runs of the workload `name`, or why there are none.
    fn explored(&self, name: &str) -> Result<Result<Explored, String>, ExperimentError> {
        let variants = match self.moving.variants(self.w) {
            Ok(variants) => variants,
            Err(reason) => return Ok(Err(reason)),
        };
        let Some(stored) = self.moving.results.workload(name) else {
            return Ok(Err("it has no runs".to_string()));
        };
        let analysis = WorkloadAnalysis::of(self.moving.results, stored, self.resampling);
        let ends = |name: &str| {
            let by = |c: Ranged| {
                [c.low, c.high].map(|end| if end == c.value { 1.0 } else { end / c.value })
            };
            self.ranged(name).map_or([1.0, 1.0], by)
        };
        let Matter { constants, fixed } = self.moving.matter(self.w, &variants, &ends)?;
        let constants: Vec<Ranged> = constants.iter().filter_map(|c| self.ranged(c)).collect();
        if constants.is_empty() {
            return Ok(Err("no constant that has a range changes its runs".to_string()));
        }
        let workload = name.to_string();
        let mut explored = Explored { workload, constants, fixed, rows: vec![], points: vec![] };
        explored.rows = match self.design(&explored, &variants)? {
            Ok(rows) => rows,
            Err(reason) => return Ok(Err(reason)),
        };
        loop {
            let next = wanted(&analysis, &explored, self.resampling);
            if next.is_empty() {
                return Ok(Ok(explored));
            }
            match self.points(&explored, &variants, next)? {
                Ok(points) => explored.points.extend(points),
                Err(reason) => return Ok(Err(reason)),
            }
        }
    }

    /// A constant, or what was counted, with its range.
    fn ranged(&self, name: &str) -> Option<Ranged> {
        let name = name.to_string();
        if name == INSTRUCTIONS || name == LINES {
            return Some(Ranged {
                name,
                value: 1.0,
                unit: "times the count".to_string(),
                mark: "counted".to_string(),
                low: 1.0 / COUNTED_FACTOR,
                high: COUNTED_FACTOR,
                source: format!("counted: divided and multiplied by {COUNTED_FACTOR}"),
            });
        }
        let c = self.moving.plan.machine.constants.get(&name)?;
        let range = c.range_of(&name);
        Some(Ranged {
            name,
            value: c.value,
            unit: c.unit.clone(),
            mark: c.mark.to_string(),
            low: range.low,
            high: range.high,
            source: range.source,
        })
    }

    /// One run of each variant at each corner of the design, or why one failed.
    fn design(
        &self,
        explored: &Explored,
        variants: &[usize],
    ) -> Result<Result<Vec<Row>, String>, ExperimentError> {
        let design = TwoLevel::of(explored.constants.len());
        let runs = design_runs(&design, variants.len());
        self.tally.want(runs.len());
        let run = |&(row, mirrored, variant): &(usize, bool, usize)| {
            let corner = explored.corner_of(row, mirrored);
            let (moves, at) = (moves(explored, &corner), (self.w, variants[variant]));
            let ran = self.moving.run(at, row as u32, &called(&moves), &moves);
            self.tally.done();
            ran
        };
        let ran: Vec<Ran> = runs.par_iter().map(run).collect::<Result<_, ExperimentError>>()?;
        Ok(rows(&design, variants.len(), &mut ran.into_iter()))
    }

    /// As many runs as the workload has at each of `places`, or why one failed.
    fn points(
        &self,
        explored: &Explored,
        variants: &[usize],
        places: Vec<Vec<f64>>,
    ) -> Result<Result<Vec<Point>, String>, ExperimentError> {
        let runs = self.moving.plan.file.workloads[self.w].runs;
        let cells = places.par_iter().flat_map_iter(|to| variants.iter().map(move |&v| (to, v)));
        let cell = |(to, v): (&Vec<f64>, usize)| {
            let moves = moves(explored, to);
            (v, called(&moves), self.moving.job((self.w, v), &moves))
        };
        let cells: Vec<(usize, String, Result<SimJob, String>)> = cells.map(cell).collect();
        let tasks: Vec<(usize, u32)> =
            (0..cells.len()).flat_map(|cell| (0..runs).map(move |n| (cell, n))).collect();
        self.tally.want(tasks.len());
        let run = |&(cell, number): &(usize, u32)| {
            let (v, called, job) = &cells[cell];
            let ran = self.moving.run_by((self.w, *v), number, called, |seed| {
                let job = job.as_ref().map_err(String::clone)?;
                SimEngine.run(job, number, seed).map_err(|e| e.to_string())
            });
            self.tally.done();
            ran
        };
        let ran: Vec<Ran> = tasks.par_iter().map(run).collect::<Result<_, ExperimentError>>()?;
        let ran: Result<Vec<Vec<f64>>, String> = ran.into_iter().collect();
        let mut ran = match ran {
            Ok(ran) => ran.into_iter(),
            Err(reason) => return Ok(Err(reason)),
        };
        let point = |values: Vec<f64>| {
            let runs = variants.iter().map(|_| ran.by_ref().take(runs as usize).collect());
            Point { values, runs: runs.collect() }
        };
        Ok(Ok(places.into_iter().map(point).collect()))
    }
}

/// What is moved where each constant has its value of `values`, and by which factor.
fn moves<'a>(explored: &'a Explored, values: &[f64]) -> Vec<(&'a str, f64)> {
    let constants = explored.constants.iter().zip(values);
    let moved = constants.filter(|(c, to)| c.value != **to);
    moved.map(|(c, to)| (c.name.as_str(), to / c.value)).collect()
}

/// What a journal calls runs with these moves.
fn called(moves: &[(&str, f64)]) -> String {
    let moves: Vec<String> = moves.iter().map(|(name, by)| format!("{name} x {by}")).collect();
    moves.join(", ")
}
