//! How many runs a comparison takes, before it is made: from a pilot, a few runs of one thing under the same conditions.
//!
//! The spread of a few runs is itself uncertain, and half of all pilots show too little of it. So the upper end of its one-sided 80 %
//! interval counts (R. H. Browne, "On the use of a pilot sample for sample size determination", Statistics in Medicine 14, 1995).

use crate::confidence::Confidence;
use crate::student::t_quantile;
use crate::summary::Summary;
use crate::verdict::POWER;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Most runs that are considered.
const MOST_RUNS: u32 = 100_000;
/// Probability that the true spread is below what is reckoned with.
const SPREAD_CONFIDENCE: f64 = 0.8;

/// The smallest difference of means, in percent of the mean, that two samples of `runs` runs each show at the verdict's 99 % with 80 %
/// probability (Bloom 1995, by Student's t), where the spread is that of `pilot`.
///
/// `None` for fewer than two values or runs, and for a mean of 0.
pub fn smallest_effect_percent(pilot: &[f64], runs: u32) -> Option<f64> {
    let summary = Summary::of(pilot)?;
    if runs < 2 || summary.mean == 0.0 {
        return None;
    }
    let freedom = summary.n as f64 - 1.0;
    let chi = ChiSquared::new(freedom).ok()?.inverse_cdf(1.0 - SPREAD_CONFIDENCE);
    let spread = summary.stddev? * (freedom / chi).sqrt();
    let (runs, strict) = (f64::from(runs), Confidence::P99);
    let freedom = 2.0 * (runs - 1.0);
    let t = t_quantile(1.0 - strict.tail(), freedom)? + t_quantile(POWER, freedom)?;
    Some(100.0 * t * spread * (2.0 / runs).sqrt() / summary.mean.abs())
}

/// The fewest runs of each of two things that show a difference of `percent`, as [`smallest_effect_percent`] has it; `None` where it takes
/// more than 100,000, or where that gives `None`.
pub fn runs_for(pilot: &[f64], percent: f64) -> Option<u32> {
    let shows = |runs: u32| smallest_effect_percent(pilot, runs).is_some_and(|p| p <= percent);
    if !shows(MOST_RUNS) {
        return None;
    }
    let (mut low, mut high) = (1, MOST_RUNS);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if shows(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PILOT: [f64; 10] = [9.8, 10.1, 10.0, 10.3, 9.9, 10.0, 9.7, 10.2, 10.1, 9.9];

    /// By hand, with quantiles out of tables: a spread of 0.18257 sqrt(9 / 5.3801), times (2.7116 + 0.8512) sqrt(2 / 20) / 10.
    #[test]
    fn what_twenty_runs_show() {
        let effect = smallest_effect_percent(&PILOT, 20).unwrap();
        assert!((effect - 2.6605).abs() < 0.001, "{effect}");
    }

    #[test]
    fn the_fewest_runs_that_show_it() {
        let runs = runs_for(&PILOT, 2.0).unwrap();
        assert!(smallest_effect_percent(&PILOT, runs).unwrap() <= 2.0);
        assert!(smallest_effect_percent(&PILOT, runs - 1).unwrap() > 2.0);
        assert_eq!(runs_for(&PILOT, 1e-6), None);
        assert_eq!(runs_for(&[5.0, 5.0], 1.0), Some(2));
        assert_eq!(smallest_effect_percent(&[5.0], 10), None);
        assert_eq!(smallest_effect_percent(&[0.0, 0.0], 10), None);
    }
}
