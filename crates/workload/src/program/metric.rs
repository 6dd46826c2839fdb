//! What is measured, and how it is read off a finished run.

use super::{CounterId, HistogramId, MarkId};
use crate::kvm::PartitionReading;
use stats::Better;

/// How a metric is read off a finished run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// Seconds from one mark to another, times `scale`.
    Seconds {
        /// First mark.
        from: MarkId,
        /// Last mark.
        to: MarkId,
        /// Factor, for runs shorter than the benchmark they stand for.
        scale: f64,
    },
    /// Units counted, a second, between two marks.
    UnitsPerSecond {
        /// What is counted.
        counter: CounterId,
        /// First mark.
        from: MarkId,
        /// Last mark.
        to: MarkId,
    },
    /// Times recorded, a second, between two marks.
    RecordsPerSecond {
        /// What records them.
        histogram: HistogramId,
        /// What each of them counts for.
        units: f64,
        /// First mark.
        from: MarkId,
        /// Last mark.
        to: MarkId,
    },
    /// Those of them a second that took at most `within_ns`, within 0.1 %.
    WithinPerSecond {
        /// What records them.
        histogram: HistogramId,
        /// What counts as in time.
        within_ns: u64,
        /// First mark.
        from: MarkId,
        /// Last mark.
        to: MarkId,
    },
    /// Sum of rates: so many units in each of the times recorded, within 0.1 %.
    SumOfRates {
        /// What records the times.
        histogram: HistogramId,
        /// Units in each of them.
        units: f64,
    },
    /// Percent of the time between two marks, of so many parties, that the times recorded take.
    PercentOfTime {
        /// What records the times.
        histogram: HistogramId,
        /// Who could spend it.
        parties: f64,
        /// First mark.
        from: MarkId,
        /// Last mark.
        to: MarkId,
    },
    /// So many units a second in the shortest of the times recorded, each of which is the time of as many.
    BestPerSecond {
        /// What records the times.
        histogram: HistogramId,
        /// Units in each of them.
        units: f64,
    },
    /// Mean of the times recorded, in us.
    MeanUs(HistogramId),
    /// Mean of the times recorded, in ms, times `scale`. The run gives the single times as well, for statistics that draw
    /// from them.
    TimesMs {
        /// What records them.
        histogram: HistogramId,
        /// Factor, for times shorter than those they stand for.
        scale: f64,
    },
    /// What partitions measured.
    Partitions(PartitionReading),
    /// The time that so many percent of those recorded do not exceed, in us, within 0.1 %.
    PercentileUs {
        /// What records them.
        histogram: HistogramId,
        /// 0 to 100.
        percent: f64,
    },
}

impl Reading {
    /// The histogram whose single times the run gives beside the reading's value, and the factor from ns to the metric's unit.
    pub fn single_times(self) -> Option<(HistogramId, f64)> {
        match self {
            Reading::TimesMs { histogram, scale } => Some((histogram, scale / 1e6)),
            _ => None,
        }
    }
}

/// A result of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Name, as in `records_per_s`.
    pub name: String,
    /// Unit, as in `records/s`.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// How it is read.
    pub reading: Reading,
}

impl Metric {
    /// Mean, median and tails of `histogram`, named `<name>_mean_us`, `<name>_p50_us` and so on.
    pub fn latencies(name: &str, histogram: HistogramId, percents: &[f64]) -> Vec<Metric> {
        let metric = |name: String, reading| Metric {
            name,
            unit: "us".to_string(),
            better: Better::Lower,
            reading,
        };
        let mean = metric(format!("{name}_mean_us"), Reading::MeanUs(histogram));
        let tail = |&percent: &f64| {
            metric(format!("{name}_p{percent}_us"), Reading::PercentileUs { histogram, percent })
        };
        std::iter::once(mean).chain(percents.iter().map(tail)).collect()
    }
}
