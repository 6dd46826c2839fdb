//! NUMA nodes from SRAT and SLIT.

use super::madt::Madt;
use super::slit::{LOCAL, Slit};
use super::srat::Srat;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::{Arch, Node};

/// Distance between nodes that no table tells.
const REMOTE: u32 = 20;

/// The machine's nodes, and the node of each CPU.
pub(super) struct Nodes {
    pub(super) nodes: Vec<Node>,
    pub(super) node_of: Vec<u32>,
}

/// Puts CPUs, memory and distances together. A domain without CPU and memory keeps its number but is no node.
///
/// Linux on arm64 may show a single node all the same: it drops the SRAT's nodes where a page of RAM lies outside
/// of the table's ranges (`numa_register_nodes`, `memblock_validate_numa_coverage`, 6.12). That rests on the memory
/// map of the firmware, which no table has.
pub(super) fn nodes(
    madt: &Madt,
    srat: Option<&Srat>,
    slit: Option<&Slit<'_>>,
    unknown: &mut Vec<String>,
) -> Result<Nodes, MachineError> {
    let count = madt.processors.len();
    // `acpi_numa_init`: without a range of memory the whole SRAT counts for nothing.
    let Some(srat) = srat.filter(|srat| srat.ranges > 0) else {
        unknown.push(
            "NUMA nodes: no SRAT names any with memory; one node holds all CPUs.".to_string(),
        );
        let cpus = CpuSet::first_n(count);
        let only = Node { id: 0, cpus, memory_kib: None, distances: vec![LOCAL] };
        return Ok(Nodes { nodes: vec![only], node_of: vec![0; count] });
    };
    let node_of = node_of(madt, srat, unknown);
    if slit.is_none() && srat.nodes.len() > 1 {
        unknown.push(format!(
            "Distances of NUMA nodes: there is no SLIT; {LOCAL} and {REMOTE} stand in, as in Linux."
        ));
    }
    if srat.pluggable {
        unknown.push("Memory of NUMA nodes: ranges for hot-plugging are left out.".to_string());
    }
    if madt.arch == Arch::Arm64 && srat.nodes.len() > 1 {
        unknown.push(
            "NUMA nodes: Linux drops them where RAM lies outside of the SRAT's ranges, which the tables do not show."
                .to_string(),
        );
    }
    if srat.memory_bytes.is_empty() {
        unknown.push("Memory of NUMA nodes: the SRAT names none.".to_string());
    }
    let cpus_of = |id: u32| -> CpuSet { (0..count).filter(|&c| node_of[c] == id).collect() };
    let bytes_of = |id: u32| srat.memory_bytes.get(&id).copied();
    let mut domains: Vec<(u32, u32)> = srat.nodes.iter().map(|(&d, &id)| (id, d)).collect();
    domains.retain(|&(id, _)| bytes_of(id).is_some() || !cpus_of(id).is_empty());
    domains.sort_unstable();
    let node = |&(id, domain): &(u32, u32)| {
        let distances = domains.iter().map(|&(_, other)| match slit {
            Some(slit) => slit.distance(domain, other),
            None => Ok(if domain == other { LOCAL } else { REMOTE }),
        });
        let memory_kib = match srat.memory_bytes.is_empty() {
            true => None,
            false => Some(bytes_of(id).map_or(0, |bytes| bytes / 1024)),
        };
        let distances = distances.collect::<Result<_, _>>()?;
        Ok(Node { id, cpus: cpus_of(id), memory_kib, distances })
    };
    let nodes = domains.iter().map(node).collect::<Result<_, _>>()?;
    Ok(Nodes { nodes, node_of })
}

fn node_of(madt: &Madt, srat: &Srat, unknown: &mut Vec<String>) -> Vec<u32> {
    let mut homeless = CpuSet::EMPTY;
    let mut all = Vec::with_capacity(madt.processors.len());
    for (cpu, processor) in madt.processors.iter().enumerate() {
        let name = if madt.arch == Arch::X86 { processor.hw_id } else { processor.uid };
        all.push(match srat.processors.get(&name) {
            Some(&node) => node,
            None => {
                homeless.insert(cpu);
                0
            }
        });
    }
    if !homeless.is_empty() {
        unknown
            .push(format!("NUMA node of CPUs {homeless}: the SRAT names none; node 0 stands in."));
    }
    all
}
