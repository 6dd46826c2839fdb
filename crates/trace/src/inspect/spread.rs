//! Distributions of times.

use hdrhistogram::Histogram;
use serde::Serialize;

/// A distribution of times in ns. Percentiles are right within 1 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// Number of times.
    pub count: u64,
    /// Their sum.
    pub total_ns: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// Half of them are at most so long.
    pub p50_ns: u64,
    /// 90 of 100.
    pub p90_ns: u64,
    /// 99 of 100.
    pub p99_ns: u64,
    /// 999 of 1000.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Times as they come.
#[derive(Debug, Clone)]
pub(crate) struct Recorded {
    histogram: Histogram<u64>,
    total_ns: u64,
    max_ns: u64,
}

impl Recorded {
    pub(crate) fn new() -> Recorded {
        let histogram = Histogram::new(2).expect("two digits are allowed");
        Recorded { histogram, total_ns: 0, max_ns: 0 }
    }

    pub(crate) fn add(&mut self, ns: u64) {
        // It grows as it needs to; what it cannot hold counts at its end.
        if self.histogram.record(ns).is_err() {
            self.histogram.saturating_record(ns);
        }
        self.total_ns = self.total_ns.saturating_add(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    pub(crate) fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub(crate) fn spread(&self) -> Spread {
        let at = |quantile: f64| self.histogram.value_at_quantile(quantile).min(self.max_ns);
        let count = self.count();
        Spread {
            count,
            total_ns: self.total_ns,
            mean_ns: if count == 0 { 0.0 } else { self.total_ns as f64 / count as f64 },
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: self.max_ns,
        }
    }
}
