//! Engines: an experiment's runs in the simulator or in guests of QEMU, in parallel, resumed after an interruption, watched.
//!
//! What is asked comes from the crate `definition`, what comes out is of the crate `results`.

mod again;
mod engine;
mod error;
mod group_stats;
mod groups;
pub mod guests;
mod heat;
pub mod host;
pub mod journal;
pub mod lines;
mod moving;
mod numa_stats;
mod prefetch_sweep;
mod programs;
mod robust;
mod run;
pub mod schedstat;
mod sensitivity;
mod source;
mod stoppable;
mod wrong;

pub use again::{Again, again};
pub use engine::{Engine, EngineError, SimEngine, SimJob};
pub use error::ExperimentError;
pub use groups::check_groups;
pub use heat::heat;
pub use journal::Journal;
pub use moving::Further;
pub use prefetch_sweep::sweep;
pub use robust::robustness;
pub use run::{Progress, run, run_from};
pub use sensitivity::{When, sensitivity};
pub use sim::{inspect, judge};
pub use source::{
    Agreements, Inspected, SourceEngine, SourceJob, Warnings, counts_of, inspected, serve, watched,
};
pub use stoppable::Stoppable;
