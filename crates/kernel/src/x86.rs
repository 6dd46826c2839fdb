//! Topology levels of x86 (`arch/x86/kernel/smpboot.c`): SMT, CLS, MC, DIE or PKG.

use crate::config::Kernel;
use crate::flags::SdFlags;
use crate::levels::{Level, cluster_flags, node_level};
use crate::llc::last_level_cache;
use crate::mechanism::MechanismId;
use crate::version::Version;
use machine::{CpuSet, Machine};

/// First release that lists no SMT level where no core has a second thread.
const SMT_LEVEL_ON_DEMAND_SINCE: Version = Version::new(6, 17);

/// Levels below NUMA, and `cpu_smt_mask()` by CPU. Masks hold the machine's online CPUs.
///
/// The kernel takes CPUs of different nodes for neighbours at no level, whatever CPUID says they share
/// (`topology_sane`), so every mask stays within the node.
pub(crate) fn levels(machine: &Machine, kernel: &Kernel) -> (Vec<Level>, Vec<CpuSet>) {
    let all = 0..machine.cpus.len();
    let within_node = |mask: CpuSet, cpu: usize| mask & machine.node_cpus(cpu) & &machine.online;
    let smt: Vec<CpuSet> = all.clone().map(|c| within_node(machine.core_cpus(c), c)).collect();
    let cluster =
        |c: usize| machine.cluster_cpus(c).map_or(smt[c].clone(), |mask| within_node(mask, c));
    let llc =
        |c: usize| last_level_cache(machine, c).map_or(smt[c].clone(), |mask| within_node(mask, c));

    let mut levels = Vec::new();
    if kernel.version < SMT_LEVEL_ON_DEMAND_SINCE || machine.cpus.iter().any(|c| c.thread > 0) {
        let flags = SdFlags::SHARE_CPUCAPACITY | SdFlags::SHARE_LLC;
        levels.push(Level::tiling("SMT", flags, smt.clone()));
    }
    if kernel.has(MechanismId::SchedCluster) {
        let masks = all.clone().map(cluster).collect();
        levels.push(Level::tiling("CLS", cluster_flags(kernel.version), masks));
    }
    levels.push(Level::tiling("MC", SdFlags::SHARE_LLC, all.map(llc).collect()));
    if !has_numa_in_package(machine) {
        levels.push(node_level(machine, kernel.version));
    }
    (levels, smt)
}

/// Whether a package holds CPUs of several nodes (`x86_has_numa_in_package`): the NUMA levels then span the
/// package. Decided at boot and kept through hotplug, so offline CPUs count.
fn has_numa_in_package(machine: &Machine) -> bool {
    (0..machine.cpus.len()).any(|c| !machine.package_cpus(c).is_subset(&machine.node_cpus(c)))
}
