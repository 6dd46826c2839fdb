//! A machine as nested levels, from which its tree and its picture are drawn.

use crate::machine_words::kind_order;
use machine::{Cache, Cpu, CpuSet, Machine, Node, ThreadGroupProperty};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// What a branch stands for, the widest first: where two span the same CPUs, the later is the inner one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Drawer,
    Book,
    Package,
    Node,
    Die,
    Cache,
    Cluster,
    Core,
    SmallCore,
}

/// A set of CPUs, its name, the caches that exactly these CPUs share, and what is nested in it.
#[derive(Debug)]
pub(crate) struct Branch<'a> {
    pub(crate) rank: Rank,
    pub(crate) cpus: CpuSet,
    /// Empty for a cache.
    pub(crate) name: String,
    /// The nearest to the CPUs first.
    pub(crate) caches: Vec<&'a Cache>,
    /// The node of a [`Rank::Node`].
    pub(crate) node: Option<&'a Node>,
    /// CPUs that are in no branch below; each CPU of the machine is one branch's own.
    pub(crate) own: CpuSet,
    /// By first CPU.
    pub(crate) below: Vec<Branch<'a>>,
}

/// A machine's branches.
pub(crate) struct Levels<'a> {
    /// The outermost ones.
    pub(crate) branches: Vec<Branch<'a>>,
    /// Caches, clusters and dies that overlap others, so that no tree can hold them.
    pub(crate) apart: Vec<Branch<'a>>,
}

/// Packages, NUMA nodes where there is more than one, dies where a package has several, clusters of more than a
/// core, cores, small cores, and each cache at the branch whose CPUs share it.
pub(crate) fn levels(machine: &Machine) -> Levels<'_> {
    let mut units = packages(machine);
    units.extend(nodes(machine, &units));
    units.extend(cores(machine));
    let mut apart = Vec::new();
    let containers = containers(machine);
    for unit in containers.into_iter().chain(dies(machine)).chain(clusters(machine)) {
        let fits = !units.iter().any(|u| crosses(&u.cpus, &unit.cpus));
        if fits { &mut units } else { &mut apart }.push(unit);
    }
    for cache in &machine.caches {
        let same = units.iter_mut().filter(|u| u.cpus == cache.cpus).max_by_key(|u| u.rank);
        if let Some(unit) = same {
            unit.caches.push(cache);
            continue;
        }
        let mut unit = Branch::new(Rank::Cache, cache.cpus.clone(), String::new());
        unit.caches.push(cache);
        let crosses = |u: &Branch| crosses(&u.cpus, &cache.cpus);
        let fits = !cache.cpus.is_empty() && !units.iter().any(crosses);
        if fits { &mut units } else { &mut apart }.push(unit);
    }
    for unit in &mut units {
        unit.caches.sort_by_key(|c| (c.level, kind_order(c.kind)));
    }
    Levels { branches: nest(machine, units), apart }
}

impl<'a> Branch<'a> {
    fn new(rank: Rank, cpus: CpuSet, name: String) -> Branch<'a> {
        let (caches, below) = (Vec::new(), Vec::new());
        Branch { rank, cpus, name, caches, node: None, own: CpuSet::EMPTY, below }
    }

    /// The widest last.
    fn size(&self) -> (usize, Reverse<Rank>) {
        (self.cpus.len(), Reverse(self.rank))
    }
}

/// Whether the sets overlap without one holding the other.
fn crosses(a: &CpuSet, b: &CpuSet) -> bool {
    a.intersects(b) && !a.is_subset(b) && !b.is_subset(a)
}

/// CPUs by what `key` gives for them.
fn sets<K: Ord>(machine: &Machine, key: impl Fn(&Cpu) -> Option<K>) -> BTreeMap<K, CpuSet> {
    let mut sets: BTreeMap<K, CpuSet> = BTreeMap::new();
    for (number, cpu) in machine.cpus.iter().enumerate() {
        if let Some(key) = key(cpu) {
            sets.entry(key).or_default().insert(number);
        }
    }
    sets
}

fn packages<'a>(machine: &Machine) -> Vec<Branch<'a>> {
    let sets = sets(machine, |c| Some(c.package));
    sets.iter()
        .map(|(n, cpus)| Branch::new(Rank::Package, cpus.clone(), format!("package {n}")))
        .collect()
}

/// Nodes where there is more than one; one that has parts of several packages is a branch in each.
fn nodes<'a>(machine: &'a Machine, packages: &[Branch]) -> Vec<Branch<'a>> {
    let mut units = Vec::new();
    if machine.nodes.len() < 2 {
        return units;
    }
    let of_node = sets(machine, |c| Some(c.node));
    for node in &machine.nodes {
        let Some(cpus) = of_node.get(&node.id) else { continue };
        let whole = !packages.iter().any(|p| crosses(&p.cpus, cpus));
        let parts: Vec<CpuSet> = match whole {
            true => vec![cpus.clone()],
            false => packages.iter().map(|p| &p.cpus & cpus).filter(|c| !c.is_empty()).collect(),
        };
        for cpus in parts {
            let unit = Branch::new(Rank::Node, cpus, format!("node {}", node.id));
            units.push(Branch { node: Some(node), ..unit });
        }
    }
    units
}

/// Drawers and books (s390).
fn containers<'a>(machine: &Machine) -> Vec<Branch<'a>> {
    let mut units = Vec::new();
    for cpu in 0..machine.cpus.len() {
        let ids = machine.cpus[cpu].ids;
        let drawer =
            machine.drawer_cpus(cpu).map(|cpus| (Rank::Drawer, "drawer", cpus, ids.drawer));
        let book = machine.book_cpus(cpu).map(|cpus| (Rank::Book, "book", cpus, ids.book));
        for (rank, name, cpus, id) in drawer.into_iter().chain(book) {
            if cpus.first() == Some(cpu) {
                let id = id.map_or(String::new(), |id| format!(" {id}"));
                units.push(Branch::new(rank, cpus, format!("{name}{id}")));
            }
        }
    }
    units
}

/// Dies where one is not its whole package.
fn dies<'a>(machine: &Machine) -> Vec<Branch<'a>> {
    let packages = sets(machine, |c| Some(c.package));
    let dies = sets(machine, |c| Some(c.die));
    if dies.values().all(|die| packages.values().any(|p| p == die)) {
        return Vec::new();
    }
    let of = |cpus: &CpuSet| cpus.first().and_then(|c| machine.cpus.get(c));
    let unit = |(&number, cpus): (&u32, &CpuSet)| {
        let number = of(cpus).and_then(|c| c.ids.die).unwrap_or(number);
        Branch::new(Rank::Die, cpus.clone(), format!("die {number}"))
    };
    dies.iter().map(unit).collect()
}

/// Clusters where one has more than a core.
fn clusters<'a>(machine: &Machine) -> Vec<Branch<'a>> {
    let cores = sets(machine, |c| Some(c.core));
    let clusters = sets(machine, |c| c.cluster);
    if clusters.values().all(|cluster| cores.values().any(|core| cluster.is_subset(core))) {
        return Vec::new();
    }
    let of = |cpus: &CpuSet| cpus.first().and_then(|c| machine.cpus.get(c));
    let unit = |(&number, cpus): (&u32, &CpuSet)| {
        let number = of(cpus).and_then(|c| c.ids.cluster).unwrap_or(number);
        Branch::new(Rank::Cluster, cpus.clone(), format!("cluster {number}"))
    };
    clusters.iter().map(unit).collect()
}

fn cores<'a>(machine: &Machine) -> Vec<Branch<'a>> {
    let mut units = Vec::new();
    for (core, cpus) in sets(machine, |c| Some(c.core)) {
        let groups = machine
            .thread_groups
            .iter()
            .find(|tg| tg.core == core && tg.property == ThreadGroupProperty::L1)
            .filter(|tg| tg.groups.len() > 1);
        let kind = if groups.is_some() { "big core" } else { "core" };
        units.push(Branch::new(Rank::Core, cpus, format!("{kind} {core}")));
        for group in groups.iter().flat_map(|tg| &tg.groups) {
            units.push(Branch::new(Rank::SmallCore, group.clone(), "small core".to_string()));
        }
    }
    units
}

/// Puts each branch into the smallest one that holds it, and each CPU into the smallest that has it.
fn nest<'a>(machine: &Machine, mut units: Vec<Branch<'a>>) -> Vec<Branch<'a>> {
    units.sort_by_key(|u| (u.size(), Reverse(u.cpus.first())));
    for cpu in machine.possible().iter() {
        if let Some(unit) = units.iter_mut().find(|u| u.cpus.contains(cpu)) {
            unit.own.insert(cpu);
        }
    }
    let parents: Vec<Option<usize>> = (0..units.len())
        .map(|inner| {
            let size = units[inner].size();
            let wider = |o: &usize| units[*o].size() > size;
            (inner + 1..units.len())
                .filter(wider)
                .find(|&o| units[inner].cpus.is_subset(&units[o].cpus))
        })
        .collect();
    let mut below: Vec<Vec<Branch<'a>>> = units.iter().map(|_| Vec::new()).collect();
    let mut outermost = Vec::new();
    // The narrowest come first, so all that goes into a branch is in place when its turn comes.
    for (index, mut unit) in units.into_iter().enumerate() {
        unit.below = std::mem::take(&mut below[index]);
        unit.below.sort_by_key(|u| u.cpus.first());
        match parents[index] {
            Some(parent) => below[parent].push(unit),
            None => outermost.push(unit),
        }
    }
    outermost.sort_by_key(|u| u.cpus.first());
    outermost
}
