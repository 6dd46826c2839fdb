//! On which constants a comparison hangs: runs in which they are moved, and what follows from them.
//!
//! All constants of a workload are moved at once, up or down by one factor, as rows of a two-level design say
//! (`stats::TwoLevel`); each row and its mirror share a seed. The elasticity of a comparison is what its percent change
//! gains, in points, for each unit of the natural logarithm of a constant.

mod hangs;

pub use hangs::{Elasticity, End, Hangs, hangs};
use serde::{Deserialize, Serialize};

/// By what constants are multiplied or divided: a step that tells an elasticity. How far a constant may lie from its value is what
/// `crate::robust` asks.
pub const FACTOR: f64 = 1.2;

/// The name under which all instructions of the kernel that were counted move together.
pub const INSTRUCTIONS: &str = "counted instructions";

/// The name under which all lines that were counted move together.
pub const LINES: &str = "counted lines";

/// Runs with moved constants, by workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensitivity {
    /// By what constants were multiplied or divided.
    pub factor: f64,
    /// Workloads whose constants were moved.
    pub workloads: Vec<Moved>,
    /// The others, and why.
    pub left_out: Vec<LeftOut>,
}

/// A workload whose constants were moved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moved {
    /// The workload.
    pub workload: String,
    /// Constants that were moved, in the order of the design's factors.
    pub constants: Vec<String>,
    /// Constants that the simulator reads for this workload, and that it refuses when they are moved.
    pub fixed: Vec<String>,
    /// By row of the design.
    pub rows: Vec<Row>,
}

/// A row of the design with its mirror.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// By variant of the workload, the baseline first, and metric.
    pub row: Vec<Vec<f64>>,
    /// The same where each constant is moved the other way.
    pub mirror: Vec<Vec<f64>>,
}

/// A workload without moved constants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The workload.
    pub workload: String,
    /// Why.
    pub reason: String,
}
