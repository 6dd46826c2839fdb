//! What slows tasks beyond their core, by CPU, node and line. Without programs that use memory or contend nothing of it
//! is looked at.
//!
//! Here is the state as a run begins. The rules are in the rooms of its parts: `pace`, `working_sets`, `bandwidth` and
//! `lines`. `cpu`, `clocks` and `hotplug` ask `paced` before they go there.

use super::bandwidth::NodeLoad;
use super::lines::LineUser;
use super::pace::Pace;
use super::working_sets::WorkingSets;
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
    /// By line: who uses it now.
    pub(super) lines: Vec<Vec<LineUser>>,
}

impl Memory {
    pub(super) fn new(setup: &Setup) -> Memory {
        let memory = setup.memory.as_ref();
        let bandwidth = memory.iter().flat_map(|m| &m.bandwidth);
        Memory {
            paced: setup.workload.programs.iter().any(|p| p.ops.iter().any(is_paced)),
            paces: vec![Pace::default(); setup.topo.nr_cpus],
            working_sets: memory.map_or_else(WorkingSets::default, WorkingSets::new),
            nodes: bandwidth.map(|_| NodeLoad::new()).collect(),
            lines: vec![Vec::new(); setup.workload.lines as usize],
        }
    }
}

/// Whether a step is slowed by more than its core.
fn is_paced(op: &Op) -> bool {
    matches!(op, Op::Memory(_) | Op::Contend { .. })
}
