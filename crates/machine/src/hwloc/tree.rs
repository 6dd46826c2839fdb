//! The machine as hwloc's tree of objects.

mod place;

use super::partition::Partition;
use super::topology::{CpuKind, Distances, Kind, Object, Topology};
use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::model::{Arch, Cache, CacheKind, Cpu, Machine};
use std::collections::BTreeMap;

/// Objects with their places in the tree.
pub(super) struct Tree {
    pub(super) topology: Topology,
    /// Parent of each object; the machine, the first, has none.
    pub(super) parents: Vec<Option<usize>>,
    /// `nodeset` of each object.
    pub(super) node_sets: Vec<CpuSet>,
}

/// Builds the tree; what does not fit into it is left out.
pub(super) fn tree(machine: &Machine) -> Tree {
    let mut objects = Objects::new(machine);
    objects.packages();
    objects.dies();
    objects.blocks(Kind::Cluster, |cpu| cpu.cluster, |cpu| cpu.ids.cluster);
    objects.blocks(Kind::Core, |cpu| Some(cpu.core), |cpu| cpu.ids.core);
    for cpu in machine.online.iter() {
        let os_index = Some(cpu as u32);
        objects.add(Object { os_index, ..objects.object(Kind::Pu, CpuSet::single(cpu)) });
    }
    for cache in &machine.caches {
        objects.cache(cache);
    }
    let nodes = place::nodes(&mut objects, machine);
    let topology = Topology {
        objects: objects.objects,
        infos: architecture(machine.arch)
            .map(|name| ("Architecture".to_string(), name.to_string()))
            .into_iter()
            .collect(),
        distances: distances(machine, &nodes),
        cpu_kinds: cpu_kinds(machine),
        allowed: None,
    };
    place::place(topology, nodes)
}

/// Objects that fit into one tree.
struct Objects<'m> {
    machine: &'m Machine,
    objects: Vec<Object>,
    /// Sets of the objects of each type.
    types: Vec<(Kind, Partition)>,
}

impl<'m> Objects<'m> {
    fn new(machine: &'m Machine) -> Objects<'m> {
        let all = Object::new(Kind::Machine, machine.possible(), machine.online.clone());
        let objects = vec![Object { os_index: Some(0), ..all }];
        Objects { machine, objects, types: Vec::new() }
    }

    fn object(&self, kind: Kind, cpus: CpuSet) -> Object {
        Object::new(kind, cpus, self.machine.online.clone())
    }

    /// Whether a set would fit with all objects so far.
    fn fits(&self, set: &CpuSet) -> bool {
        self.types.iter().all(|(_, partition)| partition.fits(set))
    }

    /// Adds an object if it has an online CPU and fits.
    fn add(&mut self, object: Object) {
        if object.online.is_empty() || !self.fits(&object.cpus) {
            return;
        }
        let place = self.types.iter().position(|(kind, _)| kind.same_type(object.kind));
        let place = place.unwrap_or_else(|| {
            self.types.push((object.kind, Partition::new()));
            self.types.len() - 1
        });
        if let Some((_, partition)) = self.types.get_mut(place)
            && partition.add(object.cpus.clone()).is_none()
        {
            self.objects.push(object);
        }
    }

    /// Adds an object for each number that `of` gives, with the os_index that `index` gives of its first CPU.
    fn blocks(
        &mut self,
        kind: Kind,
        of: impl Fn(&Cpu) -> Option<u32>,
        index: impl Fn(&Cpu) -> Option<u32>,
    ) {
        let mut sets: BTreeMap<u32, (CpuSet, Option<u32>)> = BTreeMap::new();
        for (number, cpu) in self.machine.cpus.iter().enumerate() {
            if let Some(block) = of(cpu) {
                sets.entry(block).or_insert((CpuSet::EMPTY, index(cpu))).0.insert(number);
            }
        }
        for (cpus, os_index) in sets.into_values() {
            self.add(Object { os_index, ..self.object(kind, cpus) });
        }
    }

    fn packages(&mut self) {
        self.blocks(Kind::Package, |cpu| Some(cpu.package), |cpu| Some(cpu.package));
        for object in self.objects.iter_mut().filter(|o| o.kind == Kind::Package) {
            object.vendor = self.machine.vendor.as_deref().map(legal);
        }
    }

    /// Adds dies where they have numbers of their own or are not just the packages.
    fn dies(&mut self) {
        let cpus = &self.machine.cpus;
        let mut of_package: BTreeMap<u32, u32> = BTreeMap::new();
        let parts = cpus.iter().any(|c| *of_package.entry(c.package).or_insert(c.die) != c.die);
        if parts || cpus.iter().any(|c| c.ids.die.is_some()) {
            self.blocks(Kind::Die, |cpu| Some(cpu.die), |cpu| cpu.ids.die);
        }
    }

    /// Adds a cache that hwloc has a type for and whose values it can tell from unknown ones.
    fn cache(&mut self, cache: &Cache) {
        let levels = if cache.kind == CacheKind::Instruction { 1..=3 } else { 1..=5 };
        let signed = cache.ways.is_none_or(|ways| i32::try_from(ways).is_ok());
        let told = cache.size_kib != Some(0) && cache.line_bytes != Some(0);
        if levels.contains(&cache.level) && signed && told {
            self.add(Object {
                bytes: cache.size_kib.map(|kib| u64::from(kib) * 1024),
                line_bytes: cache.line_bytes,
                ways: cache.ways,
                origin: cache.origin,
                ..self.object(Kind::Cache(cache.level, cache.kind), cache.cpus.clone())
            });
        }
    }
}

/// The kernel's name, as `uname -m` prints it, of an architecture.
fn architecture(arch: Arch) -> Option<&'static str> {
    match arch {
        Arch::Powerpc => Some("ppc64le"),
        Arch::Arm64 => Some("aarch64"),
        Arch::X86 => Some("x86_64"),
        Arch::Other => None,
    }
}

/// Distances between the nodes in the tree, which hwloc wants for two or more.
fn distances(machine: &Machine, nodes: &[place::Placed]) -> Option<Distances> {
    let count = machine.nodes.len();
    let square = machine.nodes.iter().all(|n| n.distances.len() == count);
    (square && count > 1 && nodes.len() == count).then(|| Distances {
        nodes: nodes.iter().map(|node| node.os_index).collect(),
        values: machine.nodes.iter().flat_map(|n| n.distances.iter().copied()).collect(),
    })
}

/// Online CPUs by capacity and clocks, where known.
fn cpu_kinds(machine: &Machine) -> Vec<CpuKind> {
    let mut kinds: BTreeMap<_, CpuSet> = BTreeMap::new();
    for cpu in machine.online.iter().filter(|&cpu| cpu < MAX_CPUS) {
        let capacity = machine.cpus.get(cpu).and_then(|c| c.capacity);
        let policy = machine.policies.iter().find(|p| p.cpus.contains(cpu));
        let max_mhz = policy.map(|p| p.max_khz / 1000);
        let base_mhz = policy.and_then(|p| p.base_khz).map(|khz| khz / 1000);
        if capacity.is_some() || max_mhz.is_some() {
            kinds.entry((capacity, max_mhz, base_mhz)).or_default().insert(cpu);
        }
    }
    let kind =
        |((capacity, max_mhz, base_mhz), cpus)| CpuKind { cpus, capacity, max_mhz, base_mhz };
    kinds.into_iter().map(kind).collect()
}

/// The text without what an XML attribute cannot hold as it is.
fn legal(text: &str) -> String {
    let plain = |c: &char| !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().filter(plain).collect()
}
