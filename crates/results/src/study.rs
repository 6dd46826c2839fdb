//! What studies published, as data files. Used for comparison only; no prediction reads them.

use crate::ResultsError;
use definition::file::parse_toml;
use serde::Deserialize;
use stats::Better;
use std::collections::BTreeMap;

/// A study, its figures and the experiment that predicts them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Short name.
    pub name: String,
    /// Its own title.
    pub title: String,
    /// Where the figures stand.
    pub source: String,
    /// Published tables.
    #[serde(rename = "table")]
    pub tables: Vec<Table>,
}

/// One published table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Name.
    pub name: String,
    /// Workload of the experiment that predicts it.
    pub workload: String,
    /// Metric of that workload.
    pub metric: String,
    /// Unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// What the others are compared with: a variant, or a workload where the table compares workloads.
    pub baseline: String,
    /// What to know about the comparison: what was calibrated, what the figures stand for.
    pub note: String,
    /// Rows whose figures a constant was fitted on.
    #[serde(default)]
    pub calibrated_rows: Vec<String>,
    /// A histogram by variant.
    pub histogram: Option<PublishedHistogram>,
    /// `N Min Max Median Avg Stddev` by variant.
    pub summary: Option<BTreeMap<String, PublishedSummary>>,
    /// One figure by variant.
    pub values: Option<BTreeMap<String, f64>>,
    /// By variant, only the change against the baseline, in percent, positive = better.
    pub percents: Option<BTreeMap<String, f64>>,
    /// One figure by workload, under the experiment's first variant.
    pub by_workload: Option<BTreeMap<String, f64>>,
    /// A figure by variant in each of several rows, as for several numbers of clients.
    #[serde(default)]
    pub rows: Vec<PublishedRow>,
    /// How figures of runs are averaged.
    #[serde(default)]
    pub mean: PublishedMean,
    /// Whether the figures are for all workloads that `workload` names: itself, or it and a value as in `tbench-16`.
    #[serde(default)]
    pub over_rows: bool,
}

/// A row of a table; its workload is the table's and the label, as in `tbench-16`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// What stands before the row; nothing in a table of one row.
    pub label: String,
    /// By variant.
    pub values: BTreeMap<String, f64>,
}

/// How figures of runs are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PublishedMean {
    /// Amean.
    #[default]
    Arithmetic,
    /// Hmean.
    Harmonic,
    /// SubAmean, of runs' single times.
    SubAmean,
}

impl Table {
    /// The workload of a row.
    pub fn workload_of(&self, label: &str) -> String {
        match label {
            "" => self.workload.clone(),
            _ => format!("{}-{label}", self.workload),
        }
    }

    /// Whether the figures are of `workload`, among others perhaps.
    pub fn covers(&self, workload: &str) -> bool {
        let rest = workload.strip_prefix(self.workload.as_str());
        rest.is_some_and(|r| r.is_empty() || self.over_rows && r.starts_with('-'))
    }

    /// Names with published figures: variants, or workloads where the table compares those.
    pub fn columns(&self) -> Vec<&str> {
        let maps = [&self.values, &self.percents, &self.by_workload];
        let mut names: Vec<&str> =
            maps.into_iter().flatten().flat_map(|m| m.keys()).map(String::as_str).collect();
        names.extend(self.histogram.iter().flat_map(|h| h.counts.keys()).map(String::as_str));
        names.extend(self.rows.iter().flat_map(|r| r.values.keys()).map(String::as_str));
        names.extend(self.summary.iter().flat_map(|s| s.keys()).map(String::as_str));
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Counts of runs in bins of equal width.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedHistogram {
    /// Lower edge of the first bin.
    pub low: f64,
    /// Width of a bin.
    pub width: f64,
    /// By variant: runs in each bin.
    pub counts: BTreeMap<String, Vec<u64>>,
}

/// A row of ministat's table.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedSummary {
    /// Runs.
    pub n: u64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Middle.
    pub median: f64,
    /// Mean.
    pub avg: f64,
    /// Sample standard deviation.
    pub stddev: f64,
}

impl PublishedHistogram {
    /// Mean of the runs of `variant`, each at the middle of its bin.
    pub fn mean(&self, variant: &str) -> Option<f64> {
        let counts = self.counts.get(variant)?;
        let runs: u64 = counts.iter().sum();
        let sum: f64 = counts
            .iter()
            .enumerate()
            .map(|(i, &n)| n as f64 * (self.low + (i as f64 + 0.5) * self.width))
            .sum();
        (runs > 0).then(|| sum / runs as f64)
    }

    /// Lower edge of the highest bin.
    pub fn top_edge(&self) -> f64 {
        let bins = self.counts.values().map(Vec::len).max().unwrap_or(1);
        self.low + (bins as f64 - 1.0) * self.width
    }

    /// Percent of the runs of `variant` in the highest bin.
    pub fn top_share(&self, variant: &str) -> Option<f64> {
        let counts = self.counts.get(variant)?;
        let runs: u64 = counts.iter().sum();
        (runs > 0).then(|| 100.0 * counts.last().copied().unwrap_or(0) as f64 / runs as f64)
    }
}

/// A study's data and its experiment.
struct Source {
    name: &'static str,
    study: &'static str,
    experiment: &'static str,
}

macro_rules! source {
    ($name:literal) => {
        Source {
            name: $name,
            study: include_str!(concat!("../studies/", $name, ".toml")),
            experiment: include_str!(concat!("../../../experiments/", $name, ".toml")),
        }
    };
}

const STUDIES: &[Source] = &[
    source!("power9-big-core"),
    source!("epyc-7742-frequency-invariance"),
    source!("kunpeng920-clusters"),
    source!("power10-idler-llc"),
    source!("power8-prefetch-engine"),
];

/// Names of the studies that can be predicted so far.
pub fn names() -> Vec<&'static str> {
    STUDIES.iter().map(|s| s.name).collect()
}

fn source(name: &str) -> Result<&'static Source, ResultsError> {
    STUDIES
        .iter()
        .find(|s| s.name == name)
        .ok_or_else(|| ResultsError::Study { found: name.to_string(), known: names().join(", ") })
}

/// The figures of study `name`.
pub fn load(name: &str) -> Result<Study, ResultsError> {
    Ok(parse_toml(source(name)?.study, &format!("studies/{name}.toml"))?)
}

/// The text of the experiment that predicts study `name`, and what errors call it.
pub fn experiment(name: &str) -> Result<(&'static str, String), ResultsError> {
    Ok((source(name)?.experiment, format!("experiments/{name}.toml")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_reads_and_names_what_its_experiment_has() {
        for name in names() {
            let study = load(name).unwrap();
            let (text, file) = experiment(name).unwrap();
            let experiment = definition::ExperimentFile::parse(text, &file).unwrap();
            for table in &study.tables {
                let workload =
                    |n: &str| experiment.workloads.iter().position(|w| w.name == n).unwrap();
                if table.by_workload.is_some() {
                    table.columns().into_iter().for_each(|n| _ = workload(n));
                    assert!(table.columns().contains(&table.baseline.as_str()));
                    continue;
                }
                let rows = table.rows.iter().map(|r| table.workload_of(&r.label));
                rows.for_each(|name| _ = workload(&name));
                let of_row = |name: &str| {
                    table.rows.first().is_some_and(|r| table.workload_of(&r.label) == name)
                };
                let first = experiment
                    .workloads
                    .iter()
                    .position(|w| table.covers(&w.name) || of_row(&w.name));
                let variants = experiment.variants_of(first.unwrap());
                let known = |n: &str| variants.iter().any(|&v| experiment.variants[v].name == n);
                assert!(known(&table.baseline), "{name}: {}", table.baseline);
                assert!(table.columns().into_iter().all(known), "{name}: {}", table.name);
            }
        }
    }

    #[test]
    fn histogram_means_take_the_middles() {
        let study = load("power9-big-core").unwrap();
        let histogram = study.tables[0].histogram.as_ref().unwrap();
        let vanilla = (3.0 * 1.5 + 7.0 * 2.5 + 26.0 * 3.5 + 4.0 * 4.5 + 60.0 * 5.5) / 100.0 * 1e6;
        assert!((histogram.mean("vanilla").unwrap() - vanilla).abs() < 1e-3);
        assert_eq!(histogram.top_share("big-core"), Some(89.0));
        assert_eq!(histogram.top_edge(), 5e6);
    }
}
