//! MMTests' `SubAmean`: a mean over runs of many samples each (T. Kalibera, L. Bulej, P. Tuma, "Automated Detection of
//! Performance Regressions: The Mono Experience", MASCOTS 2005).

use crate::bootstrap::{Resampling, index_below, quantile};
use crate::error::StatsError;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use statrs::distribution::{ContinuousCDF, Normal};

/// Number of draws from each run.
const DRAWS: usize = 1000;

/// A mean and half the width of its confidence interval, in the samples' unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SubAmean {
    /// Mean of the runs' values.
    pub value: f64,
    /// Half the width of the interval, at the confidence of the resampling.
    pub half_width: f64,
    /// Satterthwaite's degrees of freedom of the variance: the number of runs minus one if runs differ more than their
    /// samples explain; infinite if they do not differ or if there is only one. `half_width` treats it as infinite, as the
    /// method does.
    pub freedom: f64,
}

/// The `SubAmean` of `runs`. From each run, 1000 samples of 80 % of its size are drawn with replacement. The median of their
/// means is the run's value, the median of their variances its spread. The interval of the mean over runs is
/// `z sqrt((B + W) / N)`, where `W` is the mean spread within runs, `B` the variance of the runs' values weighted by the sizes
/// of their draws, and `N` the sum of these sizes. A single run has no `B`.
///
/// `resampling` provides seed and confidence; its number of resamples is not used. Rejects an empty list, runs of fewer than
/// two samples, and values that are not finite.
pub(crate) fn subamean(runs: &[&[f64]], resampling: &Resampling) -> Result<SubAmean, StatsError> {
    const NAME: &str = "SubAmean";
    if runs.is_empty() {
        return Err(StatsError::NoValues { mean: NAME });
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(resampling.seed());
    let mut drawn = Vec::with_capacity(runs.len());
    for (run, samples) in runs.iter().enumerate() {
        if samples.len() < 2 {
            return Err(StatsError::ShortRun { run, found: samples.len() });
        }
        if let Some(index) = samples.iter().position(|v| !v.is_finite()) {
            return Err(StatsError::Value { mean: NAME, index, found: samples[index] });
        }
        drawn.push(Drawn::from(samples, &mut rng));
    }
    let k = drawn.len() as f64;
    let value = drawn.iter().map(|d| d.mean).sum::<f64>() / k;
    let within = drawn.iter().map(|d| d.variance).sum::<f64>() / k;
    let between = match drawn.len() {
        1 => 0.0,
        _ => drawn.iter().map(|d| (d.mean - value).powi(2) * d.size).sum::<f64>() / (k - 1.0),
    };
    let size: f64 = drawn.iter().map(|d| d.size).sum();
    let z = Normal::standard().inverse_cdf(1.0 - resampling.confidence().tail());
    let half_width = z * ((between + within) / size).sqrt();
    // The spread within runs comes of many samples and counts as known.
    let freedom = match between > 0.0 {
        true => (k - 1.0) * ((between + within) / between).powi(2),
        false => f64::INFINITY,
    };
    if value.is_finite() && half_width.is_finite() {
        Ok(SubAmean { value, half_width, freedom })
    } else {
        Err(StatsError::Overflow { mean: NAME })
    }
}

/// The result of the draws from one run.
struct Drawn {
    /// Samples per draw.
    size: f64,
    /// Median of the draws' means.
    mean: f64,
    /// Median of the draws' variances (divisor n).
    variance: f64,
}

impl Drawn {
    fn from(samples: &[f64], rng: &mut Xoshiro256PlusPlus) -> Drawn {
        let size = samples.len() * 4 / 5;
        // Around a value of the sample the sums of squares lose no digits.
        let origin = samples[0];
        let mut draws: Vec<(f64, f64)> = (0..DRAWS)
            .map(|_| {
                let (mut sum, mut squares) = (0.0, 0.0);
                for _ in 0..size {
                    let x = samples[index_below(samples.len(), rng)] - origin;
                    sum += x;
                    squares += x * x;
                }
                let mean = sum / size as f64;
                (origin + mean, (squares / size as f64 - mean * mean).max(0.0))
            })
            .collect();
        draws.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let means: Vec<f64> = draws.iter().map(|d| d.0).collect();
        draws.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        let variances: Vec<f64> = draws.iter().map(|d| d.1).collect();
        Drawn {
            size: size as f64,
            mean: quantile(&means, 0.5),
            variance: quantile(&variances, 0.5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Confidence;

    fn settings(seed: u64) -> Resampling {
        Resampling::new(100, seed, Confidence::P95).unwrap()
    }

    fn runs() -> [Vec<f64>; 3] {
        let run = |shift: f64| (0..200).map(|i| 100.0 + shift + f64::from(i * i % 37)).collect();
        [run(0.0), run(2.0), run(-1.0)]
    }

    /// MMTests of June 2026, `python3 bin/lib/Python/subselection-confidence-interval.py amean 0.05` with these runs as
    /// JSON on its standard input, ten times (numpy is not seeded there): values 118.145 to 118.220 and half widths
    /// 1.9505 to 2.0568 for three runs, 117.797 to 117.875 and 1.7839 to 1.7870 for one.
    #[test]
    fn equals_mmtests() {
        let [a, b, c] = runs();
        let three = subamean(&[&a, &b, &c], &settings(1)).unwrap();
        assert!((118.10..118.26).contains(&three.value), "{three:?}");
        assert!((1.92..2.09).contains(&three.half_width), "{three:?}");
        let one = subamean(&[&a], &settings(1)).unwrap();
        assert!((117.76..117.91).contains(&one.value), "{one:?}");
        assert!((1.782..1.789).contains(&one.half_width), "{one:?}");
    }

    #[test]
    fn runs_that_differ_have_few_degrees_of_freedom() {
        let apart: Vec<Vec<f64>> =
            (0..5).map(|run| (0..100).map(|i| f64::from(run * 1000 + i % 2)).collect()).collect();
        let of = |runs: &[&[f64]]| subamean(runs, &settings(1)).unwrap().freedom;
        let five: Vec<&[f64]> = apart.iter().map(Vec::as_slice).collect();
        assert!((4.0..4.01).contains(&of(&five)), "{}", of(&five));
        assert_eq!(of(&five[..1]), f64::INFINITY);
        let [a, b, c] = runs();
        assert!(of(&[&a, &b, &c]) > 2.0);
    }

    #[test]
    fn seed_decides() {
        let [a, b, _] = runs();
        let of = |seed| subamean(&[&a, &b], &settings(seed)).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn equal_samples_are_their_own_value() {
        let ours = subamean(&[&[3.0; 10], &[3.0; 5]], &settings(1)).unwrap();
        assert_eq!((ours.value, ours.half_width), (3.0, 0.0));
    }

    #[test]
    fn refuses_what_cannot_be_drawn_from() {
        let message = |runs: &[&[f64]]| subamean(runs, &settings(1)).unwrap_err().to_string();
        assert_eq!(message(&[]), "SubAmean: found no values, expected one or more");
        let short = message(&[&[1.0, 2.0], &[1.0]]);
        assert_eq!(short, "SubAmean of run 1: found 1 samples, expected 2 or more");
        assert!(message(&[&[1.0, f64::NAN]]).contains("values[1]: found NaN"));
        assert!(message(&[&[f64::MIN, f64::MAX, f64::MAX, f64::MAX]]).contains("overflow"));
    }
}
