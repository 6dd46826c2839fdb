//! Estimators, confidence intervals and verdicts, as pure functions.
//!
//! [`compare`] judges one pair of samples. [`Table::compare`] judges a table of them, with one correction over all cells.
//!
//! A sample is a slice of values, one per run. A function returns `None` if the sample cannot answer the question (too few
//! runs, a value that is not a number). Constructors reject senseless settings with a [`StatsError`]; a [`Mean`] rejects
//! values that it is not defined for in the same way.

mod better;
mod bootstrap;
mod confidence;
mod error;
mod factorial;
mod histogram;
mod holm;
mod mean;
mod median;
mod plan;
mod student;
mod subamean;
mod summary;
pub mod table;
mod verdict;

pub use better::Better;
pub use bootstrap::{Interval, Resampling, mean_change, percent_change};
pub use confidence::Confidence;
pub use error::StatsError;
pub use factorial::TwoLevel;
pub use histogram::Histogram;
pub use holm::holm;
pub use mean::{Mean, amean, hmean};
pub use median::median_change;
pub use plan::{runs_for, smallest_effect_percent};
pub use student::Difference;
pub use summary::Summary;
pub use table::{Cell, Row, Table};
pub use verdict::{Comparison, Verdict, compare};
