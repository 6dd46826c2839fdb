//! One cell, and its comparison with the baseline.

use super::{Cell, Estimator, Table};
use crate::better::Better;
use crate::bootstrap::{Change as Statistic, Interval, PercentBootstrap, Resampling};
use crate::confidence::Confidence;
use crate::error::StatsError;
use crate::mean::{Mean, batched};
use crate::student::{between, p_value, smallest_detectable, t_quantile, two_sided};
use crate::subamean::subamean;
use crate::summary::Summary;
use crate::verdict::{POWER, Verdict};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// Largest number of batch means for a cell; used from more than twice as many samples on, see [`Figure::batches`].
const BATCHES: usize = 1000;

/// A cell by itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// The estimator's value, in the table's unit.
    pub value: f64,
    /// Half the width of the value's confidence interval, in the table's unit: Student's t of the samples (of their
    /// reciprocals for `Hmean`), or that of `SubAmean`. A single sample has none.
    pub half_width: Option<f64>,
    /// Number of samples.
    pub samples: usize,
    /// Number of batches of consecutive samples whose means replace the samples in intervals and tests; `None` for up to 2000
    /// samples, which are used as they are.
    pub batches: Option<usize>,
}

/// A cell compared with the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Change {
    /// Percent change with its interval, positive if the cell is better. BCa; for `SubAmean`, Student's t of the logarithm.
    pub percent: Interval,
    /// The same as a ratio of the cell's value to the baseline's.
    pub ratio: Interval,
    /// Uncorrected p-value of no difference: the larger of the bootstrap's and Student's. Below 0.01 it agrees with the
    /// verdict of [`crate::compare`].
    pub p: f64,
    /// `p` after Holm's correction over the table.
    pub p_holm: f64,
    /// Whether `p_holm` is below the table's level.
    pub verdict: Verdict,
    /// Smallest effect, in percent of the baseline's value, that would have been detected with 80 % probability at Holm's first
    /// step: the table's level divided by its number of comparisons.
    pub smallest_detectable_percent: f64,
}

/// A cell, ready to be compared.
pub(super) struct Prepared {
    pub(super) figure: Figure,
    /// Samples or means of batches; empty for `SubAmean`.
    values: Vec<f64>,
    /// Squared standard error of the logarithm of the value, and its degrees of freedom.
    pub(super) log_error: Option<LogError>,
}

/// The error of the logarithm of a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogError {
    /// Squared standard error.
    pub(super) variance: f64,
    /// Degrees of freedom of `variance`.
    pub(super) freedom: f64,
}

impl LogError {
    /// The error of a sum of independent logarithms, with Satterthwaite's degrees of freedom. They are infinite if there is no
    /// spread or if the variance is exact.
    pub(super) fn of_sum(errors: impl IntoIterator<Item = LogError>) -> LogError {
        let (mut variance, mut per_freedom) = (0.0, 0.0);
        for error in errors {
            variance += error.variance;
            per_freedom += error.variance.powi(2) / error.freedom;
        }
        let freedom =
            if per_freedom > 0.0 { variance.powi(2) / per_freedom } else { f64::INFINITY };
        LogError { variance, freedom }
    }
}

impl Prepared {
    /// `None` for a missing cell.
    pub(super) fn of(
        cell: &Cell,
        table: &Table,
        resampling: &Resampling,
    ) -> Option<Result<Prepared, StatsError>> {
        if cell.is_missing() {
            return None;
        }
        Some(match table.estimator {
            Estimator::Amean => Prepared::pooled(cell, Mean::Arithmetic, resampling.confidence()),
            Estimator::Hmean => Prepared::pooled(cell, Mean::Harmonic, resampling.confidence()),
            Estimator::SubAmean => Prepared::subselected(cell, resampling),
        })
    }

    fn pooled(cell: &Cell, mean: Mean, confidence: Confidence) -> Result<Prepared, StatsError> {
        let samples = cell.samples();
        let value = mean.of(&samples)?;
        let values = batched(&samples, mean, BATCHES);
        let spread = Summary::of(&mean.addends(&values)).and_then(|s| Some((s, s.stddev?)));
        let freedom = values.len() as f64 - 1.0;
        let error = spread.map(|(s, sd)| (sd / (s.n as f64).sqrt(), s.mean));
        let t = t_quantile(1.0 - confidence.tail(), freedom);
        // A reciprocal's error is the error times the squared value.
        let scale = if mean == Mean::Harmonic { value * value } else { 1.0 };
        let half_width = error.zip(t).map(|((error, _), t)| t * error * scale);
        let log_error = error
            .map(|(error, mean)| LogError { variance: (error / mean).powi(2), freedom })
            .filter(|e| e.variance.is_finite());
        let batches = (values.len() < samples.len()).then_some(values.len());
        let figure = Figure { value, half_width, samples: samples.len(), batches };
        Ok(Prepared { figure, values, log_error })
    }

    fn subselected(cell: &Cell, resampling: &Resampling) -> Result<Prepared, StatsError> {
        let runs: Vec<&[f64]> =
            cell.runs.iter().map(Vec::as_slice).filter(|r| !r.is_empty()).collect();
        let s = subamean(&runs, resampling)?;
        let z = Normal::standard().inverse_cdf(1.0 - resampling.confidence().tail());
        let variance = (s.half_width / z / s.value).powi(2);
        let figure = Figure {
            value: s.value,
            half_width: Some(s.half_width),
            samples: runs.iter().map(|r| r.len()).sum(),
            batches: None,
        };
        let log_error = LogError { variance, freedom: s.freedom };
        let log_error = (variance.is_finite() && s.value > 0.0).then_some(log_error);
        Ok(Prepared { figure, values: vec![], log_error })
    }

    /// Whether the cell can be compared: it has a spread and a value above 0.
    pub(super) fn is_comparable(&self) -> bool {
        self.figure.value > 0.0 && self.log_error.is_some()
    }
}

/// Compares two cells at the uncorrected level. The table fills in `p_holm` and the verdict. `None` if the samples give no
/// percent change.
pub(super) fn change(
    base: &Prepared,
    cell: &Prepared,
    table: &Table,
    resampling: &Resampling,
    level: Confidence,
) -> Option<Change> {
    let of_mean =
        |mean| of_samples(base, cell, Statistic { mean, better: table.better }, resampling, level);
    match table.estimator {
        Estimator::Amean => of_mean(Mean::Arithmetic),
        Estimator::Hmean => of_mean(Mean::Harmonic),
        Estimator::SubAmean => of_logarithms(base, cell, table.better, resampling, level),
    }
}

/// By bootstrap and Student's t.
fn of_samples(
    base: &Prepared,
    cell: &Prepared,
    statistic: Statistic,
    resampling: &Resampling,
    level: Confidence,
) -> Option<Change> {
    let bootstrap = PercentBootstrap::of(&base.values, &cell.values, statistic, resampling)?;
    let addends = |p: &Prepared| Summary::of(&statistic.mean.addends(&p.values));
    let (b, v) = (addends(base)?, addends(cell)?);
    let difference = between(&b, &v, level)?;
    let detectable = smallest_detectable(&b, &v, &difference, level, POWER)?;
    let percent = bootstrap.interval(resampling.confidence())?;
    let p = bootstrap.p_value().max(p_value(&b, &v, &difference)?);
    Some(unjudged(percent, statistic.better, p, 100.0 * detectable / b.mean))
}

/// By Student's t of the logarithm of the ratio, because few runs say little about the spread between runs.
fn of_logarithms(
    base: &Prepared,
    cell: &Prepared,
    better: Better,
    resampling: &Resampling,
    level: Confidence,
) -> Option<Change> {
    let LogError { variance, freedom } = LogError::of_sum([base.log_error?, cell.log_error?]);
    let error = variance.sqrt();
    let log = (cell.figure.value / base.figure.value).ln();
    let confidence = resampling.confidence();
    let t = t_quantile(1.0 - confidence.tail(), freedom)?;
    let percent = |log: f64| better.percent(1.0, log.exp());
    let ends = (percent(log - t * error), percent(log + t * error));
    let (low, high) = (ends.0.min(ends.1), ends.0.max(ends.1));
    let interval = Interval { estimate: percent(log), low, high, confidence };
    let p = if log == 0.0 { 1.0 } else { two_sided(log.abs() / error, freedom)? };
    let t = t_quantile(1.0 - level.tail(), freedom)? + t_quantile(POWER, freedom)?;
    Some(unjudged(interval, better, p, 100.0 * t * error))
}

fn unjudged(percent: Interval, better: Better, p: f64, smallest: f64) -> Change {
    Change {
        percent,
        ratio: percent.ratio(better),
        p,
        p_holm: p,
        verdict: Verdict::NoDifference,
        smallest_detectable_percent: smallest,
    }
}
