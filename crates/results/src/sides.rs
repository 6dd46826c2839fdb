//! One experiment by two engines side by side: what changes between variants, and where woken tasks landed.
//!
//! Engines do not share a clock: a guest's seconds are not a machine's. What can be set side by side is the change from
//! the baseline, in percent, and the share of wake-ups by distance. Counters of both are joined by name: one that an engine
//! does not count is missing there, which is not 0.

use crate::analysis::{Analysis, MetricAnalysis, WorkloadAnalysis};
use crate::runs::{Results, WorkloadResults};
use crate::{Engine, ResultsError, counters};
use machine::distance::Distance;
use serde::Serialize;
use stats::{Better, Comparison, Interval, Verdict};
use std::path::Path;

/// What two changes say of one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Both engines prove a change, in the same direction.
    Same,
    /// Both engines prove a change, in opposite directions.
    Opposite,
    /// One proves a change, the other none.
    OneOnly,
    /// Neither proves a change.
    Neither,
}

/// A metric under a variant by both engines.
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
    /// By engine: the variant beside the baseline.
    pub sides: [Comparison; 2],
    /// What they say of one another.
    pub agreement: Agreement,
    /// Whether the intervals of the two changes have nothing in common.
    pub apart: bool,
}

/// Where woken tasks landed under a variant, by both engines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Placement {
    /// The workload's name.
    pub workload: String,
    /// The variant's name.
    pub variant: String,
    /// By distance from the waking CPU: its name and each engine's share of wake-ups, in percent; distances that
    /// neither has are left out.
    pub shares: Vec<(&'static str, [f64; 2])>,
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
    pub means: [Option<f64>; 2],
}

/// Two stores side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sides {
    /// The experiment's name.
    pub experiment: String,
    /// The engines' names.
    pub engines: [Engine; 2],
    /// The baseline's name.
    pub baseline: String,
    /// Metrics under variants other than the baseline that both stores have.
    pub rows: Vec<Row>,
    /// Placements of every variant that both stores have.
    pub placements: Vec<Placement>,
    /// All that either engine counted, for every variant that both stores have.
    pub counters: Vec<Counted>,
}

/// Sets `a` and `b`, each with its path, side by side.
///
/// # Errors
/// Two experiments, and stores that have no cell in common.
pub fn compare(a: (&Analysis, &Path), b: (&Analysis, &Path)) -> Result<Sides, ResultsError> {
    let refuse =
        |found: &str, expected: &str| ResultsError::store(b.1, "experiment", found, expected);
    let (results_a, results_b) = (a.0.results, b.0.results);
    let (one, other) = (&results_a.experiment, &results_b.experiment);
    if (&one.name, &one.machine) != (&other.name, &other.machine) {
        let found = format!("{} on {}", other.name, other.machine);
        return Err(refuse(&found, &format!("{} on {}", one.name, one.machine)));
    }
    let mut sides = Sides {
        experiment: one.name.clone(),
        engines: [results_a.engine, results_b.engine],
        baseline: one.variants.first().map_or(String::new(), |v| v.name.clone()),
        rows: Vec::new(),
        placements: Vec::new(),
        counters: Vec::new(),
    };
    for workload in &results_a.workloads {
        let Some(twin) = results_b.workload(&workload.name) else { continue };
        if let Some((a, b)) = a.0.workload(&workload.name).zip(b.0.workload(&workload.name)) {
            sides.rows.extend(rows(a, b));
        }
        sides.placements.extend(placements((results_a, workload), (results_b, twin)));
        sides.counters.extend(counted((results_a, workload), (results_b, twin)));
    }
    if sides.rows.is_empty() && sides.placements.is_empty() {
        let expected = "a workload and variants that the other store has as well";
        return Err(refuse("nothing in common", expected));
    }
    Ok(sides)
}

fn rows(a: &WorkloadAnalysis, b: &WorkloadAnalysis) -> Vec<Row> {
    let mut out = Vec::new();
    for metric in &a.metrics {
        let Some(twin) = b.metrics.iter().find(|m| m.info.name == metric.info.name) else {
            continue;
        };
        if baseline(metric).is_none() || baseline(metric) != baseline(twin) {
            continue;
        }
        for side in metric.variants.iter().skip(1) {
            let other = twin.variants.iter().find(|v| v.name == side.name);
            let comparisons = (side.comparison, other.and_then(|other| other.comparison));
            let (Some(one), Some(other)) = comparisons else { continue };
            out.push(Row {
                workload: a.name.clone(),
                metric: metric.info.name.clone(),
                unit: metric.info.unit.clone(),
                better: metric.info.better,
                variant: side.name.clone(),
                sides: [one, other],
                agreement: agreement(one.verdict, other.verdict),
                apart: apart(&one.percent, &other.percent),
            });
        }
    }
    out
}

fn baseline(metric: &MetricAnalysis) -> Option<&str> {
    metric.variants.first().map(|v| v.name.as_str())
}

fn agreement(a: Verdict, b: Verdict) -> Agreement {
    match (a == Verdict::NoDifference, b == Verdict::NoDifference) {
        (true, true) => Agreement::Neither,
        (false, false) if a == b => Agreement::Same,
        (false, false) => Agreement::Opposite,
        _ => Agreement::OneOnly,
    }
}

fn apart(a: &Interval, b: &Interval) -> bool {
    a.high < b.low || b.high < a.low
}

/// A workload with the results that it is part of.
type Of<'a> = (&'a Results, &'a WorkloadResults);

fn placements(a: Of, b: Of) -> Vec<Placement> {
    let placement = |variant: &str| {
        let (one, other) = (shares(a, variant)?, shares(b, variant)?);
        let shares = Distance::ALL.iter().zip(one).zip(other).map(|((d, a), b)| (d.name(), [a, b]));
        Some(Placement {
            workload: a.1.name.clone(),
            variant: variant.to_string(),
            shares: shares.filter(|(_, [a, b])| *a > 0.0 || *b > 0.0).collect(),
        })
    };
    a.1.variants.iter().filter_map(|v| placement(&v.name)).collect()
}

/// Percent of wake-ups by distance, over all runs of a variant.
fn shares((results, workload): Of, variant: &str) -> Option<Vec<f64>> {
    let counts = counters::wakeups_by_distance(results, workload.variant(variant)?)?;
    let all: f64 = counts.iter().map(|c| c.1).sum();
    (all > 0.0).then(|| counts.iter().map(|c| 100.0 * c.1 / all).collect())
}

/// The union of what both engines count: the first's counters in its order, then those that only the second has.
fn counted(a: Of, b: Of) -> Vec<Counted> {
    let only_b = b.0.counters.iter().filter(|c| a.0.counter(&c.name).is_none());
    let all: Vec<_> = a.0.counters.iter().chain(only_b).collect();
    let mean = |of: Of, variant: &str, name: &str| {
        counters::mean(of.1.variant(variant)?, of.0.counter(name)?)
    };
    let mut out = Vec::new();
    for variant in a.1.variants.iter().filter(|v| b.1.variant(&v.name).is_some()) {
        out.extend(all.iter().map(|counter| Counted {
            workload: a.1.name.clone(),
            variant: variant.name.clone(),
            counter: counter.name.clone(),
            unit: counter.unit.clone(),
            means: [a, b].map(|of| mean(of, &variant.name, &counter.name)),
        }));
    }
    out
}

#[cfg(test)]
mod tests;
