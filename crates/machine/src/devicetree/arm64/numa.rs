//! NUMA nodes of an arm64 machine: `numa-node-id` and `numa-distance-map-v1` (Linux's `of_numa_init`, 6.12).

use super::cpus::CpuNode;
use crate::cpuset::CpuSet;
use crate::devicetree::memory::memory;
use crate::devicetree::node::{Node, Tree};
use crate::error::{Fault, MachineError};
use crate::model;
use std::collections::{BTreeMap, BTreeSet};

const ID: &str = "numa-node-id";
const MATRIX: &str = "distance-matrix";
/// Nodes that an arm64 kernel can number at most (`CONFIG_NODES_SHIFT` of 10).
const MAX_NODES: u32 = 1024;
const LOCAL: u32 = 10;
/// Distance between nodes that the map does not name (`REMOTE_DISTANCE`).
const REMOTE: u32 = 20;

/// The machine's nodes, and the node of each CPU.
pub(super) struct Numa {
    pub(super) nodes: Vec<model::Node>,
    pub(super) node_of: Vec<u32>,
    pub(super) unknown: Vec<String>,
}

/// Reads nodes, their CPUs, memory and distances. Linux has no NUMA, that is one node 0, unless every piece of memory
/// belongs to a node.
pub(super) fn read<'t>(tree: &'t Tree<'t>, cpus: &[CpuNode<'t>]) -> Result<Numa, MachineError> {
    let mut unknown = Vec::new();
    let mut memory_of: Vec<(Option<u32>, Node<'t>, u64)> = Vec::new();
    for (node, bytes) in memory(tree)? {
        memory_of.push((own_id(node)?, node, bytes));
    }
    let named = cpus.iter().map(|cpu| own_id(cpu.node)).collect::<Result<Vec<_>, _>>()?;
    if memory_of.is_empty() {
        unknown.push("Memory of NUMA nodes: the device tree has no memory nodes.".to_string());
    }
    let with_numa = !memory_of.is_empty() && memory_of.iter().all(|(id, ..)| id.is_some());
    if !with_numa && (named.iter().any(Option::is_some) || memory_of.iter().any(|m| m.0.is_some()))
    {
        unknown.push(format!(
            "NUMA nodes: a memory node lacks {ID}, or there is none; Linux then takes all CPUs and memory as one \
             node."
        ));
    }
    let mut distances = BTreeMap::new();
    let mut ids: BTreeSet<u32> = BTreeSet::new();
    let mut node_of = vec![0; cpus.len()];
    if with_numa {
        for (cpu, home) in cpus.iter().zip(&mut node_of) {
            *home = id_of(cpu.node)?.unwrap_or(0);
        }
        distances = distance_map(tree, &mut ids)?;
        ids.extend(named.into_iter().flatten());
        ids.extend(memory_of.iter().filter_map(|(id, ..)| *id));
    }
    ids.extend(node_of.iter().copied());
    let mut bytes_of: BTreeMap<u32, u64> = BTreeMap::new();
    for (id, node, bytes) in &memory_of {
        let sum = bytes_of.entry(id.filter(|_| with_numa).unwrap_or(0)).or_insert(0);
        *sum = sum.checked_add(*bytes).ok_or_else(|| {
            let fault = Fault::new("more than 2^64 bytes in one NUMA node", "less memory");
            node.property_error("reg", fault)
        })?;
    }
    let memory_kib = |id: &u32| match memory_of.is_empty() {
        true => None,
        false => Some(bytes_of.get(id).map_or(0, |bytes| bytes / 1024)),
    };
    let distance = |from: u32, to: u32| match distances.get(&(from, to)) {
        Some(&distance) => distance,
        None if from == to => LOCAL,
        None => REMOTE,
    };
    let nodes = ids.iter().map(|&id| model::Node {
        id,
        cpus: (0..cpus.len()).filter(|&cpu| node_of[cpu] == id).collect::<CpuSet>(),
        memory_kib: memory_kib(&id),
        distances: ids.iter().map(|&to| distance(id, to)).collect(),
    });
    if distances.is_empty() && ids.len() > 1 {
        unknown.push(format!(
            "Distances of NUMA nodes: there is no numa-distance-map-v1; {LOCAL} and {REMOTE} stand in, as in Linux."
        ));
    }
    Ok(Numa { nodes: nodes.collect(), node_of, unknown })
}

fn own_id(node: Node<'_>) -> Result<Option<u32>, MachineError> {
    match node.cell(ID)? {
        Some(id) if id >= MAX_NODES => {
            let fault =
                Fault::new(format!("NUMA node {id}"), format!("a number below {MAX_NODES}"));
            Err(node.property_error(ID, fault))
        }
        id => Ok(id),
    }
}

/// The id of `node` or of the nearest node above that has one.
fn id_of(node: Node<'_>) -> Result<Option<u32>, MachineError> {
    let mut at = Some(node);
    while let Some(node) = at {
        if let Some(id) = own_id(node)? {
            return Ok(Some(id));
        }
        at = node.parent();
    }
    Ok(None)
}

/// Distances by pair of nodes. An entry from a lower to a higher node also counts backwards until one for that way
/// follows. Nodes that the map starts from exist even without CPU and memory; they go into `ids`.
fn distance_map(
    tree: &Tree<'_>,
    ids: &mut BTreeSet<u32>,
) -> Result<BTreeMap<(u32, u32), u32>, MachineError> {
    let mut distances = BTreeMap::new();
    for node in tree.nodes() {
        if !node.texts("compatible")?.is_some_and(|c| c.contains(&"numa-distance-map-v1")) {
            continue;
        }
        let wrong = |found: String, expected: &str| {
            Err(node.property_error(MATRIX, Fault::new(found, expected)))
        };
        let Some(cells) = node.cells(MATRIX)? else {
            return Err(node.error(format!("no {MATRIX}"), "one"));
        };
        let (entries, rest) = cells.as_chunks::<3>();
        if entries.is_empty() || !rest.is_empty() {
            return wrong(format!("{} cells", cells.len()), "entries of two nodes and a distance");
        }
        for &[from, to, distance] in entries {
            let found = format!("distance {distance} from node {from} to {to}");
            if from >= MAX_NODES || to >= MAX_NODES {
                return wrong(found, "nodes below 1024");
            }
            if (from == to) != (distance == LOCAL) || !(LOCAL..=255).contains(&distance) {
                return wrong(found, "10 for a node itself, 11 to 255 for others");
            }
            ids.insert(from);
            distances.insert((from, to), distance);
            if to > from {
                distances.insert((to, from), distance);
            }
        }
        // Linux looks at the first map alone.
        break;
    }
    Ok(distances)
}
