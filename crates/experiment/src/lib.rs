//! The experiment file, engines, replicas in parallel, the result store, and the figures that studies published.

pub mod again;
pub mod digest;
pub mod engine;
pub mod engines;
mod error;
pub mod file;
pub mod guests;
pub mod heat;
pub mod journal;
pub mod plan;
pub mod power;
pub mod prefetch_sweep;
pub mod reproduce;
pub mod results;
mod run;
pub mod store;
pub mod study;
pub mod tables;
pub mod validate;

pub use again::Again;
pub use engine::{Engine, Sample, SimEngine};
pub use error::ExperimentError;
pub use file::ExperimentFile;
pub use journal::Journal;
pub use plan::Plan;
pub use results::Results;
pub use run::Progress;
pub use tables::Tables;
