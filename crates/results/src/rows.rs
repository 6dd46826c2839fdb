//! Means over the rows of a benchmark.

use crate::power::POWER;
use crate::runs::WorkloadResults;

/// Run by run the mean of `metric` over `rows` under a variant. Power is a mean over time: each row counts for as long as it takes where
/// it measures that, and all the same where they run for a fixed time. `None` without rows, or where they have not the same number of
/// runs.
pub(crate) fn mean(rows: &[&WorkloadResults], variant: &str, metric: &str) -> Option<Vec<f64>> {
    let of = |metric: &str| -> Option<Vec<Vec<f64>>> {
        rows.iter().map(|w| Some(w.samples(variant, w.metric(metric)?))).collect()
    };
    let samples = of(metric)?;
    let first = &rows.first()?.metrics.first()?.name;
    match metric == POWER && rows.iter().all(|w| lasts(w)) {
        true => weighted(&samples, &of(first)?),
        false => equal(&samples),
    }
}

/// Whether the first metric is how long a run takes.
fn lasts(w: &WorkloadResults) -> bool {
    w.metrics.first().is_some_and(|m| m.unit == "s") && !w.has_single_times(0)
}

fn equal(samples: &[Vec<f64>]) -> Option<Vec<f64>> {
    let number = samples.first()?.len();
    if samples.iter().any(|s| s.len() != number) {
        return None;
    }
    let of_run = |at: usize| stats::amean(&samples.iter().map(|s| s[at]).collect::<Vec<_>>());
    (0..number).map(of_run).collect()
}

fn weighted(samples: &[Vec<f64>], weights: &[Vec<f64>]) -> Option<Vec<f64>> {
    let products = |(s, w): (&Vec<f64>, &Vec<f64>)| -> Option<Vec<f64>> {
        (s.len() == w.len()).then(|| s.iter().zip(w).map(|(s, w)| s * w).collect())
    };
    let products: Vec<Vec<f64>> =
        samples.iter().zip(weights).map(products).collect::<Option<_>>()?;
    let (sums, wholes) = (equal(&products)?, equal(weights)?);
    Some(sums.iter().zip(&wholes).map(|(sum, whole)| sum / whole).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_takes_longer_weighs_more() {
        let watts = [vec![100.0, 100.0], vec![200.0, 400.0]];
        let lengths = [vec![30.0, 10.0], vec![10.0, 10.0]];
        assert_eq!(weighted(&watts, &lengths), Some(vec![125.0, 250.0]));
        assert_eq!(weighted(&watts, &[vec![1.0], vec![1.0]]), None);
    }
}
