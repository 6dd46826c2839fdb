//! Estimators, intervals and comparisons: pure functions.
//!
//! A sample is a slice of values, one a run. Functions of samples give `None` where the sample cannot
//! carry the answer (too few runs, a value that is not a number); settings that make no sense are refused
//! where they are built, with a [`StatsError`], and so are values that a [`Mean`] is not made for.
//!
//! [`compare`] judges one pair of samples; [`Table::compare`] a table of them, with one correction over all its cells.

mod better;
mod bootstrap;
mod confidence;
mod error;
mod histogram;
mod holm;
mod mean;
mod median;
mod student;
mod subamean;
mod summary;
pub mod table;
mod verdict;

pub use better::Better;
pub use bootstrap::{Interval, Resampling, mean_change, percent_change};
pub use confidence::Confidence;
pub use error::StatsError;
pub use histogram::Histogram;
pub use holm::holm;
pub use mean::{Mean, amean, hmean};
pub use median::median_change;
pub use student::Difference;
pub use summary::Summary;
pub use table::{Cell, Row, Table};
pub use verdict::{Comparison, Verdict, compare};
