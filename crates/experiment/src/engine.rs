//! Engines: what runs a workload on a machine under a kernel.

use kernel::Kernel;
use machine::Machine;
use setting::Setting;
use sim::Scenario;
use sim::hypervisor::Hypervisor;
use workload::Workload;

/// What one run gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Metrics in the workload's order.
    pub metrics: Vec<f64>,
    /// By metric: the single times that it is the mean of, in its unit, where the workload gives them; else none.
    pub single_times: Vec<Vec<f64>>,
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

/// What the simulator runs: a machine, or a host with partitions.
#[derive(Debug)]
pub enum SimJob {
    /// A machine with a workload.
    Machine(Box<Scenario>),
    /// A host whose workload is its partitions.
    Partitions(Box<Hypervisor>),
}

impl Engine for SimEngine {
    type Job = SimJob;

    fn name(&self) -> &'static str {
        "sim"
    }

    fn prepare(
        &self,
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<SimJob, String> {
        let job = if workload.partitions.is_some() {
            Hypervisor::new(machine, kernel, workload, setting)
                .map(|h| SimJob::Partitions(Box::new(h)))
        } else {
            Scenario::in_setting(machine, kernel, workload, setting)
                .map(|s| SimJob::Machine(Box::new(s)))
        };
        job.map_err(|e| e.to_string())
    }

    fn run(&self, job: &SimJob, seed: u64) -> Result<Sample, String> {
        match job {
            SimJob::Machine(scenario) => run_machine(scenario, seed),
            SimJob::Partitions(hypervisor) => {
                let run = hypervisor.run(seed).map_err(|e| e.to_string())?;
                let of_partitions =
                    run.partition_counters.into_iter().map(|(n, v)| (n.to_string(), v));
                let counters = run.counters.named().into_iter().chain(of_partitions).collect();
                let single_times = vec![vec![]; run.metrics.len()];
                Ok(Sample { metrics: run.metrics, single_times, power_w: None, counters })
            }
        }
    }
}

fn run_machine(scenario: &Scenario, seed: u64) -> Result<Sample, String> {
    let result = scenario.run(seed).map_err(|e| e.to_string())?;
    let energy_j: f64 = result.energy_j.iter().sum();
    let power_w = (!result.energy_j.is_empty()).then(|| energy_j / (result.end_ns as f64 / 1e9));
    let counters = result.counters.named();
    Ok(Sample { metrics: result.metrics, single_times: result.single_times, power_w, counters })
}
