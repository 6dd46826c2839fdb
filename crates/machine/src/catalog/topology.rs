//! How a catalog file describes a machine by its shape, and what a file's variants change.

use super::{Entry, error};
use crate::constants::{Constant, Mark};
use crate::error::MachineError;
use crate::layout::{
    Counts, Distances, Grouping, HwIds, Layout, Nodes, Order, Place, Span, sharers,
};
use crate::model::{Arch, Firmware, FrequencyPolicy, IdleState, Machine, ThreadGroupProperty};
use serde::Deserialize;
use std::collections::BTreeMap;

/// `[topology]`: a regular machine by counts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Architecture.
    pub arch: Arch,
    /// Packages of the machine.
    pub packages: u32,
    /// Clusters of a package; without it the kernel shows none.
    pub clusters: Option<u32>,
    /// Cores of a cluster, or of a package where there are no clusters.
    pub cores: u32,
    /// Threads of a core.
    pub threads: u32,
    /// How CPUs are numbered.
    pub order: Order,
    /// How hardware threads are numbered; without it that is unknown and places stand in.
    pub hw_ids: Option<HwIds>,
    /// NUMA nodes.
    pub nodes: CatalogNodes,
    /// `ibm,thread-groups` of every core (POWER).
    #[serde(default)]
    pub thread_groups: Vec<CatalogGroups>,
    /// The processor's vendor as `/proc/cpuinfo` names it.
    pub vendor: Option<String>,
    /// What the kernel boots from.
    pub firmware: Firmware,
    /// How well the shape is known.
    pub mark: Mark,
    /// Where it comes from.
    pub source: String,
}

/// NUMA nodes: one for each unit of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogNodes {
    /// The kind of unit.
    pub per: Span,
    /// Node numbers where they do not count from 0.
    pub ids: Option<Vec<u32>>,
    /// A row of distances for each node; 10 is local.
    pub distances: Option<Vec<Vec<u32>>>,
    /// Distance between nodes of one package, instead of `distances`.
    pub same_package: Option<u32>,
    /// Distance between nodes of different packages, instead of `distances`.
    pub other_package: Option<u32>,
    /// How well numbers and distances are known.
    pub mark: Mark,
    /// Where they come from.
    pub source: String,
}

/// One array of `ibm,thread-groups`, the same for every core.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogGroups {
    /// Firmware's number of what the threads of a group share: 1 the L1, 2 the L2.
    pub property: u32,
    /// Groups of a core.
    pub groups: u32,
    /// Whether neighbouring threads are in different groups.
    pub interleaved: bool,
    /// How well it is known.
    pub mark: Mark,
    /// Where it comes from.
    pub source: String,
}

/// An idle state that the machine's kernel offers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogIdleState {
    /// Name, as in sysfs.
    pub name: String,
    /// Time to leave it, in ns.
    pub exit_latency_ns: u64,
    /// Shortest stay that pays, in ns.
    pub target_residency_ns: u64,
    /// Whether a CPU waits there by `MWAIT`.
    #[serde(default)]
    pub mwait: bool,
    /// How well it is known.
    pub mark: Mark,
    /// Where it comes from.
    pub source: String,
}

/// cpufreq policies.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogFrequency {
    /// The kind of unit that has one policy.
    pub per: Span,
    /// `scaling_driver`.
    pub driver: String,
    /// Frequencies that can be asked for, in kHz, highest first.
    pub available_khz: Vec<u64>,
    /// How well they are known.
    pub mark: Mark,
    /// Where they come from.
    pub source: String,
}

/// `[variant.NAME]`: a machine of the file that differs from the others in what is named here. One that changes
/// counts has a mark and a source of its own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// One line for people.
    pub title: String,
    /// Replaces [`Topology::packages`].
    pub packages: Option<u32>,
    /// Replaces [`Topology::clusters`].
    pub clusters: Option<u32>,
    /// Replaces [`Topology::cores`].
    pub cores: Option<u32>,
    /// Replaces [`Topology::mark`], together with `source`.
    pub mark: Option<Mark>,
    /// Replaces [`Topology::source`], together with `mark`.
    pub source: Option<String>,
    /// Replaces [`Topology::nodes`] as a whole.
    pub nodes: Option<CatalogNodes>,
    /// Constants that replace or join those of the file.
    #[serde(default)]
    pub constants: BTreeMap<String, Constant>,
}

/// The machine `name` of a file with variants.
pub(super) fn apply(mut entry: Entry, name: &str, file: &str) -> Result<Entry, MachineError> {
    if entry.variant.is_empty() {
        return Ok(entry);
    }
    let Some(variant) = entry.variant.remove(name) else {
        let known: Vec<&str> = entry.variant.keys().map(String::as_str).collect();
        let expected = format!("one of {}", known.join(", "));
        return Err(error(file, "variant", format!("no `{name}`"), &expected));
    };
    let Some(topology) = &mut entry.topology else {
        return Err(error(file, "variant", "variants without [topology]", "a [topology] to vary"));
    };
    topology.packages = variant.packages.unwrap_or(topology.packages);
    topology.cores = variant.cores.unwrap_or(topology.cores);
    topology.clusters = variant.clusters.or(topology.clusters);
    if let (Some(mark), Some(source)) = (variant.mark, variant.source) {
        topology.mark = mark;
        topology.source = source;
    }
    if let Some(nodes) = variant.nodes {
        topology.nodes = nodes;
    }
    entry.constants.extend(variant.constants);
    entry.name = name.to_string();
    entry.title = variant.title;
    entry.variant.clear();
    Ok(entry)
}

/// The machine of `topology`, without caches.
pub(super) fn build(
    topology: &Topology,
    entry: &Entry,
    file: &str,
) -> Result<Machine, MachineError> {
    let layout = Layout {
        arch: topology.arch,
        counts: Counts {
            packages: topology.packages,
            dies: 1,
            clusters: topology.clusters.unwrap_or(1),
            modules: 1,
            cores: topology.cores,
            threads: topology.threads,
        },
        order: topology.order,
        hw_ids: topology.hw_ids.unwrap_or(HwIds::Place),
        cluster_cores: topology.clusters.map(|_| topology.cores),
        dies_shown: false,
        nodes: Nodes {
            place: Place::Per(topology.nodes.per),
            ids: topology.nodes.ids.clone(),
            memory_kib: Vec::new(),
            distances: distances(&topology.nodes, file)?,
        },
        thread_groups: topology.thread_groups.iter().map(grouping).collect(),
        caches: Vec::new(),
        capacities: Vec::new(),
    };
    let mut machine = layout.build(file, &entry.name, &entry.title)?;
    machine.vendor.clone_from(&topology.vendor);
    machine.firmware = Some(topology.firmware);
    if topology.hw_ids.is_none() {
        machine.unknown.push("Hardware ids: the catalog has none; places stand in.".to_string());
    }
    machine.unknown.push("Memory of each node: the catalog has none.".to_string());
    for state in &entry.idle_state {
        machine.idle_states.push(IdleState {
            name: state.name.clone(),
            exit_latency_ns: state.exit_latency_ns,
            target_residency_ns: state.target_residency_ns,
            mwait: state.mwait,
        });
    }
    if entry.idle_state.is_empty() {
        machine.unknown.push("Idle states: the catalog has none.".to_string());
    }
    match &entry.frequency {
        Some(frequency) => machine.policies = policies(&machine, frequency, file)?,
        None => machine.unknown.push("Frequencies: the catalog has no policies.".to_string()),
    }
    Ok(machine)
}

fn grouping(groups: &CatalogGroups) -> Grouping {
    let property = match groups.property {
        1 => ThreadGroupProperty::L1,
        2 => ThreadGroupProperty::L2,
        other => ThreadGroupProperty::Other(other),
    };
    Grouping { property, groups: groups.groups, interleaved: groups.interleaved }
}

fn distances(nodes: &CatalogNodes, file: &str) -> Result<Distances, MachineError> {
    match (&nodes.distances, nodes.same_package, nodes.other_package) {
        (Some(rows), None, None) => Ok(Distances::Matrix(rows.clone())),
        (None, Some(same_package), Some(other_package)) => {
            Ok(Distances::Steps { same_package, other_package })
        }
        _ => {
            let expected = "either distances, or same_package and other_package";
            Err(error(file, "topology.nodes", "both forms of distances, or none whole", expected))
        }
    }
}

fn policies(
    machine: &Machine,
    frequency: &CatalogFrequency,
    file: &str,
) -> Result<Vec<FrequencyPolicy>, MachineError> {
    let khz = &frequency.available_khz;
    let (Some(&max_khz), Some(&min_khz)) = (khz.first(), khz.last()) else {
        return Err(error(file, "frequency.available_khz", "none", "at least one"));
    };
    if !khz.is_sorted_by(|a, b| a > b) || min_khz == 0 {
        let expected = "numbers above 0, highest first";
        return Err(error(file, "frequency.available_khz", format!("{khz:?}"), expected));
    }
    let sets = sharers(machine, frequency.per)
        .map_err(|f| error(file, "frequency.per", f.found, &f.expected))?;
    let policy = |cpus| FrequencyPolicy {
        cpus,
        driver: Some(frequency.driver.clone()),
        min_khz,
        max_khz,
        base_khz: None,
        available_khz: khz.clone(),
    };
    Ok(sets.into_iter().map(policy).collect())
}
