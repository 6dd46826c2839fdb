//! Bootstrap intervals of the percent change between the medians of two samples.
//!
//! They use the percentile method: a median moves in jumps, and BCa's jackknife is not valid for it (Efron and Tibshirani,
//! chapter 11).

use crate::better::Better;
use crate::bootstrap::{Interval, Resampling, index_below, quantile};
use crate::summary::Summary;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Percentile interval of the percent change of medians from `base` to `variant`, positive if the variant is better (see
/// [`Better::percent`]). Both samples are resampled independently.
///
/// `None` if a sample has fewer than two values, if a value is not finite, or if `base` has a value that is not above 0.
pub fn median_change(
    base: &[f64],
    variant: &[f64],
    better: Better,
    resampling: &Resampling,
) -> Option<Interval> {
    let (b, v) = (Summary::of(base)?, Summary::of(variant)?);
    if b.n < 2 || v.n < 2 || b.min <= 0.0 {
        return None;
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(resampling.seed());
    let mut scratch = vec![0.0; b.n.max(v.n)];
    let mut changes: Vec<f64> = (0..resampling.resamples())
        .map(|_| {
            let base_median = resampled_median(base, &mut scratch[..b.n], &mut rng);
            better.percent(base_median, resampled_median(variant, &mut scratch[..v.n], &mut rng))
        })
        .collect();
    changes.sort_unstable_by(f64::total_cmp);
    let confidence = resampling.confidence();
    Some(Interval {
        estimate: better.percent(b.median, v.median),
        low: quantile(&changes, confidence.tail()),
        high: quantile(&changes, 1.0 - confidence.tail()),
        confidence,
    })
}

fn resampled_median(values: &[f64], scratch: &mut [f64], rng: &mut Xoshiro256PlusPlus) -> f64 {
    scratch.fill_with(|| values[index_below(values.len(), rng)]);
    let (below, &mut upper, _) = scratch.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    if values.len() % 2 == 1 {
        return upper;
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    f64::midpoint(lower, upper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Confidence;

    fn resampling() -> Resampling {
        Resampling::new(2000, 1, Confidence::P95).unwrap()
    }

    #[test]
    fn a_shifted_sample_changes_by_the_shift() {
        let base: Vec<f64> = (0..101).map(|i| 100.0 + f64::from(i % 11)).collect();
        let variant: Vec<f64> = base.iter().map(|x| x * 0.9).collect();
        let change = median_change(&base, &variant, Better::Lower, &resampling()).unwrap();
        assert!((change.estimate - 10.0).abs() < 1e-9, "{change:?}");
        assert!(change.low > 5.0 && change.low < 10.0 && change.high < 15.0, "{change:?}");
        assert!(change.high >= 10.0, "{change:?}");
    }

    #[test]
    fn an_even_sample_averages_its_middle() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let medians: Vec<f64> =
            (0..500).map(|_| resampled_median(&[1.0, 3.0], &mut [0.0; 2], &mut rng)).collect();
        assert!([1.0, 2.0, 3.0].iter().all(|m| medians.contains(m)));
        assert!(medians.iter().all(|m| [1.0, 2.0, 3.0].contains(m)));
    }

    #[test]
    fn samples_that_carry_no_answer_give_none() {
        let good = [1.0, 2.0];
        for bad in [&[][..], &[1.0], &[0.0, 1.0], &[1.0, f64::NAN]] {
            assert_eq!(median_change(bad, &good, Better::Lower, &resampling()), None);
        }
    }
}
