//! NUMA nodes from `/sys/devices/system/node`.

use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::files::{CPU_DIR, Files, NODE_DIR};
use crate::model::Node;

/// Reads the nodes; their CPU sets are those of `cpulist`, online CPUs alone on most architectures. Empty
/// where sysfs has no nodes.
pub(super) fn read(sysfs: &Files, unknown: &mut Vec<String>) -> Result<Vec<Node>, MachineError> {
    let ids = sysfs.numbered(NODE_DIR, "node")?;
    let mut nodes: Vec<Node> = Vec::new();
    let mut without = false;
    for &id in &ids {
        let dir = format!("{NODE_DIR}/node{id}");
        let Some((_, cpus)) = sysfs.cpus(&dir, &["cpumap"], &["cpulist"])? else {
            return Err(sysfs.error(&format!("{dir}/cpulist"), "no such file", "one"));
        };
        let taken = nodes.iter().fold(CpuSet::EMPTY, |taken, n| taken | &n.cpus) & &cpus;
        if !taken.is_empty() {
            unknown.push(format!("CPUs {taken} of NUMA node {id}: an earlier node has them too."));
        }
        let cpus = cpus - taken;
        let memory_kib = memory_kib(sysfs, id)?;
        let distances = distances(sysfs, id, ids.len())?;
        without |= distances.is_none();
        // What Linux takes where firmware has no table (`LOCAL_DISTANCE`, `REMOTE_DISTANCE`).
        let stand_in = || ids.iter().map(|&other| if other == id { 10 } else { 20 }).collect();
        nodes.push(Node { id, cpus, memory_kib, distances: distances.unwrap_or_else(stand_in) });
    }
    if without {
        unknown.push("Distances of NUMA nodes: sysfs lacks some; 10 and 20 stand in.".to_string());
    }
    Ok(nodes)
}

/// The node that the directory of `cpu` links to.
pub(super) fn of_cpu(sysfs: &Files, cpu: usize) -> Result<Option<u32>, MachineError> {
    Ok(sysfs.numbered(&format!("{CPU_DIR}/cpu{cpu}"), "node")?.first().copied())
}

/// The one node of a machine whose sysfs has none.
pub(super) fn only(cpus: CpuSet) -> Node {
    Node { id: 0, cpus, memory_kib: None, distances: vec![10] }
}

fn distances(sysfs: &Files, id: u32, nodes: usize) -> Result<Option<Vec<u32>>, MachineError> {
    let place = format!("{NODE_DIR}/node{id}/distance");
    let Some(text) = sysfs.text(&place)? else { return Ok(None) };
    let distances: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
    match distances {
        Ok(distances) if distances.len() == nodes => Ok(Some(distances)),
        _ => Err(sysfs.error(&place, format!("`{text}`"), &format!("{nodes} numbers"))),
    }
}

/// `MemTotal` of the node's `meminfo`.
fn memory_kib(sysfs: &Files, id: u32) -> Result<Option<u64>, MachineError> {
    let place = format!("{NODE_DIR}/node{id}/meminfo");
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
