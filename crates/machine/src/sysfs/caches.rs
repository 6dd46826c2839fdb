//! Caches from `/sys/devices/system/cpu/cpuN/cache`.

use super::cpus::Existing;
use super::odd::Sysfs;
use crate::cpuset::CpuSet;
use crate::files::CPU_DIR;
use crate::model::{Cache, CacheKind, Origin, sort_caches};
use std::collections::BTreeSet;

/// Reads the caches of all CPUs, and says which CPUs have none and which caches no size. Size, line and ways are those
/// that the first CPU of a cache shows.
///
/// A cache whose map is empty (Itanium's last levels) belongs to the threads of its core, `siblings` by CPU. One without
/// a map, or with a map that leaves its own CPU out, is left out.
pub(super) fn read(
    sysfs: &Sysfs,
    existing: &Existing,
    siblings: &[Option<CpuSet>],
    unknown: &mut Vec<String>,
) -> Vec<Cache> {
    let mut caches: Vec<Cache> = Vec::new();
    let (mut without, mut nobodys) = (CpuSet::EMPTY, CpuSet::EMPTY);
    // Sharers show one cache at one index, so that level and kind are read once.
    let mut shown: BTreeSet<(u32, CpuSet)> = BTreeSet::new();
    let mut known: BTreeSet<(u8, CacheKind, CpuSet)> = BTreeSet::new();
    for (cpu, own) in siblings.iter().enumerate() {
        let all = format!("{CPU_DIR}/cpu{cpu}/cache");
        let mut any = false;
        for index in sysfs.numbered(&all, "index") {
            let dir = format!("{all}/index{index}");
            let Some(mut cpus) = sharers(sysfs, &dir, cpu, existing) else { continue };
            any = true;
            if cpus.is_empty() {
                nobodys.insert(cpu);
                cpus = own.clone().unwrap_or_else(|| CpuSet::single(cpu));
            }
            if shown.contains(&(index, cpus.clone())) {
                continue;
            }
            let Some((level, kind)) = identity(sysfs, &dir) else { continue };
            if known.insert((level, kind, cpus.clone())) {
                shown.insert((index, cpus.clone()));
                caches.push(cache(sysfs, &dir, level, kind, cpus));
            }
        }
        if !any {
            without.insert(cpu);
        }
    }
    if !without.is_empty() {
        unknown.push(format!("Caches of CPUs {without}: sysfs has none (offline CPUs have none)."));
    }
    if !nobodys.is_empty() {
        unknown.push(format!(
            "Who shares caches of CPUs {nobodys}: sysfs lists nobody; each is its core's own."
        ));
    }
    let mut unsized_levels: Vec<u8> =
        caches.iter().filter(|c| c.size_kib.is_none()).map(|c| c.level).collect();
    unsized_levels.sort_unstable();
    unsized_levels.dedup();
    for level in unsized_levels {
        unknown.push(format!("Size of level-{level} caches: sysfs does not tell it."));
    }
    sort_caches(&mut caches);
    caches
}

/// Level and kind of the cache in `dir`, where both can be told.
fn identity(sysfs: &Sysfs, dir: &str) -> Option<(u8, CacheKind)> {
    let place = format!("{dir}/level");
    let Some(level) = sysfs.number(&place) else {
        sysfs.odd(&place, "no level", "one");
        return None;
    };
    let place = format!("{dir}/type");
    let kind = match sysfs.text(&place).as_deref() {
        Some("Data") => CacheKind::Data,
        Some("Instruction") => CacheKind::Instruction,
        Some("Unified") => CacheKind::Unified,
        other => {
            let found = other.map_or("no type".to_string(), |other| format!("`{other}`"));
            sysfs.odd(&place, found, "Data, Instruction or Unified");
            return None;
        }
    };
    Some((level, kind))
}

/// CPUs that share the cache in `dir` of `cpu`; none where the kernel does not know, `None` where nothing can be told.
fn sharers(sysfs: &Sysfs, dir: &str, cpu: usize, existing: &Existing) -> Option<CpuSet> {
    let Some((place, set)) = sysfs.cpus(dir, &["shared_cpu_map"], &["shared_cpu_list"]) else {
        sysfs.odd(&format!("{dir}/shared_cpu_map"), "no such file", "one");
        return None;
    };
    if set.is_empty() { Some(set) } else { existing.checked(sysfs, &place, cpu, set) }
}

fn cache(sysfs: &Sysfs, dir: &str, level: u8, kind: CacheKind, cpus: CpuSet) -> Cache {
    let place = |file: &str| format!("{dir}/{file}");
    let line_bytes = sysfs.number(&place("coherency_line_size")).filter(|&bytes| bytes != 0);
    let size_kib = size_kib(sysfs, &place("size"));
    let ways = sysfs.number(&place("ways_of_associativity"));
    Cache { level, kind, size_kib, line_bytes, ways, cpus, origin: Origin::Firmware }
}

/// A size as `32K`; 0 and an empty file count as unknown.
fn size_kib(sysfs: &Sysfs, place: &str) -> Option<u32> {
    let text = sysfs.text(place).filter(|text| !text.is_empty())?;
    let kib = text.strip_suffix('K').and_then(|t| t.parse::<u32>().ok());
    if kib.is_none() {
        sysfs.odd(place, format!("`{text}`"), "a size such as 32K");
    }
    kib.filter(|&kib| kib != 0)
}
