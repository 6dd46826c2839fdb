//! Topology levels of powerpc (`arch/powerpc/kernel/smp.c`): SMT, CACHE, DIE or PKG.

use crate::config::Kernel;
use crate::flags::SdFlags;
use crate::levels::Level;
use crate::mechanism::MechanismId;
use crate::version::Version;
use machine::{Cache, CacheKind, CpuSet, Machine, Origin, ThreadGroupProperty};

/// First release that calls the top level of a node PKG instead of DIE.
const PKG_SINCE: Version = Version::new(6, 7);

/// Levels below NUMA, and `cpu_smt_mask()` by CPU. Masks hold online CPUs only.
pub(crate) fn levels(machine: &Machine, kernel: &Kernel) -> (Vec<Level>, Vec<CpuSet>) {
    let all = 0..machine.cpus.len();
    let cores: Vec<CpuSet> = all.clone().map(|c| machine.core_cpus(c)).collect();
    let smt = smt_threads(machine, kernel, &cores);
    let l2: Vec<CpuSet> = all.clone().map(|c| l2_threads(machine, kernel, c, &cores)).collect();
    let online = |masks: &[CpuSet]| masks.iter().map(|&m| m & machine.online).collect::<Vec<_>>();

    let smt_online = online(&smt);
    let mut levels = vec![Level {
        name: "SMT",
        flags: SdFlags::SHARE_CPUCAPACITY | SdFlags::SHARE_LLC,
        masks: smt_online.clone(),
        numa_distance: None,
    }];
    let compared = if kernel.has(MechanismId::BigCoreCache) { &smt } else { &cores };
    // The kernel decides once, while it brings up the CPUs at boot, and keeps it through hotplug.
    if (0..machine.cpus.len()).any(|c| l2[c].len() > compared[c].len()) {
        levels.push(Level {
            name: "CACHE",
            flags: SdFlags::SHARE_LLC,
            masks: online(&l2),
            numa_distance: None,
        });
    }
    let node_cpus: Vec<CpuSet> = all.map(|c| machine.node_cpus(c)).collect();
    levels.push(Level {
        name: if kernel.version >= PKG_SINCE { "PKG" } else { "DIE" },
        flags: SdFlags::empty(),
        masks: online(&node_cpus),
        numa_distance: None,
    });
    (levels, smt_online)
}

/// Threads of each CPU's SMT level: its small core where every CPU has one (`has_big_cores`), else its core.
fn smt_threads(machine: &Machine, kernel: &Kernel, cores: &[CpuSet]) -> Vec<CpuSet> {
    if !kernel.has(MechanismId::SmallCoreSmt) {
        return cores.to_vec();
    }
    let small: Option<Vec<CpuSet>> =
        (0..machine.cpus.len()).map(|c| machine.thread_group(c, ThreadGroupProperty::L1)).collect();
    small.unwrap_or_else(|| cores.to_vec())
}

/// Threads that share `cpu`'s L2 as the kernel sees it (`update_mask_by_l2`): thread groups by property 2,
/// else firmware's L2 cache node, else the core.
fn l2_threads(machine: &Machine, kernel: &Kernel, cpu: usize, cores: &[CpuSet]) -> CpuSet {
    if kernel.has(MechanismId::SmallCoreSmt)
        && kernel.has(MechanismId::L2ThreadGroups)
        && let Some(group) = machine.thread_group(cpu, ThreadGroupProperty::L2)
    {
        return group;
    }
    let is_l2 = |c: &&Cache| {
        c.level == 2
            && c.kind == CacheKind::Unified
            && c.origin == Origin::Firmware
            && c.cpus.contains(cpu)
    };
    match machine.caches.iter().find(is_l2) {
        // Without property 2 the kernel joins whole cores that point at the same cache node.
        Some(cache) => cache.cpus.iter().fold(cores[cpu], |mask, c| mask | cores[c]),
        None => cores[cpu],
    }
}
