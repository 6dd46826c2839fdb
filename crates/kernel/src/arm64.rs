//! Topology levels of arm64: the kernel's default ones (`kernel/sched/topology.c`) with the masks of
//! `drivers/base/arch_topology.c`: SMT, CLS, MC, DIE or PKG.

use crate::config::Kernel;
use crate::flags::SdFlags;
use crate::levels::{Level, cluster_flags, node_level};
use crate::llc::last_level_cache;
use crate::mechanism::MechanismId;
use machine::{CpuSet, Machine};

/// Levels below NUMA, and `cpu_smt_mask()` by CPU. Masks hold online CPUs only.
///
/// Cluster and core group are fitted to each other as 6.0 and later do it; 5.16 to 5.19 differ on machines
/// whose clusters are no smaller than the core group.
pub(crate) fn levels(machine: &Machine, kernel: &Kernel) -> (Vec<Level>, Vec<CpuSet>) {
    let all = 0..machine.cpus.len();
    let smt: Vec<CpuSet> = all.clone().map(|c| machine.core_cpus(c) & machine.online).collect();
    let clusters = kernel.has(MechanismId::SchedCluster);
    let cluster = |c: usize| machine.cluster_cpus(c).map_or(smt[c], |mask| mask & machine.online);
    let groups: Vec<CpuSet> = all
        .clone()
        .map(|c| {
            let group = core_group(machine, c);
            if clusters && group.is_subset(&cluster(c)) { cluster(c) } else { group }
        })
        .collect();

    let flags = SdFlags::SHARE_CPUCAPACITY | SdFlags::SHARE_LLC;
    let mut levels = vec![Level::tiling("SMT", flags, smt.clone())];
    if clusters {
        let smaller = |c: usize| !groups[c].is_subset(&cluster(c));
        let masks = all.map(|c| if smaller(c) { cluster(c) } else { smt[c] }).collect();
        levels.push(Level::tiling("CLS", cluster_flags(kernel.version), masks));
    }
    levels.push(Level::tiling("MC", SdFlags::SHARE_LLC, groups));
    levels.push(node_level(machine, kernel.version));
    (levels, smt)
}

/// The smallest of node, package and last-level cache (`cpu_coregroup_mask`), each taken where it lies inside
/// the one before.
fn core_group(machine: &Machine, cpu: usize) -> CpuSet {
    let node = machine.node_cpus(cpu) & machine.online;
    let package = machine.package_cpus(cpu) & machine.online;
    let group = if package.is_subset(&node) { package } else { node };
    match last_level_cache(machine, cpu).map(|mask| mask & machine.online) {
        Some(llc) if llc.is_subset(&group) => llc,
        _ => group,
    }
}
