//! The last-level cache as firmware or sysfs tells it.

use machine::{CacheKind, CpuSet, Machine, Origin};

/// CPUs that share `cpu`'s highest data or unified cache, online or not; `None` where the source names no cache.
pub(crate) fn last_level_cache(machine: &Machine, cpu: usize) -> Option<CpuSet> {
    machine
        .caches
        .iter()
        .filter(|c| c.origin == Origin::Firmware && c.kind != CacheKind::Instruction)
        .filter(|c| c.cpus.contains(cpu))
        .max_by_key(|c| c.level)
        .map(|c| c.cpus.clone())
}
