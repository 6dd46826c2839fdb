//! Timelines of simulated runs against the runs' own counters, and the two forms against each other.

mod decoded;
mod filters;
mod runs;
mod sums;
mod text;
mod tracedat;
