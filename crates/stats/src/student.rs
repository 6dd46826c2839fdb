//! Student's t test of two samples with pooled variance, as ministat prints it.

use crate::confidence::Confidence;
use crate::summary::Summary;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// From this many degrees of freedom on, Student's t equals the normal distribution to six digits. (The search for its
/// quantile does not end for infinite degrees of freedom.)
const NORMAL_FROM: f64 = 1e6;

/// The difference between the means of a variant and its base.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Mean of the variant minus mean of the base, in the samples' unit.
    pub delta: f64,
    /// Half the width of the confidence interval of `delta`.
    pub half_width: f64,
    /// `delta` in percent of the base's mean (raw sign: positive if the figure rose); `None` if that mean is 0.
    pub percent: Option<f64>,
    /// `half_width` in percent of the base's mean. Like ministat, this treats the base's mean as exact; the bootstrap
    /// interval of [`crate::percent_change`] does not.
    pub percent_half_width: Option<f64>,
    /// Standard deviation pooled over both samples.
    pub pooled_stddev: f64,
    /// Confidence level of the interval.
    pub confidence: Confidence,
}

impl Difference {
    /// Whether the interval excludes 0. Two samples without spread differ if their means do.
    pub fn is_significant(&self) -> bool {
        self.delta.abs() > self.half_width
    }
}

/// Two-sample Student interval of the difference of means, with pooled variance and n + m - 2 degrees of freedom, as in
/// ministat. (ministat rounds t to a row of its table; here t is exact.)
///
/// `None` if a sample has fewer than two values.
pub(crate) fn between(
    base: &Summary,
    variant: &Summary,
    confidence: Confidence,
) -> Option<Difference> {
    let (base_sd, variant_sd) = (base.stddev?, variant.stddev?);
    let (base_df, variant_df) = (base.n as f64 - 1.0, variant.n as f64 - 1.0);
    let squares = base_df * base_sd.powi(2) + variant_df * variant_sd.powi(2);
    let pooled_stddev = (squares / (base_df + variant_df)).sqrt();
    let delta = variant.mean - base.mean;
    let half_width = t_quantile(1.0 - confidence.tail(), base_df + variant_df)?
        * standard_error(pooled_stddev, base.n, variant.n);
    let percent = |x: f64| (base.mean != 0.0).then(|| 100.0 * x / base.mean.abs());
    (delta.is_finite() && half_width.is_finite()).then(|| Difference {
        delta,
        half_width,
        percent: percent(delta),
        percent_half_width: percent(half_width),
        pooled_stddev,
        confidence,
    })
}

/// The minimum detectable effect: the smallest difference of means, in the samples' unit, that `base.n` and `variant.n` runs
/// with this spread show as different from 0 at `confidence` with probability `power`,
/// `(t[1 - alpha/2] + t[power]) s sqrt(1/n + 1/m)` (H. S. Bloom, "Minimum Detectable Effects", Evaluation Review 19(5),
/// 1995).
pub(crate) fn smallest_detectable(
    base: &Summary,
    variant: &Summary,
    difference: &Difference,
    confidence: Confidence,
    power: f64,
) -> Option<f64> {
    let freedom = (base.n + variant.n) as f64 - 2.0;
    let t = t_quantile(1.0 - confidence.tail(), freedom)? + t_quantile(power, freedom)?;
    Some(t * standard_error(difference.pooled_stddev, base.n, variant.n))
}

/// Two-sided p-value of equal means. If it is below 1 - L, the interval of [`between`] at level L excludes 0. Two samples
/// without spread give 0 or 1.
pub(crate) fn p_value(base: &Summary, variant: &Summary, difference: &Difference) -> Option<f64> {
    if difference.delta == 0.0 {
        return Some(1.0);
    }
    let t = difference.delta.abs() / standard_error(difference.pooled_stddev, base.n, variant.n);
    two_sided(t, (base.n + variant.n) as f64 - 2.0)
}

/// Probability that Student's t with `freedom` degrees of freedom is farther from 0 than `t`.
pub(crate) fn two_sided(t: f64, freedom: f64) -> Option<f64> {
    if t == f64::INFINITY {
        return Some(0.0);
    }
    if freedom > NORMAL_FROM {
        return Some(2.0 * Normal::standard().cdf(-t));
    }
    Some(2.0 * StudentsT::new(0.0, 1.0, freedom).ok()?.cdf(-t))
}

/// Standard error of the difference of two means.
fn standard_error(pooled_stddev: f64, n: usize, m: usize) -> f64 {
    pooled_stddev * (1.0 / n as f64 + 1.0 / m as f64).sqrt()
}

/// Quantile of Student's t; `None` without a degree of freedom.
pub(crate) fn t_quantile(probability: f64, freedom: f64) -> Option<f64> {
    if freedom > NORMAL_FROM {
        return Some(Normal::standard().inverse_cdf(probability));
    }
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some(t.inverse_cdf(probability))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const A: [f64; 10] = [6.174, 6.02, 5.871, 7.25, 4.225, 6.31, 9.754, 5.99, 6.182, 6.1];
    const B: [f64; 9] = [6.08, 5.12, 4.069, 5.93, 6.745, 5.31, 5.7, 6.05, 4.88];

    fn near(a: f64, b: f64, relative: f64) {
        assert!((a - b).abs() <= relative * b.abs(), "{a} is not {b}");
    }

    /// R 4.2: `qt(.995, 17); qt(.8, 17); qt(.975, 17); qt(.975, 198); qt(.995, 198); qt(.975, 2);
    /// qt(.9995, 2); qt(.975, 1)`
    #[test]
    fn quantiles_equal_r() {
        let by_r = [
            (0.995, 17.0, 2.898230519677418),
            (0.8, 17.0, 0.863279017420053),
            (0.975, 17.0, 2.109815577833317),
            (0.975, 198.0, 1.972017477836313),
            (0.995, 198.0, 2.600887277990501),
            (0.975, 2.0, 4.302652729749462),
            (0.9995, 2.0, 31.599054576445365),
            (0.975, 1.0, 12.706204736174694),
        ];
        for (p, freedom, t) in by_r {
            near(t_quantile(p, freedom).unwrap(), t, 1e-9);
        }
        assert_eq!(t_quantile(0.975, 0.0), None);
        near(t_quantile(0.975, f64::INFINITY).unwrap(), 1.959963984540054, 1e-9);
        near(two_sided(1.959963984540054, f64::INFINITY).unwrap(), 0.05, 1e-9);
    }

    fn difference(base: &[f64], variant: &[f64], confidence: Confidence) -> Option<Difference> {
        between(&Summary::of(base)?, &Summary::of(variant)?, confidence)
    }

    /// R 4.2: `t.test(b, a, var.equal = TRUE, conf.level = L)$conf.int` for L = 0.95, 0.99, 0.8;
    /// `sqrt((9 * var(a) + 8 * var(b)) / 17)`
    #[test]
    fn interval_equals_r() {
        let by_r = [
            (0.95, -1.960170633916206, 0.270303967249539, false),
            (0.99, -2.376922581678573, 0.687055915011906, false),
            (0.8, -1.549750591708637, -0.140116074958030, true),
        ];
        for (level, low, high, significant) in by_r {
            let d = difference(&A, &B, Confidence::new(level).unwrap()).unwrap();
            near(d.delta - d.half_width, low, 1e-9);
            near(d.delta + d.half_width, high, 1e-9);
            near(d.pooled_stddev, 1.15044866950963, 1e-12);
            assert_eq!(d.is_significant(), significant, "{level}");
        }
    }

    /// R 4.2: `t.test(b, a, var.equal = TRUE)$p.value`
    #[test]
    fn p_value_equals_r() {
        let of = |a: &[f64], b: &[f64]| {
            let (a, b) = (Summary::of(a).unwrap(), Summary::of(b).unwrap());
            p_value(&a, &b, &between(&a, &b, Confidence::P95).unwrap()).unwrap()
        };
        near(of(&A, &B), 0.128361696273572, 1e-9);
        let shifted = A.map(|x| x + 10.0);
        near(of(&A, &shifted), 4.17618749722776e-12, 1e-6);
        assert_eq!(
            (of(&A, &A), of(&[1.0; 3], &[2.0; 3]), of(&[1.0; 3], &[1.0; 3])),
            (1.0, 0.0, 1.0)
        );
    }

    /// R 4.2: `power.t.test(n = N, sd = 1, sig.level = L, power = .8, tol = 1e-10)$delta`, the true power; Bloom's formula puts
    /// the same effect within 1 % from 20 runs on.
    #[test]
    fn smallest_effect_is_near_rs_power() {
        let by_r = [
            (20, 0.05, 0.909130127616),
            (20, 0.01, 1.13043799747),
            (20, 0.05 / 70.0, 1.44569493582),
            (100, 0.05, 0.398138624874),
            (100, 0.01, 0.487390355877),
            (100, 0.05 / 70.0, 0.606376312702),
        ];
        for (n, level, delta) in by_r {
            let half: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 }).collect();
            let s = Summary::of(&half).unwrap();
            let confidence = Confidence::new(1.0 - level).unwrap();
            let d = between(&s, &s, confidence).unwrap();
            let ours = smallest_detectable(&s, &s, &d, confidence, 0.8).unwrap();
            near(ours / s.stddev.unwrap(), delta, 0.01);
        }
    }

    /// `ministat -c 80 a b` (20150715): -0.844933 +/- 0.704617, -13.2277% +/- 11.031%; its t has three
    /// decimals.
    #[test]
    fn percentages_equal_ministat() {
        let d = difference(&A, &B, Confidence::new(0.8).unwrap()).unwrap();
        near(d.percent.unwrap(), -13.2277, 1e-5);
        near(d.percent_half_width.unwrap(), 11.031, 5e-4);
    }

    #[test]
    fn samples_without_spread_compare_by_their_values() {
        let same = difference(&[0.1; 100], &[0.1; 7], Confidence::P95).unwrap();
        assert_eq!((same.delta, same.half_width, same.is_significant()), (0.0, 0.0, false));
        let other = difference(&[2.0; 3], &[1.0; 3], Confidence::P95).unwrap();
        assert_eq!((other.percent, other.half_width), (Some(-50.0), 0.0));
        assert!(other.is_significant());
        let zero_base = difference(&[0.0; 3], &[1.0; 3], Confidence::P95).unwrap();
        assert_eq!((zero_base.percent, zero_base.percent_half_width), (None, None));
    }

    #[test]
    fn one_run_has_no_interval() {
        assert_eq!(difference(&[1.0], &[1.0, 2.0], Confidence::P95), None);
        assert_eq!(difference(&[1.0, 2.0], &[], Confidence::P95), None);
    }

    proptest! {
        #[test]
        fn never_yields_nan(
            a in prop::collection::vec(any::<f64>(), 0..12),
            b in prop::collection::vec(any::<f64>(), 0..12),
            level in 0.001..0.9999f64,
        ) {
            if let Some(d) = difference(&a, &b, Confidence::new(level).unwrap()) {
                prop_assert!(d.delta.is_finite() && d.half_width.is_finite());
                prop_assert!(d.percent.is_none_or(|p| !p.is_nan()));
            }
        }

        #[test]
        fn swapping_the_samples_turns_the_sign(
            a in prop::collection::vec(0.1..1e3f64, 2..12),
            b in prop::collection::vec(0.1..1e3f64, 2..12),
        ) {
            let (d, e) = (difference(&a, &b, Confidence::P95), difference(&b, &a, Confidence::P95));
            let (d, e) = (d.unwrap(), e.unwrap());
            prop_assert_eq!(d.delta, -e.delta);
            prop_assert!((d.half_width - e.half_width).abs() <= 1e-12 * d.half_width);
        }
    }
}
