//! `cache/indexM` of each online CPU.

use super::{CPU_DIR, Files};
use crate::model::{Cache, CacheKind, Machine, Origin};

pub(super) fn add(machine: &Machine, files: &mut Files) {
    for cpu in machine.online.iter() {
        let mut caches: Vec<&Cache> = machine
            .caches
            .iter()
            .filter(|c| c.origin == Origin::Firmware && c.cpus.contains(cpu))
            .collect();
        caches.sort_by_key(|c| (c.level, index_order(c.kind)));
        for (index, cache) in caches.iter().enumerate() {
            add_one(machine, cache, &format!("{CPU_DIR}/cpu{cpu}/cache/index{index}"), files);
        }
    }
}

fn add_one(machine: &Machine, cache: &Cache, dir: &str, files: &mut Files) {
    let place = |name: &str| format!("{dir}/{name}");
    files.line(place("level"), cache.level);
    files.line(place("type"), kind_text(cache.kind));
    files.known(place("size"), cache.size_kib.map(|kib| format!("{kib}K")));
    files.known(place("coherency_line_size"), cache.line_bytes);
    files.known(place("ways_of_associativity"), cache.ways);
    files.known(place("number_of_sets"), sets(cache));
    let online = &cache.cpus & &machine.online;
    files.set(place("shared_cpu_map"), place("shared_cpu_list"), online);
}

/// Sets of a cache whose size is a whole number of them.
fn sets(cache: &Cache) -> Option<u64> {
    let bytes = u64::from(cache.size_kib?) * 1024;
    let set_bytes = u64::from(cache.line_bytes?) * u64::from(cache.ways?);
    (set_bytes > 0 && bytes.is_multiple_of(set_bytes)).then(|| bytes / set_bytes)
}

/// Data before instructions, as the kernel numbers them.
fn index_order(kind: CacheKind) -> u8 {
    match kind {
        CacheKind::Data => 0,
        CacheKind::Instruction => 1,
        CacheKind::Unified => 2,
    }
}

fn kind_text(kind: CacheKind) -> &'static str {
    match kind {
        CacheKind::Data => "Data",
        CacheKind::Instruction => "Instruction",
        CacheKind::Unified => "Unified",
    }
}
