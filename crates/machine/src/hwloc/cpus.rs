//! CPUs from hwloc's PUs, cores, clusters, dies and packages.

use super::Source;
use super::build::{disjoint, possible};
use super::topology::{Kind, Object, Topology};
use crate::cpuset::CpuSet;
use crate::error::{Fault, MachineError};
use crate::hwloc::partition::Partition;
use crate::model::{Cpu, OsIds};

/// CPUs by number, and those online.
pub(super) struct Cpus {
    pub(super) cpus: Vec<Cpu>,
    pub(super) online: CpuSet,
}

/// One type's objects by CPU.
struct Level<'t> {
    partition: Partition,
    objects: Vec<&'t Object>,
}

impl<'t> Level<'t> {
    fn read(
        topology: &'t Topology,
        kind: Kind,
        source: &Source<'_>,
    ) -> Result<Level<'t>, MachineError> {
        let (partition, objects) = disjoint(topology, |k| k == kind, source)?;
        Ok(Level { partition, objects })
    }

    fn of(&self, cpu: usize) -> Option<&'t Object> {
        self.partition.number(cpu).and_then(|number| self.objects.get(number)).copied()
    }

    /// CPUs of `all` that no object holds.
    fn without(&self, all: &CpuSet) -> CpuSet {
        self.objects.iter().fold(all.clone(), |left, object| left - &object.cpus)
    }
}

/// Reads CPUs 0 to the machine's last one; `node_of` are their NUMA nodes.
pub(super) fn read(
    topology: &Topology,
    node_of: &[u32],
    source: &Source<'_>,
    unknown: &mut Vec<String>,
) -> Result<Cpus, MachineError> {
    let all = possible(topology);
    let online = online(topology, &all, source, unknown)?;
    let level = |kind| Level::read(topology, kind, source);
    let packages = level(Kind::Package)?;
    let dies = level(Kind::Die)?;
    let clusters = level(Kind::Cluster)?;
    let cores = level(Kind::Core)?;

    let alone = cores.without(&all);
    if !alone.is_empty() {
        unknown.push(format!(
            "Core of CPUs {alone}: {} names none; each stands as a core of its own.",
            source.format
        ));
    }
    unknown.push(format!(
        "Hardware ids of CPUs: {} does not tell them; the CPU number stands in.",
        source.format
    ));
    let core_sets: Vec<CpuSet> =
        all.iter().map(|cpu| cores.partition.of(cpu).unwrap_or(CpuSet::single(cpu))).collect();
    let core_numbers = core_numbers(&core_sets);
    let package_of = package_numbers(&packages, &all, node_of, source, unknown);
    let capacities = capacities(topology, source, unknown)?;
    let os_index = |level: &Level<'_>, cpu| level.of(cpu).and_then(|o| o.os_index);

    let cpus = core_sets.iter().zip(core_numbers).zip(package_of).zip(node_of).enumerate();
    let cpus = cpus.map(|(cpu, (((core_set, core), package), &node))| Cpu {
        hw_id: cpu as u32,
        core,
        thread: core_set.iter().take_while(|&c| c < cpu).count() as u32,
        cluster: clusters.partition.of(cpu).and_then(first_of),
        die: die(&dies, &packages, &all, cpu),
        package,
        node,
        ids: OsIds {
            core: os_index(&cores, cpu),
            cluster: os_index(&clusters, cpu),
            die: os_index(&dies, cpu),
            ..OsIds::default()
        },
        capacity: capacities.get(cpu).copied().flatten(),
    });
    Ok(Cpus { cpus: cpus.collect(), online })
}

fn first_of(set: CpuSet) -> Option<u32> {
    set.first().map(|first| first as u32)
}

/// CPUs that have a PU.
fn online(
    topology: &Topology,
    all: &CpuSet,
    source: &Source<'_>,
    unknown: &mut Vec<String>,
) -> Result<CpuSet, MachineError> {
    let (_, pus) = disjoint(topology, |k| k == Kind::Pu, source)?;
    let online = pus.iter().fold(CpuSet::EMPTY, |set, pu| set | &pu.cpus);
    let machine = topology.objects.first().map_or(CpuSet::EMPTY, |machine| machine.online.clone());
    if online.is_empty() || online != machine {
        let fault = Fault::new(format!("CPUs `{online}`"), format!("the machine's, `{machine}`"));
        return Err(source.error("objects of type PU", fault));
    }
    let present = topology.objects.first().map_or(CpuSet::EMPTY, |machine| machine.cpus.clone());
    let holes = all - present;
    if !holes.is_empty() {
        unknown.push(format!(
            "CPUs {holes}: {} skips these numbers; each stands as an offline core.",
            source.format
        ));
    }
    let barred = topology.allowed.clone().map_or(CpuSet::EMPTY, |allowed| &online - allowed);
    if !barred.is_empty() {
        unknown.push(format!(
            "CPUs {barred}: they were closed to the process that recorded them; they count as online."
        ));
    }
    Ok(online)
}

/// Core number of each CPU; cores are numbered by their first CPU.
fn core_numbers(sets: &[CpuSet]) -> Vec<u32> {
    let mut numbers: Vec<u32> = Vec::with_capacity(sets.len());
    let mut next = 0;
    for (cpu, set) in sets.iter().enumerate() {
        match set.first().filter(|&first| first < cpu).and_then(|first| numbers.get(first)) {
            Some(&number) => numbers.push(number),
            None => {
                numbers.push(next);
                next += 1;
            }
        }
    }
    numbers
}

/// Number of the die of `cpu`: its first CPU, or the first of the package's CPUs that no die holds.
fn die(dies: &Level<'_>, packages: &Level<'_>, all: &CpuSet, cpu: usize) -> u32 {
    let set = dies.partition.of(cpu).unwrap_or_else(|| {
        let package = packages.partition.of(cpu).unwrap_or_else(|| packages.without(all));
        dies.without(&package)
    });
    first_of(set).unwrap_or(0)
}

/// Package number of each CPU: the package's os_index, or its place where some lack one or two have the same. CPUs
/// without a package get a number per NUMA node, after those of the packages.
fn package_numbers(
    packages: &Level<'_>,
    all: &CpuSet,
    node_of: &[u32],
    source: &Source<'_>,
    unknown: &mut Vec<String>,
) -> Vec<u32> {
    let mut indexes: Vec<u32> = packages.objects.iter().filter_map(|o| o.os_index).collect();
    indexes.sort_unstable();
    indexes.dedup();
    let unique = indexes.len() == packages.objects.len();
    if !unique {
        unknown.push(format!(
            "Package numbers: {} has none that are unique; their order stands in.",
            source.format
        ));
        indexes = (0u32..).take(packages.objects.len()).collect();
    }
    let without = packages.without(all);
    if !without.is_empty() {
        unknown.push(format!(
            "Package of CPUs {without}: {} names none; the NUMA node stands in.",
            source.format
        ));
    }
    let beyond = indexes.last().map_or(0, |last| last.saturating_add(1));
    let number = |(cpu, node): (usize, &u32)| match packages.partition.number(cpu) {
        Some(place) => {
            let index = packages.objects.get(place).and_then(|o| o.os_index);
            index.filter(|_| unique).unwrap_or(place as u32)
        }
        None => node.saturating_add(beyond),
    };
    node_of.iter().enumerate().map(number).collect()
}

/// `LinuxCapacity` of each CPU's kind.
fn capacities(
    topology: &Topology,
    source: &Source<'_>,
    unknown: &mut Vec<String>,
) -> Result<Vec<Option<u32>>, MachineError> {
    let all = possible(topology);
    let mut kinds = Partition::new();
    for kind in &topology.cpu_kinds {
        if let Some(other) = kinds.add(kind.cpus.clone()) {
            let found = format!("one of CPUs {} and one of CPUs {other}", kind.cpus);
            let fault = Fault::new(found, "kinds without common CPUs");
            return Err(source.error("cpukind", fault));
        }
    }
    let of = |cpu| kinds.number(cpu).and_then(|k| topology.cpu_kinds.get(k))?.capacity;
    let capacities: Vec<Option<u32>> = all.iter().map(of).collect();
    let without: CpuSet =
        capacities.iter().enumerate().filter(|(_, c)| c.is_none()).map(|(cpu, _)| cpu).collect();
    if !without.is_empty() {
        unknown.push(format!("Capacity of CPUs {without}: {} does not tell it.", source.format));
    }
    Ok(capacities)
}
