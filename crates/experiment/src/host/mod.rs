//! The `host` engine: an experiment's runs on this computer's own kernel.
//!
//! What a run measures here is true of this computer, and of the minute in which it ran. So variants take turns: every block has one
//! run of each variant, in an order that the seed draws, and what drifts meets all of them alike. Before the first block the baseline
//! is compared with itself, which shows how small an effect so many runs can prove. What happened around each run (other load, steal
//! time, throttling, heat) is counted beside what it measured.
//!
//! A variant is what a running kernel can be set to. Every setting is journaled before it is made, read back, and put back at the
//! end of the variant's turn (crate `host`). What needs another boot is refused, unless the command names the variants of this boot.

mod bench;
mod jobs;
mod plan;
mod realise;
mod record;
mod trial;
mod turns;

pub use bench::{Bench, Told};
pub use plan::{Options, Until};
pub use realise::{HostRealiseError, HostScheduler};
pub use trial::Trial;
