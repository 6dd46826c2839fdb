//! Caches of a POWER machine: first level in the CPU nodes, the others along `l2-cache` and
//! `next-level-cache`.

use super::cpus::Core;
use super::node::{Node, Tree};
use crate::cpuset::CpuSet;
use crate::error::{Fault, MachineError};
use crate::model::{Cache, CacheKind, Origin, ThreadGroupProperty};
use std::collections::{BTreeMap, HashMap};

/// Said of a tree that has first-level caches at most.
pub(crate) const NO_OUTER_CACHES: &str =
    "Second-level and further caches: the device tree has no node for them.";

/// Caches and what the tree leaves open about them.
pub(super) struct Caches {
    pub(super) caches: Vec<Cache>,
    pub(super) unknown: Vec<String>,
}

/// Reads all caches.
pub(super) fn read(tree: &Tree<'_>, cores: &[Core<'_>]) -> Result<Caches, MachineError> {
    let mut caches = Vec::new();
    for core in cores {
        let sharers = sharers(core, ThreadGroupProperty::L1).unwrap_or_else(|| vec![core.cpus()]);
        for shape in Shape::of_node(core.node, 1)? {
            caches.extend(sharers.iter().map(|cpus| shape.cache(1, cpus.clone())));
        }
    }
    let mut unknown = Vec::new();
    if caches.is_empty() {
        unknown.push("First-level caches: no CPU node has d-cache-size or i-cache-size.".into());
    }
    let outer = outer(tree, cores)?;
    if outer.is_empty() {
        unknown.push(NO_OUTER_CACHES.to_string());
    }
    for (node, level, sets) in outer {
        for shape in Shape::of_node(node, level)? {
            if shape.size_kib.is_none() {
                unknown.push(format!("Size of the level-{level} cache at {}.", node.path()));
            }
            caches.extend(sets.iter().map(|cpus| shape.cache(level, cpus.clone())));
        }
    }
    Ok(Caches { caches, unknown })
}

/// The core's groups by `property`, where firmware names them.
fn sharers(core: &Core<'_>, property: ThreadGroupProperty) -> Option<Vec<CpuSet>> {
    core.parts.iter().find(|p| p.property == property).map(|part| core.group_cpus(part))
}

/// Kind, size, line and ways of the cache or caches that one node describes.
pub(super) struct Shape {
    pub(super) kind: CacheKind,
    pub(super) size_kib: Option<u32>,
    pub(super) line_bytes: Option<u32>,
    pub(super) ways: Option<u32>,
}

impl Shape {
    /// The caches of `node`, which is a CPU (level 1) or a cache node.
    pub(super) fn of_node(node: Node<'_>, level: u8) -> Result<Vec<Shape>, MachineError> {
        let outer = level > 1;
        let split = node.has("d-cache-size") && node.has("i-cache-size");
        if node.has("cache-unified") || node.has("cache-size") || outer && !split {
            return Ok(vec![Shape::named(node, CacheKind::Unified, &["cache", "d-cache"])?]);
        }
        let mut shapes = Vec::new();
        for (kind, prefix) in [(CacheKind::Data, "d-cache"), (CacheKind::Instruction, "i-cache")] {
            if node.has(&format!("{prefix}-size")) {
                shapes.push(Shape::named(node, kind, &[prefix])?);
            }
        }
        Ok(shapes)
    }

    /// A cache of which no more than its kind is known.
    pub(super) fn unsized_of(kind: CacheKind) -> Shape {
        Shape { kind, size_kib: None, line_bytes: None, ways: None }
    }

    /// Reads the first of `PREFIX-size` and of `PREFIX-line-size`, `PREFIX-block-size` that is there.
    fn named(node: Node<'_>, kind: CacheKind, prefixes: &[&str]) -> Result<Shape, MachineError> {
        let first = |suffixes: &[&str]| -> Result<Option<(String, u64)>, MachineError> {
            for prefix in prefixes {
                for suffix in suffixes {
                    let name = format!("{prefix}-{suffix}");
                    if let Some(value) = node.number(&name)?.filter(|&v| v != 0) {
                        return Ok(Some((name, value)));
                    }
                }
            }
            Ok(None)
        };
        let narrow = |name: &str, value: u64| {
            u32::try_from(value).map_err(|_| {
                node.property_error(name, Fault::new(format!("{value}"), "less than 2^32"))
            })
        };
        let size = first(&["size"])?;
        let ways = |line: Option<u32>| -> Result<Option<u32>, MachineError> {
            let Some((name, sets)) = first(&["sets"])? else { return Ok(None) };
            match (sets, &size, line) {
                // As in Linux (`cache_associativity`): one set is full associativity.
                (1, ..) => Ok(Some(0)),
                (sets, Some((_, bytes)), Some(line)) => {
                    Ok(Some(narrow(&name, bytes / sets / u64::from(line))?))
                }
                _ => Ok(None),
            }
        };
        let size_kib = match size.clone() {
            Some((name, bytes)) if !bytes.is_multiple_of(1024) => {
                let fault = Fault::new(format!("{bytes} bytes"), "a multiple of 1024");
                return Err(node.property_error(&name, fault));
            }
            Some((name, bytes)) => Some(narrow(&name, bytes / 1024)?),
            None => None,
        };
        let line_bytes = match first(&["line-size", "block-size"])? {
            Some((name, bytes)) => Some(narrow(&name, bytes)?),
            None => None,
        };
        Ok(Shape { kind, size_kib, line_bytes, ways: ways(line_bytes)? })
    }

    /// The cache at `level` that `cpus` share.
    pub(super) fn cache(&self, level: u8, cpus: CpuSet) -> Cache {
        let Shape { kind, size_kib, line_bytes, ways } = *self;
        Cache { level, kind, size_kib, line_bytes, ways, cpus, origin: Origin::Firmware }
    }
}

/// A cache node, its level, and the sets of CPUs that share what it describes.
type Outer<'t> = (Node<'t>, u8, Vec<CpuSet>);

/// Cache nodes that the cores' chains reach.
fn outer<'t>(tree: &'t Tree<'t>, cores: &[Core<'t>]) -> Result<Vec<Outer<'t>>, MachineError> {
    let phandles = tree.phandles()?;
    let mut reached: BTreeMap<usize, Outer<'t>> = BTreeMap::new();
    let mut whole: BTreeMap<usize, CpuSet> = BTreeMap::new();
    for core in cores {
        let groups = sharers(core, ThreadGroupProperty::L2);
        for (node, level) in chain(core.node, &phandles)? {
            let entry = reached.entry(node.index()).or_insert((node, level, Vec::new()));
            if entry.1 != level {
                return Err(two_levels(node, [entry.1, level], core.node));
            }
            // Thread groups of property 2 tell the sharers of L2 and, where it is private, L3.
            match groups.as_ref().filter(|_| level <= 3) {
                Some(groups) => entry.2.extend(groups.iter().cloned()),
                None => *whole.entry(node.index()).or_default() |= core.cpus(),
            }
        }
    }
    for (index, cpus) in whole {
        if let Some(entry) = reached.get_mut(&index) {
            entry.2.push(cpus);
        }
    }
    Ok(reached.into_values().collect())
}

/// The error of a cache node that chains reach at two levels, the second from `core`.
pub(super) fn two_levels(node: Node<'_>, levels: [u8; 2], core: Node<'_>) -> MachineError {
    let found = format!("level {} and level {} from {}", levels[0], levels[1], core.path());
    node.error(found, "one level")
}

/// Cache nodes above a core with their levels, the nearest first.
pub(super) fn chain<'t>(
    core: Node<'t>,
    phandles: &HashMap<u32, Node<'t>>,
) -> Result<Vec<(Node<'t>, u8)>, MachineError> {
    let mut chain: Vec<(Node<'t>, u8)> = Vec::new();
    let mut at = core;
    loop {
        let names = ["l2-cache", "next-level-cache"];
        let Some(name) = names.into_iter().find(|n| at.has(n)) else { return Ok(chain) };
        let Some(phandle) = at.cell(name)? else { return Ok(chain) };
        let wrong = |found: String, expected: &str| {
            Err(at.property_error(name, Fault::new(found, expected)))
        };
        let Some(&next) = phandles.get(&phandle) else {
            return wrong(format!("phandle {phandle:#x}"), "the phandle of a node");
        };
        if next.index() == core.index() || chain.iter().any(|(n, _)| n.index() == next.index()) {
            return wrong(format!("{}, again", next.path()), "a chain of caches without a loop");
        }
        let below = chain.last().map_or(1, |(_, level)| *level);
        let level = match next.cell("cache-level")? {
            Some(level) => u8::try_from(level).ok().filter(|&l| l > below),
            None => below.checked_add(1),
        };
        let Some(level) = level else {
            let found = format!("{}, which is not above level {below}", next.path());
            return wrong(found, "a cache of a higher level, 255 at most");
        };
        chain.push((next, level));
        at = next;
    }
}

#[cfg(test)]
mod tests;
