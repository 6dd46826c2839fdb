//! Settings and values that an estimator rejects.

/// A setting or value out of range. The message names the field, what was found and what was expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StatsError {
    /// A confidence level not between 0 and 1, exclusive.
    #[error("confidence: found {found}, expected a number above 0 and below 1 (0.95 for 95 %)")]
    Confidence {
        /// The level asked for.
        found: f64,
    },
    /// A number of bootstrap resamples out of range.
    #[error("resamples: found {found}, expected 100 to 1000000")]
    Resamples {
        /// The number asked for.
        found: u32,
    },
    /// A number of bins out of range.
    #[error("histogram bins: found {found}, expected 1 to 1000")]
    Bins {
        /// The number asked for.
        found: usize,
    },
    /// Bin edges that are not finite, or a width that is not positive.
    #[error(
        "histogram edges: found low {low} and width {width}, expected finite edges, width above 0"
    )]
    Edges {
        /// Lower edge of the first bin asked for.
        low: f64,
        /// Bin width asked for.
        width: f64,
    },
    /// A value that is not a number and therefore fits no bin.
    #[error("histogram values[{index}]: found NaN, expected a number")]
    NotANumber {
        /// Its place in the sample.
        index: usize,
    },
    /// An empty sample.
    #[error("{mean}: found no values, expected one or more")]
    NoValues {
        /// The mean asked for.
        mean: &'static str,
    },
    /// A value for which the mean is not defined.
    #[error("{mean} of values[{index}]: found {found}, expected {}", expected(mean))]
    Value {
        /// The mean asked for.
        mean: &'static str,
        /// The value's place in the sample.
        index: usize,
        /// The value.
        found: f64,
    },
    /// Finite values whose mean is not finite.
    #[error("{mean}: found values whose sum overflows, expected a finite mean")]
    Overflow {
        /// The mean asked for.
        mean: &'static str,
    },
    /// A share of best values out of range.
    #[error("best percent: found {found}, expected 1 to 100")]
    BestPercent {
        /// The percentage asked for.
        found: u8,
    },
    /// A run with too few samples to draw 80 % of them.
    #[error("SubAmean of run {run}: found {found} samples, expected 2 or more")]
    ShortRun {
        /// The run's place.
        run: usize,
        /// Its samples.
        found: usize,
    },
    /// A p-value that is not a probability.
    #[error("p-values[{index}]: found {found}, expected 0 to 1")]
    Probability {
        /// Its place in the family.
        index: usize,
        /// The value.
        found: f64,
    },
    /// A row of a table whose number of cells differs from the number of columns.
    #[error("table row {label}: found {found} cells, expected {expected}, one a column")]
    Cells {
        /// The row's label.
        label: String,
        /// Its cells.
        found: usize,
        /// The table's columns.
        expected: usize,
    },
}

fn expected(mean: &str) -> &'static str {
    if mean.ends_with("Amean") { "a finite number" } else { "a finite number above 0" }
}
