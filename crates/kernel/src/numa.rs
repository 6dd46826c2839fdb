//! NUMA levels from node distances (`sched_init_numa`).

use crate::flags::SdFlags;
use crate::levels::Level;
use crate::version::Version;
use machine::{CpuSet, Machine};

/// First release that counts distances between nodes with online CPUs only, and anew when a node loses its last
/// CPU or gets its first.
const POPULATED_SINCE: Version = Version::new(5, 18);
/// First release that collects distances from every node alike.
const EVERY_NODE_SINCE: Version = Version::new(5, 12);

/// NODE and one NUMA level for each further distance, or nothing where no node has CPUs to tell apart.
///
/// The mask of level *i* is every node within the *i*-th smallest distance. Before 5.18 distances of memory-only
/// and offline nodes make levels too.
pub(crate) fn levels(machine: &Machine, version: Version) -> Vec<Level> {
    let populated: Vec<usize> = (0..machine.nodes.len())
        .filter(|&n| machine.nodes[n].cpus.intersects(&machine.online))
        .collect();
    let distances = distances(machine, &populated, version);

    let reach = |node: usize, distance: u32| -> CpuSet {
        let near = populated.iter().filter(|&&b| machine.nodes[node].distances[b] <= distance);
        near.fold(CpuSet::EMPTY, |mask, &b| mask | (&machine.nodes[b].cpus & &machine.online))
    };
    let mask_of = |cpu: usize, distance: u32| -> CpuSet {
        let node = machine.nodes.iter().position(|n| n.cpus.contains(cpu));
        node.map_or(CpuSet::EMPTY, |n| reach(n, distance))
    };
    distances
        .iter()
        .enumerate()
        .map(|(i, &distance)| Level {
            name: if i == 0 { "NODE" } else { "NUMA" },
            flags: if i == 0 { SdFlags::empty() } else { SdFlags::NUMA },
            masks: (0..machine.cpus.len()).map(|c| mask_of(c, distance)).collect(),
            numa_distance: (i > 0).then_some(distance),
        })
        .collect()
}

/// The distances that make a level, ascending.
fn distances(machine: &Machine, populated: &[usize], version: Version) -> Vec<u32> {
    let mut distances: Vec<u32> = if version >= POPULATED_SINCE {
        let from = |&a: &usize| populated.iter().map(move |&b| machine.nodes[a].distances[b]);
        populated.iter().flat_map(from).collect()
    } else if version >= EVERY_NODE_SINCE {
        machine.nodes.iter().flat_map(|node| node.distances.iter().copied()).collect()
    } else {
        from_node_0(machine)
    };
    distances.sort_unstable();
    distances.dedup();
    distances
}

/// Distances from the first node, and those from each further node that are larger than all before. The kernel looks
/// beyond the first node only with `sched_debug`, without which it logs no domains.
fn from_node_0(machine: &Machine) -> Vec<u32> {
    let mut distances: Vec<u32> = Vec::new();
    for node in &machine.nodes {
        let largest = distances.iter().copied().max().unwrap_or(0);
        distances.extend(node.distances.iter().filter(|&&d| d > largest));
    }
    distances
}
