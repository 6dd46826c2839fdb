//! NUMA levels from node distances (`sched_init_numa`).

use crate::flags::SdFlags;
use crate::levels::Level;
use machine::{CpuSet, Machine};

/// NODE and one NUMA level for each further distance, or nothing where no node has CPUs to tell apart.
///
/// Distances count between nodes that have online CPUs. The mask of level *i* is every node within the
/// *i*-th smallest distance.
pub(crate) fn levels(machine: &Machine) -> Vec<Level> {
    let populated: Vec<usize> = (0..machine.nodes.len())
        .filter(|&n| machine.nodes[n].cpus.intersects(&machine.online))
        .collect();
    let mut distances: Vec<u32> = populated
        .iter()
        .flat_map(|&a| populated.iter().map(move |&b| machine.nodes[a].distances[b]))
        .collect();
    distances.sort_unstable();
    distances.dedup();

    let reach = |node: usize, distance: u32| -> CpuSet {
        let near = populated.iter().filter(|&&b| machine.nodes[node].distances[b] <= distance);
        near.fold(CpuSet::EMPTY, |mask, &b| mask | (machine.nodes[b].cpus & machine.online))
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
