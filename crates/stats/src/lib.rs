//! Estimators, intervals and comparisons: pure functions.
//!
//! A sample is a slice of values, one a run. Functions of samples give `None` where the sample cannot
//! carry the answer (too few runs, a value that is not a number); settings that make no sense are refused
//! where they are built, with a [`StatsError`].

pub mod better;
pub mod bootstrap;
pub mod confidence;
pub mod error;
pub mod histogram;
pub mod median;
pub mod student;
pub mod summary;
pub mod verdict;

pub use better::Better;
pub use bootstrap::{Interval, Resampling, percent_change};
pub use confidence::Confidence;
pub use error::StatsError;
pub use histogram::Histogram;
pub use median::median_change;
pub use student::{Difference, difference};
pub use summary::{Summary, amean, hmean};
pub use verdict::{Comparison, Verdict, compare};
