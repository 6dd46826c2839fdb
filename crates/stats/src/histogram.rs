//! Histograms with bins of equal width.

use crate::error::StatsError;
use serde::{Deserialize, Serialize};

/// Counts of values in bins of equal width. Bin i holds values from `edge(i)` (inclusive) to `edge(i + 1)` (exclusive).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Lower edge of the first bin, in the values' unit.
    pub low: f64,
    /// Width of a bin, in the values' unit; above 0.
    pub width: f64,
    /// Values in each bin.
    pub counts: Vec<u64>,
    /// Values below the first bin.
    pub below: u64,
    /// Values at or above the last bin's upper edge.
    pub above: u64,
}

impl Histogram {
    /// Counts `values` in `bins` (1 to 1000) bins of `width`, starting at `low`. Rejects edges that are not finite and values
    /// that are NaN.
    pub fn of(values: &[f64], low: f64, width: f64, bins: usize) -> Result<Histogram, StatsError> {
        if !(1..=1000).contains(&bins) {
            return Err(StatsError::Bins { found: bins });
        }
        let mut histogram = Histogram { low, width, counts: vec![0; bins], below: 0, above: 0 };
        let rising = histogram.edge(1) > low && histogram.edge(bins) > histogram.edge(bins - 1);
        if !(low.is_finite() && rising && histogram.edge(bins).is_finite()) {
            return Err(StatsError::Edges { low, width });
        }
        for (index, &value) in values.iter().enumerate() {
            if value.is_nan() {
                return Err(StatsError::NotANumber { index });
            }
            histogram.count(value);
        }
        Ok(histogram)
    }

    /// Lower edge of bin `index`; for `counts.len()`, the upper edge of the last bin.
    pub fn edge(&self, index: usize) -> f64 {
        self.low + index as f64 * self.width
    }

    /// Number of values, inside and outside the bins.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum::<u64>() + self.below + self.above
    }

    /// Counts one value. Edges are rounded as in [`Histogram::edge`].
    fn count(&mut self, value: f64) {
        let bins = self.counts.len();
        if value < self.low {
            self.below += 1;
        } else if value >= self.edge(bins) {
            self.above += 1;
        } else {
            let guess = (((value - self.low) / self.width) as usize).min(bins - 1);
            let down = guess - usize::from(value < self.edge(guess));
            let index = down + usize::from(value >= self.edge(down + 1));
            self.counts[index] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_by_half_open_bins_and_drops_nothing() {
        let values = [-0.1, 0.0, 9.9, 10.0, 29.9, 30.0, f64::INFINITY, f64::NEG_INFINITY];
        let h = Histogram::of(&values, 0.0, 10.0, 3).unwrap();
        assert_eq!(h.counts, [2, 1, 1]);
        assert_eq!((h.below, h.above, h.total()), (2, 2, 8));
    }

    #[test]
    fn refuses_what_cannot_be_counted() {
        let message = |r: Result<Histogram, StatsError>| r.unwrap_err().to_string();
        assert!(message(Histogram::of(&[1.0, f64::NAN], 0.0, 1.0, 2)).contains("values[1]"));
        assert!(message(Histogram::of(&[], 0.0, 1.0, 0)).contains("bins: found 0"));
        assert!(message(Histogram::of(&[], 0.0, 1.0, 1001)).contains("bins: found 1001"));
        for (low, width) in [(0.0, 0.0), (0.0, -1.0), (0.0, f64::NAN), (1e300, 1.0), (0.0, 1e308)] {
            assert!(message(Histogram::of(&[], low, width, 5)).contains("edges"), "{low} {width}");
        }
    }

    proptest! {
        #[test]
        fn each_value_lies_between_its_bins_edges(
            value in -2.0..5.0f64, low in -1.0..1.0f64, width in 0.01..0.5f64, bins in 1usize..20,
        ) {
            let h = Histogram::of(&[value], low, width, bins).unwrap();
            prop_assert_eq!(h.total(), 1);
            match h.counts.iter().position(|&c| c == 1) {
                Some(i) => prop_assert!(h.edge(i) <= value && value < h.edge(i + 1)),
                None if h.below == 1 => prop_assert!(value < low),
                None => prop_assert!(value >= h.edge(bins)),
            }
        }

        #[test]
        fn edges_themselves_open_their_bins(
            index in 0usize..10, low in -1.0..1.0f64, width in 0.01..0.5f64,
        ) {
            let edge = low + index as f64 * width;
            let h = Histogram::of(&[edge], low, width, 10).unwrap();
            prop_assert_eq!(h.counts[index], 1);
        }
    }
}
