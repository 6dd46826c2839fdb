//! Idle states of arm64 CPUs: `cpu-idle-states` and the nodes compatible with `arm,idle-state`.

use super::cpus::CpuNode;
use crate::cpuset::CpuSet;
use crate::devicetree::node::Node;
use crate::error::{Fault, MachineError};
use crate::model::IdleState;
use std::collections::HashMap;

const STATES: &str = "cpu-idle-states";
/// Characters of a state's name in sysfs (`CPUIDLE_NAME_LEN`, less the end).
const NAME_LENGTH: usize = 15;
const NS_PER_US: u64 = 1000;

/// Idle states of CPU 0, the shallowest first. Linux's `cpuidle-psci` (6.12) puts a state of its own, `WFI` of 1 µs,
/// before those of the tree, and does not load where there are none.
pub(super) fn read<'t>(
    cpus: &[CpuNode<'t>],
    phandles: &HashMap<u32, Node<'t>>,
    unknown: &mut Vec<String>,
) -> Result<Vec<IdleState>, MachineError> {
    let lists =
        cpus.iter().map(|c| c.node.cells(STATES)).collect::<Result<Vec<_>, MachineError>>()?;
    let (Some(Some(list)), Some(cpu)) = (lists.first(), cpus.first()) else {
        unknown.push(format!("Idle states: {STATES} is not in the node of CPU 0."));
        return Ok(Vec::new());
    };
    let others: CpuSet = (0..cpus.len()).filter(|&cpu| lists.get(cpu) != lists.first()).collect();
    if !others.is_empty() {
        unknown.push(format!(
            "Idle states: those of CPUs {others} differ from CPU 0's, which are shown."
        ));
    }
    let mut states = vec![IdleState {
        name: "WFI".to_string(),
        exit_latency_ns: NS_PER_US,
        target_residency_ns: NS_PER_US,
        mwait: false,
    }];
    for phandle in list {
        let Some(&node) = phandles.get(phandle) else {
            let fault = Fault::new(format!("phandle {phandle:#x}"), "the phandle of an idle state");
            return Err(cpu.node.property_error(STATES, fault));
        };
        if node.is_available()? {
            states.push(state(node)?);
        }
    }
    Ok(states)
}

fn state(node: Node<'_>) -> Result<IdleState, MachineError> {
    let us = |name: &str| match node.cell(name)? {
        Some(us) => Ok(u64::from(us)),
        None => Err(node.error(format!("no {name}"), "one, in \u{b5}s")),
    };
    // The worst case: a wake-up that comes just as the CPU begins to enter.
    let exit_us = match node.has("wakeup-latency-us") {
        true => us("wakeup-latency-us")?,
        false => us("entry-latency-us")? + us("exit-latency-us")?,
    };
    Ok(IdleState {
        name: node.base_name().chars().take(NAME_LENGTH).collect(),
        exit_latency_ns: exit_us * NS_PER_US,
        target_residency_ns: us("min-residency-us")? * NS_PER_US,
        mwait: false,
    })
}
