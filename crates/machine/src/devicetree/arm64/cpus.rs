//! CPU nodes of an arm64 machine, in the order of Linux's CPU numbers.

use crate::cpuset::MAX_CPUS;
use crate::devicetree::cpu_nodes;
use crate::devicetree::node::{Node, Tree};
use crate::error::{Fault, MachineError};
use std::collections::BTreeMap;

/// Bits of `reg` that MPIDR uses for affinity.
const AFFINITY_BITS: u64 = 0xff_00ff_ffff;

/// A CPU: one node.
pub(super) struct CpuNode<'t> {
    pub(super) node: Node<'t>,
    /// Affinity bytes of MPIDR, Aff3 in the highest.
    pub(super) hw_id: u32,
}

/// CPUs by number: the one that boots is CPU 0, the others follow in the order of their nodes. A node whose status
/// is `fail` is none; `disabled` means that the CPU waits to be started, so it counts. A CPU without
/// `enable-method` (the one that boots needs none) cannot be started and is left out.
pub(super) fn read<'t>(
    tree: &'t Tree<'t>,
    cpus_node: Node<'t>,
    unknown: &mut Vec<String>,
) -> Result<Vec<CpuNode<'t>>, MachineError> {
    let mut cpus = Vec::new();
    let mut seen: BTreeMap<u32, String> = BTreeMap::new();
    for node in cpu_nodes(cpus_node)? {
        if is_failed(node)? {
            unknown.push(format!("CPU of {}: its status is fail; it is left out.", node.path()));
            continue;
        }
        let hw_id = hw_id(node)?;
        if let Some(earlier) = seen.insert(hw_id, node.path()) {
            let fault = Fault::new(format!("MPIDR {hw_id:#x}, also at {earlier}"), "each CPU once");
            return Err(node.property_error("reg", fault));
        }
        cpus.push(CpuNode { node, hw_id });
    }
    if let Some(boot) = boot_cpu(tree, &cpus)?.filter(|&boot| boot < cpus.len()) {
        cpus[..=boot].rotate_right(1);
    } else {
        unknown.push(
            "Boot CPU: the device tree does not mark it; the CPU of the first node counts as CPU 0."
                .to_string(),
        );
    }
    let mut at = 0;
    cpus.retain(|cpu| {
        let starts = at == 0 || cpu.node.has("enable-method");
        at += 1;
        if !starts {
            unknown.push(format!(
                "CPU of {}: without enable-method it cannot be started, so it is left out; Linux still numbers it.",
                cpu.node.path()
            ));
        }
        starts
    });
    match cpus.len() {
        1..=MAX_CPUS => Ok(cpus),
        count => Err(cpus_node.error(format!("{count} usable CPUs"), &format!("1 to {MAX_CPUS}"))),
    }
}

/// Whether `status` is `fail` or `fail-` and a reason.
fn is_failed(node: Node<'_>) -> Result<bool, MachineError> {
    Ok(node.text("status")?.is_some_and(|s| s == "fail" || s.starts_with("fail-")))
}

fn reg(node: Node<'_>) -> Result<u64, MachineError> {
    node.number("reg")?.ok_or_else(|| node.error("no reg", "the CPU's MPIDR"))
}

fn hw_id(node: Node<'_>) -> Result<u32, MachineError> {
    let reg = reg(node)?;
    if reg & !AFFINITY_BITS != 0 {
        let fault = Fault::new(format!("{reg:#x}"), "bits 0-23 and 32-39 (MPIDR's affinity) alone");
        return Err(node.property_error("reg", fault));
    }
    Ok(crate::acpi::affinity(reg))
}

/// Index of the CPU that boots; the header of a blob has the low half of its `reg`.
fn boot_cpu(tree: &Tree<'_>, cpus: &[CpuNode<'_>]) -> Result<Option<usize>, MachineError> {
    let Some(boot) = tree.boot_cpu() else { return Ok(None) };
    for (index, cpu) in cpus.iter().enumerate() {
        if reg(cpu.node)? as u32 == boot {
            return Ok(Some(index));
        }
    }
    Ok(None)
}
