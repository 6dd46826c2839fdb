//! Structures of the Processor Properties Topology Table (ACPI Specification 6.5, 5.2.30): processor nodes, which
//! form trees, and caches, which form chains.
//!
//! Of the nodes' flags, `physical package`, `ACPI processor ID valid`, `thread` and `leaf` are read, as in Linux
//! (`drivers/acpi/pptt.c`, 6.12 to 7.3). `Identical implementation` is not: Linux tells kinds of cores apart by it
//! for performance counters and, in 7.3, to count threads for `smt/control`, never for topology.

use super::header::{Entry, HEADER_BYTES, Table};
use crate::error::MachineError;
use crate::model::CacheKind;
use std::collections::BTreeMap;

const PROCESSOR: u8 = 0;
const CACHE: u8 = 1;

const PACKAGE: u32 = 1;
const ID_VALID: u32 = 1 << 1;
const THREAD: u32 = 1 << 2;
const LEAF: u32 = 1 << 3;

const SIZE_VALID: u32 = 1;
const WAYS_VALID: u32 = 1 << 2;
const TYPE_VALID: u32 = 1 << 4;
const LINE_VALID: u32 = 1 << 6;
const CACHE_ID_VALID: u32 = 1 << 7;
/// First revision of the table whose caches have ids.
const CACHE_ID_REVISION: u8 = 3;

/// A processor, or something that contains processors.
#[derive(Debug)]
pub(super) struct Processor {
    pub(super) offset: usize,
    /// Index of the parent.
    pub(super) parent: Option<usize>,
    pub(super) package: bool,
    /// Whether it shares a core with others, in tables that tell (revision 2 and later).
    pub(super) thread: bool,
    /// ACPI processor UID.
    pub(super) uid: u32,
    /// Whether [`Processor::uid`] is marked as valid.
    pub(super) uid_valid: bool,
    /// Indices of the first caches of its chains.
    pub(super) caches: Vec<usize>,
}

/// A cache.
#[derive(Debug)]
pub(super) struct Cache {
    pub(super) offset: usize,
    /// Index of the cache of the next level.
    pub(super) next: Option<usize>,
    pub(super) size_kib: Option<u32>,
    pub(super) line_bytes: Option<u32>,
    pub(super) ways: Option<u32>,
    /// What it holds, where it tells.
    pub(super) kind: Option<CacheKind>,
    /// Number of this very cache, where it has one.
    pub(super) id: Option<u32>,
}

/// The table with offsets resolved; neither parents nor next levels run in circles.
#[derive(Debug)]
pub(super) struct Pptt<'t> {
    pub(super) table: &'t Table,
    pub(super) processors: Vec<Processor>,
    pub(super) caches: Vec<Cache>,
    /// Index of the leaf of each ACPI processor UID.
    pub(super) leaves: BTreeMap<u32, usize>,
}

/// Indices of structures by offset.
struct Places {
    processors: BTreeMap<usize, usize>,
    caches: BTreeMap<usize, usize>,
}

/// Reads the table.
pub(super) fn read(table: &Table) -> Result<Pptt<'_>, MachineError> {
    let entries = table.entries(HEADER_BYTES)?;
    let of_kind = |kind: u8| entries.iter().filter(move |e| e.kind == kind);
    let places = |kind| of_kind(kind).map(|e| e.offset).zip(0..).collect();
    let places = Places { processors: places(PROCESSOR), caches: places(CACHE) };
    let known: Vec<usize> = entries.iter().map(|e| e.offset).collect();

    let caches = of_kind(CACHE).map(|e| cache(table, e, &places)).collect::<Result<Vec<_>, _>>()?;
    let caches_next: Vec<Option<usize>> = caches.iter().map(|c| c.next).collect();
    if let Some(index) = circle(&caches_next) {
        let found = "a cache that is its own next level, directly or through others";
        return Err(table.error(caches[index].offset, found, "a chain that ends"));
    }
    let mut processors = Vec::new();
    for entry in of_kind(PROCESSOR) {
        processors.push(processor(table, entry, &places, &known, &caches_next)?);
    }
    let parents: Vec<Option<usize>> = processors.iter().map(|p| p.parent).collect();
    if let Some(index) = circle(&parents) {
        let found = "a processor node that is its own parent, directly or through others";
        return Err(table.error(processors[index].offset, found, "a tree"));
    }
    let leaves = leaves(table, &entries, &processors)?;
    Ok(Pptt { table, processors, caches, leaves })
}

/// Index of what the structure `from` names by `offset` in its field `field`; 0 names nothing.
fn link(
    from: &Entry<'_>,
    field: &str,
    offset: u32,
    places: &BTreeMap<usize, usize>,
    what: &str,
) -> Result<Option<usize>, MachineError> {
    match places.get(&(offset as usize)) {
        _ if offset == 0 => Ok(None),
        Some(&index) => Ok(Some(index)),
        None => {
            Err(from.error(format!("{field} {offset:#x}"), format!("0 or the offset of {what}")))
        }
    }
}

fn cache(table: &Table, entry: &Entry<'_>, places: &Places) -> Result<Cache, MachineError> {
    let flags = entry.u32(4)?;
    let next = link(entry, "next level", entry.u32(8)?, &places.caches, "a cache")?;
    let size_bytes = match flags & SIZE_VALID {
        0 => 0,
        _ => entry.u32(12)?,
    };
    if size_bytes % 1024 != 0 {
        return Err(entry.error(format!("a cache of {size_bytes} bytes"), "whole KiB"));
    }
    let line_bytes = match flags & LINE_VALID {
        0 => 0,
        _ => u32::from(entry.u16(22)?),
    };
    let kind = match entry.u8(21)? >> 2 & 3 {
        _ if flags & TYPE_VALID == 0 => None,
        0 => Some(CacheKind::Data),
        1 => Some(CacheKind::Instruction),
        _ => Some(CacheKind::Unified),
    };
    let ways = match flags & WAYS_VALID {
        0 => None,
        _ => Some(u32::from(entry.u8(20)?)),
    };
    let id = match flags & CACHE_ID_VALID != 0 && table.revision() >= CACHE_ID_REVISION {
        true => Some(entry.u32(24)?),
        false => None,
    };
    let known = |value: u32| Some(value).filter(|&v| v != 0);
    let (size_kib, line_bytes) = (known(size_bytes / 1024), known(line_bytes));
    Ok(Cache { offset: entry.offset, next, size_kib, line_bytes, ways, kind, id })
}

fn processor(
    table: &Table,
    entry: &Entry<'_>,
    places: &Places,
    known: &[usize],
    next: &[Option<usize>],
) -> Result<Processor, MachineError> {
    let flags = entry.u32(4)?;
    let parent = link(entry, "parent", entry.u32(8)?, &places.processors, "a processor node")?;
    let mut caches = Vec::new();
    for number in 0..entry.u32(16)? as usize {
        let offset = entry.u32(20 + 4 * number)?;
        if known.binary_search(&(offset as usize)).is_err() {
            let found = format!("private resource {offset:#x}");
            return Err(entry.error(found, "the offset of a structure"));
        }
        caches.extend(places.caches.get(&(offset as usize)).copied());
    }
    // A list may name, beside the first cache of a chain, those behind it.
    let first = |c: &usize| !caches.iter().any(|&other| next[other] == Some(*c));
    let caches = caches.iter().copied().filter(first).collect();
    Ok(Processor {
        offset: entry.offset,
        parent,
        package: flags & PACKAGE != 0,
        thread: table.revision() > 1 && flags & THREAD != 0,
        uid: entry.u32(12)?,
        uid_valid: flags & ID_VALID != 0,
        caches,
    })
}

/// Leaves by ACPI processor UID: nodes marked as such; in revision 1 those that are nobody's parent.
fn leaves(
    table: &Table,
    entries: &[Entry<'_>],
    processors: &[Processor],
) -> Result<BTreeMap<u32, usize>, MachineError> {
    let mut has_child = vec![false; processors.len()];
    for parent in processors.iter().filter_map(|p| p.parent) {
        has_child[parent] = true;
    }
    let mut leaves: BTreeMap<u32, usize> = BTreeMap::new();
    let nodes = entries.iter().filter(|e| e.kind == PROCESSOR);
    for (index, entry) in nodes.enumerate() {
        let leaf = match table.revision() > 1 {
            true => entry.u32(4)? & LEAF != 0,
            false => !has_child[index],
        };
        if !leaf {
            continue;
        }
        let id = entry.u32(12)?;
        if let Some(other) = leaves.insert(id, index) {
            let other = processors[other].offset;
            let found = format!("a leaf for ACPI processor UID {id}, also at {other:#x}");
            return Err(entry.error(found, "one leaf for each processor"));
        }
    }
    Ok(leaves)
}

/// A start from which following `next` never ends.
fn circle(next: &[Option<usize>]) -> Option<usize> {
    // Number of the walk that came by, from 1; a walk that meets itself runs in a circle.
    let mut seen = vec![0; next.len()];
    for (walk, start) in (1..).zip(0..next.len()) {
        let mut at = Some(start);
        while let Some(index) = at.filter(|&i| seen[i] == 0) {
            seen[index] = walk;
            at = next[index];
        }
        if at.is_some_and(|index| seen[index] == walk) {
            return Some(start);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acpi::testing::{Pptt as Builder, cache, processor, words};

    fn fail<R>(build: impl FnOnce(&mut Builder) -> R) -> String {
        let mut builder = Builder::default();
        build(&mut builder);
        let table = Table::parse("PPTT", builder.table(2), "PPTT").unwrap();
        read(&table).unwrap_err().to_string()
    }

    #[test]
    fn refuses_offsets_of_nothing() {
        assert_eq!(
            fail(|t| t.add(processor(0xa, 0x25, 0, &[]))),
            "PPTT: offset 0x24: found parent 0x25, expected 0 or the offset of a processor node"
        );
        let to_cache = |t: &mut Builder| {
            let cache = t.add(cache(0, 1024, 0));
            t.add(processor(0xa, cache, 0, &[]));
        };
        assert!(fail(to_cache).contains("found parent 0x24"));
        assert!(
            fail(|t| t.add(processor(0xa, 0, 0, &[0x30])))
                .contains("0x24: found private resource 0x30, expected the offset of a structure")
        );
        assert!(
            fail(|t| t.add(cache(0x99, 1024, 0)))
                .contains("found next level 0x99, expected 0 or the offset of a cache")
        );
    }

    #[test]
    fn refuses_circles() {
        let own_parent = fail(|t| t.add(processor(0xa, 0x24, 0, &[])));
        assert!(own_parent.contains("0x24: found a processor node that is its own parent"));
        let in_turn = |t: &mut Builder| {
            t.add(processor(0, 0x38, 0, &[]));
            t.add(processor(0, 0x24, 1, &[]));
            t.add(processor(0xa, 0x24, 0, &[]));
        };
        assert!(fail(in_turn).contains("expected a tree"));
        let caches = |t: &mut Builder| {
            t.add(cache(0x3c, 1024, 0));
            t.add(cache(0x24, 1024, 0));
        };
        assert!(fail(caches).contains("found a cache that is its own next level"));
        assert_eq!(circle(&[Some(1), Some(2), None, Some(1)]), None);
        assert_eq!(circle(&[None, Some(0), Some(3), Some(4), Some(3)]), Some(2));
    }

    #[test]
    fn refuses_what_contradicts_itself() {
        let twice = |t: &mut Builder| {
            t.add(processor(0xa, 0, 5, &[]));
            t.add(processor(0xa, 0, 5, &[]));
        };
        assert!(fail(twice).contains("0x38: found a leaf for ACPI processor UID 5, also at 0x24"));
        assert!(fail(|t| t.add(cache(0, 1000, 0))).contains("1000 bytes, expected whole KiB"));
        let short = |t: &mut Builder| {
            t.add([vec![0, 20, 0, 0], words(&[0xa, 0, 0, 1])].concat());
        };
        assert!(
            fail(short).contains("of type 0 and 20 bytes, expected a field of 4 bytes at byte 20")
        );
    }
}
