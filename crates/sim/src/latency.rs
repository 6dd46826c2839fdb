//! Times that a run records, in bins of equal relative width.

use crate::SimError;
use hdrhistogram::Histogram;
use workload::{HistogramId, Workload};

/// Longest time that is told from longer ones: an hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// Decimal digits that bins keep: within 0.1 %.
const DIGITS: u8 = 3;

/// The times of one histogram of the workload.
#[derive(Debug)]
pub(crate) struct Latencies {
    bins: Histogram<u64>,
    sum_ns: u64,
    least_ns: u64,
    /// Whether single times are kept beside their bins.
    singly: bool,
    single_ns: Vec<u64>,
}

impl Latencies {
    /// Those of each of the workload's histograms, without times.
    pub(crate) fn of(workload: &Workload) -> Result<Vec<Latencies>, SimError> {
        let single: Vec<HistogramId> =
            workload.metrics.iter().filter_map(|m| Some(m.reading.single_times()?.0)).collect();
        let singly = |at| single.iter().any(|h| h.index() == at);
        (0..workload.histograms.len()).map(|at| Latencies::new(singly(at))).collect()
    }

    fn new(singly: bool) -> Result<Latencies, SimError> {
        let bins =
            Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).map_err(|e| SimError::Workload {
                field: "histogram".to_string(),
                found: e.to_string(),
                expected: "bins from 1 ns to an hour",
            })?;
        Ok(Latencies { bins, sum_ns: 0, least_ns: u64::MAX, singly, single_ns: vec![] })
    }

    pub(crate) fn record(&mut self, ns: u64) {
        self.bins.saturating_record(ns);
        self.sum_ns += ns;
        self.least_ns = self.least_ns.min(ns);
        if self.singly {
            self.single_ns.push(ns);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.bins.len()
    }

    /// How many took at most `ns`.
    pub(crate) fn count_within(&self, ns: u64) -> u64 {
        self.bins.count_between(0, ns)
    }

    /// All times together.
    pub(crate) fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// Sum of the reciprocals of the times, a second; `None` without times.
    pub(crate) fn rates_per_s(&self) -> Option<f64> {
        let of_bin = |bin: hdrhistogram::iterators::IterationValue<u64>| {
            bin.count_at_value() as f64 / (bin.value_iterated_to().max(1) as f64 / 1e9)
        };
        (self.count() > 0).then(|| self.bins.iter_recorded().map(of_bin).sum())
    }

    /// The single times in ns, in the order of their ends; none where they are not kept.
    pub(crate) fn single_ns(&self) -> &[u64] {
        &self.single_ns
    }

    /// The shortest time in ns; `None` without times.
    pub(crate) fn least_ns(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.least_ns)
    }

    /// Mean in us; `None` without times.
    pub(crate) fn mean_us(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64 / 1e3)
    }

    /// What `percent` of the times do not exceed, in us; `None` without times.
    pub(crate) fn percentile_us(&self, percent: f64) -> Option<f64> {
        let at = self.bins.value_at_quantile(percent / 100.0);
        (self.count() > 0).then(|| at.min(self.bins.max()) as f64 / 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_thousandth() {
        let mut times = Latencies::new(false).expect("a histogram");
        (1..=100_000).for_each(|n| times.record(n * 137));
        for percent in [1.0, 50.0, 90.0, 99.0, 99.9, 100.0] {
            let expected = percent * 1_000.0 * 137.0 / 1e3;
            let found = times.percentile_us(percent).expect("times");
            assert!((found / expected - 1.0).abs() < 1e-3, "{percent}: {found}, not {expected}");
        }
        let mean = times.mean_us().expect("times");
        assert_eq!(times.least_ns(), Some(137));
        assert!((mean - 137.0 * 50_000.5 / 1e3).abs() < 1e-6, "{mean}");
    }

    #[test]
    fn single_times_are_kept_exactly_where_they_are_wanted() {
        let of = |singly| {
            let mut times = Latencies::new(singly).expect("a histogram");
            [1_000_003, 7, 1_000_003].into_iter().for_each(|ns| times.record(ns));
            times.single_ns().to_vec()
        };
        assert_eq!(of(true), [1_000_003, 7, 1_000_003]);
        assert!(of(false).is_empty());
    }

    #[test]
    fn counts_and_rates_are_within_a_thousandth() {
        let mut times = Latencies::new(false).expect("a histogram");
        [1_000_000, 2_000_000, 4_000_000, 4_000_000].into_iter().for_each(|ns| times.record(ns));
        assert_eq!(
            [999_000, 2_000_000, 3_990_000, 4_010_000].map(|ns| times.count_within(ns)),
            [0, 2, 2, 4]
        );
        let rates = times.rates_per_s().expect("times");
        assert!((rates / 2_000.0 - 1.0).abs() < 1e-3, "{rates}");
        assert_eq!(times.sum_ns(), 11_000_000);
    }

    #[test]
    fn nothing_recorded_has_no_mean() {
        let times = Latencies::new(false).expect("a histogram");
        assert_eq!(times.least_ns(), None);
        assert_eq!((times.mean_us(), times.percentile_us(50.0)), (None, None));
    }
}
