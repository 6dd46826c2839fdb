//! The simulator as a whole: conservation on random machines, closed forms, determinism, knobs, other classes.

mod classes;
mod closed_forms;
mod conservation;
mod determinism;
mod knobs;
mod machines;
mod rtapp;
mod watch;
mod workloads;
