//! Bootstrap intervals of the percent change between the means (arithmetic or harmonic) of two samples.
//!
//! The intervals are bias-corrected and accelerated (BCa; Efron and Tibshirani, "An Introduction to the Bootstrap", chapter
//! 14; for two samples Davison and Hinkley, "Bootstrap Methods and their Application", section 5.3). They are expanded for
//! few runs (T. Hesterberg, "What Teachers Should Know about the Bootstrap", The American Statistician 69(4), 2015, section
//! 4.3).
//!
//! Why expand? Resampling n runs shows only `sqrt(1 - 1/n)` of the true spread, and normal quantiles are closer to the centre
//! than Student's. At 10 runs, a plain 95 % interval contains the truth less than 91 % of the time. Expansion corrects for
//! both.

use crate::better::Better;
use crate::confidence::Confidence;
use crate::error::StatsError;
use crate::mean::Mean;
use crate::student::t_quantile;
use crate::summary::Summary;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// How to resample. The same settings and samples give the same interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Resampling {
    resamples: u32,
    seed: u64,
    confidence: Confidence,
}

impl Resampling {
    /// `resamples` draws (100 to 1,000,000) from the random stream of `seed`, for intervals at
    /// `confidence`. With 10,000 draws, the ends of a 95 % interval vary from seed to seed by about 1 % of its width; with
    /// 1,000,000, by a tenth of that.
    pub fn new(
        resamples: u32,
        seed: u64,
        confidence: Confidence,
    ) -> Result<Resampling, StatsError> {
        if !(100..=1_000_000).contains(&resamples) {
            return Err(StatsError::Resamples { found: resamples });
        }
        Ok(Resampling { resamples, seed, confidence })
    }

    /// Number of draws.
    pub fn resamples(&self) -> u32 {
        self.resamples
    }

    /// The same settings with at least `resamples` draws, but no more than 1,000,000.
    pub(crate) fn at_least(self, resamples: f64) -> Resampling {
        let wanted = resamples.ceil().min(1e6) as u32;
        Resampling { resamples: self.resamples.max(wanted), ..self }
    }

    /// Seed of the random stream.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Confidence level of the intervals.
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }
}

/// An estimate with its confidence interval, all in one unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The value computed from the samples themselves.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence level.
    pub confidence: Confidence,
}

impl Interval {
    /// Converts a percent change (see [`Better::percent`]) to the ratio of the new figure to the base.
    pub fn ratio(self, better: Better) -> Interval {
        let (low, high) = match better {
            Better::Higher => (self.low, self.high),
            Better::Lower => (self.high, self.low),
        };
        let ratio = |percent| better.ratio(percent);
        Interval { estimate: ratio(self.estimate), low: ratio(low), high: ratio(high), ..self }
    }
}

/// Expanded BCa interval of the percent change of arithmetic means from `base` to `variant`, positive if the variant is
/// better (see [`Better::percent`]). Both samples are resampled independently.
///
/// `None` if a sample has fewer than two values, if a value is negative or not finite, if fewer than two values of `base` are
/// above 0, or if so many are 0 that the interval is unbounded. Two samples without spread give an interval of zero width.
pub fn percent_change(
    base: &[f64],
    variant: &[f64],
    better: Better,
    resampling: &Resampling,
) -> Option<Interval> {
    mean_change(Mean::Arithmetic, base, variant, better, resampling)
}

/// [`percent_change`] for either mean. `None` as there, and for harmonic means also if a value is not above 0.
pub fn mean_change(
    mean: Mean,
    base: &[f64],
    variant: &[f64],
    better: Better,
    resampling: &Resampling,
) -> Option<Interval> {
    let change = Change { mean, better };
    PercentBootstrap::of(base, variant, change, resampling)?.interval(resampling.confidence)
}

/// The change to estimate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    /// The mean that stands for a sample.
    pub(crate) mean: Mean,
    /// The sign of the change.
    pub(crate) better: Better,
}

impl Change {
    /// Percent change between the figures of two samples, by the arithmetic means of their addends (values, or for the
    /// harmonic mean their reciprocals).
    fn percent(self, base: f64, variant: f64) -> f64 {
        self.better.percent(self.mean.figure(base), self.mean.figure(variant))
    }
}

/// The bootstrap distribution of a percent change, from which intervals at any level come.
pub(crate) struct PercentBootstrap {
    estimate: f64,
    /// Resampled percent changes, ascending; never empty.
    sorted: Vec<f64>,
    /// The estimate's own place among `sorted`, as a normal quantile (BCa's z0).
    bias: f64,
    /// BCa's a.
    acceleration: f64,
    normal: Normal,
    expansion: Expansion,
}

/// How much wider than a plain interval the interval of few runs must be.
#[derive(Debug, Clone, Copy)]
struct Expansion {
    /// True spread divided by resampled spread.
    spread: f64,
    /// Degrees of freedom (Welch and Satterthwaite).
    freedom: f64,
}

impl Expansion {
    /// No expansion.
    const NONE: Expansion = Expansion { spread: 1.0, freedom: f64::INFINITY };

    /// For the ratio of two means, from the error that each contributes. Without errors, nothing is expanded.
    fn of(base: &Summary, variant: &Summary) -> Expansion {
        let part = |s: &Summary, other: &Summary| {
            let n = s.n as f64;
            let spread = s.stddev.map_or(0.0, |sd| sd * other.mean);
            (spread.powi(2) / n, n - 1.0)
        };
        let parts = [part(base, variant), part(variant, base)];
        let sum = |f: fn(f64, f64) -> f64| parts.iter().map(|&(v, free)| f(v, free)).sum::<f64>();
        let variance = sum(|v, _| v);
        let resampled = sum(|v, free| v * free / (free + 1.0));
        let freedom = variance.powi(2) / sum(|v, free| v.powi(2) / free);
        let spread = (variance / resampled).sqrt();
        let finite = spread.is_finite() && freedom.is_finite();
        if finite { Expansion { spread, freedom } } else { Expansion::NONE }
    }

    /// The normal quantile that replaces a plain interval's end of probability `tail`.
    fn quantile(&self, tail: f64) -> Option<f64> {
        Some(self.spread * t_quantile(tail, self.freedom)?)
    }
}

impl PercentBootstrap {
    /// Resamples both samples. `None` as for [`mean_change`].
    pub(crate) fn of(
        base: &[f64],
        variant: &[f64],
        change: Change,
        resampling: &Resampling,
    ) -> Option<PercentBootstrap> {
        let refused = |v: &f64| *v <= 0.0;
        if change.mean == Mean::Harmonic
            && (base.iter().any(refused) || variant.iter().any(refused))
        {
            return None;
        }
        let (base, variant) = (&change.mean.addends(base)[..], &change.mean.addends(variant)[..]);
        let (b, v) = (Summary::of(base)?, Summary::of(variant)?);
        let negative = b.min < 0.0 || v.min < 0.0;
        let nonzero = base.iter().filter(|&&x| x > 0.0).count();
        if negative || nonzero < 2 || v.n < 2 {
            return None;
        }
        let estimate = change.percent(b.mean, v.mean);
        let normal = Normal::standard();
        if b.min == b.max && v.min == v.max {
            let sorted = vec![estimate];
            return Some(PercentBootstrap {
                estimate,
                sorted,
                bias: 0.0,
                acceleration: 0.0,
                normal,
                expansion: Expansion::NONE,
            });
        }
        let expansion = Expansion::of(&b, &v);
        let sorted = resampled(base, variant, change, resampling);
        let bias = normal.inverse_cdf(share_below(&sorted, estimate));
        let acceleration = acceleration(base, variant, change);
        Some(PercentBootstrap { estimate, sorted, bias, acceleration, normal, expansion })
    }

    /// The expanded interval at `confidence`; `None` if an end is not finite.
    pub(crate) fn interval(&self, confidence: Confidence) -> Option<Interval> {
        let z = self.expansion.quantile(1.0 - confidence.tail())?;
        self.between(z, confidence)
    }

    /// The interval between the normal quantiles `-z` and `z`, adjusted.
    fn between(&self, z: f64, confidence: Confidence) -> Option<Interval> {
        let end = |z: f64| quantile(&self.sorted, self.adjusted(z));
        let (low, high) = (end(-z), end(z));
        let finite = self.estimate.is_finite() && low.is_finite() && high.is_finite();
        finite.then_some(Interval { estimate: self.estimate, low, high, confidence })
    }

    /// Two-sided p-value of no change: 1 minus the level at which the plain interval's end reaches 0. Not expanded: the number of
    /// resamples bounds a plain p-value from below, and Student's tails would raise that bound without limit. For few runs,
    /// ask Student's t as well. Two samples without spread give 0 or 1.
    pub(crate) fn p_value(&self) -> f64 {
        if self.sorted.len() == 1 {
            return if self.estimate == 0.0 { 1.0 } else { 0.0 };
        }
        let place = self.normal.inverse_cdf(share_below(&self.sorted, 0.0)) - self.bias;
        let scale = 1.0 + self.acceleration * place;
        // Beyond the pole no interval reaches 0.
        let tail = if scale > 0.0 { self.normal.cdf(place / scale - self.bias) } else { 0.0 };
        2.0 * tail.min(1.0 - tail)
    }

    /// The probability in the bootstrap distribution that belongs to the normal quantile `z`.
    fn adjusted(&self, z: f64) -> f64 {
        let z = self.bias + z;
        let scale = 1.0 - self.acceleration * z;
        if scale > 0.0 {
            self.normal.cdf(self.bias + z / scale)
        } else {
            // Beyond the pole the formula would turn back; its limit is the distribution's end.
            if z > 0.0 { 1.0 } else { 0.0 }
        }
    }
}

/// Percent changes of resampled means, ascending.
fn resampled(base: &[f64], variant: &[f64], change: Change, resampling: &Resampling) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(resampling.seed);
    let mut changes: Vec<f64> = (0..resampling.resamples)
        .map(|_| {
            let base_mean = resampled_mean(base, &mut rng);
            change.percent(base_mean, resampled_mean(variant, &mut rng))
        })
        .collect();
    changes.sort_unstable_by(f64::total_cmp);
    changes
}

/// Mean of a resample: as many values as `values` has, drawn with replacement.
fn resampled_mean(values: &[f64], rng: &mut Xoshiro256PlusPlus) -> f64 {
    let n = values.len();
    let mut sum = 0.0;
    for _ in 0..n {
        sum += values[index_below(n, rng)];
    }
    sum / n as f64
}

/// A uniform index below `n`, by multiply and shift (Lemire): no division, its bias below n / 2^64.
pub(crate) fn index_below(n: usize, rng: &mut Xoshiro256PlusPlus) -> usize {
    ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize
}

/// Share of `sorted` below `estimate`, ties counting half; kept half a resample from 0 and 1, where the
/// normal quantile has no value.
fn share_below(sorted: &[f64], estimate: f64) -> f64 {
    let below = sorted.partition_point(|&x| x < estimate);
    let up_to = sorted.partition_point(|&x| x <= estimate);
    let n = sorted.len() as f64;
    let share = (below + up_to) as f64 / (2.0 * n);
    share.clamp(0.5 / n, 1.0 - 0.5 / n)
}

/// BCa's acceleration from the jackknife of both samples: one sixth of the skewness of the influences,
/// each sample's sums scaled by its size.
fn acceleration(base: &[f64], variant: &[f64], change: Change) -> f64 {
    let (base_sum, variant_sum) = (base.iter().sum::<f64>(), variant.iter().sum::<f64>());
    let (n, m) = (base.len() as f64, variant.len() as f64);
    let without_base =
        |x: f64| change.percent((base_sum - x).max(0.0) / (n - 1.0), variant_sum / m);
    let without_variant =
        |x: f64| change.percent(base_sum / n, (variant_sum - x).max(0.0) / (m - 1.0));
    let (base_cubes, base_squares) = influence_sums(base, without_base);
    let (variant_cubes, variant_squares) = influence_sums(variant, without_variant);
    let squares = base_squares + variant_squares;
    let a = (base_cubes + variant_cubes) / (6.0 * squares.powf(1.5));
    // Without spread in the influences, or with one that is infinite, there is no skewness to correct.
    if a.is_finite() { a } else { 0.0 }
}

/// Sums of the cubes and the squares of a sample's jackknife influences, over n^3 and n^2.
fn influence_sums(values: &[f64], without: impl Fn(f64) -> f64) -> (f64, f64) {
    let n = values.len() as f64;
    let centre = values.iter().map(|&x| without(x)).sum::<f64>() / n;
    values.iter().fold((0.0, 0.0), |(cubes, squares), &x| {
        let influence = (n - 1.0) * (centre - without(x)) / n;
        (cubes + influence.powi(3), squares + influence.powi(2))
    })
}

/// Quantile of a non-empty ascending slice, interpolated between its values (R's type 7).
pub(crate) fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let place = probability.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let index = place as usize;
    let (low, share) = (sorted[index], place.fract());
    if share == 0.0 { low } else { low + share * (sorted[index + 1] - low) }
}

#[cfg(test)]
mod tests;
