//! What runs with moved constants say of each comparison.

use super::{INSTRUCTIONS, LINES, Moved, Row, Sensitivity};
use crate::analysis::{MetricAnalysis, VariantAnalysis, WorkloadAnalysis};
use crate::{MetricInfo, Results};
use serde::Serialize;
use stats::{Better, Comparison, Interval, Resampling, TwoLevel, Verdict, compare};

/// Constants that are listed for a comparison.
const LISTED: usize = 3;

/// A comparison, and the constants on which it hangs most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hangs {
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
    /// Constants that were moved.
    pub moved: usize,
    /// How many of them have an elasticity whose interval excludes zero.
    pub proven: usize,
    /// The three largest of those, the largest first.
    pub constants: Vec<Elasticity>,
}

/// What a comparison gains where a constant grows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Elasticity {
    /// The constant, or what was counted.
    pub constant: String,
    /// Its value, in `unit`; 1 for all that was counted.
    pub value: f64,
    /// Unit.
    pub unit: String,
    /// How well it is known: a mark, or `counted`.
    pub mark: String,
    /// Where it comes from.
    pub source: String,
    /// Points of percent change for each unit of the constant's natural logarithm; the interval is one for all moved constants
    /// together.
    pub points: Interval,
    /// The constant divided and multiplied by the factor.
    pub ends: [End; 2],
}

impl Elasticity {
    /// Ends at which the verdict is not `verdict`.
    pub fn changes(&self, verdict: Verdict) -> impl Iterator<Item = &End> {
        self.ends.iter().filter(move |end| end.verdict != verdict)
    }
}

/// A comparison as it would be at another value of a constant: the stored runs, the variant's all moved by the elasticity.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct End {
    /// The constant's value.
    pub value: f64,
    /// Percent change.
    pub percent: Interval,
    /// What so many runs would prove.
    pub verdict: Verdict,
}

/// Every comparison of `workloads` whose constants were moved, in their order.
pub fn hangs(
    results: &Results,
    workloads: &[WorkloadAnalysis],
    resampling: &Resampling,
) -> Vec<Hangs> {
    let Some(sensitivity) = &results.sensitivity else { return vec![] };
    let mut all = Vec::new();
    for moved in &sensitivity.workloads {
        let Some(workload) = workloads.iter().find(|w| w.name == moved.workload) else { continue };
        for (m, metric) in workload.metrics.iter().enumerate() {
            for v in 1..metric.variants.len() {
                let of = Of { results, sensitivity, moved, metric, resampling, at: (v, m) };
                all.extend(of.hangs());
            }
        }
    }
    all
}

/// One comparison with all that it takes.
struct Of<'a> {
    results: &'a Results,
    sensitivity: &'a Sensitivity,
    moved: &'a Moved,
    metric: &'a MetricAnalysis,
    resampling: &'a Resampling,
    /// Variant and metric.
    at: (usize, usize),
}

impl Of<'_> {
    fn hangs(&self) -> Option<Hangs> {
        let (base, variant) = (self.metric.variants.first()?, &self.metric.variants[self.at.0]);
        let comparison = variant.comparison?;
        let halves: Option<Vec<f64>> =
            self.moved.rows.iter().map(|row| self.half(row, &comparison)).collect();
        let design = TwoLevel::of(self.moved.constants.len());
        let effects = design.effects(&halves?, self.resampling.confidence())?;
        let mut proven: Vec<(&String, Interval)> = (self.moved.constants.iter().zip(effects))
            .filter(|(_, e)| e.low > 0.0 || e.high < 0.0)
            .collect();
        proven.sort_by(|a, b| b.1.estimate.abs().total_cmp(&a.1.estimate.abs()));
        let constants = proven.iter().take(LISTED);
        Some(Hangs {
            workload: self.moved.workload.clone(),
            metric: self.metric.info.name.clone(),
            variant: variant.name.clone(),
            baseline: base.name.clone(),
            percent: comparison.percent,
            verdict: comparison.verdict,
            moved: self.moved.constants.len(),
            proven: proven.len(),
            constants: constants
                .filter_map(|(name, effect)| self.elasticity(name, *effect, base, variant))
                .collect(),
        })
    }

    /// Half of what the percent change differs between a row and its mirror. It is taken to first order around the stored
    /// means, so that rows can be averaged.
    fn half(&self, row: &Row, comparison: &Comparison) -> Option<f64> {
        let (v, m) = self.at;
        let difference = |v: usize| Some(row.row.get(v)?.get(m)? - row.mirror.get(v)?.get(m)?);
        let (of_base, of_variant) = (difference(0)?, difference(v)?);
        let (base, variant) = (comparison.base.mean, comparison.variant.mean);
        let rise = 100.0 * (of_variant / base - variant * of_base / (base * base));
        Some(match self.metric.info.better {
            Better::Higher => rise / 2.0,
            Better::Lower => -rise / 2.0,
        })
    }

    fn elasticity(
        &self,
        name: &str,
        effect: Interval,
        base: &VariantAnalysis,
        variant: &VariantAnalysis,
    ) -> Option<Elasticity> {
        let (factor, ln) = (self.sensitivity.factor, self.sensitivity.factor.ln());
        let known = self.results.constants.get(name);
        let (value, unit, mark, source) = match known {
            Some(c) => (c.value, c.unit.clone(), c.mark.to_string(), c.source.clone()),
            None if name == INSTRUCTIONS || name == LINES => {
                let on = format!("counted on {}", self.results.counted.join(", "));
                (1.0, "times the count".to_string(), "counted".to_string(), on)
            }
            None => return None,
        };
        let end = |value: f64, points: f64| {
            moved_by(points, value, (base, variant), &self.metric.info, self.resampling)
        };
        let ends = [end(value / factor, -effect.estimate)?, end(value * factor, effect.estimate)?];
        let (estimate, low, high) = (effect.estimate / ln, effect.low / ln, effect.high / ln);
        let points = Interval { estimate, low, high, ..effect };
        Some(Elasticity { constant: name.to_string(), value, unit, mark, source, points, ends })
    }
}

/// The stored runs with the variant's moved so that the percent change gains `points`.
fn moved_by(
    points: f64,
    value: f64,
    (base, variant): (&VariantAnalysis, &VariantAnalysis),
    info: &MetricInfo,
    resampling: &Resampling,
) -> Option<End> {
    let now = variant.comparison?.percent.estimate;
    let ratio = info.better.ratio(now + points) / info.better.ratio(now);
    let samples: Vec<f64> = variant.samples.iter().map(|s| s * ratio).collect();
    let c = compare(&base.samples, &samples, info.better, resampling)?;
    Some(End { value, percent: c.percent, verdict: c.verdict })
}

#[cfg(test)]
mod tests;
