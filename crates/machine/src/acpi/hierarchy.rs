//! Threads, cores, clusters, packages and caches as Linux derives them from the PPTT's trees.

use super::madt;
use super::pptt::{self, Pptt};
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::{Arch, Cache, CacheKind, Origin, OsIds, sort_caches};
use std::collections::{BTreeMap, BTreeSet};

/// Where a CPU is. Core and cluster are offsets of the PPTT's nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) core: usize,
    pub(super) cluster: Option<usize>,
    /// Linux's package id.
    pub(super) package: u32,
    pub(super) ids: OsIds,
}

/// Places of `processors`.
///
/// The core is the leaf, or the parent of a leaf that is a thread. The package is the first node upwards from the
/// leaf that is marked as one, else the root. The cluster is the core's parent, be it the package or not. So does
/// Linux from 5.16 on (`parse_acpi_topology`, `find_acpi_cpu_topology_cluster`).
pub(super) fn places(
    pptt: &Pptt<'_>,
    arch: Arch,
    processors: &[madt::Processor],
) -> Result<Vec<Place>, MachineError> {
    processors.iter().map(|processor| place(pptt, arch, processor)).collect()
}

fn place(pptt: &Pptt<'_>, arch: Arch, processor: &madt::Processor) -> Result<Place, MachineError> {
    let path = path(pptt, processor)?;
    let leaf = &pptt.processors[path[0]];
    // Where the table is too old to tell, Linux on arm64 asks MPIDR for the core, and takes a leaf's parent for the
    // cluster all the same.
    let unmarked = pptt.table.revision() < 2 && arch == Arch::Arm64 && processor.multithreaded;
    let Some(&core) = path.get(usize::from(leaf.thread || unmarked)) else {
        let found = "a thread without parent";
        return Err(pptt.table.error(leaf.offset, found, "the core as its parent"));
    };
    let marked = path.iter().position(|&node| pptt.processors[node].package);
    let package = path[marked.unwrap_or(path.len() - 1)];
    let offset = |node: usize| pptt.processors[node].offset;
    let cluster = path.get(usize::from(leaf.thread) + 1).copied();
    let core_id = match core == path[0] {
        true => leaf.uid,
        false => os_id(pptt, core)?,
    };
    let cluster_id = cluster.map(|node| os_id(pptt, node)).transpose()?;
    Ok(Place {
        core: offset(core),
        cluster: cluster.map(offset),
        package: os_id(pptt, package)?,
        ids: match arch {
            Arch::Arm64 => OsIds { core: Some(core_id), cluster: cluster_id, ..OsIds::default() },
            _ => OsIds::default(),
        },
    })
}

/// Linux's number of a node: its ACPI processor UID where that is marked as valid, else its offset.
fn os_id(pptt: &Pptt<'_>, node: usize) -> Result<u32, MachineError> {
    let node = &pptt.processors[node];
    if node.uid_valid {
        return Ok(node.uid);
    }
    u32::try_from(node.offset).map_err(|_| {
        pptt.table.error(
            node.offset,
            "a node whose offset needs more than 32 bits",
            "a smaller table",
        )
    })
}

/// Nodes from the processor's leaf to the root.
fn path(pptt: &Pptt<'_>, processor: &madt::Processor) -> Result<Vec<usize>, MachineError> {
    let Some(&leaf) = pptt.leaves.get(&processor.uid) else {
        let found = format!("no leaf for ACPI processor UID {}", processor.uid);
        let expected = "one for each enabled processor of the MADT";
        return Err(pptt.table.error(0, found, expected));
    };
    Ok(std::iter::successors(Some(leaf), |&node| pptt.processors[node].parent).collect())
}

/// Which caches are one: those of one id, or that CPUs find at the same node, of the same level and kind.
type Key = (Home, u8, CacheKind);

/// What tells a cache from others of its level and kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Home {
    Node(usize),
    Id(u32),
}

/// Caches, and those that Linux passes over.
pub(super) struct Caches {
    pub(super) caches: Vec<Cache>,
    /// Offsets of caches that do not tell their type.
    pub(super) untyped: BTreeSet<usize>,
}

/// Caches of `processors`. A chain's first cache lies one level above the deepest one of the nodes below. A cache
/// belongs to all CPUs below the node whose resources lead to it, so that two nodes which name one structure have
/// two caches alike, unless the structure has an id (`cache_leaves_are_shared`). A cache without type counts as a
/// level but is none that Linux could match (`acpi_pptt_walk_cache`, 6.12).
pub(super) fn caches(
    pptt: &Pptt<'_>,
    processors: &[madt::Processor],
) -> Result<Caches, MachineError> {
    let mut found: BTreeMap<Key, (usize, CpuSet)> = BTreeMap::new();
    let mut untyped = BTreeSet::new();
    for (cpu, processor) in processors.iter().enumerate() {
        let mut below = 0;
        for node in path(pptt, processor)? {
            let mut deepest = below;
            for &first in &pptt.processors[node].caches {
                let chain = std::iter::successors(Some(first), |&cache| pptt.caches[cache].next);
                for (cache, position) in chain.zip(1..) {
                    let level = below + position;
                    deepest = deepest.max(level);
                    let level = level_number(pptt, cache, level)?;
                    let Some(kind) = pptt.caches[cache].kind else {
                        untyped.insert(pptt.caches[cache].offset);
                        continue;
                    };
                    let home = pptt.caches[cache].id.map_or(Home::Node(node), Home::Id);
                    let (same, cpus) =
                        found.entry((home, level, kind)).or_insert((cache, CpuSet::EMPTY));
                    if *same != cache && matches!(home, Home::Node(_)) {
                        return Err(ambiguous(pptt, node, level, [*same, cache]));
                    }
                    cpus.insert(cpu);
                }
            }
            below = deepest;
        }
    }
    let mut caches: Vec<Cache> = Vec::new();
    for ((_, level, kind), (cache, cpus)) in found {
        let pptt::Cache { size_kib, line_bytes, ways, .. } = pptt.caches[cache];
        let origin = Origin::Firmware;
        caches.push(Cache { level, kind, size_kib, line_bytes, ways, cpus, origin });
    }
    sort_caches(&mut caches);
    Ok(Caches { caches, untyped })
}

fn level_number(pptt: &Pptt<'_>, cache: usize, level: usize) -> Result<u8, MachineError> {
    u8::try_from(level).map_err(|_| {
        let found = format!("a cache of level {level}");
        pptt.table.error(pptt.caches[cache].offset, found, "at most 255 levels")
    })
}

fn ambiguous(pptt: &Pptt<'_>, node: usize, level: u8, caches: [usize; 2]) -> MachineError {
    let [a, b] = caches.map(|cache| pptt.caches[cache].offset);
    let found = format!("two level-{level} caches of one type, at {a:#x} and {b:#x}");
    pptt.table.error(pptt.processors[node].offset, found, "one for each level and type")
}

#[cfg(test)]
mod tests;
