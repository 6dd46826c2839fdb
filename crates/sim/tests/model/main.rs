//! The simulator as a whole: conservation on random machines, closed forms, determinism, knobs, other classes.

mod balancing;
mod benchmarks;
mod classes;
mod clients;
mod closed_forms;
mod conservation;
mod contention;
mod counted;
mod determinism;
mod fairness;
mod fleet;
mod frequency;
mod frequency_study;
mod hotplug;
mod knobs;
mod large;
mod machines;
mod memory;
mod queues;
mod rtapp;
mod stream;
mod sync;
mod watch;
mod work_conservation;
mod workloads;
