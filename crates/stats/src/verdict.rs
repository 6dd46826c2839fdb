//! Verdicts: is a variant better, worse, or not distinguishable from its base?

use crate::better::Better;
use crate::bootstrap::{Change, Interval, PercentBootstrap, Resampling};
use crate::confidence::Confidence;
use crate::mean::Mean;
use crate::student::{Difference, between, smallest_detectable};
use crate::summary::Summary;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Power of the smallest detectable effects: the customary 80 %.
pub(crate) const POWER: f64 = 0.8;

/// What the runs prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The variant is better than the base.
    Better,
    /// The variant is worse than the base.
    Worse,
    /// The runs prove no difference. An effect below the smallest detectable one may still exist.
    NoDifference,
}

impl Verdict {
    /// In one word, as data have it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifference => "no-difference",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::NoDifference => "no difference proven",
        })
    }
}

/// A variant compared with its base.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The base's sample.
    pub base: Summary,
    /// The variant's sample.
    pub variant: Summary,
    /// Student interval of the difference of means, in the samples' unit, at the confidence of the resampling.
    pub difference: Difference,
    /// BCa interval of the percent change, positive if the variant is better, at the confidence of the resampling.
    pub percent: Interval,
    /// What the runs prove; [`compare`] has the rule.
    pub verdict: Verdict,
    /// Level of both intervals behind the verdict.
    pub verdict_confidence: Confidence,
    /// Smallest effect, in percent of the base's mean, that as many runs with this spread would have shown at the verdict's
    /// level with 80 % probability (Bloom 1995, by Student's t). The true power at that effect is 80 % for 100 runs, 78 % for
    /// 5 and 75 % for 3.
    pub smallest_detectable_percent: f64,
}

/// Compares `variant` with `base`. Intervals are at the confidence of `resampling`.
///
/// The verdict is stricter than a printed 95 % interval. Both the BCa interval of the percent change and the Student interval
/// of the difference must exclude 0 at 99 % (or at the printed level, if that is higher). The reason: a laboratory that
/// compares a thing with itself 100 times should claim a difference at most 5 times. At a nominal 5 %, the number of false
/// claims is binomial with mean 5 and exceeds 5 in four batches out of ten. At 1 %, it does so in one of two thousand.
///
/// `None` if [`crate::percent_change`] or the Student interval gives `None`.
pub fn compare(
    base: &[f64],
    variant: &[f64],
    better: Better,
    resampling: &Resampling,
) -> Option<Comparison> {
    let change = Change { mean: Mean::Arithmetic, better };
    let bootstrap = PercentBootstrap::of(base, variant, change, resampling)?;
    let (base, variant) = (Summary::of(base)?, Summary::of(variant)?);
    let printed = resampling.confidence();
    let strict = printed.max(Confidence::P99);
    let difference = between(&base, &variant, printed)?;
    let detectable = smallest_detectable(&base, &variant, &difference, strict, POWER)?;
    Some(Comparison {
        base,
        variant,
        difference,
        percent: bootstrap.interval(printed)?,
        verdict: verdict(&bootstrap.interval(strict)?, &between(&base, &variant, strict)?),
        verdict_confidence: strict,
        smallest_detectable_percent: 100.0 * detectable / base.mean,
    })
}

/// The verdict of two intervals at the verdict's level.
fn verdict(percent: &Interval, difference: &Difference) -> Verdict {
    if !difference.is_significant() {
        Verdict::NoDifference
    } else if percent.low > 0.0 {
        Verdict::Better
    } else if percent.high < 0.0 {
        Verdict::Worse
    } else {
        Verdict::NoDifference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 10] = [6.174, 6.02, 5.871, 7.25, 4.225, 6.31, 9.754, 5.99, 6.182, 6.1];
    const B: [f64; 9] = [6.08, 5.12, 4.069, 5.93, 6.745, 5.31, 5.7, 6.05, 4.88];

    fn settings(confidence: Confidence) -> Resampling {
        Resampling::new(10_000, 1, confidence).unwrap()
    }

    #[test]
    fn verdict_follows_the_sense_of_the_measure() {
        let low: Vec<f64> = (0..20).map(|i| 10.0 + f64::from(i % 5)).collect();
        let high: Vec<f64> = low.iter().map(|x| x + 10.0).collect();
        let of = |a: &[f64], b: &[f64], better| {
            compare(a, b, better, &settings(Confidence::P95)).unwrap().verdict
        };
        assert_eq!(of(&low, &high, Better::Higher), Verdict::Better);
        assert_eq!(of(&low, &high, Better::Lower), Verdict::Worse);
        assert_eq!(of(&high, &low, Better::Lower), Verdict::Better);
        assert_eq!(of(&low, &low, Better::Lower), Verdict::NoDifference);
    }

    /// Here BCa excludes 0 at 90 % and Student does not: no claim.
    #[test]
    fn both_intervals_must_exclude_zero() {
        let level = Confidence::new(0.9).unwrap();
        let c = compare(&A, &B, Better::Lower, &settings(level)).unwrap();
        assert!(c.percent.low > 0.0 && !c.difference.is_significant());
        assert_eq!(c.verdict, Verdict::NoDifference);
        let lone = |low, high| Interval { low, high, ..c.percent };
        let wide = Difference { half_width: 9.0, ..c.difference };
        let narrow = Difference { half_width: 0.1, ..c.difference };
        assert_eq!(verdict(&lone(1.0, 2.0), &narrow), Verdict::Better);
        assert_eq!(verdict(&lone(-2.0, -1.0), &narrow), Verdict::Worse);
        assert_eq!(verdict(&lone(-1.0, 1.0), &narrow), Verdict::NoDifference);
        assert_eq!(verdict(&lone(1.0, 2.0), &wide), Verdict::NoDifference);
    }

    /// R 4.2, with `s` pooled: `(qt(.995, 17) + qt(.8, 17)) * s * sqrt(1/10 + 1/9) / mean(a) * 100`
    #[test]
    fn smallest_detectable_effect_equals_r() {
        let c = compare(&A, &B, Better::Lower, &settings(Confidence::P95)).unwrap();
        assert!((c.smallest_detectable_percent - 31.1277153946357).abs() < 1e-6);
    }

    #[test]
    fn a_printed_level_above_99_makes_the_verdict_as_strict() {
        let level = Confidence::new(0.999).unwrap();
        let c = compare(&A, &B, Better::Lower, &settings(level)).unwrap();
        assert_eq!((c.verdict_confidence, c.percent.confidence), (level, level));
        let c = compare(&A, &B, Better::Lower, &settings(Confidence::P95)).unwrap();
        assert_eq!(c.verdict_confidence, Confidence::P99);
        assert_eq!(c.difference.confidence, Confidence::P95);
    }

    #[test]
    fn equal_runs_differ_where_their_values_do() {
        let s = settings(Confidence::P95);
        let same = compare(&[5.0; 10], &[5.0; 10], Better::Lower, &s).unwrap();
        assert_eq!((same.verdict, same.smallest_detectable_percent), (Verdict::NoDifference, 0.0));
        let half = compare(&[4.0; 10], &[2.0; 10], Better::Lower, &s).unwrap();
        assert_eq!((half.verdict, half.percent.low), (Verdict::Better, 50.0));
        assert_eq!(compare(&[1.0], &[2.0], Better::Lower, &s), None);
    }
}
