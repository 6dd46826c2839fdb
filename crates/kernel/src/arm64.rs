//! Topology levels of arm64: the kernel's default ones (`kernel/sched/topology.c`) with the masks of
//! `drivers/base/arch_topology.c`: SMT, CLS, MC, DIE or PKG.
//!
//! Rules of 6.0 and later are confirmed by captures; those before follow the source's history only.

use crate::config::Kernel;
use crate::flags::SdFlags;
use crate::levels::{Level, cluster_flags, node_level};
use crate::llc::last_level_cache;
use crate::mechanism::MechanismId;
use crate::version::Version;
use machine::{CpuSet, Firmware, Machine};

/// First release that reads packages (`socketN`), clusters and caches from a device tree as ACPI tells them, and
/// that leaves a cluster out which is no smaller than the core group.
const REWORKED_SINCE: Version = Version::new(6, 0);

/// Levels below NUMA, and `cpu_smt_mask()` by CPU. Masks hold the machine's online CPUs.
///
/// Core group and cluster are fitted to each other. From 6.0 on a cluster no smaller than the core group is no
/// level; before, it is, and a core group equal to it degenerates.
pub(crate) fn levels(machine: &Machine, kernel: &Kernel) -> (Vec<Level>, Vec<CpuSet>) {
    let all = 0..machine.cpus.len();
    let smt: Vec<CpuSet> = all.clone().map(|c| machine.core_cpus(c) & &machine.online).collect();
    let old_tree = is_old_tree(machine, kernel);
    let clusters = kernel.has(MechanismId::SchedCluster);
    let cluster = |c: usize| match machine.cluster_cpus(c) {
        Some(mask) if !old_tree => mask & &machine.online,
        _ => smt[c].clone(),
    };
    let groups: Vec<CpuSet> = all
        .clone()
        .map(|c| {
            let group = core_group(machine, c, old_tree);
            if clusters && group.is_subset(&cluster(c)) { cluster(c) } else { group }
        })
        .collect();

    let flags = SdFlags::SHARE_CPUCAPACITY | SdFlags::SHARE_LLC;
    let mut levels = vec![Level::tiling("SMT", flags, smt.clone())];
    if clusters {
        let is_level =
            |c: usize| kernel.version < REWORKED_SINCE || !groups[c].is_subset(&cluster(c));
        let masks = all.map(|c| if is_level(c) { cluster(c) } else { smt[c].clone() }).collect();
        levels.push(Level::tiling("CLS", cluster_flags(kernel.version), masks));
    }
    levels.push(Level::tiling("MC", SdFlags::SHARE_LLC, groups));
    levels.push(node_level(machine, kernel.version));
    (levels, smt)
}

/// Whether the machine boots from a device tree that the kernel reads in the old way: no caches, and each innermost
/// cluster of `cpu-map` is a package without clusters.
fn is_old_tree(machine: &Machine, kernel: &Kernel) -> bool {
    kernel.version < REWORKED_SINCE && machine.firmware == Some(Firmware::DeviceTree)
}

/// The smallest of node, package and last-level cache (`cpu_coregroup_mask`), each taken where it lies inside
/// the one before.
fn core_group(machine: &Machine, cpu: usize, old_tree: bool) -> CpuSet {
    let node = machine.node_cpus(cpu) & &machine.online;
    let package = if old_tree { old_package(machine, cpu) } else { machine.package_cpus(cpu) };
    let package = package & &machine.online;
    let group = if package.is_subset(&node) { package } else { node };
    match last_level_cache(machine, cpu).filter(|_| !old_tree).map(|mask| mask & &machine.online) {
        Some(llc) if llc.is_subset(&group) => llc,
        _ => group,
    }
}

/// What the old reading of a device tree takes for `cpu`'s package: its cluster. It knows no sockets; a tree with
/// several has none of the clusters it looks for, so that the node stands for the package. A tree that puts its
/// clusters into one single socket is read the same way, but [`Machine`] does not tell it from one without.
fn old_package(machine: &Machine, cpu: usize) -> CpuSet {
    let sockets = machine.cpus.iter().any(|c| c.package != machine.cpus[cpu].package);
    match machine.cluster_cpus(cpu) {
        Some(cluster) if !sockets => cluster,
        _ => machine.node_cpus(cpu),
    }
}
