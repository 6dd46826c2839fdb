//! One experiment by two engines side by side: what changes between variants, and where woken tasks landed.
//!
//! Engines do not share a clock: a guest's seconds are not a machine's. What can be set side by side is the change from
//! the baseline, in percent, and the share of wake-ups by distance.

use crate::ExperimentError;
use crate::results::{Results, WorkloadResults};
use serde::Serialize;
use sim::distance::Distance;
use stats::{Better, Comparison, Resampling, Verdict};
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

/// Two stores side by side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// The experiment's name.
    pub experiment: String,
    /// The engines' names.
    pub engines: [String; 2],
    /// The baseline's name.
    pub baseline: String,
    /// Metrics under variants other than the baseline that both stores have.
    pub rows: Vec<Row>,
    /// Placements of every variant that both stores have.
    pub placements: Vec<Placement>,
}

/// Sets `a` and `b`, each with its path, side by side.
///
/// # Errors
/// Two experiments, and stores that have no cell in common.
pub fn compare(
    a: (&Results, &Path),
    b: (&Results, &Path),
    resampling: &Resampling,
) -> Result<Compared, ExperimentError> {
    let refuse = |found: String, expected: &str| ExperimentError::Store {
        file: b.1.display().to_string(),
        place: "experiment".to_string(),
        found,
        expected: expected.to_string(),
    };
    let (one, other) = (&a.0.experiment, &b.0.experiment);
    if (&one.name, &one.machine) != (&other.name, &other.machine) {
        let found = format!("{} on {}", other.name, other.machine);
        return Err(refuse(found, &format!("{} on {}", one.name, one.machine)));
    }
    let mut compared = Compared {
        experiment: one.name.clone(),
        engines: [a.0.engine.clone(), b.0.engine.clone()],
        baseline: one.variants.first().map_or(String::new(), |v| v.name.clone()),
        rows: Vec::new(),
        placements: Vec::new(),
    };
    for workload in &a.0.workloads {
        if let Some(twin) = b.0.workloads.iter().find(|w| w.name == workload.name) {
            compared.rows.extend(rows(workload, twin, resampling));
            compared.placements.extend(placements(workload, twin));
        }
    }
    if compared.rows.is_empty() && compared.placements.is_empty() {
        let expected = "a workload and variants that the other store has as well";
        return Err(refuse("nothing in common".to_string(), expected));
    }
    Ok(compared)
}

fn rows(a: &WorkloadResults, b: &WorkloadResults, resampling: &Resampling) -> Vec<Row> {
    let Some(baseline) = a.variants.first().map(|v| &v.name) else { return Vec::new() };
    if b.variants.first().map(|v| &v.name) != Some(baseline) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for info in &a.metrics {
        let side = |of: &WorkloadResults, variant: &str| {
            let at = of.metric(&info.name)?;
            let (base, new) = (of.samples(baseline, at), of.samples(variant, at));
            stats::compare(&base, &new, info.better, resampling)
        };
        for variant in a.variants.iter().skip(1) {
            let sides = (side(a, &variant.name), side(b, &variant.name));
            let (Some(one), Some(other)) = sides else { continue };
            out.push(Row {
                workload: a.name.clone(),
                metric: info.name.clone(),
                unit: info.unit.clone(),
                better: info.better,
                variant: variant.name.clone(),
                sides: [one, other],
                agreement: agreement(one.verdict, other.verdict),
            });
        }
    }
    out
}

fn agreement(a: Verdict, b: Verdict) -> Agreement {
    match (a == Verdict::NoDifference, b == Verdict::NoDifference) {
        (true, true) => Agreement::Neither,
        (false, false) if a == b => Agreement::Same,
        (false, false) => Agreement::Opposite,
        _ => Agreement::OneOnly,
    }
}

fn placements(a: &WorkloadResults, b: &WorkloadResults) -> Vec<Placement> {
    let placement = |variant: &str| {
        let (one, other) = (shares(a, variant)?, shares(b, variant)?);
        let shares = Distance::ALL.iter().zip(one).zip(other).map(|((d, a), b)| (d.name(), [a, b]));
        Some(Placement {
            workload: a.name.clone(),
            variant: variant.to_string(),
            shares: shares.filter(|(_, [a, b])| *a > 0.0 || *b > 0.0).collect(),
        })
    };
    a.variants.iter().filter_map(|v| placement(&v.name)).collect()
}

/// Percent of wake-ups by distance, over all runs of a variant.
fn shares(of: &WorkloadResults, variant: &str) -> Option<[f64; Distance::COUNT]> {
    let mut counts = [0.0; Distance::COUNT];
    for (count, distance) in counts.iter_mut().zip(Distance::ALL) {
        *count = of.mean_counter(variant, &format!("ttwu_{}", distance.name()))?;
    }
    let all: f64 = counts.iter().sum();
    (all > 0.0).then(|| counts.map(|n| 100.0 * n / all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::{MetricInfo, Run, VariantRuns};
    use stats::Confidence;

    fn workload(scale: f64, change: f64, smt: u64) -> WorkloadResults {
        let run = |n: u32, factor: f64| Run {
            run: n,
            seed: 0,
            metrics: vec![scale * factor * (1.0 + f64::from(n) / 1000.0)],
            single_times: vec![vec![]],
            counters: Distance::ALL
                .iter()
                .map(|d| (format!("ttwu_{}", d.name()), if d.name() == "smt" { smt } else { 10 }))
                .collect(),
        };
        let variant = |name: &str, factor: f64| VariantRuns {
            name: name.to_string(),
            runs: (0..10).map(|n| run(n, factor)).collect(),
        };
        WorkloadResults {
            name: "pipe".to_string(),
            title: "pipe".to_string(),
            metrics: vec![MetricInfo {
                name: "seconds".to_string(),
                unit: "s".to_string(),
                better: Better::Lower,
            }],
            ignored: vec![],
            variants: vec![variant("old", 1.0), variant("new", change)],
        }
    }

    #[test]
    fn changes_are_compared_and_not_seconds() {
        let resampling = Resampling::new(1000, 1, Confidence::P95).unwrap();
        let row = |change: f64| {
            rows(&workload(1.0, 0.9, 0), &workload(70.0, change, 0), &resampling).remove(0)
        };
        assert_eq!(row(0.9).agreement, Agreement::Same);
        assert!((row(0.9).sides[1].percent.estimate - 10.0).abs() < 1e-6);
        assert_eq!(row(1.2).agreement, Agreement::Opposite);
        assert_eq!(row(1.0).agreement, Agreement::OneOnly);
    }

    #[test]
    fn wakeups_become_shares() {
        let placements = placements(&workload(1.0, 1.0, 30), &workload(1.0, 1.0, 0));
        assert_eq!(placements.len(), 2);
        let smt = placements[0].shares.iter().find(|s| s.0 == "smt").unwrap();
        assert_eq!(smt.1, [30.0, 0.0]);
    }
}
