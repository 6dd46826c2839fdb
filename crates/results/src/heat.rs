//! One run watched CPU by CPU, in equal slices of time: how busy each was and, where something governs clocks, how fast it ran
//! and what packages took. No store holds it: the simulator runs the run again.

use serde::{Deserialize, Serialize};

/// What CPUs did over one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heat {
    /// Length of a slice, in ns.
    pub slice_ns: u64,
    /// Length of the run, in ns.
    pub end_ns: u64,
    /// By CPU number and slice: the share of the slice in which the CPU ran a task, from 0 to 1. The last slice's share is
    /// of what the run has of it.
    pub busy: Vec<Vec<f64>>,
    /// Clocks and power, where something governs clocks.
    pub clocks: Option<Clocks>,
    /// Metrics of the run in the workload's order: those of the stored run, if it was the same.
    pub metrics: Vec<f64>,
}

/// Clocks and power over one run. A clock counts while its CPU runs a task: what an idle CPU's core would run at concerns none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clocks {
    /// By CPU number and slice: mean clock while the CPU ran a task, in kHz; `None` where it ran none.
    pub khz: Vec<Vec<Option<f64>>>,
    /// By CPU number: the same over the whole run.
    pub cpu_khz: Vec<Option<f64>>,
    /// The same of all CPUs' running time.
    pub mean_khz: Option<f64>,
    /// By package and slice: mean power in W.
    pub watts: Vec<Vec<f64>>,
    /// By package: energy of the run in J.
    pub energy_j: Vec<f64>,
}
