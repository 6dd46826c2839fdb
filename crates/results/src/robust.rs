//! Whether a comparison's answer holds wherever in their ranges a machine's constants lie: runs at the ends of the ranges, and what
//! follows from them.
//!
//! The ranges of all constants that matter to a workload are a box. Corners by the rows of a two-level design, one run each
//! (`stats::TwoLevel`), give a surface: the logarithm of variant by baseline, linear in the logarithms of the constants, through
//! the stored runs. The surface only says where to look. What is claimed rests on [`Point`]s: as many runs as the workload
//! has, with the seeds of the stored ones, at one place of the box.

mod judge;
mod search;
mod surface;

pub use judge::{Conclusion, Found, Robust, Swing, judged};
pub use search::{Turned, Turning, wanted};

use crate::sensitivity::{LeftOut, Row};
use serde::{Deserialize, Serialize};

/// How far apart, as a part of themselves, values of one place are at the most: powers differ in the last digit between computers.
const SAME: f64 = 1e-9;

/// Runs over the ranges of constants, by workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Robustness {
    /// Workloads whose constants were moved.
    pub workloads: Vec<Explored>,
    /// The others, and why.
    pub left_out: Vec<LeftOut>,
}

/// A workload whose constants were moved over their ranges.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explored {
    /// The workload.
    pub workload: String,
    /// Constants that were moved, in the order of the design's factors.
    pub constants: Vec<Ranged>,
    /// Constants that the simulator reads for this workload, and that it refuses at an end of their range.
    pub fixed: Vec<String>,
    /// By row of the design: one run at a corner, and one at the opposite corner.
    pub rows: Vec<Row>,
    /// Places at which there are as many runs as the workload has, in the order in which they were wanted.
    pub points: Vec<Point>,
}

/// A constant with its range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranged {
    /// The constant, or what was counted.
    pub name: String,
    /// Its value, in `unit`; 1 for all that was counted.
    pub value: f64,
    /// Unit.
    pub unit: String,
    /// How well it is known: a mark, or `counted`.
    pub mark: String,
    /// The least value.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// Who says so.
    pub source: String,
}

/// Runs at one place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// By constant, its value there.
    pub values: Vec<f64>,
    /// By variant of the workload, the baseline first, by run, by metric.
    pub runs: Vec<Vec<Vec<f64>>>,
}

impl Robustness {
    /// The workload called `name`, if its constants were moved.
    pub fn workload(&self, name: &str) -> Option<&Explored> {
        self.workloads.iter().find(|w| w.workload == name)
    }
}

impl Explored {
    /// Every constant at its own value.
    pub fn start(&self) -> Vec<f64> {
        self.constants.iter().map(|c| c.value).collect()
    }

    /// The corner of a row of the design, or of its mirror.
    pub fn corner_of(&self, row: usize, mirrored: bool) -> Vec<f64> {
        let design = stats::TwoLevel::of(self.constants.len());
        let end = |(at, c): (usize, &Ranged)| match design.is_up(row, at) != mirrored {
            true => c.high,
            false => c.low,
        };
        self.constants.iter().enumerate().map(end).collect()
    }

    /// The runs at `values`, if there are some.
    pub fn point(&self, values: &[f64]) -> Option<&Point> {
        let is_at = |point: &&Point| {
            let both = point.values.iter().zip(values);
            both.map(|(a, b)| (a - b).abs() / b.abs()).all(|apart| apart < SAME)
        };
        self.points.iter().find(is_at)
    }
}

impl Point {
    /// By run, the metric at `m` under the variant at `v`.
    pub fn samples(&self, v: usize, m: usize) -> Vec<f64> {
        let runs = self.runs.get(v).into_iter().flatten();
        runs.filter_map(|metrics| metrics.get(m).copied()).collect()
    }
}
