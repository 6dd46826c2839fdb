//! Puts objects below their parents and NUMA nodes beside the CPUs they are near to.

use super::{Objects, Tree};
use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::hwloc::topology::{Kind, Object, Topology};
use crate::model::{CacheKind, Machine};

/// A NUMA node on its way into the tree.
pub(super) struct Placed {
    pub(super) os_index: u32,
    bytes: Option<u64>,
    /// CPUs of the object it is attached to.
    beside: CpuSet,
}

/// Finds the CPUs that each node goes to, and adds a group for those that are no object's yet. hwloc holds node
/// numbers in bitmaps, so large ones give way to the node's place.
pub(super) fn nodes(objects: &mut Objects<'_>, machine: &Machine) -> Vec<Placed> {
    let large = machine.nodes.iter().any(|n| n.id as usize >= MAX_CPUS);
    let mut placed = Vec::new();
    for (node, number) in machine.nodes.iter().zip(0..MAX_CPUS as u32) {
        let running = node.cpus.intersects(&machine.online);
        let exists = |objects: &Objects<'_>| {
            running && objects.objects.iter().any(|o| o.cpus == node.cpus && o.kind != Kind::Pu)
        };
        if running && !exists(objects) {
            objects.add(objects.object(Kind::Group, node.cpus.clone()));
        }
        placed.push(Placed {
            os_index: if large { number } else { node.id },
            bytes: node.memory_kib.and_then(|kib| kib.checked_mul(1024)),
            beside: if exists(objects) { node.cpus.clone() } else { machine.possible() },
        });
    }
    placed
}

/// Which of two objects with the same CPUs is outside: the order of hwloc.
fn rank(kind: Kind) -> (u8, u8, bool) {
    let place = match kind {
        Kind::Machine => 0,
        Kind::Package => 1,
        Kind::Die => 2,
        Kind::Group => 3,
        Kind::Cluster => 4,
        Kind::Cache(level, kind) => return (5, u8::MAX - level, kind == CacheKind::Instruction),
        Kind::Core => 6,
        Kind::Pu => 7,
        Kind::Node => 8,
    };
    (place, 0, false)
}

/// Gives every object a parent: the smallest one around it.
pub(super) fn place(mut topology: Topology, nodes: Vec<Placed>) -> Tree {
    topology
        .objects
        .sort_by_key(|o| (std::cmp::Reverse(o.cpus.len()), rank(o.kind), o.cpus.first()));
    let mut innermost: Vec<Option<usize>> = vec![None; MAX_CPUS];
    let mut parents = Vec::with_capacity(topology.objects.len());
    for (index, object) in topology.objects.iter().enumerate() {
        let parent = object.cpus.first().and_then(|cpu| innermost.get(cpu).copied().flatten());
        parents.push(parent);
        for cpu in object.cpus.iter() {
            if let Some(slot) = innermost.get_mut(cpu) {
                *slot = Some(index);
            }
        }
    }
    let mut own_nodes = vec![CpuSet::EMPTY; topology.objects.len()];
    for node in nodes {
        let beside = |o: &Object| o.cpus == node.beside && o.kind != Kind::Pu;
        let parent = topology.objects.iter().position(beside).unwrap_or(0);
        if let (Some(around), Some(own)) = (topology.objects.get(parent), own_nodes.get_mut(parent))
        {
            own.insert(node.os_index as usize);
            let object = Object::new(Kind::Node, around.cpus.clone(), around.online.clone());
            let (os_index, bytes) = (Some(node.os_index), node.bytes);
            topology.objects.push(Object { os_index, bytes, ..object });
            parents.push(Some(parent));
        }
    }
    let node_sets = node_sets(&topology, &parents, own_nodes);
    Tree { topology, parents, node_sets }
}

/// Nodes near each object: those of it, of what is around it and of what is in it. Parents come before children.
fn node_sets(
    topology: &Topology,
    parents: &[Option<usize>],
    own_nodes: Vec<CpuSet>,
) -> Vec<CpuSet> {
    let normal = own_nodes.len();
    let get = |sets: &[CpuSet], place: Option<usize>| {
        place.and_then(|p| sets.get(p).cloned()).unwrap_or(CpuSet::EMPTY)
    };
    let mut around = own_nodes.clone();
    for (index, parent) in parents.iter().enumerate().take(normal) {
        let outside = get(&around, *parent);
        if let Some(set) = around.get_mut(index) {
            *set |= outside;
        }
    }
    let mut inside = own_nodes;
    for (index, parent) in parents.iter().enumerate().take(normal).rev() {
        let below = get(&inside, Some(index));
        if let Some(set) = parent.and_then(|p| inside.get_mut(p)) {
            *set |= below;
        }
    }
    let mut sets: Vec<CpuSet> = around.into_iter().zip(inside).map(|(a, b)| a | b).collect();
    for object in topology.objects.iter().skip(normal) {
        sets.push(object.os_index.map_or(CpuSet::EMPTY, |id| CpuSet::single(id as usize)));
    }
    sets
}
