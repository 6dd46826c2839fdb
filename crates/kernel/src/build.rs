//! The domain builder: from topology levels to the domains that stay attached (`build_sched_domains`).
//!
//! The levels of the machine come first, then the domains of every CPU without their groups (`chain`), then the CPUs' capacities. These
//! must be complete before any group is built, because the groups of a CPU's domain come from other CPUs' domains. Then each CPU's domains
//! get their groups and the imbalance that they tolerate, and lose the levels that add nothing (`attach`). Offline CPUs have no domains.
//!
//! No rule of an architecture stands here. What depends on the machine came in with the levels.

use crate::KernelError;
use crate::attach::{attach, share_group_flags};
use crate::capacity::{self, Asymmetry};
use crate::chain::{LOWER_THRESHOLD_SINCE, RawDomain, chain};
use crate::config::Kernel;
use crate::domain::{Domain, Domains};
use crate::groups::Groups;
use crate::imb_numa;
use crate::levels::levels_before;
use crate::version::Version;
use machine::Machine;

pub use crate::capacity::CAPACITY_SCALE;

/// By CPU: raw domains from the lowest level up; the index is the level.
pub(crate) type Chains = Vec<Vec<RawDomain>>;

/// The sched domains that `kernel` attaches on `machine`, for its online CPUs.
///
/// They are those of a boot with these CPUs. After a CPU went offline use [`build_after_offline`].
///
/// # Errors
/// An architecture whose levels are not modelled, and levels that do not fit together.
pub fn build(machine: &Machine, kernel: &Kernel) -> Result<Domains, KernelError> {
    assemble(machine, kernel, None)
}

/// The sched domains that `kernel` attaches as CPU `leaving` goes offline and leaves those online that `machine`
/// says.
///
/// From 6.10 on the kernel rebuilds the domains at once, in `sched_cpu_deactivate`, while the topology masks still
/// hold the leaving CPU; before, a work item does it after the CPU has gone (`cpuset_update_active_cpus` with
/// `CONFIG_CPUSETS`). The spans leave it out in every release. The balance intervals count it until 7.0, as they
/// go by the level's mask. NUMA masks hold it only while its node has other CPUs (`sched_update_numa`).
///
/// # Errors
/// As [`build`], and a CPU that is online or does not exist.
pub fn build_after_offline(
    machine: &Machine,
    kernel: &Kernel,
    leaving: usize,
) -> Result<Domains, KernelError> {
    let away = machine.possible() - &machine.online;
    if !away.contains(leaving) {
        return Err(KernelError::NotOffline { found: leaving, expected: away.to_string() });
    }
    assemble(machine, kernel, Some(leaving))
}

fn assemble(
    machine: &Machine,
    kernel: &Kernel,
    leaving: Option<usize>,
) -> Result<Domains, KernelError> {
    let (levels, smt_mask) = levels_before(machine, kernel, leaving)?;
    let online = machine.online.clone();
    let scales = capacity::scales(machine, kernel);
    let asymmetry = Asymmetry::of(machine, kernel, &levels, &scales);
    let of_cpu = |cpu| match online.contains(cpu) {
        true => chain(&levels, &asymmetry, kernel, machine, cpu),
        false => vec![],
    };
    let chains: Chains = (0..machine.cpus.len()).map(of_cpu).collect();
    let capacity: Vec<u64> = chains
        .iter()
        .zip(scales)
        .map(|(chain, scale)| capacity::of_cpu(chain, scale, machine.arch, kernel.version))
        .collect();
    let mut groups = Groups::new(&chains, &capacity, kernel.version);
    let mut by_cpu: Vec<Vec<Domain>> = (0..machine.cpus.len())
        .map(|cpu| {
            let allowed = imb_numa::of_chain(&chains[cpu], kernel.version);
            let full = (0..chains[cpu].len())
                .map(|level| finish(&mut groups, cpu, level, allowed[level], kernel.version))
                .collect();
            attach(full, kernel.version)
        })
        .collect();
    share_group_flags(&mut by_cpu);
    let smt_mask = smt_mask.into_iter().map(|mask| mask & &online).collect();
    Ok(Domains { cpus: online, by_cpu, capacity, smt_mask })
}

fn finish(
    groups: &mut Groups<'_>,
    cpu: usize,
    level: usize,
    imb_numa_nr: u32,
    version: Version,
) -> Domain {
    let raw = groups.domain(cpu, level);
    Domain {
        name: raw.name,
        level,
        span: raw.span.clone(),
        flags: raw.flags,
        groups: groups.of(cpu, level),
        imbalance_pct: raw.imbalance_pct,
        cache_nice_tries: raw.cache_nice_tries,
        min_interval_ms: raw.weight,
        max_interval_ms: 2 * raw.weight,
        busy_factor: if version >= LOWER_THRESHOLD_SINCE { 16 } else { 32 },
        imb_numa_nr,
        busy_idx: raw.busy_idx,
        idle_idx: raw.idle_idx,
    }
}
