//! What fleets run, with pencil and paper.

mod copies;
mod oltp;
mod parallel;
mod pipeline;
mod service;

use crate::workloads::{benchmark, scenario};
use machine::Machine;
use sim::RunResult;
use workload::Benchmark;

/// A run with its metrics by name.
pub struct Run {
    names: Vec<String>,
    pub result: RunResult,
}

impl Run {
    pub fn of(machine: &Machine, of: Benchmark, seed: u64) -> Run {
        let w = benchmark(machine, of);
        let names = w.metrics.iter().map(|m| m.name.clone()).collect();
        Run { names, result: scenario(machine, w).run(seed).expect("a run") }
    }

    pub fn metric(&self, name: &str) -> f64 {
        let at = self.names.iter().position(|n| n == name);
        self.result.metrics[at.unwrap_or_else(|| panic!("{name} among {:?}", self.names))]
    }
}

/// Refuses a figure that is off by more than `part` of what is expected.
#[track_caller]
pub fn assert_near(found: f64, expected: f64, part: f64, what: &str) {
    assert!((found / expected - 1.0).abs() < part, "{what}: {found}, expected {expected}");
}
