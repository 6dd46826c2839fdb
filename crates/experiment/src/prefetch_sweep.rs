//! The sweep over working set, time slice and rate: when is it worth logging a vcore's caches?

use crate::ExperimentError;
use machine::Machine;
use rayon::prelude::*;
use serde::Serialize;
use setting::Rate;
use sim::hypervisor::sweep::{Case, Goes, SizeClass, Turned, turn};

/// What is swept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grid {
    /// Working sets of the one who is measured, in KiB, ascending.
    pub working_sets_kib: Vec<f64>,
    /// Time slices, in us, ascending.
    pub slices_us: Vec<f64>,
    /// Who is measured beside whom.
    pub scenes: Vec<Scene>,
    /// Whether the most recent way of the L3 is logged too.
    pub l3: bool,
}

impl Default for Grid {
    /// From what the L1 holds to what no cache does, slices from far below to as long as the fair class gives them, a chase with
    /// neighbours that push out the L2, and the L3 too; and a stream, which has nothing to gain.
    fn default() -> Grid {
        Grid {
            working_sets_kib: [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536]
                .map(f64::from)
                .to_vec(),
            slices_us: [25, 50, 100, 200, 500, 1000, 2000, 4000].map(f64::from).to_vec(),
            scenes: vec![
                Scene { chase: true, neighbour_kib: 2048.0 },
                Scene { chase: true, neighbour_kib: 65536.0 },
                Scene { chase: false, neighbour_kib: 65536.0 },
            ],
            l3: false,
        }
    }
}

/// Who is measured beside whom.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scene {
    /// Whether a pointer chase is measured, or a stream.
    pub chase: bool,
    /// What the neighbour streams through, in KiB.
    pub neighbour_kib: f64,
}

/// One point of the sweep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Working set, in KiB.
    pub working_set_kib: f64,
    /// Time slice, in us.
    pub slice_us: f64,
    /// Who is measured beside whom.
    pub scene: Scene,
    /// Cycles between restored lines; none for as fast as possible.
    pub rate_cycles: Option<u32>,
    /// Lines loaded in a slice without the engine.
    pub loads_off: f64,
    /// Lines loaded in a slice with it.
    pub loads_on: f64,
    /// Change of these in percent, positive where the engine pays.
    pub percent: f64,
    /// Lines that the engine brought in a slice.
    pub lines_restored: f64,
    /// Of these, lines that were used before they went out.
    pub lines_useful: f64,
}

/// All of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sweep {
    /// The machine's name.
    pub machine: String,
    /// What was swept.
    pub grid: Grid,
    /// By scene, then rate, then working set, then slice.
    pub points: Vec<Point>,
}

impl Sweep {
    /// The points with the largest gain and the largest loss.
    pub fn extremes(&self) -> Option<(&Point, &Point)> {
        let by_gain = |a: &&Point, b: &&Point| a.percent.total_cmp(&b.percent);
        Some((self.points.iter().max_by(by_gain)?, self.points.iter().min_by(by_gain)?))
    }
}

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
            reason: e.to_string(),
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
