//! Topology levels (`sched_domain_topology_level`): what an architecture and the NUMA distances offer, lowest first.
//!
//! The architecture gives its levels, NUMA adds one for each distance, and the whole list is then checked as the kernel checks it
//! (`topology_span_sane`): a mask must hold the mask of the level below, and masks that tile the machine must not overlap in part.
//! Masks hold online CPUs only. The one exception is a CPU that is about to go offline under a kernel that rebuilds too early.
//!
//! A level that turns out useless stays in the list: removing it is `attach`'s work, and the index of a level counts all of them.

use crate::KernelError;
use crate::config::Kernel;
use crate::flags::SdFlags;
use crate::version::Version;
use crate::{arm64, numa, powerpc, x86};
use machine::{Arch, CpuSet, Machine, Origin};

/// First release that calls the top level of a node PKG instead of DIE.
const PKG_SINCE: Version = Version::new(6, 7);
/// First release that marks cluster levels with `SD_CLUSTER`.
const CLUSTER_FLAG_SINCE: Version = Version::new(6, 7);

/// One topology level of a whole machine.
#[derive(Debug, Clone)]
pub struct Level {
    /// Name as the kernel prints it.
    pub name: &'static str,
    /// Flags that describe the topology (`tl->sd_flags`).
    pub flags: SdFlags,
    /// By CPU: the CPUs that its domain at this level is cut from (`tl->mask`): online ones, and the CPU that is
    /// about to go offline where the kernel looks too early.
    pub masks: Vec<CpuSet>,
    /// Distance of a NUMA level (`SDTL_OVERLAP`); its domains may overlap.
    pub numa_distance: Option<u32>,
}

impl Level {
    /// A level below NUMA, whose domains tile the machine.
    pub(crate) fn tiling(name: &'static str, flags: SdFlags, masks: Vec<CpuSet>) -> Level {
        Level { name, flags, masks, numa_distance: None }
    }
}

/// The level of a whole node's online CPUs (`cpu_cpu_mask`), DIE or PKG.
pub(crate) fn node_level(machine: &Machine, version: Version) -> Level {
    let name = if version >= PKG_SINCE { "PKG" } else { "DIE" };
    let mask = |cpu| machine.node_cpus(cpu) & &machine.online;
    Level::tiling(name, SdFlags::empty(), (0..machine.cpus.len()).map(mask).collect())
}

/// Flags of the CLS level (`cpu_cluster_flags`).
pub(crate) fn cluster_flags(version: Version) -> SdFlags {
    if version < CLUSTER_FLAG_SINCE {
        return SdFlags::SHARE_LLC;
    }
    SdFlags::CLUSTER | SdFlags::SHARE_LLC
}

/// First release that rebuilds domains while the masks still hold the CPU that goes offline.
pub const REBUILDS_AT_ONCE_SINCE: Version = Version::new(6, 10);

/// The levels of `machine` under `kernel`, and `cpu_smt_mask()` by CPU.
///
/// # Errors
/// CPUs of one level that overlap in part, or a level that leaves out CPUs of the one below: the kernel warns
/// about such a machine (`topology_span_sane`, "arch topology borken") and builds no usable domains.
pub fn levels(
    machine: &Machine,
    kernel: &Kernel,
) -> Result<(Vec<Level>, Vec<CpuSet>), KernelError> {
    levels_before(machine, kernel, None)
}

/// As [`levels`], with the masks that the kernel sees as it takes CPU `leaving` offline.
pub(crate) fn levels_before(
    machine: &Machine,
    kernel: &Kernel,
    leaving: Option<usize>,
) -> Result<(Vec<Level>, Vec<CpuSet>), KernelError> {
    let leaving = leaving.filter(|_| kernel.version >= REBUILDS_AT_ONCE_SINCE);
    let seen = match leaving {
        Some(cpu) => &with_leaving(machine, cpu),
        None => machine,
    };
    let (mut levels, smt_mask) = match machine.arch {
        Arch::Powerpc => powerpc::levels(seen, kernel),
        Arch::X86 => x86::levels(seen, kernel),
        Arch::Other => return Err(KernelError::Arch { machine: machine.name.clone() }),
        Arch::Arm64 => arm64::levels(seen, kernel),
    };
    let last_of_node = |cpu: usize| !machine.node_cpus(cpu).intersects(&machine.online);
    let of_nodes = if leaving.is_some_and(last_of_node) { machine } else { seen };
    levels.extend(numa::levels(of_nodes, kernel.version));
    let mut below: Option<&Level> = None;
    for level in &levels {
        check(machine, level, below)?;
        below = Some(level);
    }
    Ok((levels, smt_mask))
}

/// The machine as CPU `leaving` leaves it. A source that was recorded afterwards may have it in no cache (arm64's sysfs);
/// those that all other CPUs of its package share are its own as well.
fn with_leaving(machine: &Machine, leaving: usize) -> Machine {
    let mut seen = Machine { online: &machine.online | CpuSet::single(leaving), ..machine.clone() };
    if !seen.caches.iter().any(|c| c.origin == Origin::Firmware && c.cpus.contains(leaving)) {
        let others = machine.package_cpus(leaving) & &machine.online;
        let shared = |c: &&mut machine::Cache| !others.is_empty() && others.is_subset(&c.cpus);
        seen.caches.iter_mut().filter(shared).for_each(|c| c.cpus.insert(leaving));
    }
    seen
}

/// Whether each CPU's mask holds its mask of the level `below` and, where levels tile the machine, is its
/// members' mask too.
fn check(machine: &Machine, level: &Level, below: Option<&Level>) -> Result<(), KernelError> {
    let wrong = |cpu: usize, expected: String| KernelError::Level {
        machine: machine.name.clone(),
        level: level.name,
        cpu,
        found: level.masks[cpu].to_string(),
        expected,
    };
    for cpu in machine.online.iter() {
        let mask = &level.masks[cpu] & &machine.online;
        let inner = below.map_or(CpuSet::single(cpu), |b| &b.masks[cpu] & &machine.online);
        if !inner.is_subset(&mask) {
            let what = below.map_or("itself", |b| b.name);
            return Err(wrong(cpu, format!("CPUs that include {inner} ({what})")));
        }
        if level.numa_distance.is_some() {
            continue;
        }
        // The first CPU of a mask answers for all its members, so every pair is covered.
        let first = mask.first() == Some(cpu);
        let other = mask.iter().take(if first { usize::MAX } else { 1 });
        if let Some(other) = other.into_iter().find(|&c| level.masks[c] != level.masks[cpu]) {
            let theirs = &level.masks[other];
            return Err(wrong(cpu, format!("the CPUs that CPU {other} has, {theirs}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Version;

    /// An arm64 guest of 6.12: what sysfs says of caches leaves an offline CPU out, and the balance interval of the
    /// others still counts it as it leaves.
    #[test]
    fn a_leaving_cpu_has_the_caches_that_its_package_shares() {
        let spec = "-M virt,gic-version=3 -cpu cortex-a72 -smp 8,sockets=1,clusters=2,cores=4 -bios QEMU_EFI.fd";
        let whole = machine::qemu::read(spec).unwrap();
        let online: CpuSet = "0-6".parse().unwrap();
        let mut machine = whole.with_online(online.clone()).unwrap();
        machine.caches.push(machine::Cache {
            level: 2,
            kind: machine::CacheKind::Unified,
            size_kib: None,
            line_bytes: None,
            ways: None,
            cpus: online,
            origin: Origin::Firmware,
        });
        let kernel = Kernel::new(Version::new(6, 12)).with(crate::MechanismId::SchedCluster, false);
        let built = crate::build_after_offline(&machine, &kernel, 7).unwrap();
        let domain = &built.by_cpu[0][0];
        assert_eq!((domain.name, domain.span.to_string().as_str()), ("MC", "0-6"));
        assert_eq!(domain.min_interval_ms, 8);
    }
}
