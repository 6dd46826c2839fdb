//! A machine drawn as a tree of what its CPUs share.

use crate::table::{WIDTH, clip};
use machine::{Cache, CacheKind, CpuSet, Machine, Node, Origin, ThreadGroupProperty};
use termtree::Tree;

/// Columns for a label; what remains is for the branches before it.
const LABEL_WIDTH: usize = 80;
/// Longest CPU list shown in full.
const LIST_WIDTH: usize = 40;

/// What a branch of the tree stands for, the widest first: where two span the same CPUs, the later is the
/// inner one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Package,
    Node,
    Cache,
    Core,
    SmallCore,
}

/// One branch: a set of CPUs, its name, and the caches that exactly these CPUs share.
struct Unit<'a> {
    rank: Rank,
    cpus: CpuSet,
    name: String,
    caches: Vec<&'a Cache>,
    /// What else is known, behind the caches.
    detail: String,
}

/// The machine as text: packages, NUMA nodes where there is more than one, big cores or cores, small
/// cores, and each cache at the branch whose CPUs share it. CPUs that are offline are named on the
/// innermost branch. Below stands what the machine's source cannot tell.
pub fn machine_tree(machine: &Machine) -> String {
    let (units, apart) = units(machine);
    let parents = parents(&units);
    let mut root = Tree::new(root_label(machine));
    for index in children(&units, &parents, None) {
        root.push(branch(machine, &units, &parents, index));
    }
    for node in machine.nodes.iter().filter(|n| n.cpus.is_empty()) {
        root.push(format!("node {} (no CPU){}", node.id, node_detail(node)));
    }
    let mut out = root.to_string();
    if !apart.is_empty() {
        out.push_str("Shared across the branches above:\n");
        out.extend(
            apart.iter().map(|c| bullet(&format!("{} {}", cache_text(c), cpus_text(c.cpus)))),
        );
    }
    if machine.caches.iter().any(|c| c.origin == Origin::Catalog) {
        out.push_str(
            "(catalog): from published documents; a kernel on the machine does not see it\n",
        );
    }
    if !machine.unknown.is_empty() {
        out.push_str("What the source cannot tell:\n");
        out.extend(machine.unknown.iter().map(|sentence| bullet(sentence)));
    }
    out
}

fn root_label(machine: &Machine) -> String {
    let (cpus, online) = (machine.cpus.len(), machine.online.len());
    let counts = if online == cpus {
        format!("{cpus} CPUs")
    } else {
        format!("{cpus} CPUs, {online} online")
    };
    clip(&format!("{}: {} ({counts})", machine.name, machine.title), WIDTH)
}

/// All branches, with the caches that they share; and the caches that no tree of them can hold.
fn units(machine: &Machine) -> (Vec<Unit<'_>>, Vec<&Cache>) {
    let mut units = packages_and_nodes(machine);
    units.extend(cores(machine));
    let mut apart = Vec::new();
    for cache in &machine.caches {
        let same = units.iter_mut().filter(|u| u.cpus == cache.cpus).max_by_key(|u| u.rank);
        if let Some(unit) = same {
            unit.caches.push(cache);
        } else if cache.cpus.is_empty() || units.iter().any(|u| crosses(&u.cpus, &cache.cpus)) {
            apart.push(cache);
        } else {
            let mut unit = Unit::new(Rank::Cache, cache.cpus, String::new());
            unit.caches.push(cache);
            units.push(unit);
        }
    }
    for unit in &mut units {
        unit.caches.sort_by_key(|c| (c.level, kind_order(c.kind)));
    }
    (units, apart)
}

impl Unit<'_> {
    fn new<'a>(rank: Rank, cpus: CpuSet, name: String) -> Unit<'a> {
        Unit { rank, cpus, name, caches: Vec::new(), detail: String::new() }
    }
}

/// Whether the sets overlap without one holding the other.
fn crosses(a: &CpuSet, b: &CpuSet) -> bool {
    a.intersects(b) && !a.is_subset(b) && !b.is_subset(a)
}

fn packages_and_nodes(machine: &Machine) -> Vec<Unit<'static>> {
    let cpus_of = |same: &dyn Fn(&machine::Cpu) -> bool| -> CpuSet {
        machine.cpus.iter().enumerate().filter(|(_, c)| same(c)).map(|(i, _)| i).collect()
    };
    let mut numbers: Vec<u32> = machine.cpus.iter().map(|c| c.package).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut units = Vec::new();
    for package in numbers {
        let cpus = cpus_of(&|c| c.package == package);
        units.push(Unit::new(Rank::Package, cpus, format!("package {package}")));
        for node in machine.nodes.iter().filter(|_| machine.nodes.len() > 1) {
            let cpus = cpus_of(&|c| c.package == package && c.node == node.id);
            let detail = node_detail(node);
            let unit = Unit { detail, ..Unit::new(Rank::Node, cpus, format!("node {}", node.id)) };
            units.extend((!cpus.is_empty()).then_some(unit));
        }
    }
    units
}

fn cores(machine: &Machine) -> Vec<Unit<'static>> {
    let mut units = Vec::new();
    for core in machine.cores() {
        let cpus: CpuSet = machine
            .cpus
            .iter()
            .enumerate()
            .filter(|(_, c)| c.core == core)
            .map(|(i, _)| i)
            .collect();
        let groups = machine
            .thread_groups
            .iter()
            .find(|tg| tg.core == core && tg.property == ThreadGroupProperty::L1)
            .filter(|tg| tg.groups.len() > 1);
        let kind = if groups.is_some() { "big core" } else { "core" };
        units.push(Unit::new(Rank::Core, cpus, format!("{kind} {core}")));
        for group in groups.iter().flat_map(|tg| &tg.groups) {
            units.push(Unit::new(Rank::SmallCore, *group, "small core".to_string()));
        }
    }
    units
}

/// For each branch the smallest one that holds it.
fn parents(units: &[Unit]) -> Vec<Option<usize>> {
    let size = |u: &Unit| (u.cpus.len(), std::cmp::Reverse(u.rank));
    let keys: Vec<_> = units.iter().map(size).collect();
    let holds = |outer: usize, inner: usize| {
        keys[outer] > keys[inner] && units[inner].cpus.is_subset(&units[outer].cpus)
    };
    (0..units.len())
        .map(|inner| (0..units.len()).filter(|&o| holds(o, inner)).min_by_key(|&o| keys[o]))
        .collect()
}

/// Branches below `parent`, by their first CPU.
fn children(units: &[Unit], parents: &[Option<usize>], parent: Option<usize>) -> Vec<usize> {
    let mut found: Vec<usize> = (0..units.len()).filter(|&i| parents[i] == parent).collect();
    found.sort_by_key(|&i| units[i].cpus.first());
    found
}

fn branch(
    machine: &Machine,
    units: &[Unit],
    parents: &[Option<usize>],
    index: usize,
) -> Tree<String> {
    let below = children(units, parents, Some(index));
    let offline = if below.is_empty() { units[index].cpus - machine.online } else { CpuSet::EMPTY };
    let mut tree = Tree::new(label(&units[index], offline));
    for child in below {
        tree.push(branch(machine, units, parents, child));
    }
    tree
}

fn label(unit: &Unit, offline: CpuSet) -> String {
    let mut cpus = cpus_text(unit.cpus);
    if !offline.is_empty() {
        cpus.insert_str(cpus.len() - 1, &format!("; offline {}", list_text(offline)));
    }
    let texts: Vec<String> = unit.caches.iter().map(|c| cache_text(c)).collect();
    let caches = texts.join(" ");
    let text = match (unit.rank, caches.is_empty()) {
        (Rank::Cache, _) => format!("{caches} {cpus}"),
        (_, true) => format!("{} {cpus}{}", unit.name, unit.detail),
        (_, false) => format!("{} {cpus}  {caches}{}", unit.name, unit.detail),
    };
    clip(&text, LABEL_WIDTH)
}

/// `(CPU 3)` or `(CPUs 0-7)`.
fn cpus_text(cpus: CpuSet) -> String {
    match cpus.len() {
        0 => "(no CPU)".to_string(),
        1 => format!("(CPU {cpus})"),
        _ => format!("(CPUs {})", list_text(cpus)),
    }
}

/// The kernel's list form; of a long list its start and how many there are.
fn list_text(cpus: CpuSet) -> String {
    let list = cpus.to_string();
    if list.len() <= LIST_WIDTH {
        return list;
    }
    let start: Vec<&str> = list.split(',').take(4).collect();
    format!("{},... {} in all", start.join(","), cpus.len())
}

/// `L1d 32 KiB`, with a mark where only the catalog knows of the cache.
fn cache_text(cache: &Cache) -> String {
    let kind = match cache.kind {
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
        CacheKind::Unified => "",
    };
    let size = cache.size_kib.map_or_else(|| "of unknown size".to_string(), |s| kib(u64::from(s)));
    let origin = match cache.origin {
        Origin::Firmware => "",
        Origin::Catalog => " (catalog)",
    };
    format!("L{}{kind} {size}{origin}", cache.level)
}

/// Data before instructions, as people name them.
fn kind_order(kind: CacheKind) -> u8 {
    match kind {
        CacheKind::Data => 0,
        CacheKind::Instruction => 1,
        CacheKind::Unified => 2,
    }
}

/// A size in the largest unit of which it is a whole number.
fn kib(size_kib: u64) -> String {
    const MIB: u64 = 1024;
    const GIB: u64 = 1024 * MIB;
    match size_kib {
        s if s >= GIB && s.is_multiple_of(GIB) => format!("{} GiB", s / GIB),
        s if s >= MIB && s.is_multiple_of(MIB) => format!("{} MiB", s / MIB),
        s => format!("{s} KiB"),
    }
}

fn node_detail(node: &Node) -> String {
    let mut text = String::new();
    if let Some(memory) = node.memory_kib {
        text.push_str(&format!("  memory {}", kib(memory)));
    }
    if !node.distances.is_empty() {
        text.push_str("  distances");
        node.distances.iter().for_each(|d| text.push_str(&format!(" {d}")));
    }
    text
}

/// A sentence of a list, wrapped to the page.
fn bullet(sentence: &str) -> String {
    let options = textwrap::Options::new(WIDTH).initial_indent("- ").subsequent_indent("  ");
    format!("{}\n", textwrap::fill(sentence.trim(), options))
}

#[cfg(test)]
mod tests;
