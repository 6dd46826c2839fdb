//! What an experiment gives: every run of every variant of every workload.

use crate::Engine;
use crate::computer::Computer;
use crate::robust::Robustness;
use crate::sensitivity::Sensitivity;
use definition::ExperimentFile;
use machine::Constants;
use serde::{Deserialize, Serialize};
use stats::{Better, Cell};
use workload::Counter;
pub use workload::rtapp::Ignored;

/// A measured quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricInfo {
    /// Name.
    pub name: String,
    /// Unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
}

impl From<&workload::Metric> for MetricInfo {
    fn from(metric: &workload::Metric) -> MetricInfo {
        MetricInfo { name: metric.name.clone(), unit: metric.unit.clone(), better: metric.better }
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Run {
    /// Number, from 0.
    pub run: u32,
    /// Seed.
    pub seed: u64,
    /// Metrics in the workload's order.
    pub metrics: Vec<f64>,
    /// By metric: the single times that it is the mean of, in its unit; none where the run keeps only the metric.
    pub single_times: Vec<Vec<f64>>,
    /// A value for each of [`Results::counters`].
    pub counters: Vec<u64>,
}

/// The runs of one variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VariantRuns {
    /// The variant's name.
    pub name: String,
    /// Its runs in order.
    pub runs: Vec<Run>,
}

/// One workload under all its variants, the baseline first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadResults {
    /// The workload's name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// What is measured.
    pub metrics: Vec<MetricInfo>,
    /// What its rt-app file asks for and was left out, as the experiment allows.
    pub ignored: Vec<Ignored>,
    /// By variant.
    pub variants: Vec<VariantRuns>,
}

/// All results of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Results {
    /// What ran it.
    pub engine: Engine,
    /// What was asked for.
    pub experiment: ExperimentFile,
    /// What things cost on the machine.
    pub constants: Constants,
    /// Kernels on which it was counted what they do for messages, wake-ups, switches and processes.
    pub counted: Vec<String>,
    /// What the engine counts in every run.
    pub counters: Vec<Counter>,
    /// By workload.
    pub workloads: Vec<WorkloadResults>,
    /// Computers that ran variants by their own kernels; empty for all other engines.
    pub computers: Vec<Computer>,
    /// Runs with moved constants, where there are some.
    pub sensitivity: Option<Sensitivity>,
    /// Runs over the ranges of constants, where there are some.
    pub robustness: Option<Robustness>,
}

impl WorkloadResults {
    /// The values of metric `metric` under variant `name`; empty where there is no such variant.
    pub fn samples(&self, name: &str, metric: usize) -> Vec<f64> {
        self.variants
            .iter()
            .filter(|v| v.name == name)
            .flat_map(|v| v.runs.iter().filter_map(|r| r.metrics.get(metric).copied()))
            .collect()
    }

    /// Whether runs keep the single times behind metric `metric`.
    pub fn has_single_times(&self, metric: usize) -> bool {
        let mut runs = self.variants.iter().flat_map(|v| &v.runs);
        runs.any(|r| r.single_times.get(metric).is_some_and(|times| !times.is_empty()))
    }

    /// The single times behind metric `metric` under variant `name`, run by run.
    pub fn single_times(&self, name: &str, metric: usize) -> Cell {
        let runs = self.variants.iter().filter(|v| v.name == name).flat_map(|v| &v.runs);
        Cell { runs: runs.filter_map(|r| r.single_times.get(metric).cloned()).collect() }
    }

    /// Index of the metric called `name`.
    pub fn metric(&self, name: &str) -> Option<usize> {
        self.metrics.iter().position(|m| m.name == name)
    }

    /// The variant called `name`.
    pub fn variant(&self, name: &str) -> Option<&VariantRuns> {
        self.variants.iter().find(|v| v.name == name)
    }
}

impl Results {
    /// The workload called `name`.
    pub fn workload(&self, name: &str) -> Option<&WorkloadResults> {
        self.workloads.iter().find(|w| w.name == name)
    }

    /// Place of the counter called `name` in every run's list; `None` where the engine does not count it.
    pub fn counter(&self, name: &str) -> Option<usize> {
        self.counters.iter().position(|c| c.name == name)
    }
}
