//! One experiment by two or more engines side by side: what changes between variants, and where woken tasks landed.
//!
//! Engines do not share a clock: a guest's seconds are not a machine's. What can be set side by side is the change from
//! the baseline, in percent, and the share of wake-ups by distance. What at least two engines have is shown, and what one
//! of them lacks is missing there, which is not 0. Counters are joined by name.

use crate::analysis::{Analysis, MetricAnalysis, VariantAnalysis, WorkloadAnalysis};
use crate::computer::{Computer, Difference, differences};
use crate::{Engine, ResultsError, counters};
use machine::distance::Distance;
use serde::Serialize;
use stats::{Better, Comparison, Interval, Verdict};
use std::path::Path;
use workload::Counter;

/// What changes by several engines say of one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// All engines that have it prove a change, in the same direction.
    Same,
    /// Two engines prove changes in opposite directions.
    Opposite,
    /// Some prove a change, in the same direction; the others prove none.
    SomeOnly,
    /// None proves a change.
    None,
}

/// A metric under a variant by each engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The workload's name.
    pub workload: String,
    /// The metric's name.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// The variant's name.
    pub variant: String,
    /// By engine: the variant beside the baseline; none where the engine does not have both. At least two do.
    pub sides: Vec<Option<Comparison>>,
    /// What they say of one another.
    pub agreement: Agreement,
    /// Whether the intervals of two of the changes have nothing in common.
    pub apart: bool,
}

/// Where woken tasks landed under a variant, by each engine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Placement {
    /// The workload's name.
    pub workload: String,
    /// The variant's name.
    pub variant: String,
    /// By distance from the waking CPU: its name and each engine's share of wake-ups, in percent; none where an engine does
    /// not count them. Distances that no engine has are left out.
    pub shares: Vec<(&'static str, Vec<Option<f64>>)>,
}

/// A counter that at least one of the engines has.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counted {
    /// The workload's name.
    pub workload: String,
    /// The variant's name.
    pub variant: String,
    /// The counter's name.
    pub counter: String,
    /// Its unit; empty for plain numbers.
    pub unit: String,
    /// By engine: the mean over runs; none where the engine does not count it.
    pub means: Vec<Option<f64>>,
}

/// Results of several engines side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sides {
    /// The experiment's name.
    pub experiment: String,
    /// The engines' names.
    pub engines: Vec<Engine>,
    /// The baseline's name.
    pub baseline: String,
    /// Metrics under variants other than the baseline that at least two engines have.
    pub rows: Vec<Row>,
    /// Placements of every variant of which at least two engines count them.
    pub placements: Vec<Placement>,
    /// All that any engine counted, for every variant that at least two engines ran.
    pub counters: Vec<Counted>,
    /// The computers that ran variants by their own kernels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub computers: Vec<Computer>,
    /// What differs between them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub differences: Vec<Difference>,
}

/// Sets the results of each of `stores`, which come with their paths, side by side.
///
/// # Errors
/// Fewer than two stores, several experiments, and stores of which no two have a cell in common.
pub fn compare(stores: &[(&Analysis, &Path)]) -> Result<Sides, ResultsError> {
    let [(first, path), _, ..] = stores else {
        let path = stores.first().map_or(Path::new(""), |store| store.1);
        return Err(ResultsError::store(path, "engines", "fewer than two", "two or more"));
    };
    let file = &first.results.experiment;
    for (other, path) in &stores[1..] {
        let other = &other.results.experiment;
        if (&file.name, &file.machine) != (&other.name, &other.machine) {
            let [found, expected] = [other, file].map(|e| format!("{} on {}", e.name, e.machine));
            return Err(ResultsError::store(path, "experiment", &found, &expected));
        }
    }
    let all: Vec<&Analysis> = stores.iter().map(|store| store.0).collect();
    let computers: Vec<Computer> = all.iter().flat_map(|a| a.results.computers.clone()).collect();
    let mut sides = Sides {
        experiment: file.name.clone(),
        engines: all.iter().map(|a| a.results.engine).collect(),
        baseline: file.variants.first().map_or(String::new(), |v| v.name.clone()),
        rows: Vec::new(),
        placements: Vec::new(),
        counters: Vec::new(),
        differences: differences(&computers, file),
        computers,
    };
    for name in union(&all, |a| a.workloads.iter().map(|w| w.name.as_str()).collect()) {
        let of = Of { all: &all, workload: name };
        sides.rows.extend(of.rows());
        sides.placements.extend(of.placements());
        sides.counters.extend(of.counted());
    }
    if sides.rows.is_empty() && sides.placements.is_empty() {
        let expected = "a workload and variants that another store has as well";
        let path = stores.last().map_or(path, |store| &store.1);
        return Err(ResultsError::store(path, "experiment", "nothing in common", expected));
    }
    Ok(sides)
}

/// What any of `all` has: the first's in its order, then what only others have.
fn union<'a, T, K: PartialEq>(all: &'a [T], of: impl Fn(&'a T) -> Vec<K>) -> Vec<K> {
    let mut out = Vec::new();
    for key in all.iter().flat_map(of) {
        if !out.contains(&key) {
            out.push(key);
        }
    }
    out
}

fn apart(a: &Interval, b: &Interval) -> bool {
    a.high < b.low || b.high < a.low
}

fn agreement(verdicts: &[Verdict]) -> Agreement {
    let has = |verdict: Verdict| verdicts.contains(&verdict);
    match (has(Verdict::Better), has(Verdict::Worse)) {
        (true, true) => Agreement::Opposite,
        (false, false) => Agreement::None,
        _ if has(Verdict::NoDifference) => Agreement::SomeOnly,
        _ => Agreement::Same,
    }
}

/// At least two of `all` are there.
fn are_two<T>(all: &[Option<T>]) -> bool {
    all.iter().flatten().count() >= 2
}

/// One workload of all engines.
struct Of<'a> {
    all: &'a [&'a Analysis<'a>],
    workload: &'a str,
}

impl<'a> Of<'a> {
    /// By engine.
    fn analysed(&self) -> Vec<Option<&'a WorkloadAnalysis>> {
        self.all.iter().map(|a| a.workload(self.workload)).collect()
    }

    fn rows(&self) -> Vec<Row> {
        let analysed = self.analysed();
        let names = union(&analysed, |w| w.iter().flat_map(|w| &w.metrics).map(name).collect());
        let mut out = Vec::new();
        for name in names {
            let metric = |w: &Option<&'a WorkloadAnalysis>| metric((*w)?, name);
            let metrics: Vec<Option<&MetricAnalysis>> = analysed.iter().map(metric).collect();
            out.extend(self.rows_of(&metrics));
        }
        out
    }

    /// A row for each variant of one metric. Changes from one baseline only are set side by side: that of the first engine that
    /// has changes.
    fn rows_of(&self, metrics: &[Option<&'a MetricAnalysis>]) -> Vec<Row> {
        let mut some = metrics.iter().flatten();
        let Some(first) = some.find(|m| m.variants.iter().any(|v| v.comparison.is_some())) else {
            return vec![];
        };
        let metrics: Vec<Option<&MetricAnalysis>> =
            metrics.iter().map(|m| m.filter(|m| baseline(m) == baseline(first))).collect();
        let variants =
            union(&metrics, |m| m.iter().flat_map(|m| changed(m)).map(|v| &v.name).collect());
        let row = |variant: &String| {
            let side = |m: &Option<&MetricAnalysis>| {
                m.iter().flat_map(|m| changed(m)).find(|v| v.name == *variant)?.comparison
            };
            let sides: Vec<Option<Comparison>> = metrics.iter().map(side).collect();
            let verdicts: Vec<Verdict> = sides.iter().flatten().map(|c| c.verdict).collect();
            let percents: Vec<&Interval> = sides.iter().flatten().map(|c| &c.percent).collect();
            let apart = percents.iter().any(|a| percents.iter().any(|b| apart(a, b)));
            are_two(&sides).then(|| Row {
                workload: self.workload.to_string(),
                metric: first.info.name.clone(),
                unit: first.info.unit.clone(),
                better: first.info.better,
                variant: variant.clone(),
                agreement: agreement(&verdicts),
                apart,
                sides,
            })
        };
        variants.into_iter().filter_map(row).collect()
    }

    /// Variants with runs by any engine.
    fn variants(&self) -> Vec<&'a str> {
        union(self.all, |a| {
            let workload = a.results.workload(self.workload);
            let variants = workload.into_iter().flat_map(|w| &w.variants);
            variants.filter(|v| !v.runs.is_empty()).map(|v| v.name.as_str()).collect()
        })
    }

    fn placements(&self) -> Vec<Placement> {
        let placement = |variant: &str| {
            let by: Vec<Option<Vec<f64>>> =
                self.all.iter().map(|a| shares(a, self.workload, variant)).collect();
            let of = |at: usize| by.iter().map(|s| s.as_ref().map(|s| s[at])).collect::<Vec<_>>();
            let shares = Distance::ALL.iter().enumerate().map(|(at, d)| (d.name(), of(at)));
            are_two(&by).then(|| Placement {
                workload: self.workload.to_string(),
                variant: variant.to_string(),
                shares: shares.filter(|(_, s)| s.iter().flatten().any(|s| *s > 0.0)).collect(),
            })
        };
        self.variants().into_iter().filter_map(placement).collect()
    }

    fn counted(&self) -> Vec<Counted> {
        let mut counters: Vec<&Counter> = Vec::new();
        for counter in self.all.iter().flat_map(|a| &a.results.counters) {
            if counters.iter().all(|c| c.name != counter.name) {
                counters.push(counter);
            }
        }
        let mut out = Vec::new();
        for variant in self.variants() {
            let by: Vec<Option<_>> = (self.all.iter())
                .map(|a| {
                    let variant = a.results.workload(self.workload)?.variant(variant)?;
                    (!variant.runs.is_empty()).then_some((a.results, variant))
                })
                .collect();
            if !are_two(&by) {
                continue;
            }
            out.extend(counters.iter().map(|counter| {
                Counted {
                    workload: self.workload.to_string(),
                    variant: variant.to_string(),
                    counter: counter.name.clone(),
                    unit: counter.unit.clone(),
                    means: (by.iter())
                        .map(|of| {
                            let (results, variant) = (*of)?;
                            counters::mean(variant, results.counter(&counter.name)?)
                        })
                        .collect(),
                }
            }));
        }
        out
    }
}

fn name(metric: &MetricAnalysis) -> &str {
    &metric.info.name
}

fn metric<'a>(of: &'a WorkloadAnalysis, name: &str) -> Option<&'a MetricAnalysis> {
    of.metrics.iter().find(|m| m.info.name == name)
}

fn baseline(metric: &MetricAnalysis) -> Option<&str> {
    metric.variants.first().map(|v| v.name.as_str())
}

/// Variants other than the baseline.
fn changed(metric: &MetricAnalysis) -> impl Iterator<Item = &VariantAnalysis> {
    metric.variants.iter().skip(1)
}

/// Percent of wake-ups by distance, over all runs of a variant.
fn shares(of: &Analysis, workload: &str, variant: &str) -> Option<Vec<f64>> {
    let variant = of.results.workload(workload)?.variant(variant)?;
    let counts = counters::wakeups_by_distance(of.results, variant)?;
    let all: f64 = counts.iter().map(|c| c.1).sum();
    (all > 0.0).then(|| counts.iter().map(|c| 100.0 * c.1 / all).collect())
}

#[cfg(test)]
mod tests;
