//! Caches from `/sys/devices/system/cpu/cpuN/cache`.

use super::cpus::DIR;
use super::files::Sysfs;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::{Cache, CacheKind, Origin, sort_caches};

/// Reads the caches of CPUs 0 to `count - 1`, and says which CPUs have none and which caches no size.
pub(super) fn read(
    sysfs: &Sysfs<'_>,
    count: usize,
    unknown: &mut Vec<String>,
) -> Result<Vec<Cache>, MachineError> {
    let mut caches: Vec<Cache> = Vec::new();
    let mut without = CpuSet::EMPTY;
    for cpu in 0..count {
        let dir = format!("{DIR}/cpu{cpu}/cache");
        let indices = sysfs.numbered(&dir, "index")?;
        if indices.is_empty() {
            without.insert(cpu);
        }
        for index in indices {
            let cache = cache(sysfs, &format!("{dir}/index{index}"), cpu, count)?;
            if !caches.contains(&cache) {
                caches.push(cache);
            }
        }
    }
    if !without.is_empty() {
        unknown.push(format!("Caches of CPUs {without}: sysfs has none (offline CPUs have none)."));
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

fn cache(sysfs: &Sysfs<'_>, dir: &str, cpu: usize, count: usize) -> Result<Cache, MachineError> {
    let place = |file: &str| format!("{dir}/{file}");
    let level = sysfs.require(&place("level"), sysfs.number(&place("level"))?)?;
    let kind_text = sysfs.require(&place("type"), sysfs.text(&place("type"))?)?;
    let kind = match kind_text.as_str() {
        "Data" => CacheKind::Data,
        "Instruction" => CacheKind::Instruction,
        "Unified" => CacheKind::Unified,
        other => {
            let expected = "Data, Instruction or Unified";
            return Err(sysfs.error(&place("type"), format!("`{other}`"), expected));
        }
    };
    let shared = place("shared_cpu_list");
    let cpus = sysfs.require(&shared, sysfs.cpu_list(&shared)?)?;
    if !cpus.contains(cpu) || !cpus.is_subset(&CpuSet::first_n(count)) {
        let expected = format!("CPU {cpu} and others below {count}");
        return Err(sysfs.error(&shared, format!("`{cpus}`"), &expected));
    }
    let line_bytes = sysfs.number(&place("coherency_line_size"))?.filter(|&bytes| bytes != 0);
    let size_kib = size_kib(sysfs, &place("size"))?;
    Ok(Cache { level, kind, size_kib, line_bytes, ways: None, cpus, origin: Origin::Firmware })
}

/// A size as `32K`; 0 counts as unknown.
fn size_kib(sysfs: &Sysfs<'_>, place: &str) -> Result<Option<u32>, MachineError> {
    let Some(text) = sysfs.text(place)? else { return Ok(None) };
    match text.strip_suffix('K').and_then(|t| t.parse().ok()) {
        Some(0) => Ok(None),
        Some(kib) => Ok(Some(kib)),
        None => Err(sysfs.error(place, format!("`{text}`"), "a size such as 32K")),
    }
}
