//! Arithmetic, harmonic and geometric means, under MMTests' names.

use crate::better::Better;
use crate::error::StatsError;
use serde::{Deserialize, Serialize};

/// The mean that represents a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mean {
    /// Sum divided by n: MMTests' `Amean`, for times.
    Arithmetic,
    /// n divided by the sum of reciprocals: MMTests' `Hmean`, for rates.
    Harmonic,
}

impl Mean {
    /// MMTests' choice of mean: `Hmean` if higher is better, `Amean` if lower is.
    pub fn of_sense(better: Better) -> Mean {
        match better {
            Better::Higher => Mean::Harmonic,
            Better::Lower => Mean::Arithmetic,
        }
    }

    /// MMTests' name, as tables print it.
    pub fn name(self) -> &'static str {
        match self {
            Mean::Arithmetic => "Amean",
            Mean::Harmonic => "Hmean",
        }
    }

    /// The mean of `values`. Rejects an empty sample and values that are not finite; the harmonic mean also rejects values
    /// that are not above 0.
    pub fn of(self, values: &[f64]) -> Result<f64, StatsError> {
        self.check(values)?;
        let mean = amean(&self.addends(values)).map(|m| self.figure(m));
        mean.filter(|m| m.is_finite()).ok_or(StatsError::Overflow { mean: self.name() })
    }

    /// The mean of the best `percent` (1 to 100) of `values`: MMTests' `BAmean-95` and `BHmean-95`. It takes
    /// `n percent / 100` values, rounded down, but at least one.
    pub fn of_best(self, values: &[f64], better: Better, percent: u8) -> Result<f64, StatsError> {
        if !(1..=100).contains(&percent) {
            return Err(StatsError::BestPercent { found: percent });
        }
        self.check(values)?;
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        if better == Better::Higher {
            sorted.reverse();
        }
        sorted.truncate((sorted.len() * usize::from(percent) / 100).max(1));
        self.of(&sorted)
    }

    fn check(self, values: &[f64]) -> Result<(), StatsError> {
        if values.is_empty() {
            return Err(StatsError::NoValues { mean: self.name() });
        }
        let refused = |v: f64| !v.is_finite() || (self == Mean::Harmonic && v <= 0.0);
        match values.iter().position(|&v| refused(v)) {
            None => Ok(()),
            Some(index) => {
                Err(StatsError::Value { mean: self.name(), index, found: values[index] })
            }
        }
    }

    /// What the mean sums: the value or its reciprocal.
    pub(crate) fn addends(self, values: &[f64]) -> Vec<f64> {
        match self {
            Mean::Arithmetic => values.to_vec(),
            Mean::Harmonic => values.iter().map(|v| v.recip()).collect(),
        }
    }

    /// The mean, given the arithmetic mean of its addends.
    pub(crate) fn figure(self, mean: f64) -> f64 {
        match self {
            Mean::Arithmetic => mean,
            Mean::Harmonic => mean.recip(),
        }
    }
}

/// Arithmetic mean; `None` if `values` is empty or the mean is not finite.
pub fn amean(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.is_finite().then_some(mean)
}

/// Harmonic mean n / sum(1/x). Rejects what [`Mean::of`] rejects.
pub fn hmean(values: &[f64]) -> Result<f64, StatsError> {
    Mean::Harmonic.of(values)
}

/// Geometric mean of `ratios`, the n-th root of their product. Rejects an empty list and numbers that are not finite or not
/// above 0.
pub(crate) fn gmean(ratios: &[f64]) -> Result<f64, StatsError> {
    if ratios.is_empty() {
        return Err(StatsError::NoValues { mean: "Gmean" });
    }
    let mut logs = 0.0;
    for (index, &found) in ratios.iter().enumerate() {
        if !found.is_finite() || found <= 0.0 {
            return Err(StatsError::Value { mean: "Gmean", index, found });
        }
        logs += found.ln();
    }
    Ok((logs / ratios.len() as f64).exp())
}

/// Reduces `values` to at most `limit` means of consecutive values (batches). Returns them unchanged if there are at most
/// twice as many as `limit`.
///
/// Consecutive figures of one run (throughput per second, completions of a client) are correlated and carry less information
/// than as many independent ones. Batch means are less correlated (the method of batch means: Law, "Simulation Modeling and
/// Analysis", chapter 9). The sizes of batches differ by at most one.
pub(crate) fn batched(values: &[f64], mean: Mean, limit: usize) -> Vec<f64> {
    let n = values.len();
    if n <= 2 * limit {
        return values.to_vec();
    }
    let edge = |batch: usize| batch * n / limit;
    let of = |batch| mean.of(&values[edge(batch)..edge(batch + 1)]).ok();
    (0..limit).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VANILLA: [f64; 10] = [6.174, 6.02, 5.871, 7.25, 4.225, 6.31, 9.754, 5.99, 6.182, 6.1];

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} is not {b}");
    }

    /// R 4.2: `a <- c(6.174, ...); c(mean(a), 1/mean(1/a), exp(mean(log(a))))`
    #[test]
    fn equal_r() {
        near(amean(&VANILLA).unwrap(), 6.3876);
        near(Mean::Arithmetic.of(&VANILLA).unwrap(), 6.3876);
        near(hmean(&VANILLA).unwrap(), 6.14753369116248);
        near(gmean(&VANILLA).unwrap(), 6.26345221593758);
    }

    /// By hand: of 10 values the best 95 % are 9, the best 25 % are 2, and there is always one.
    #[test]
    fn the_best_are_counted_as_mmtests_counts() {
        let lowest_nine = (63.876 - 9.754) / 9.0;
        near(Mean::Arithmetic.of_best(&VANILLA, Better::Lower, 95).unwrap(), lowest_nine);
        let highest_two = Mean::Harmonic.of_best(&VANILLA, Better::Higher, 25).unwrap();
        near(highest_two, 2.0 / (1.0 / 9.754 + 1.0 / 7.25));
        assert_eq!(Mean::Arithmetic.of_best(&VANILLA, Better::Lower, 1), Ok(4.225));
        let message = Mean::Arithmetic.of_best(&VANILLA, Better::Lower, 101).unwrap_err();
        assert_eq!(message.to_string(), "best percent: found 101, expected 1 to 100");
    }

    #[test]
    fn what_has_no_mean_is_refused_by_name() {
        let message = |r: Result<f64, StatsError>| r.unwrap_err().to_string();
        assert_eq!(amean(&[]), None);
        assert_eq!(message(hmean(&[])), "Hmean: found no values, expected one or more");
        let zero = message(hmean(&[1.0, 0.0]));
        assert_eq!(zero, "Hmean of values[1]: found 0, expected a finite number above 0");
        assert!(message(hmean(&[1.0, -1.0])).contains("found -1"));
        assert!(message(Mean::Arithmetic.of(&[f64::NAN])).contains("values[0]: found NaN"));
        assert_eq!(Mean::Arithmetic.of(&[0.0, -1.0]), Ok(-0.5));
        assert!(message(gmean(&[2.0, 0.0])).starts_with("Gmean of values[1]: found 0"));
        assert!(message(Mean::Arithmetic.of(&[f64::MAX; 3])).contains("overflow"));
    }

    #[test]
    fn batches_keep_all_values_and_their_mean() {
        let values: Vec<f64> = (0..1003).map(f64::from).collect();
        let batches = batched(&values, Mean::Arithmetic, 100);
        assert_eq!(batches.len(), 100);
        assert!((amean(&batches).unwrap() - 501.0).abs() < 1.0);
        assert_eq!(batches[0], 4.5);
        assert_eq!(batched(&values[..200], Mean::Arithmetic, 100), values[..200]);
    }

    proptest! {
        #[test]
        fn means_are_ordered(values in prop::collection::vec(0.001..1e6f64, 1..40)) {
            let slack = 1.0 + 1e-9;
            let (h, g) = (hmean(&values).unwrap(), gmean(&values).unwrap());
            let a = Mean::Arithmetic.of(&values).unwrap();
            prop_assert!(h <= g * slack && g <= a * slack, "{h} {g} {a}");
        }
    }
}
