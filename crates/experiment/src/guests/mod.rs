//! The `vm` engine: an experiment's runs on a real kernel in a guest.
//!
//! Guests are slow to boot and noisy: a boot serves many runs, of all variants that can share it, in an order that the
//! seed draws, so that what drifts during a boot meets all variants alike. Variants that need another kernel or other
//! firmware have boots of their own, which alternate. What a run measured is what the program says; beside it stands what
//! the scheduler counted (`/proc/schedstat`), under the simulator's names, so that stored results of both engines can be
//! compared.

mod bench;
mod boots;
mod counters;
mod groups;
mod lines;
mod realise;
mod script;
mod traced;

pub use bench::{Bench, Options};
pub use boots::Told;
pub(crate) use counters::events;
pub(crate) use groups::of_tasks;
pub use lines::{Counted, Counting};
pub(crate) use realise::switches;
pub use realise::{Boot, RealiseError, Realised, loads_schedulers};
pub use traced::Traced;
