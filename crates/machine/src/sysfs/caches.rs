//! Caches from `/sys/devices/system/cpu/cpuN/cache`.

use super::cpus::existing;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::files::{CPU_DIR, Files};
use crate::model::{Cache, CacheKind, Origin, sort_caches};

/// Reads the caches of CPUs 0 to `count - 1`, and says which CPUs have none and which caches no size. Size, line and
/// ways are those that the first CPU of a cache shows.
pub(super) fn read(
    sysfs: &Files,
    count: usize,
    unknown: &mut Vec<String>,
) -> Result<Vec<Cache>, MachineError> {
    let existing = existing(sysfs, count)?;
    let mut caches: Vec<Cache> = Vec::new();
    let (mut without, mut nobodys) = (CpuSet::EMPTY, CpuSet::EMPTY);
    // By CPU: the caches that it is already in, each with the index at which another CPU shows it.
    let mut of_cpu: Vec<Vec<(usize, u32)>> = vec![Vec::new(); count];
    for cpu in 0..count {
        let dir = format!("{CPU_DIR}/cpu{cpu}/cache");
        let mut index = 0;
        while let Some(cpus) = sharers(sysfs, &format!("{dir}/index{index}"), cpu, existing.clone())? {
            let mut cpus = cpus & CpuSet::first_n(count);
            if cpus.is_empty() {
                nobodys.insert(cpu);
                cpus.insert(cpu);
            }
            let dir = format!("{dir}/index{index}");
            // Sharers show one cache at one index, so level and kind need not be read again.
            let shown = |&(i, at): &(usize, u32)| at == index && caches[i].cpus == cpus;
            if !of_cpu[cpu].iter().any(shown) {
                let (level, kind) = identity(sysfs, &dir)?;
                let same = |&(i, _): &(usize, u32)| {
                    let c = &caches[i];
                    (c.level, c.kind, c.cpus.clone()) == (level, kind, cpus.clone())
                };
                if !of_cpu[cpu].iter().any(same) {
                    cpus.iter().for_each(|c| of_cpu[c].push((caches.len(), index)));
                    caches.push(cache(sysfs, &dir, level, kind, cpus)?);
                }
            }
            index += 1;
        }
        if index == 0 {
            without.insert(cpu);
        }
    }
    if !without.is_empty() {
        unknown.push(format!("Caches of CPUs {without}: sysfs has none (offline CPUs have none)."));
    }
    if !nobodys.is_empty() {
        unknown.push(format!(
            "Who shares caches of CPUs {nobodys}: sysfs lists nobody; each has its own."
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
    Ok(caches)
}

/// Level and kind of the cache in `dir`.
fn identity(sysfs: &Files, dir: &str) -> Result<(u8, CacheKind), MachineError> {
    let place = format!("{dir}/level");
    let level = sysfs.require(&place, sysfs.number(&place)?)?;
    let place = format!("{dir}/type");
    let kind = sysfs.require(&place, sysfs.text(&place)?)?;
    match kind.as_str() {
        "Data" => Ok((level, CacheKind::Data)),
        "Instruction" => Ok((level, CacheKind::Instruction)),
        "Unified" => Ok((level, CacheKind::Unified)),
        other => {
            let expected = "Data, Instruction or Unified";
            Err(sysfs.error(&place, format!("`{other}`"), expected))
        }
    }
}

/// CPUs that share the cache in `dir` of `cpu`; none where the kernel does not know, `None` where there is no such
/// cache.
fn sharers(
    sysfs: &Files,
    dir: &str,
    cpu: usize,
    existing: CpuSet,
) -> Result<Option<CpuSet>, MachineError> {
    match sysfs.cpus(dir, &["shared_cpu_map"], &["shared_cpu_list"])? {
        None if sysfs.is_dir(dir) => {
            Err(sysfs.error(&format!("{dir}/shared_cpu_map"), "no such file", "one"))
        }
        None => Ok(None),
        Some((_, set)) if set.is_empty() => Ok(Some(set)),
        Some((place, set)) if !set.contains(cpu) || !set.is_subset(&existing) => {
            let expected = format!("CPU {cpu} and others out of {existing}");
            Err(sysfs.error(&place, format!("`{set}`"), &expected))
        }
        Some((_, set)) => Ok(Some(set)),
    }
}

fn cache(
    sysfs: &Files,
    dir: &str,
    level: u8,
    kind: CacheKind,
    cpus: CpuSet,
) -> Result<Cache, MachineError> {
    let place = |file: &str| format!("{dir}/{file}");
    let line_bytes = sysfs.number(&place("coherency_line_size"))?.filter(|&bytes| bytes != 0);
    let size_kib = size_kib(sysfs, &place("size"))?;
    let ways = sysfs.number(&place("ways_of_associativity"))?;
    Ok(Cache { level, kind, size_kib, line_bytes, ways, cpus, origin: Origin::Firmware })
}

/// A size as `32K`; 0 counts as unknown.
fn size_kib(sysfs: &Files, place: &str) -> Result<Option<u32>, MachineError> {
    let Some(text) = sysfs.text(place)? else { return Ok(None) };
    match text.strip_suffix('K').and_then(|t| t.parse().ok()) {
        Some(0) => Ok(None),
        Some(kib) => Ok(Some(kib)),
        None => Err(sysfs.error(place, format!("`{text}`"), "a size such as 32K")),
    }
}
