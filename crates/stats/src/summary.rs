//! A sample summarised in six numbers.

use crate::mean::amean;
use serde::{Deserialize, Serialize};

/// The figures that ministat prints for a sample, in the sample's unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Middle value; for an even number of values, the mean of the two in the middle.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Sample standard deviation (divisor n - 1); a single value has none.
    pub stddev: Option<f64>,
}

impl Summary {
    /// Summarises `values`; `None` if there are none, if one is not finite, or if their squares overflow.
    pub fn of(values: &[f64]) -> Option<Summary> {
        if values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let n = sorted.len();
        // Rounding can put the mean of equal values beside them; no mean lies outside its sample.
        let mean = amean(values)?.clamp(min, max);
        let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let median = if n % 2 == 1 {
            sorted[n / 2]
        } else {
            f64::midpoint(sorted[n / 2 - 1], sorted[n / 2])
        };
        let stddev = (n > 1).then(|| (squares / (n - 1) as f64).sqrt());
        squares.is_finite().then_some(Summary { n, min, max, median, mean, stddev })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VANILLA: [f64; 10] = [6.174, 6.02, 5.871, 7.25, 4.225, 6.31, 9.754, 5.99, 6.182, 6.1];

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} is not {b}");
    }

    /// R 4.2: `a <- c(6.174, ...); c(mean(a), median(a), sd(a))`
    #[test]
    fn equals_r() {
        let s = Summary::of(&VANILLA).unwrap();
        assert_eq!((s.n, s.min, s.max), (10, 4.225, 9.754));
        near(s.mean, 6.3876);
        near(s.median, 6.137);
        near(s.stddev.unwrap(), 1.39403269529648);
        assert_eq!(Summary::of(&[3.0, 1.0, 2.0]).unwrap().median, 2.0);
    }

    #[test]
    fn samples_without_an_answer_have_none() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[1.0, f64::INFINITY]), None);
        assert_eq!(Summary::of(&[-1e300, 1e300]), None);
        assert_eq!(Summary::of(&[5.0]).unwrap().stddev, None);
    }

    proptest! {
        #[test]
        fn equal_values_have_their_own_mean_and_no_spread(v in -1e9..1e9f64, n in 2usize..200) {
            let s = Summary::of(&vec![v; n]).unwrap();
            prop_assert_eq!((s.min, s.mean, s.max, s.stddev), (v, v, v, Some(0.0)));
        }

        #[test]
        fn any_values_are_ordered(values in prop::collection::vec(any::<f64>(), 0..40)) {
            if let Some(s) = Summary::of(&values) {
                prop_assert!(s.min <= s.median && s.median <= s.max);
                prop_assert!(s.min <= s.mean && s.mean <= s.max);
                prop_assert!(s.stddev.is_none_or(|d| d >= 0.0 && d.is_finite()));
            }
        }
    }
}
