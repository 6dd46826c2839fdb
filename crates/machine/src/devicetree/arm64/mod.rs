//! Puts an arm64 machine together from its device tree, as Linux from 6.0 on sees it (`of_parse_and_init_cpus`,
//! `parse_dt_topology`, `cache_setup_of_node`, `of_numa_init` of 6.12).
//!
//! Older kernels differ: before 6.0 a cluster of the `cpu-map` counts as a package and is no cluster, and before
//! 5.10 a kernel without `cpu-map` takes threads, cores and clusters from MPIDR.

mod caches;
mod capacity;
mod cpu_map;
mod cpus;
mod idle;
mod numa;
mod opp;

use super::name;
use super::node::{Node, Tree};
use crate::constants::Constants;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::{Arch, Cpu, Firmware, Machine, OsIds, sort_caches};
use cpu_map::Place;
use cpus::CpuNode;
use std::collections::BTreeMap;

/// Reads the machine below `cpus_node`, which is `/cpus`.
pub(super) fn machine(
    tree: &Tree<'_>,
    cpus_node: Node<'_>,
    file: &str,
) -> Result<Machine, MachineError> {
    let mut unknown = Vec::new();
    let nodes = cpus::read(tree, cpus_node, &mut unknown)?;
    let phandles = tree.phandles()?;
    let numa = numa::read(tree, &nodes)?;
    unknown.extend(numa.unknown);
    let places = places(cpus_node, &nodes, &phandles, &mut unknown)?;
    let mut caches = caches::read(&nodes, &phandles, &mut unknown)?;
    sort_caches(&mut caches);
    let clocks_khz = opp::highest_khz(&nodes, &phandles)?;
    unknown.push(opp::describe(&clocks_khz));
    let capacities = capacity::read(&nodes, places.is_some(), &clocks_khz, &mut unknown)?;
    let idle_states = idle::read(&nodes, &phandles, &mut unknown)?;

    let cpus = cpus(&nodes, &numa.node_of, places.as_deref(), &capacities);
    let model = tree.root().text("model")?.unwrap_or("arm64 machine");
    Ok(Machine {
        name: name(file),
        title: format!("{model}, {} CPUs", cpus.len()),
        arch: Arch::Arm64,
        online: CpuSet::first_n(cpus.len()),
        cpus,
        caches,
        nodes: numa.nodes,
        thread_groups: Vec::new(),
        idle_states,
        policies: Vec::new(),
        cppc: Vec::new(),
        vendor: None,
        smt_control: None,
        costs: None,
        firmware: Some(Firmware::DeviceTree),
        constants: Constants::default(),
        unknown,
    })
}

/// Places by `cpu-map`; `None` where Linux goes without: each CPU is a core, its NUMA node the package.
fn places<'t>(
    cpus_node: Node<'t>,
    nodes: &[CpuNode<'t>],
    phandles: &std::collections::HashMap<u32, Node<'t>>,
    unknown: &mut Vec<String>,
) -> Result<Option<Vec<Place>>, MachineError> {
    let Some(map) = cpus_node.child("cpu-map") else {
        unknown.push(
            "Cores, clusters and packages: the device tree has no cpu-map; each CPU stands as a core of its own \
             and its NUMA node as the package, as in Linux from 5.10 on."
                .to_string(),
        );
        return Ok(None);
    };
    let map = cpu_map::read(map, nodes, phandles)?;
    unknown.extend(map.unknown);
    let missing: CpuSet = (0..nodes.len()).filter(|&cpu| map.places[cpu].is_none()).collect();
    if !missing.is_empty() {
        unknown.push(format!(
            "Cores, clusters and packages: the cpu-map leaves out CPUs {missing}, so that Linux drops all of it; \
             each CPU stands as a core of its own and its NUMA node as the package."
        ));
    }
    Ok(map.places.into_iter().collect())
}

/// CPUs with threads, cores, clusters and dies numbered.
fn cpus(
    nodes: &[CpuNode<'_>],
    node_of: &[u32],
    places: Option<&[Place]>,
    capacities: &[Option<u32>],
) -> Vec<Cpu> {
    let mut cores: BTreeMap<Place, (u32, u32)> = BTreeMap::new();
    let mut clusters: BTreeMap<(u32, Option<u32>), u32> = BTreeMap::new();
    let mut dies: BTreeMap<u32, u32> = BTreeMap::new();
    let mut cpus = Vec::with_capacity(nodes.len());
    for ((number, cpu), (&node, &capacity)) in
        (0u32..).zip(nodes).zip(node_of.iter().zip(capacities))
    {
        let alone = Place { package: node, cluster: None, core: number };
        let place = places.and_then(|places| places.get(number as usize)).copied().unwrap_or(alone);
        let next = cores.len() as u32;
        let (core, threads) = cores.entry(place).or_insert((next, 0));
        let thread = *threads;
        *threads += 1;
        let group = (place.package, place.cluster);
        cpus.push(Cpu {
            hw_id: cpu.hw_id,
            core: *core,
            thread,
            cluster: place.cluster.map(|_| *clusters.entry(group).or_insert(number)),
            die: *dies.entry(place.package).or_insert(number),
            package: place.package,
            node,
            ids: OsIds { core: Some(place.core), cluster: place.cluster, ..OsIds::default() },
            capacity,
        });
    }
    cpus
}

#[cfg(test)]
mod tests;
