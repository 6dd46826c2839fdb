//! What an experiment gives: every run of every variant of every workload.

use crate::file::ExperimentFile;
use machine::Constants;
use serde::{Deserialize, Serialize};
use sim::distance::Distance;
use stats::{Better, Cell};
pub use workload::rtapp::Ignored;

/// Names of distances between CPUs as counters have them (`ttwu_smt`), the nearest first.
pub fn distances() -> [&'static str; Distance::COUNT] {
    Distance::ALL.map(Distance::name)
}

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
    /// Counters by name.
    pub counters: Vec<(String, u64)>,
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
    /// The engine's name.
    pub engine: String,
    /// What was asked for.
    pub experiment: ExperimentFile,
    /// What things cost on the machine.
    pub constants: Constants,
    /// By workload.
    pub workloads: Vec<WorkloadResults>,
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

    /// Mean of a counter over the runs of variant `name`.
    pub fn mean_counter(&self, name: &str, counter: &str) -> Option<f64> {
        let variant = self.variants.iter().find(|v| v.name == name)?;
        let values: Vec<f64> = variant
            .runs
            .iter()
            .filter_map(|r| r.counters.iter().find(|c| c.0 == counter).map(|c| c.1 as f64))
            .collect();
        stats::amean(&values)
    }
}
