//! Engines: what runs a workload on a machine under a kernel.

use kernel::Kernel;
use machine::Machine;
use sim::Setting;
use workload::Workload;

/// What one run gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Metrics in the workload's order.
    pub metrics: Vec<f64>,
    /// Average power of all packages over the run, in W, where the setting governs clocks.
    pub power_w: Option<f64>,
    /// Counters by name.
    pub counters: Vec<(String, u64)>,
}

/// Something that runs workloads. Preparing may be slow and is done once for all runs of a variant.
pub trait Engine: Sync {
    /// A workload ready to run.
    type Job: Sync + Send;

    /// The engine's name, as in results.
    fn name(&self) -> &'static str;

    /// Makes `workload` ready to run on `machine` under `kernel` in `setting`; the error says why it cannot.
    fn prepare(
        &self,
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<Self::Job, String>;

    /// One run.
    fn run(&self, job: &Self::Job, seed: u64) -> Result<Sample, String>;
}

/// The simulator. The same seed gives the same sample.
#[derive(Debug, Clone, Copy)]
pub struct SimEngine;

impl Engine for SimEngine {
    type Job = sim::Scenario;

    fn name(&self) -> &'static str {
        "sim"
    }

    fn prepare(
        &self,
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<sim::Scenario, String> {
        sim::Scenario::in_setting(machine, kernel, workload, setting).map_err(|e| e.to_string())
    }

    fn run(&self, job: &sim::Scenario, seed: u64) -> Result<Sample, String> {
        let result = job.run(seed).map_err(|e| e.to_string())?;
        let energy_j: f64 = result.energy_j.iter().sum();
        let power_w =
            (!result.energy_j.is_empty()).then(|| energy_j / (result.end_ns as f64 / 1e9));
        Ok(Sample { metrics: result.metrics, power_w, counters: result.counters.named() })
    }
}
