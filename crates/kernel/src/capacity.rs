//! Capacities of CPUs, and which levels see that they differ.
//!
//! arm64 takes capacities from firmware (`capacity-dmips-mhz`, or CPPC from 5.18 on) and scales them by the highest
//! frequency as cpufreq starts, when domains get built again; what is modelled is that last state. x86 knows
//! capacities of hybrid processors from 6.12 on, while no core runs two threads (`hybrid_init_cpu_capacity_scaling`).
//! powerpc has none.

use crate::chain::RawDomain;
use crate::config::Kernel;
use crate::flags::SdFlags;
use crate::levels::Level;
use crate::version::Version;
use machine::{Arch, CpuSet, Machine};

/// Capacity of a full CPU (`SCHED_CAPACITY_SCALE`).
pub const CAPACITY_SCALE: u64 = 1024;
/// Throughput of an SMT core against one thread, x 1024 (`smt_gain`); the siblings share it until 5.0.
const SMT_GAIN: u64 = 1178;
/// First release in which each SMT thread counts as a full CPU (`smt_gain` goes).
const FULL_SMT_CAPACITY_SINCE: Version = Version::new(5, 0);
/// First release of x86 with capacities.
const X86_CAPACITY_SINCE: Version = Version::new(6, 12);
/// First release that looks for differing capacities itself; before, no architecture marked a level.
const DETECTED_SINCE: Version = Version::new(4, 20);
/// First release that marks the levels above the detected one too.
const PROPAGATED_SINCE: Version = Version::new(5, 10);
/// First release that classifies each domain by its own CPUs (`asym_cpu_capacity_classify`).
const CLASSIFIED_SINCE: Version = Version::new(5, 14);

/// `arch_scale_cpu_capacity` of each CPU, threads of a core each counted in full. Where an online CPU's capacity is
/// unknown every CPU counts as full: the kernel takes all values of firmware or none.
pub(crate) fn scales(machine: &Machine, kernel: &Kernel) -> Vec<u64> {
    let two_threads = |c: usize| (machine.core_cpus(c) & &machine.online).len() > 1;
    let told = match machine.arch {
        Arch::Arm64 => true,
        Arch::X86 => {
            kernel.version >= X86_CAPACITY_SINCE && !machine.online.iter().any(two_threads)
        }
        Arch::Powerpc | Arch::Other => false,
    };
    if !told || machine.online.iter().any(|c| machine.cpus[c].capacity.is_none()) {
        return vec![CAPACITY_SCALE; machine.cpus.len()];
    }
    // The kernel counts a CPU without any capacity as 1 (`update_cpu_capacity`).
    let scale = |c: &machine::Cpu| c.capacity.map_or(CAPACITY_SCALE, |c| u64::from(c).max(1));
    machine.cpus.iter().map(scale).collect()
}

/// Capacity of the CPU whose chain and scale these are. arm64 has its own function in every release, which does
/// not divide by threads.
pub(crate) fn of_cpu(chain: &[RawDomain], scale: u64, arch: Arch, version: Version) -> u64 {
    let Some(lowest) = chain.first() else { return 0 };
    let threads = lowest.span.len() as u64;
    let shares = lowest.flags.contains(SdFlags::SHARE_CPUCAPACITY) && threads > 1;
    if shares && arch != Arch::Arm64 && version < FULL_SMT_CAPACITY_SINCE {
        return SMT_GAIN / threads;
    }
    scale
}

/// Which domains see CPUs of different capacity.
pub(crate) enum Asymmetry {
    /// None.
    None,
    /// Those of these levels, by index.
    Levels { first: usize, last: usize },
    /// Those that span several of these sets, one for each capacity among the online CPUs.
    Spans(Vec<CpuSet>),
}

impl Asymmetry {
    /// By `scales` of the online CPUs of `machine`.
    pub(crate) fn of(
        machine: &Machine,
        kernel: &Kernel,
        levels: &[Level],
        scales: &[u64],
    ) -> Asymmetry {
        let mut distinct: Vec<u64> = machine.online.iter().map(|c| scales[c]).collect();
        distinct.sort_unstable();
        distinct.dedup();
        if kernel.version < DETECTED_SINCE || distinct.len() < 2 {
            return Asymmetry::None;
        }
        if kernel.version >= CLASSIFIED_SINCE {
            let with = |scale| machine.online.iter().filter(|&c| scales[c] == scale).collect();
            return Asymmetry::Spans(distinct.into_iter().map(with).collect());
        }
        match lowest_level(&machine.online, levels, scales) {
            None => Asymmetry::None,
            Some(first) if kernel.version < PROPAGATED_SINCE => {
                Asymmetry::Levels { first, last: first }
            }
            Some(first) => Asymmetry::Levels { first, last: usize::MAX },
        }
    }

    /// Flags that a domain over `span` at the level with index `level` gets for it.
    pub(crate) fn flags(&self, level: usize, span: &CpuSet) -> SdFlags {
        match self {
            Asymmetry::None => SdFlags::empty(),
            Asymmetry::Levels { first, last } if (*first..=*last).contains(&level) => {
                SdFlags::ASYM_CPUCAPACITY
            }
            Asymmetry::Levels { .. } => SdFlags::empty(),
            Asymmetry::Spans(sets) => match sets.iter().filter(|s| s.intersects(span)).count() {
                0 | 1 => SdFlags::empty(),
                seen if seen < sets.len() => SdFlags::ASYM_CPUCAPACITY,
                _ => SdFlags::ASYM_CPUCAPACITY | SdFlags::ASYM_CPUCAPACITY_FULL,
            },
        }
    }
}

/// The lowest level at which every CPU sees one of the highest capacity that it sees at any level
/// (`asym_cpu_capacity_level`).
fn lowest_level(online: &CpuSet, levels: &[Level], scales: &[u64]) -> Option<usize> {
    let mut found = None;
    for cpu in online.iter() {
        let mut highest = scales[cpu];
        for (index, level) in levels.iter().enumerate().skip(found.unwrap_or(0)) {
            let seen = level.masks[cpu].iter_and(online).map(|c| scales[c]).max();
            if let Some(seen) = seen.filter(|&s| s > highest) {
                highest = seen;
                found = Some(index);
            }
        }
    }
    found
}
