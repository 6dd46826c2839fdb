//! Threads, cores, clusters, packages and caches as Linux derives them from the PPTT's trees.

use super::madt;
use super::pptt::Pptt;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::{Arch, Cache, CacheKind, Origin, sort_caches};
use std::collections::BTreeMap;

/// Where a CPU is. Core and cluster are offsets of the PPTT's nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) core: usize,
    pub(super) cluster: Option<usize>,
    /// ACPI processor UID of the package's node where that is valid, else its offset: Linux's package id.
    pub(super) package: u32,
}

/// Places of `processors`.
///
/// The core is the leaf, or the parent of a leaf that is a thread. The package is the first node upwards from the
/// leaf that is marked as one, else the root. The cluster is the core's parent, unless that is the package.
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
    // Where the table is too old to tell, Linux on arm64 asks MPIDR.
    let thread = leaf.thread.unwrap_or(arch == Arch::Arm64 && processor.multithreaded);
    let Some(&core) = path.get(usize::from(thread)) else {
        let found = "a thread without parent";
        return Err(pptt.table.error(leaf.offset, found, "the core as its parent"));
    };
    let marked = path.iter().position(|&node| pptt.processors[node].package);
    let package = path[marked.unwrap_or(path.len() - 1)];
    let offset = |node: usize| pptt.processors[node].offset;
    let cluster = path.get(usize::from(thread) + 1).filter(|&&node| node != package);
    let package_id = pptt.processors[package].id;
    Ok(Place {
        core: offset(core),
        cluster: cluster.map(|&node| offset(node)),
        package: match package_id {
            Some(id) => id,
            None => u32::try_from(offset(package)).map_err(|_| {
                let found = "a package whose offset needs more than 32 bits";
                pptt.table.error(offset(package), found, "a smaller table")
            })?,
        },
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

/// Which caches are one: those that CPUs find at the same node, of the same level and kind.
type Key = (usize, u8, CacheKind);

/// Caches of `processors`. A chain's first cache lies one level above the deepest one of the nodes below. A cache
/// belongs to all CPUs below the node whose resources lead to it, so that two nodes which name one structure have
/// two caches alike.
pub(super) fn caches(
    pptt: &Pptt<'_>,
    processors: &[madt::Processor],
) -> Result<Vec<Cache>, MachineError> {
    let mut found: BTreeMap<Key, (usize, CpuSet)> = BTreeMap::new();
    for (cpu, processor) in processors.iter().enumerate() {
        let mut below = 0;
        for node in path(pptt, processor)? {
            let mut deepest = below;
            for &first in &pptt.processors[node].caches {
                let chain = std::iter::successors(Some(first), |&cache| pptt.caches[cache].next);
                for (cache, position) in chain.zip(1..) {
                    let level = below + position;
                    deepest = deepest.max(level);
                    let key = (node, level_number(pptt, cache, level)?, pptt.caches[cache].kind);
                    let (same, cpus) = found.entry(key).or_insert((cache, CpuSet::EMPTY));
                    if *same != cache {
                        return Err(ambiguous(pptt, node, key.1, [*same, cache]));
                    }
                    cpus.insert(cpu);
                }
            }
            below = deepest;
        }
    }
    let mut caches: Vec<Cache> = Vec::new();
    for ((_, level, kind), (cache, cpus)) in found {
        let cache = &pptt.caches[cache];
        let (size_kib, line_bytes) = (cache.size_kib, cache.line_bytes);
        caches.push(Cache {
            level,
            kind,
            size_kib,
            line_bytes,
            ways: None,
            cpus,
            origin: Origin::Firmware,
        });
    }
    sort_caches(&mut caches);
    Ok(caches)
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
