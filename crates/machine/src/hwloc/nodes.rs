//! NUMA nodes from hwloc's memory objects and distances.

use super::Source;
use super::build::possible;
use super::topology::{Kind, Object, Topology};
use crate::cpuset::CpuSet;
use crate::error::{Fault, MachineError};
use crate::model::Node;

/// A node's distance to itself, and to others where nothing tells it, as in Linux.
const LOCAL: u32 = 10;
const REMOTE: u32 = 20;

/// Reads the nodes, and the node of each CPU.
pub(super) fn read(
    topology: &Topology,
    source: &Source<'_>,
    unknown: &mut Vec<String>,
) -> Result<(Vec<Node>, Vec<u32>), MachineError> {
    let objects = objects(topology, source)?;
    let all = possible(topology);
    let Some(&(first, _)) = objects.first() else {
        unknown.push(format!("NUMA nodes: {} has none; one node holds all CPUs.", source.format));
        let only = Node { id: 0, cpus: all.clone(), memory_kib: None, distances: vec![LOCAL] };
        return Ok((vec![only], vec![0; all.len()]));
    };
    let mut homeless = CpuSet::EMPTY;
    let node_of: Vec<u32> = all
        .iter()
        .map(|cpu| {
            let around = objects.iter().filter(|(_, object)| object.cpus.contains(cpu));
            let smallest = around.min_by_key(|(id, object)| (object.cpus.len(), *id));
            smallest.map(|&(id, _)| id).unwrap_or_else(|| {
                homeless.insert(cpu);
                first
            })
        })
        .collect();
    if !homeless.is_empty() {
        unknown.push(format!(
            "NUMA node of CPUs {homeless}: {} names none; node {first} stands in.",
            source.format
        ));
    }
    let ids: Vec<u32> = objects.iter().map(|&(id, _)| id).collect();
    let distances = distances(topology, &ids, source, unknown)?;
    let nodes = objects.iter().zip(distances).map(|(&(id, object), distances)| Node {
        id,
        cpus: all.iter().zip(&node_of).filter(|&(_, &n)| n == id).map(|(cpu, _)| cpu).collect(),
        memory_kib: object.bytes.map(|bytes| bytes / 1024),
        distances,
    });
    let nodes: Vec<Node> = nodes.collect();
    describe(&nodes, &objects, source, unknown);
    Ok((nodes, node_of))
}

/// Nodes by number.
fn objects<'t>(
    topology: &'t Topology,
    source: &Source<'_>,
) -> Result<Vec<(u32, &'t Object)>, MachineError> {
    let mut objects: Vec<(u32, &Object)> = Vec::new();
    for object in topology.of_kind(Kind::Node) {
        let Some(id) = object.os_index else {
            let fault = Fault::new("nothing", "the node's number");
            return Err(source.error("NUMANode os_index", fault));
        };
        objects.push((id, object));
    }
    objects.sort_by_key(|&(id, _)| id);
    for pair in objects.windows(2) {
        if let [(a, _), (b, _)] = pair
            && a == b
        {
            let fault = Fault::new(format!("two nodes {a}"), "a number for each node");
            return Err(source.error("NUMANode os_index", fault));
        }
    }
    Ok(objects)
}

/// Says which nodes are left without CPUs or without the size of their memory.
fn describe(
    nodes: &[Node],
    objects: &[(u32, &Object)],
    source: &Source<'_>,
    unknown: &mut Vec<String>,
) {
    for (node, (_, object)) in nodes.iter().zip(objects) {
        if node.cpus != object.cpus && !object.cpus.is_empty() {
            unknown.push(format!(
                "CPUs of NUMA node {}: {} puts it near CPUs {}, of which {} belong to other nodes.",
                node.id,
                source.format,
                object.cpus,
                &object.cpus - &node.cpus
            ));
        }
        if node.memory_kib.is_none() {
            unknown.push(format!(
                "Memory of NUMA node {}: {} does not tell it.",
                node.id, source.format
            ));
        }
    }
}

/// A row of distances for each of `ids`.
fn distances(
    topology: &Topology,
    ids: &[u32],
    source: &Source<'_>,
    unknown: &mut Vec<String>,
) -> Result<Vec<Vec<u32>>, MachineError> {
    let known: &[u32] = topology.distances.as_ref().map_or(&[], |d| &d.nodes);
    if let Some(stranger) = known.iter().find(|id| !ids.contains(id)) {
        let fault = Fault::new(format!("node {stranger}"), "nodes that the topology has");
        return Err(source.error("distances2 indexes", fault));
    }
    let untold: Vec<String> =
        ids.iter().filter(|id| !known.contains(id)).map(u32::to_string).collect();
    if ids.len() > 1 && !untold.is_empty() {
        unknown.push(format!(
            "Distances of NUMA nodes {}: {} does not tell them; {LOCAL} and {REMOTE} stand in, as in Linux.",
            untold.join(", "),
            source.format
        ));
    }
    let place = |id: u32| known.iter().position(|&known| known == id);
    let distance = |from: u32, to: u32| {
        let told = topology.distances.as_ref().and_then(|matrix| {
            matrix.values.get(place(from)? * matrix.nodes.len() + place(to)?).copied()
        });
        told.unwrap_or(if from == to { LOCAL } else { REMOTE })
    };
    Ok(ids.iter().map(|&from| ids.iter().map(|&to| distance(from, to)).collect()).collect())
}
