//! Topology levels of powerpc (`arch/powerpc/kernel/smp.c`): SMT, CACHE, DIE or PKG.

use crate::config::Kernel;
use crate::flags::SdFlags;
use crate::levels::{Level, node_level};
use crate::mechanism::MechanismId;
use crate::version::Version;
use machine::{Cache, CacheKind, CpuSet, Machine, Origin, ThreadGroupProperty};

/// First release in which `cpu_smt_mask()` is the small core too. From 4.20 on, and with the big-core patches,
/// only the SMT domain is; the search for idle cores goes by the whole core.
const SMALL_CORE_SMT_MASK_SINCE: Version = Version::new(5, 9);

/// Levels below NUMA, and `cpu_smt_mask()` by CPU. Masks hold the machine's online CPUs.
///
/// Kernels from 5.10 to 6.7 list a CACHE level on every machine; where no L2 reaches beyond the SMT domain it
/// degenerates without a trace, so it is left out here.
pub(crate) fn levels(machine: &Machine, kernel: &Kernel) -> (Vec<Level>, Vec<CpuSet>) {
    let cores: Vec<CpuSet> = (0..machine.cpus.len()).map(|c| machine.core_cpus(c)).collect();
    let smt = smt_threads(machine, kernel, &cores);
    let l2 = l2_threads(machine, kernel, &cores);
    let online = |masks: &[CpuSet]| masks.iter().map(|m| m & &machine.online).collect::<Vec<_>>();

    let mut flags = SdFlags::SHARE_CPUCAPACITY | SdFlags::SHARE_LLC;
    // powerpc_smt_flags: a core with few busy threads gives them more when they are its first ones.
    flags.set(SdFlags::ASYM_PACKING, kernel.has(MechanismId::AsymPacking));
    let mut levels = vec![Level::tiling("SMT", flags, online(&smt))];
    let compared = if kernel.has(MechanismId::BigCoreCache) { &smt } else { &cores };
    // The kernel decides once, while it brings up the CPUs at boot, and keeps it through hotplug.
    if (0..machine.cpus.len()).any(|c| l2[c].len() > compared[c].len()) {
        levels.push(Level::tiling("CACHE", SdFlags::SHARE_LLC, online(&l2)));
    }
    levels.push(node_level(machine, kernel.version));
    let smt_mask = if kernel.version >= SMALL_CORE_SMT_MASK_SINCE { &smt } else { &cores };
    (levels, online(smt_mask))
}

/// Threads of each CPU's SMT level: its small core where every CPU has one (`has_big_cores`), else its core.
fn smt_threads(machine: &Machine, kernel: &Kernel, cores: &[CpuSet]) -> Vec<CpuSet> {
    if !kernel.has(MechanismId::SmallCoreSmt) {
        return cores.to_vec();
    }
    groups_of_all(machine, ThreadGroupProperty::L1).unwrap_or_else(|| cores.to_vec())
}

/// Threads that share each CPU's L2 as the kernel sees it (`update_mask_by_l2`): thread groups by property 2,
/// else firmware's L2 cache node, else the core.
fn l2_threads(machine: &Machine, kernel: &Kernel, cores: &[CpuSet]) -> Vec<CpuSet> {
    if kernel.has(MechanismId::SmallCoreSmt)
        && kernel.has(MechanismId::L2ThreadGroups)
        && groups_of_all(machine, ThreadGroupProperty::L1).is_some()
        && let Some(groups) = groups_of_all(machine, ThreadGroupProperty::L2)
    {
        return groups;
    }
    (0..machine.cpus.len()).map(|c| l2_node_threads(machine, c, cores)).collect()
}

/// Each CPU's thread group by `property`; `None` unless every CPU has one.
fn groups_of_all(machine: &Machine, property: ThreadGroupProperty) -> Option<Vec<CpuSet>> {
    (0..machine.cpus.len()).map(|c| machine.thread_group(c, property)).collect()
}

/// Threads of the cores that point at the same L2 cache node as `cpu`'s.
fn l2_node_threads(machine: &Machine, cpu: usize, cores: &[CpuSet]) -> CpuSet {
    let is_l2 = |c: &&Cache| {
        c.level == 2
            && c.kind == CacheKind::Unified
            && c.origin == Origin::Firmware
            && c.cpus.contains(cpu)
    };
    match machine.caches.iter().find(is_l2) {
        Some(cache) => cache.cpus.iter().fold(cores[cpu].clone(), |mask, c| mask | &cores[c]),
        None => cores[cpu].clone(),
    }
}
