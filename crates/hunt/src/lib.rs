//! A search for bugs of a kernel tree's scheduler: random cases, and the smallest that still fails.
//!
//! A [`Case`] is data: a machine, tasks, steps of hotplug, settings of the scheduler. [`Case::random`] draws it from a seed and a
//! number, [`Case::experiment`] writes it as an ordinary experiment file, [`smallest`] makes it smaller. Whether a case fails is for
//! the caller to find out; nothing here runs anything.

mod case;
mod draw;
mod groups;
mod policies;
mod rtapp;
mod shapes;
mod shrink;
mod text;

pub use case::{Case, Event, Group, Phase, Policy, Step, Task};
pub use draw::Choice;
pub use shapes::Shape;
pub use shrink::{Shrunk, smallest};
