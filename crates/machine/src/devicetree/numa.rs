//! NUMA nodes and distances of a POWER machine, from `ibm,associativity` (PAPR, "affinity").

use super::cpus::Core;
use super::memory::memory;
use super::node::{Node, Tree};
use crate::cpuset::CpuSet;
use crate::error::{Fault, MachineError};
use crate::model;
use std::collections::BTreeMap;

const ASSOCIATIVITY: &str = "ibm,associativity";
const REFERENCE_POINTS: &str = "ibm,associativity-reference-points";
const INDEX_TABLE: &str = "ibm,numa-lookup-index-table";
const DISTANCE_TABLE: &str = "ibm,numa-distance-table";
const DYNAMIC_MEMORY: &str = "ibm,dynamic-reconfiguration-memory";

/// Nodes that a POWER kernel can number (`MAX_NUMNODES`, `CONFIG_NODES_SHIFT` of 8).
const MAX_NODES: u32 = 256;
/// Reference points that Linux looks at (`MAX_DISTANCE_REF_POINTS`).
const MAX_POINTS: usize = 4;
const LOCAL_DISTANCE: u32 = 10;

/// The machine's NUMA nodes, and the node of each core.
pub(super) struct Numa {
    pub(super) nodes: Vec<model::Node>,
    pub(super) core_nodes: Vec<u32>,
    pub(super) unknown: Vec<String>,
}

/// Values of an associativity array at each reference point.
type Points = Vec<Option<u32>>;

/// A core or a piece of memory, before it is put into a node.
struct Resource<'t> {
    node: Node<'t>,
    /// NUMA node that firmware puts it into, if any.
    domain: Option<(u32, Points)>,
    cpus: CpuSet,
    memory_bytes: u64,
}

/// What is known of one node while it is put together.
#[derive(Default)]
struct Domain {
    cpus: CpuSet,
    memory_bytes: u64,
    points: Points,
}

/// Reads nodes, their CPUs, memory and distances.
pub(super) fn read<'t>(tree: &'t Tree<'t>, cores: &[Core<'t>]) -> Result<Numa, MachineError> {
    let affinity = Affinity::find(tree)?;
    let mut unknown = Vec::new();
    if affinity.is_none() {
        unknown.push(format!("NUMA nodes: the device tree has no {REFERENCE_POINTS}."));
    }
    let resources = resources(tree, cores, affinity.as_ref())?;
    // A CPU or memory that firmware puts nowhere goes to the first node, as in Linux.
    let first = resources.iter().filter_map(|r| Some(r.domain.as_ref()?.0)).min().unwrap_or(0);
    let home = |r: &Resource<'_>| r.domain.as_ref().map_or(first, |(id, _)| *id);
    let core_nodes = resources[..cores.len()].iter().map(home).collect();
    let mut domains: BTreeMap<u32, Domain> = BTreeMap::new();
    for resource in &resources {
        let domain = domains.entry(home(resource)).or_default();
        domain.cpus |= &resource.cpus;
        if let (true, Some((_, points))) = (domain.points.is_empty(), &resource.domain) {
            domain.points.clone_from(points);
        }
        let sum = domain.memory_bytes.checked_add(resource.memory_bytes);
        domain.memory_bytes = sum.ok_or_else(|| {
            let fault = Fault::new("more than 2^64 bytes in one NUMA node", "less memory");
            resource.node.property_error("reg", fault)
        })?;
    }
    let counted = resources.len() > cores.len() && !has_dynamic_memory(tree);
    if !counted {
        unknown.push(format!(
            "Memory of NUMA nodes: the device tree has no memory nodes, or more memory in \
             {DYNAMIC_MEMORY}, which is not read."
        ));
    }
    let nodes = domains.iter().map(|(&id, domain)| {
        let distances = domains.iter().map(|(&other, far)| match &affinity {
            Some(affinity) => affinity.distance((id, domain), (other, far)),
            None => Ok(LOCAL_DISTANCE),
        });
        let memory_kib = counted.then_some(domain.memory_bytes / 1024);
        let distances = distances.collect::<Result<_, _>>()?;
        Ok(model::Node { id, cpus: domain.cpus.clone(), memory_kib, distances })
    });
    Ok(Numa { nodes: nodes.collect::<Result<_, _>>()?, core_nodes, unknown })
}

/// The cores, in their order, then the memory.
fn resources<'t>(
    tree: &'t Tree<'t>,
    cores: &[Core<'t>],
    affinity: Option<&Affinity<'t>>,
) -> Result<Vec<Resource<'t>>, MachineError> {
    let domain = |node: Node<'t>| affinity.map_or(Ok(None), |affinity| affinity.domain(node));
    let mut all = Vec::new();
    for core in cores {
        let (node, cpus) = (core.node, core.cpus());
        all.push(Resource { node, domain: domain(node)?, cpus, memory_bytes: 0 });
    }
    for (node, memory_bytes) in memory(tree)? {
        all.push(Resource { node, domain: domain(node)?, cpus: CpuSet::EMPTY, memory_bytes });
    }
    Ok(all)
}

fn has_dynamic_memory(tree: &Tree<'_>) -> bool {
    tree.root().child(DYNAMIC_MEMORY).is_some()
}

/// How associativity arrays turn into node numbers and distances.
struct Affinity<'t> {
    /// Node that carries the reference points.
    home: Node<'t>,
    points: Vec<usize>,
    /// Form 2: distances by pair of nodes. Without it, form 1.
    table: Option<BTreeMap<(u32, u32), u32>>,
}

impl<'t> Affinity<'t> {
    fn find(tree: &'t Tree<'t>) -> Result<Option<Affinity<'t>>, MachineError> {
        let root = tree.root();
        let opal = root.child("ibm,opal");
        let homes = [opal, root.child("rtas"), Some(root)];
        let Some(home) = homes.into_iter().flatten().find(|n| n.has(REFERENCE_POINTS)) else {
            return Ok(None);
        };
        let points = home.cells(REFERENCE_POINTS)?.into_iter().flatten();
        let points: Vec<usize> = points.take(MAX_POINTS).map(|p| p as usize).collect();
        if points.is_empty() || points.contains(&0) {
            let fault = Fault::new(format!("{points:?}"), "at least one index, each above 0");
            return Err(home.property_error(REFERENCE_POINTS, fault));
        }
        let table = match opal.is_none() && form_2(root, home)? {
            true => Some(distance_table(home)?),
            false => None,
        };
        Ok(Some(Affinity { home, points, table }))
    }

    /// Number of the NUMA node that `node` belongs to and its values at the reference points.
    fn domain(&self, node: Node<'_>) -> Result<Option<(u32, Points)>, MachineError> {
        let Some(cells) = node.cells(ASSOCIATIVITY)? else { return Ok(None) };
        let length = cells.first().map(|&n| n as usize);
        let Some(values) = length.and_then(|n| cells.get(..n.checked_add(1)?)) else {
            let found = format!("{} cells that start with {:?}", cells.len(), cells.first());
            let fault = Fault::new(found, "the number of values, then the values");
            return Err(node.property_error(ASSOCIATIVITY, fault));
        };
        let points: Vec<_> = self.points.iter().map(|&p| values.get(p).copied()).collect();
        match points.first().copied().flatten() {
            None | Some(0xffff | 0xffff_ffff) => Ok(None),
            Some(id) if id < MAX_NODES => Ok(Some((id, points))),
            Some(id) => Err(node.property_error(
                ASSOCIATIVITY,
                Fault::new(format!("NUMA node {id}"), format!("a number below {MAX_NODES}")),
            )),
        }
    }

    /// Form 1: 10, doubled at each reference point, the finest first, until one is common. Form 2: the table.
    fn distance(&self, a: (u32, &Domain), b: (u32, &Domain)) -> Result<u32, MachineError> {
        match &self.table {
            _ if a.0 == b.0 => Ok(LOCAL_DISTANCE),
            Some(table) => table.get(&(a.0, b.0)).copied().ok_or_else(|| {
                let found = format!("no distance from node {} to {}", a.0, b.0);
                self.home.property_error(DISTANCE_TABLE, Fault::new(found, "one"))
            }),
            None => {
                let pairs = a.1.points.iter().zip(&b.1.points);
                let apart = pairs.take_while(|(x, y)| x != y).count();
                Ok(LOCAL_DISTANCE << apart)
            }
        }
    }
}

/// Whether hypervisor and kernel agreed on form 2: byte 5 of the architecture vector, as the kernel's firmware
/// call left it in `/chosen`; before that call, whether the hypervisor offers the tables.
fn form_2(root: Node<'_>, home: Node<'_>) -> Result<bool, MachineError> {
    const VECTOR: &str = "ibm,architecture-vec-5";
    let offered = home.has(INDEX_TABLE) && home.has(DISTANCE_TABLE);
    let Some(chosen) = root.child("chosen") else { return Ok(offered) };
    let Some(vector) = chosen.bytes(VECTOR) else { return Ok(offered) };
    match vector.get(5) {
        Some(byte) if byte & 0x20 != 0 => Ok(offered),
        Some(byte) if byte & 0x80 != 0 => Ok(false),
        byte => Err(chosen.property_error(
            VECTOR,
            Fault::new(format!("byte 5 as {byte:?} (form 0)"), "NUMA affinity of form 1 or 2"),
        )),
    }
}

/// Distances by pair of node numbers: the index table lists the nodes, the distance table a byte for each pair.
fn distance_table(home: Node<'_>) -> Result<BTreeMap<(u32, u32), u32>, MachineError> {
    let wrong = |name: &str, found: String, expected: String| {
        home.property_error(name, Fault::new(found, expected))
    };
    let index = home.cells(INDEX_TABLE)?;
    let ids = match index.as_deref().and_then(<[u32]>::split_first) {
        Some((&count, ids)) if count as usize == ids.len() => ids,
        _ => return Err(wrong(INDEX_TABLE, format!("{index:?}"), "a count, then nodes".into())),
    };
    let bytes = home.bytes(DISTANCE_TABLE);
    let distances = match bytes.and_then(<[u8]>::split_first_chunk::<4>) {
        Some((count, distances))
            if u32::from_be_bytes(*count) as usize == distances.len()
                && ids.len().checked_mul(ids.len()) == Some(distances.len()) =>
        {
            distances
        }
        _ => {
            let expected = format!("a count, then a byte for each pair of {} nodes", ids.len());
            let found = format!("{} bytes", bytes.map_or(0, <[u8]>::len));
            return Err(wrong(DISTANCE_TABLE, found, expected));
        }
    };
    let pairs = ids.iter().flat_map(|&a| ids.iter().map(move |&b| (a, b)));
    Ok(pairs.zip(distances.iter().map(|&d| u32::from(d))).collect())
}

#[cfg(test)]
mod tests;
