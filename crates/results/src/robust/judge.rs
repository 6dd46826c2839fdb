//! What runs over the ranges of constants say of each comparison.

use super::surface::Surface;
use super::{Explored, Point, Turning};
use crate::Results;
use crate::analysis::{MetricAnalysis, WorkloadAnalysis};
use serde::Serialize;
use stats::{Better, Comparison, Interval, Resampling, Verdict, compare};

/// Constants that are listed for a comparison.
const LISTED: usize = 3;

/// What can be said of a comparison over the ranges of constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Conclusion {
    /// Every place that was run proves the same sign, the worst corner among them.
    Robust,
    /// Some place proves the opposite sign, or proves none.
    Undecided,
    /// The stored runs prove no difference, and no two places prove opposite ones.
    NoDifferenceShown,
}

impl Conclusion {
    /// Its name, as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Conclusion::Robust => "robust",
            Conclusion::Undecided => "undecided",
            Conclusion::NoDifferenceShown => "no-difference-shown",
        }
    }
}

/// A comparison over the ranges of constants.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Robust {
    /// The workload.
    pub workload: String,
    /// What is measured.
    pub metric: String,
    /// The variant.
    pub variant: String,
    /// What it is compared with.
    pub baseline: String,
    /// Percent change of the stored runs, positive where the variant is better.
    pub percent: Interval,
    /// What the stored runs prove.
    pub verdict: Verdict,
    /// What can be said.
    pub conclusion: Conclusion,
    /// Constants that were moved.
    pub moved: usize,
    /// The places with the least and the largest change that runs found.
    pub from: Found,
    /// The other.
    pub to: Found,
    /// Places that were run in full.
    pub points: usize,
    /// Those of them that prove the opposite of the stored runs; of the less frequent sign where these prove nothing.
    pub opposite: usize,
    /// Those that prove nothing.
    pub unproven: usize,
    /// Where the sign turns, if the stored runs prove one and a place the opposite.
    pub turning: Option<Turning>,
    /// How far the surface is from what runs found at corners, in points, at the most.
    pub surface_misses: f64,
    /// Constants whose effect excludes zero, the largest first, three at most.
    pub swings: Vec<Swing>,
}

/// What runs found at one place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// By constant, its value there.
    pub values: Vec<f64>,
    /// Percent change.
    pub percent: Interval,
    /// What the runs prove.
    pub verdict: Verdict,
}

/// What the change gains by the surface where one constant alone goes through its range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Swing {
    /// The constant.
    pub constant: String,
    /// Percent change at its lower and at its upper end.
    pub percent: [f64; 2],
}

/// Every comparison of `workloads` whose constants were moved over their ranges, in their order.
pub fn judged(
    results: &Results,
    workloads: &[WorkloadAnalysis],
    resampling: &Resampling,
) -> Vec<Robust> {
    let explored = results.robustness.iter().flat_map(|r| &r.workloads);
    let mut all = Vec::new();
    for explored in explored {
        let Some(workload) = workloads.iter().find(|w| w.name == explored.workload) else {
            continue;
        };
        let of = Of::all(workload, explored, resampling);
        all.extend(of.iter().filter_map(Of::judged));
    }
    all
}

/// One comparison with all that it takes.
pub(super) struct Of<'a> {
    pub(super) explored: &'a Explored,
    pub(super) comparison: Comparison,
    pub(super) surface: Surface<'a>,
    pub(super) better: Better,
    /// Variant and metric.
    pub(super) at: (usize, usize),
    metric: &'a MetricAnalysis,
    resampling: &'a Resampling,
}

impl<'a> Of<'a> {
    /// All comparisons of a workload that can be made.
    pub(super) fn all(
        workload: &'a WorkloadAnalysis,
        explored: &'a Explored,
        resampling: &'a Resampling,
    ) -> Vec<Of<'a>> {
        let mut all = Vec::new();
        for (m, metric) in workload.metrics.iter().enumerate() {
            for v in 1..metric.variants.len() {
                all.extend(Of::new(metric, (v, m), explored, resampling));
            }
        }
        all
    }

    fn new(
        metric: &'a MetricAnalysis,
        at: (usize, usize),
        explored: &'a Explored,
        resampling: &'a Resampling,
    ) -> Option<Of<'a>> {
        let comparison = metric.variants[at.0].comparison?;
        let better = metric.info.better;
        let confidence = resampling.confidence();
        let surface = Surface::of(explored, at, better, &comparison, confidence)?;
        Some(Of { explored, comparison, surface, better, at, metric, resampling })
    }

    /// The runs at a point, compared.
    pub(super) fn compared(&self, point: &Point) -> Option<Comparison> {
        let (v, m) = self.at;
        compare(&point.samples(0, m), &point.samples(v, m), self.better, self.resampling)
    }

    fn found(&self, point: &Point) -> Option<Found> {
        let c = self.compared(point)?;
        Some(Found { values: point.values.clone(), percent: c.percent, verdict: c.verdict })
    }

    /// `None` where a search was not finished, or where runs at some corner carry no percent change.
    fn judged(&self) -> Option<Robust> {
        let turning = self.turning().ok()?;
        let found: Vec<Found> =
            self.explored.points.iter().filter_map(|point| self.found(point)).collect();
        let corners: Vec<Found> = self
            .corners()
            .iter()
            .map(|at| self.found(self.explored.point(at)?))
            .collect::<Option<_>>()?;
        let by_change = |a: &&Found, b: &&Found| a.percent.estimate.total_cmp(&b.percent.estimate);
        let (from, to) = (found.iter().min_by(by_change)?, found.iter().max_by(by_change)?);
        let count = |verdict: Verdict| found.iter().filter(|f| f.verdict == verdict).count();
        let (better, worse) = (count(Verdict::Better), count(Verdict::Worse));
        let opposite = match self.comparison.verdict {
            Verdict::Better => worse,
            Verdict::Worse => better,
            Verdict::NoDifference => better.min(worse),
        };
        let unproven = count(Verdict::NoDifference);
        let miss = |f: &Found| (self.surface.percent(&f.values) - f.percent.estimate).abs();
        Some(Robust {
            workload: self.explored.workload.clone(),
            metric: self.metric.info.name.clone(),
            variant: self.metric.variants[self.at.0].name.clone(),
            baseline: self.metric.variants[0].name.clone(),
            percent: self.comparison.percent,
            verdict: self.comparison.verdict,
            conclusion: conclusion(self.comparison.verdict, opposite, unproven),
            moved: self.explored.constants.len(),
            from: from.clone(),
            to: to.clone(),
            points: found.len(),
            opposite,
            unproven,
            turning,
            surface_misses: corners.iter().map(miss).fold(0.0, f64::max),
            swings: self.swings(),
        })
    }

    fn swings(&self) -> Vec<Swing> {
        let effects = self.surface.effects.iter().enumerate();
        let mut proven: Vec<(usize, &Interval)> =
            effects.filter(|(_, e)| e.low > 0.0 || e.high < 0.0).collect();
        proven.sort_by(|a, b| b.1.estimate.abs().total_cmp(&a.1.estimate.abs()));
        let swing = |&(constant, _): &(usize, &Interval)| {
            let alone = |end: f64| {
                let mut values = self.explored.start();
                values[constant] = end;
                self.surface.percent(&values)
            };
            let c = &self.explored.constants[constant];
            Swing { constant: c.name.clone(), percent: [alone(c.low), alone(c.high)] }
        };
        proven.iter().take(LISTED).map(swing).collect()
    }
}

fn conclusion(verdict: Verdict, opposite: usize, unproven: usize) -> Conclusion {
    match (verdict, opposite, unproven) {
        (_, 1.., _) => Conclusion::Undecided,
        (Verdict::NoDifference, 0, _) => Conclusion::NoDifferenceShown,
        (_, 0, 1..) => Conclusion::Undecided,
        (_, 0, 0) => Conclusion::Robust,
    }
}

#[cfg(test)]
mod tests;
