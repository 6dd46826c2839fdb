//! Caches: who shares them, and what they are like.

use super::{Diff, sets, shown};
use crate::machine_words::{cache_name, kib};
use machine::{Cache, CacheKind, CpuSet, Machine, Origin};
use std::collections::{BTreeMap, BTreeSet};

type Key = (u8, CacheKind);

pub(super) fn caches(diff: &mut Diff<'_>) {
    let (a, b) = (by_kind(diff.a), by_kind(diff.b));
    let keys: BTreeSet<Key> = a.keys().chain(b.keys()).copied().collect();
    let none = BTreeMap::new();
    for (level, kind) in keys {
        let part = format!("{} caches", cache_name(level, kind));
        let (a, b) =
            (a.get(&(level, kind)).unwrap_or(&none), b.get(&(level, kind)).unwrap_or(&none));
        let sharers = |m: &BTreeMap<CpuSet, Vec<&Cache>>| m.keys().cloned().collect();
        sets::compare(diff, &part, &sharers(a), &sharers(b));
        changes(diff, &part, a, b);
    }
}

/// Caches of each level and kind by sharers.
fn by_kind(machine: &Machine) -> BTreeMap<Key, BTreeMap<CpuSet, Vec<&Cache>>> {
    let mut caches: BTreeMap<Key, BTreeMap<CpuSet, Vec<&Cache>>> = BTreeMap::new();
    for cache in &machine.caches {
        let of_kind = caches.entry((cache.level, cache.kind)).or_default();
        of_kind.entry(cache.cpus.clone()).or_default().push(cache);
    }
    caches
}

/// What changed of caches that both machines have, a line for each change.
fn changes(
    diff: &mut Diff<'_>,
    part: &str,
    a: &BTreeMap<CpuSet, Vec<&Cache>>,
    b: &BTreeMap<CpuSet, Vec<&Cache>>,
) {
    let mut changes: BTreeMap<(&str, String, String), Vec<CpuSet>> = BTreeMap::new();
    for (cpus, a) in a {
        let Some(b) = b.get(cpus) else { continue };
        for (what, a, b) in
            attributes(a).into_iter().zip(attributes(b)).map(|(a, b)| (a.0, a.1, b.1))
        {
            if a != b {
                changes.entry((what, a, b)).or_default().push(cpus.clone());
            }
        }
    }
    for ((what, a, b), mut of) in changes {
        of.sort_by_key(|s| (s.first(), s.len()));
        diff.push(part, &format!("{what} ({})", sets::text(&of)), Some(a), Some(b));
    }
}

/// Attributes of the caches, usually one, that the same CPUs share.
fn attributes(caches: &[&Cache]) -> [(&'static str, String); 5] {
    let list = |text: &dyn Fn(&Cache) -> String| -> String {
        let mut texts: Vec<String> = caches.iter().map(|c| text(c)).collect();
        texts.sort();
        texts.join(" and ")
    };
    let size = |c: &Cache| shown(c.size_kib.map(|s| kib(u64::from(s))).as_ref());
    let line = |c: &Cache| shown(c.line_bytes.map(|bytes| format!("{bytes} bytes")).as_ref());
    let origin = |c: &Cache| match c.origin {
        Origin::Firmware => "firmware".to_string(),
        Origin::Catalog => "catalog".to_string(),
    };
    [
        ("number", caches.len().to_string()),
        ("size", list(&size)),
        ("line", list(&line)),
        ("ways", list(&|c| shown(c.ways.as_ref()))),
        ("told by", list(&origin)),
    ]
}
