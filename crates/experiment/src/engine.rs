//! Engines: what runs a workload on a machine under a kernel.

use kernel::Kernel;
use machine::Machine;
use sim::HotplugStep;
use workload::Workload;

/// What one run gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Metrics in the workload's order.
    pub metrics: Vec<f64>,
    /// Counters by name.
    pub counters: Vec<(String, u64)>,
}

/// Something that runs workloads. Preparing may be slow and is done once for all runs of a variant.
pub trait Engine: Sync {
    /// A workload ready to run.
    type Job: Sync + Send;

    /// The engine's name, as in results.
    fn name(&self) -> &'static str;

    /// Makes `workload` ready to run on `machine` under `kernel`, with CPUs that go offline or come online meanwhile; the
    /// error says why it cannot.
    fn prepare(
        &self,
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        hotplug: &[HotplugStep],
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
        hotplug: &[HotplugStep],
    ) -> Result<sim::Scenario, String> {
        sim::Scenario::with_hotplug(machine, kernel, workload, hotplug).map_err(|e| e.to_string())
    }

    fn run(&self, job: &sim::Scenario, seed: u64) -> Result<Sample, String> {
        let result = job.run(seed).map_err(|e| e.to_string())?;
        Ok(Sample { metrics: result.metrics, counters: result.counters.named() })
    }
}
