//! NUMA nodes from `/sys/devices/system/node`.

use super::files::Sysfs;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::Node;

const DIR: &str = "sys/devices/system/node";

/// Reads the nodes; their CPU sets are those of `cpulist`, online CPUs alone on most architectures. Empty
/// where sysfs has no nodes.
pub(super) fn read(sysfs: &Sysfs<'_>) -> Result<Vec<Node>, MachineError> {
    let ids = sysfs.numbered(DIR, "node")?;
    let mut nodes: Vec<Node> = Vec::new();
    for &id in &ids {
        let place = format!("{DIR}/node{id}/cpulist");
        let cpus = sysfs.require(&place, sysfs.cpu_list(&place)?)?;
        if let Some(other) = nodes.iter().find(|n| n.cpus.intersects(&cpus)) {
            let found = format!("CPUs {}, also in node {}", cpus & other.cpus, other.id);
            return Err(sysfs.error(&place, found, "each CPU in one node"));
        }
        let memory_kib = memory_kib(sysfs, id)?;
        nodes.push(Node { id, cpus, memory_kib, distances: distances(sysfs, id, ids.len())? });
    }
    Ok(nodes)
}

/// The node that the directory of `cpu` links to.
pub(super) fn of_cpu(sysfs: &Sysfs<'_>, cpu: usize) -> Result<Option<u32>, MachineError> {
    Ok(sysfs.numbered(&format!("sys/devices/system/cpu/cpu{cpu}"), "node")?.first().copied())
}

/// The one node of a machine whose sysfs has none.
pub(super) fn only(cpus: CpuSet) -> Node {
    Node { id: 0, cpus, memory_kib: None, distances: vec![10] }
}

fn distances(sysfs: &Sysfs<'_>, id: u32, nodes: usize) -> Result<Vec<u32>, MachineError> {
    let place = format!("{DIR}/node{id}/distance");
    let text = sysfs.require(&place, sysfs.text(&place)?)?;
    let distances: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
    match distances {
        Ok(distances) if distances.len() == nodes => Ok(distances),
        _ => Err(sysfs.error(&place, format!("`{text}`"), &format!("{nodes} numbers"))),
    }
}

/// `MemTotal` of the node's `meminfo`.
fn memory_kib(sysfs: &Sysfs<'_>, id: u32) -> Result<Option<u64>, MachineError> {
    let place = format!("{DIR}/node{id}/meminfo");
    let Some(text) = sysfs.text(&place)? else { return Ok(None) };
    let Some(line) = text.lines().find(|l| l.contains("MemTotal:")) else {
        return Err(sysfs.error(&place, "no line MemTotal", "one"));
    };
    let value = line.split_whitespace().rev().nth(1).and_then(|v| v.parse().ok());
    match value.filter(|_| line.trim_end().ends_with(" kB")) {
        Some(kib) => Ok(Some(kib)),
        None => Err(sysfs.error(&place, format!("`{line}`"), "MemTotal in kB")),
    }
}
