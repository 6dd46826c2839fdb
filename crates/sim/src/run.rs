//! What a run gives, of a machine or of a host with partitions.

use crate::counters::Counters;

/// What one run gives.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Metrics in the workload's order.
    pub metrics: Vec<f64>,
    /// By metric: the single times that it is the mean of, in its unit and the order of their ends; none where the reading
    /// gives none (see [`workload::Reading::single_times`]).
    pub single_times: Vec<Vec<f64>>,
    /// Counters.
    pub counters: Counters,
    /// Length of the run in simulated time, in ns.
    pub end_ns: u64,
    /// Energy of each package over the run, in J; none where clocks are not modelled.
    pub energy_j: Vec<f64>,
    /// Mean power of all packages over the measured time ([`workload::Workload::measured`]), in W; `None` where clocks are not modelled.
    pub power_w: Option<f64>,
}
