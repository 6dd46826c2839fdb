//! The sweep over working set, time slice and rate: when is it worth logging a vcore's caches?

use serde::Serialize;

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
