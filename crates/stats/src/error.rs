//! Settings that no estimator can work with.

/// A setting or value out of range; the message names the field, what was found and what was expected.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StatsError {
    /// A confidence level outside the open interval from 0 to 1.
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
    /// A value that is not a number, so it lies neither in nor outside the bins.
    #[error("histogram values[{index}]: found NaN, expected a number")]
    NotANumber {
        /// Its place in the sample.
        index: usize,
    },
}
