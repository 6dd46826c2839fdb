//! Runs with moved constants: which constants matter to a workload, and runs at other values of them.

use crate::engine::{Engine, EngineError, SimEngine, SimJob};
use crate::journal::Journal;
use crate::run::prepare_on;
use crate::{ExperimentError, Stoppable};
use definition::Plan;
use machine::Machine;
use machine::costs::nearest;
use rayon::prelude::*;
use results::sensitivity::{INSTRUCTIONS, LINES, LeftOut, Row};
use results::{Results, Run};
use stats::TwoLevel;
use std::sync::Arc;

/// A run's metrics, or why it failed.
pub(crate) type Ran = Result<Vec<f64>, String>;

/// By what a constant of this name is multiplied at its lower and its upper end.
pub(crate) type Ends<'a> = &'a (dyn Fn(&str) -> [f64; 2] + Sync);

/// How further runs of an experiment are made. The number of threads changes nothing.
#[derive(Clone, Copy)]
pub struct Further<'a> {
    /// Threads; 0 for one a CPU.
    pub threads: usize,
    /// Runs that it has are not made again.
    pub journal: Option<&'a Journal>,
    /// Once it is stopped, no run begins: [`ExperimentError::Stopped`].
    pub until: Option<&'a Stoppable>,
    /// Told of runs done, and of runs wanted so far.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

impl Further<'_> {
    /// On so many threads, each run made, and nobody told.
    pub fn new(threads: usize) -> Further<'static> {
        Further { threads, journal: None, until: None, progress: &|_, _| () }
    }
}

/// What all runs need.
pub(crate) struct Moving<'a> {
    pub(crate) plan: &'a Plan,
    /// Of the constants as they are.
    pub(crate) results: &'a Results,
    pub(crate) further: Further<'a>,
}

/// Constants that change a run of a workload when they move, and those that the simulator refuses then.
pub(crate) struct Matter {
    pub(crate) constants: Vec<String>,
    pub(crate) fixed: Vec<String>,
}

/// Why the constants of `workload` of `plan` are not moved.
pub(crate) fn left(plan: &Plan, workload: usize, reason: String) -> LeftOut {
    LeftOut { workload: plan.file.workloads[workload].name.clone(), reason }
}

/// The runs of a workload's design by row, each row's before its mirror's, by variant: which row, and whether its mirror.
pub(crate) fn design_runs(design: &TwoLevel, variants: usize) -> Vec<(usize, bool, usize)> {
    let mut all = Vec::new();
    for row in 0..design.rows() {
        for mirrored in [false, true] {
            all.extend((0..variants).map(|variant| (row, mirrored, variant)));
        }
    }
    all
}

/// The rows of a design from its runs in the order of [`design_runs`], or why one of them failed.
pub(crate) fn rows(
    design: &TwoLevel,
    variants: usize,
    ran: &mut impl Iterator<Item = Ran>,
) -> Result<Vec<Row>, String> {
    let all: Vec<Ran> = ran.take(2 * variants * design.rows()).collect();
    let all: Vec<Vec<f64>> = all.into_iter().collect::<Result<_, _>>()?;
    let row = |both: &[Vec<f64>]| {
        let (row, mirror) = both.split_at(variants);
        Row { row: row.to_vec(), mirror: mirror.to_vec() }
    };
    Ok(all.chunks(2 * variants).map(row).collect())
}

impl Moving<'_> {
    /// The variants of the workload at `w`, or why its constants cannot be moved.
    pub(crate) fn variants(&self, w: usize) -> Result<Vec<usize>, String> {
        let (plan, variants) = (self.plan, self.plan.file.variants_of(w));
        if variants.len() < 2 {
            return Err("there is nothing to compare".to_string());
        }
        if variants.iter().any(|&v| plan.file.variants[v].source.is_some()) {
            return Err("constants are not moved under a tree's own code".to_string());
        }
        Ok(variants)
    }

    /// Constants that matter to the workload at `w`. Where nothing that is prepared differs, no run can; what is left is moved
    /// alone in the first run of each variant, and a constant that changes none of them is left out.
    pub(crate) fn matter(
        &self,
        w: usize,
        variants: &[usize],
        ends: Ends,
    ) -> Result<Matter, ExperimentError> {
        let (constants, fixed) = self.read(w, variants, ends)?;
        let matter = |name: &String| match self.changes(w, variants, name, ends) {
            Ok(true) => Some(Ok(name.clone())),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        };
        let constants = constants.par_iter().filter_map(matter).collect::<Result<_, _>>()?;
        Ok(Matter { constants, fixed })
    }

    /// Constants that change what is prepared of a workload, and those of them that the simulator refuses when they move.
    fn read(
        &self,
        w: usize,
        variants: &[usize],
        ends: Ends,
    ) -> Result<(Vec<String>, Vec<String>), ExperimentError> {
        let prepared = |moves: &[(&str, f64)]| {
            let of = |&v: &usize| moved_job(self.plan, (w, v), moves);
            variants.iter().map(of).collect::<Result<Vec<SimJob>, ExperimentError>>()
        };
        let before = format!("{:?}", prepared(&[])?);
        let read = |&name: &&str| {
            let [low, high] = ends(name);
            match (prepared(&[(name, high)]), prepared(&[(name, low)])) {
                (Ok(up), Ok(down)) => {
                    let differs = [up, down].iter().any(|jobs| format!("{jobs:?}") != before);
                    differs.then_some((name.to_string(), true))
                }
                _ => Some((name.to_string(), false)),
            }
        };
        let names = self.plan.machine.constants.iter().map(|(name, _)| name);
        let names: Vec<&str> = names.chain([INSTRUCTIONS, LINES]).collect();
        let read: Vec<(String, bool)> = names.par_iter().filter_map(read).collect();
        let (moved, fixed): (Vec<_>, Vec<_>) = read.into_iter().partition(|(_, moves)| *moves);
        let names = |all: Vec<(String, bool)>| all.into_iter().map(|c| c.0).collect();
        Ok((names(moved), names(fixed)))
    }

    /// Whether the first run of some variant gives another value where `name` alone is moved, up unless it only goes down.
    fn changes(
        &self,
        w: usize,
        variants: &[usize],
        name: &str,
        ends: Ends,
    ) -> Result<bool, ExperimentError> {
        let stored = self.results.workload(&self.plan.file.workloads[w].name);
        let [low, high] = ends(name);
        let (called, factor) = match high == 1.0 {
            true => (format!("{name} down"), low),
            false => (format!("{name} x {high}"), high),
        };
        for &v in variants {
            let variant = &self.plan.file.variants[v].name;
            let first = stored.and_then(|w| w.variant(variant)?.runs.first());
            let ran = self.run((w, v), 0, &called, &[(name, factor)])?;
            if ran.ok().as_ref() != first.map(|run| &run.metrics) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Run `number` with each constant of `moves` times its factor, which the journal calls `called`.
    pub(crate) fn run(
        &self,
        (w, v): (usize, usize),
        number: u32,
        called: &str,
        moves: &[(&str, f64)],
    ) -> Result<Ran, ExperimentError> {
        self.run_by((w, v), number, called, |seed| {
            let job = self.job((w, v), moves)?;
            SimEngine.run(&job, number, seed).map_err(|e| e.to_string())
        })
    }

    /// A workload under a variant with each constant of `moves` times its factor, or why it cannot be.
    pub(crate) fn job(
        &self,
        (w, v): (usize, usize),
        moves: &[(&str, f64)],
    ) -> Result<SimJob, String> {
        moved_job(self.plan, (w, v), moves).map_err(|e| e.to_string())
    }

    /// Run `number`, which the journal calls `called`, by `run`, which is given its seed.
    pub(crate) fn run_by(
        &self,
        (w, v): (usize, usize),
        number: u32,
        called: &str,
        run: impl FnOnce(u64) -> Result<Run, String>,
    ) -> Result<Ran, ExperimentError> {
        let plan = self.plan;
        let of = (plan.file.workloads[w].name.as_str(), plan.file.variants[v].name.as_str());
        let Further { journal, until, .. } = self.further;
        if until.is_some_and(Stoppable::is_stopped) {
            return Err(ExperimentError::Stopped);
        }
        if let Some(run) = journal.and_then(|j| j.run(of, number, Some(called))) {
            return Ok(Ok(run.metrics.clone()));
        }
        let run = run(plan.seed(v, number));
        if let (Ok(run), Some(journal)) = (&run, journal) {
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
