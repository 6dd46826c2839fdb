//! Partitions of KVM HV on modelled hosts: closed forms, what the engine changes, that every constant and every parameter has an
//! effect, and what is refused.

mod closed_forms;
mod engine;
mod knobs;
mod refusals;
mod rig;
