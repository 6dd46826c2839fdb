//! A kernel's wake-ups beside the model's: where the kernel sent each woken task, and where the model would have sent it.
//!
//! A [`sim::follow::Follower`] keeps the state that the trace tells. A wake-up is compared where the trace has the question and the
//! answer: guests record both by probes of `select_task_rq_fair` ([`Probed`]); in any other trace they follow from the order of its
//! records ([`Inferred`]). The state may change in between, by other CPUs: where that would change the model's answer, nobody can say
//! what the kernel saw, and the wake-up counts as [`Placements::raced`]. Answers that depend on values that a trace does not tell
//! exactly count apart, too. What runs when a trace begins is only told by what comes later: a [`FirstPass`] reads the trace before.

mod first_pass;
mod follow;
mod found;
mod inferred;
mod probed;
mod rules;

pub use first_pass::FirstPass;
pub use found::{Count, Difference, Placements};
pub use inferred::{Choice, Inferred};
pub use probed::Probed;
pub use rules::{Elsewhere, Judged, Rules};
pub use sim::follow::Ground;

#[cfg(test)]
mod tests;
