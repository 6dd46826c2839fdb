//! Engines that give the same run for the same seed: the simulator.

use crate::group_stats::GroupTimes;
use crate::numa_stats;
use definition::Plan;
use definition::file::VariantEntry;
use kernel::Kernel;
use machine::{Machine, costs};
use results::{MetricInfo, Run, power};
use setting::Setting;
use sim::counters::{NumaBalancing, Pressure};
use sim::hypervisor::Hypervisor;
use sim::{Counters, RunResult, Scenario, SimError};
use vm::VmError;
use workload::{BuildError, Counter, Workload};

/// Why an engine cannot run something, or failed to.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The simulator's reason.
    #[error(transparent)]
    Simulator(#[from] SimError),
    /// A workload that cannot be built for the machine.
    #[error(transparent)]
    Workload(#[from] BuildError),
    /// Words for a kernel's command line, which a model does not have.
    #[error(
        "guest.append: found words for a command line, expected none: a model has no command line"
    )]
    CommandLine,
    /// Something that only the code of a kernel has.
    #[error(
        "{0}: found some, expected none without a source: what the model can switch are `mechanisms`"
    )]
    OfKernels(&'static str),
    /// Settings of this computer.
    #[error("host: found settings, expected none: they are made on this computer (--engine host)")]
    OfHost,
    /// NUMA balancing by a tree's own code, which is built without.
    #[error(
        "numa_balancing: found true with `source`, expected a variant of the model: a tree's code here has no pages to move"
    )]
    NumaBalancing,
    /// A sched_ext scheduler, which models and replicas do not load.
    #[error(
        "scheduler: found `{0}`, expected none: the simulator runs no BPF programs, guests do (--engine vm)"
    )]
    Scheduler(String),
    /// What this computer refuses.
    #[error(transparent)]
    Host(#[from] host::HostError),
    /// A variant that this computer cannot have.
    #[error(transparent)]
    HostVariant(#[from] crate::host::HostRealiseError),
    /// What cannot be read of this computer.
    #[error(transparent)]
    Facts(#[from] host::facts::FactsError),
    /// What cannot be read of what happens on this computer.
    #[error(transparent)]
    Noise(#[from] host::noise::NoiseError),
    /// A benchmark without a program.
    #[error(transparent)]
    Program(#[from] vm::programs::Untranslated),
    /// What can happen to guests and to what they need.
    #[error(transparent)]
    Guest(#[from] VmError),
    /// Nothing of the experiment is left that guests can run.
    #[error("found nothing to run: {0}")]
    Nothing(String),
    /// What a guest reported of a run.
    #[error("{0}")]
    Reported(String),
    /// Text that JSON cannot hold.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A run under a tree's code that is to be watched in a process that does not hold that code.
    #[error("the code of a kernel tree runs in a process of its own, where it is not watched here")]
    Elsewhere,
    /// Runs that nobody wants any more.
    #[error("stopped")]
    Stopped,
    /// A workload of partitions, whose runs cannot be watched.
    #[error("a host's runs with its partitions are not watched")]
    Partitions,
}

/// A way to run workloads in the simulator, which says what runs give. Preparing may be slow and is done once for all runs of a
/// variant.
pub trait Engine: Sync {
    /// A workload ready to run.
    type Job: Sync + Send;

    /// Which engine it is, as in results.
    fn name(&self) -> results::Engine {
        results::Engine::Sim
    }

    /// What it counts in every run of `plan`.
    fn counters(&self, plan: &Plan) -> Vec<Counter> {
        let mut all = Counters::schema();
        // All variants have the same ones.
        Also::of(plan, 0).into_iter().for_each(|also| all.extend(also.schema()));
        all
    }

    /// Kernels on which it was counted what the simulator charges in `plan`.
    fn counted(&self, plan: &Plan) -> Vec<String> {
        if let Some(table) = &plan.machine.costs {
            return vec![table.kernel.clone()];
        }
        let releases = plan.file.variants.iter().map(|v| (v.kernel.major, v.kernel.minor));
        costs::counted_on(plan.machine.arch, releases)
    }

    /// What a workload gives in `setting`.
    fn metrics(&self, workload: &Workload, setting: &Setting) -> Vec<MetricInfo> {
        let mut metrics: Vec<MetricInfo> = workload.metrics.iter().map(MetricInfo::from).collect();
        if setting.frequency.is_some() {
            metrics.extend(power::metrics(metrics.first()));
        }
        metrics
    }

    /// Makes `workload` ready to run on `machine` under `kernel` in `setting`; `at` are its place and its variant's in the
    /// file of `plan`.
    ///
    /// # Errors
    /// What the engine cannot run.
    fn prepare(
        &self,
        plan: &Plan,
        at: (usize, usize),
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<Self::Job, EngineError>;

    /// Run number `run`, with a value for each of its metrics and counters.
    ///
    /// # Errors
    /// A run that fails.
    fn run(&self, job: &Self::Job, run: u32, seed: u64) -> Result<Run, EngineError>;

    /// Gives up what runs of `job` shared: the last one is done.
    fn finished(&self, _job: &Self::Job) {}
}

/// The simulator. The same seed gives the same run.
#[derive(Debug, Clone, Copy)]
pub struct SimEngine;

/// What is counted where an experiment gives reason to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Also {
    /// Quotas and CPU time, where a variant has control groups.
    Groups(GroupTimes),
    /// Pressure, where the configuration of a variant's source has it.
    Pressure,
    /// NUMA balancing, where a variant says whether it is on.
    Numa,
}

impl Also {
    /// In runs of the variant at `variant`.
    fn of(plan: &Plan, variant: usize) -> Vec<Also> {
        let groups = Also::Groups(GroupTimes::of(&plan.file, variant));
        let has_psi = |v: &VariantEntry| v.source.as_ref().is_some_and(|s| s.has("PSI"));
        let pressure = plan.file.variants.iter().any(has_psi);
        let numa = !numa_stats::schema(&plan.file).is_empty();
        let has_groups = plan.file.has_groups();
        let all = [(has_groups, groups), (pressure, Also::Pressure), (numa, Also::Numa)];
        all.into_iter().filter(|(is_on, _)| *is_on).map(|(_, also)| also).collect()
    }

    fn schema(&self) -> Vec<Counter> {
        match self {
            Also::Groups(times) => times.schema(),
            Also::Pressure => Pressure::schema(),
            Also::Numa => NumaBalancing::schema(),
        }
    }

    fn values(&self, counters: &Counters) -> Vec<u64> {
        match self {
            Also::Groups(times) => times.values(counters),
            Also::Pressure => counters.pressure.values(),
            Also::Numa => counters.numa.values(),
        }
    }
}

/// What the simulator runs.
#[derive(Debug)]
pub struct SimJob {
    pub(crate) subject: Subject,
    /// The workload's own metrics.
    metrics: Vec<MetricInfo>,
    also: Vec<Also>,
}

/// A machine, or a host with partitions.
#[derive(Debug)]
pub(crate) enum Subject {
    /// A machine with a workload.
    Machine(Box<Scenario>),
    /// A host whose workload is its partitions.
    Host(Box<Hypervisor>),
}

impl Engine for SimEngine {
    type Job = SimJob;

    fn prepare(
        &self,
        plan: &Plan,
        (_, variant): (usize, usize),
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<SimJob, EngineError> {
        let metrics = workload.metrics.iter().map(MetricInfo::from).collect();
        let subject = if workload.partitions.is_some() {
            let host = Hypervisor::new(machine, kernel, workload, setting)?;
            Subject::Host(Box::new(host))
        } else {
            let scenario = Scenario::in_setting(machine, kernel, workload, setting)?;
            // A tree's own code judges its groups itself.
            if plan.file.variants[variant].source.is_none() {
                scenario.check_groups()?;
            }
            Subject::Machine(Box::new(scenario))
        };
        Ok(SimJob { subject, metrics, also: Also::of(plan, variant) })
    }

    fn run(&self, job: &SimJob, run: u32, seed: u64) -> Result<Run, EngineError> {
        let result = match &job.subject {
            Subject::Machine(scenario) => scenario.run(seed),
            Subject::Host(hypervisor) => hypervisor.run(seed),
        };
        Ok(job.finished(run, seed, result?))
    }
}

impl SimJob {
    /// A run as it is stored.
    pub(crate) fn finished(&self, run: u32, seed: u64, result: RunResult) -> Run {
        let RunResult { mut metrics, mut single_times, counters, power_w, .. } = result;
        if let Some(watts) = power_w {
            metrics.extend(power::values(&self.metrics, &metrics, watts));
        }
        single_times.resize(metrics.len(), vec![]);
        let mut values = counters.values();
        self.also.iter().for_each(|also| values.extend(also.values(&counters)));
        Run { run, seed, metrics, single_times, counters: values }
    }
}
