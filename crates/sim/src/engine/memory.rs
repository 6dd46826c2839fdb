//! What slows tasks beyond their core, by CPU, node and line. Without programs that use memory or contend nothing of it
//! is looked at.
//!
//! Here is the state as a run begins. The rules are in the rooms of its parts: `pace`, `working_sets`, `bandwidth` and
//! `lines`. `cpu`, `clocks` and `hotplug` ask `paced` before they go there.

use super::bandwidth::NodeLoad;
use super::lines::LineUser;
use super::pace::Pace;
use super::working_sets::WorkingSets;
use crate::class::Hint;
use crate::setup::Setup;
use workload::Op;

/// Paces of CPUs and what they follow from.
#[derive(Debug)]
pub(super) struct Memory {
    /// Whether any program uses memory or contends.
    pub(super) paced: bool,
    /// By CPU.
    pub(super) paces: Vec<Pace>,
    pub(super) working_sets: WorkingSets,
    /// By node.
    pub(super) nodes: Vec<NodeLoad>,
    /// By CPU and node, row by row: bytes that a core cycle of the CPU moves from or to the node's memory.
    pub(super) drawn: Vec<f64>,
    /// By node: what a CPU is about to move in a core cycle.
    pub(super) ahead: Vec<f64>,
    /// Room for faults on pages that NUMA balancing unmapped.
    pub(super) hints: Vec<Hint>,
    /// By line: who uses it now.
    pub(super) lines: Vec<Vec<LineUser>>,
}

impl Memory {
    pub(super) fn new(setup: &Setup) -> Memory {
        let memory = setup.memory.as_ref();
        let nodes = memory.map_or(0, |m| m.bandwidth.len());
        Memory {
            paced: setup.workload.programs.iter().any(|p| p.ops.iter().any(is_paced)),
            paces: vec![Pace::default(); setup.topo.nr_cpus],
            working_sets: memory.map_or_else(WorkingSets::default, WorkingSets::new),
            nodes: vec![NodeLoad::new(); nodes],
            drawn: vec![0.0; nodes * setup.topo.nr_cpus],
            ahead: vec![0.0; nodes],
            hints: Vec::new(),
            lines: vec![Vec::new(); setup.workload.lines as usize],
        }
    }
}

/// Whether a step is slowed by more than its core.
fn is_paced(op: &Op) -> bool {
    matches!(op, Op::Memory(_) | Op::Contend { .. })
}
