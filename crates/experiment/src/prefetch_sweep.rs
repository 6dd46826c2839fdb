//! The sweep over working set, time slice and rate: when is it worth logging a vcore's caches?

use crate::ExperimentError;
use machine::Machine;
use rayon::prelude::*;
use results::prefetch_sweep::{Grid, Point, Scene, Sweep};
use setting::Rate;
use sim::hypervisor::sweep::{Case, Goes, SizeClass, Turned, turn};

/// Runs every point of `grid` on a core of `machine`, on `threads` threads (0: one a CPU), on which nothing depends.
///
/// # Errors
/// What the simulator refuses, as [`ExperimentError::Refused`]; threads that cannot be started.
pub fn sweep(machine: &Machine, grid: Grid, threads: usize) -> Result<Sweep, ExperimentError> {
    let class = if grid.l3 { SizeClass::L2AndL3 } else { SizeClass::L2 };
    let engines: Vec<Option<(SizeClass, Rate)>> =
        std::iter::once(None).chain(Rate::ALL.map(|rate| Some((class, rate)))).collect();
    let mut cases = Vec::new();
    for &Scene { chase, neighbour_kib } in &grid.scenes {
        let goes = if chase { Goes::Chase } else { Goes::Stream };
        for &engine in &engines {
            for &working_set_kib in &grid.working_sets_kib {
                for &slice_us in &grid.slices_us {
                    cases.push(Case { goes, working_set_kib, slice_us, neighbour_kib, engine });
                }
            }
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| {
        ExperimentError::Field {
            file: "prefetch-sweep".to_string(),
            field: "threads".to_string(),
            found: threads.to_string(),
            expected: format!("a number of threads that can be started ({e})"),
        }
    })?;
    let run = |case: &Case| turn(machine, case);
    let turned: Vec<Turned> = pool
        .install(|| cases.par_iter().map(run).collect::<Result<_, _>>())
        .map_err(|e| ExperimentError::Refused {
            file: "prefetch-sweep".to_string(),
            field: "machine".to_string(),
            reason: Box::new(e.into()),
        })?;
    let per_engine = grid.working_sets_kib.len() * grid.slices_us.len();
    let per_scene = per_engine * engines.len();
    let mut points = Vec::with_capacity(cases.len());
    for (at, (case, on)) in cases.iter().zip(&turned).enumerate() {
        let Some((_, rate)) = case.engine else { continue };
        let off = &turned[at - at % per_scene + at % per_engine];
        points.push(Point {
            working_set_kib: case.working_set_kib,
            slice_us: case.slice_us,
            scene: Scene { chase: case.goes == Goes::Chase, neighbour_kib: case.neighbour_kib },
            rate_cycles: rate.cycles(),
            loads_off: off.loads,
            loads_on: on.loads,
            percent: (on.loads / off.loads - 1.0) * 100.0,
            lines_restored: on.restored,
            lines_useful: on.useful,
        });
    }
    Ok(Sweep { machine: machine.name.clone(), grid, points })
}
