//! This computer: what is set on it and put back, how commands run on it, and what spoils their times.
//!
//! Everything here reads and writes files of the running kernel below a root, `/` but for tests.

mod bpf;
pub mod computer;
mod error;
pub mod facts;
pub mod figures;
pub mod journal;
pub mod launch;
pub mod noise;
pub mod perf;
pub mod process;
pub mod scheduler;
pub mod settings;
pub mod wakeups;

pub use computer::Computer;
pub use error::HostError;
pub use launch::{Ended, Launch};
pub use perf::Counters;
pub use settings::Settings;
