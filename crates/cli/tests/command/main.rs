//! The command as a user meets it.

mod golden;
mod inspections;
mod machines;
mod mmtests;
mod prefetch_sweep;
mod report;
mod resume;
mod robust;
mod sensitivity;
mod shell;
mod sides;
mod sweeps;
mod timelines;
mod usage;
