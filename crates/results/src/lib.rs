//! What runs give, and what follows from it.
//!
//! [`Results`] holds every run of an experiment, whichever engine ran it. [`store`] writes them to a directory and reads them
//! back. [`Analysis`] is all that is computed of them, once: summaries, comparisons, tables, counters, published beside
//! predicted figures. Text, JSON, CSV and HTML only render it (crate `report`).
//!
//! Nothing here knows the simulator or a guest, and nothing here prints.

pub mod analysis;
pub mod columns;
pub mod computer;
pub mod counters;
pub mod digest;
pub mod effects;
mod engine;
mod error;
pub mod frames;
pub mod heat;
pub mod join;
pub mod lines;
pub mod power;
pub mod prefetch_sweep;
pub mod reproduce;
pub mod robust;
mod rows;
mod runs;
pub mod sensitivity;
pub mod sides;
pub mod store;
pub mod study;
pub mod swept;
pub mod tables;
pub mod turns;
pub mod validate;
mod wrong;

pub use analysis::Analysis;
pub use computer::{Computer, Fact};
pub use engine::Engine;
pub use error::ResultsError;
pub use runs::{Ignored, MetricInfo, Results, Run, VariantRuns, WorkloadResults};
pub use setting::Accel;
pub use workload::Counter;
