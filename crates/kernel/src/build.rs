//! The domain builder: from topology levels to the domains that stay attached
//! (`build_sched_domains`, `cpu_attach_domain`).

use crate::KernelError;
use crate::config::Kernel;
use crate::domain::{Domain, Domains};
use crate::flags::SdFlags;
use crate::groups::groups;
use crate::levels::{Level, levels};
use crate::mechanism::MechanismId;
use crate::version::Version;
use machine::{Arch, CpuSet, Machine};

/// Capacity of a full CPU (`SCHED_CAPACITY_SCALE`).
pub const CAPACITY_SCALE: u64 = 1024;
/// Throughput of an SMT core against one thread, x 1024 (`smt_gain`); the siblings share it until 5.0.
const SMT_GAIN: u64 = 1178;
/// First release in which each SMT thread counts as a full CPU (`smt_gain` goes).
const FULL_SMT_CAPACITY_SINCE: Version = Version::new(5, 0);
/// First release with an imbalance of 117 % instead of 125 % and a busy factor of 16 instead of 32.
const LOWER_THRESHOLD_SINCE: Version = Version::new(5, 10);
/// First release in which the group that stood for a removed level takes over the flags of the level below.
const GROUP_FLAGS_FOLLOW_SINCE: Version = Version::new(6, 6);

/// Distance above which a NUMA level neither balances fork and exec nor pulls wake-ups
/// (`RECLAIM_DISTANCE`, from 5.4 on the initial value of `node_reclaim_distance`).
fn reclaim_distance(arch: Arch, kernel: &Kernel) -> u32 {
    match arch {
        Arch::Powerpc => 10,
        Arch::X86 if kernel.has(MechanismId::ZenReclaimDistance) => 32,
        Arch::Arm64 | Arch::X86 | Arch::Other => 30,
    }
}

/// A domain before groups and degeneration.
#[derive(Debug, Clone)]
pub(crate) struct RawDomain {
    pub(crate) name: &'static str,
    pub(crate) span: CpuSet,
    pub(crate) flags: SdFlags,
    weight: u32,
    imbalance_pct: u32,
    cache_nice_tries: u32,
    busy_idx: u8,
    idle_idx: u8,
}

/// By CPU: raw domains from the lowest level up; the index is the level.
pub(crate) type Chains = Vec<Vec<RawDomain>>;

/// The sched domains that `kernel` attaches on `machine`, for its online CPUs.
pub fn build(machine: &Machine, kernel: &Kernel) -> Result<Domains, KernelError> {
    let (levels, smt_mask) = levels(machine, kernel)?;
    let online = machine.online;
    let chains: Chains = (0..machine.cpus.len())
        .map(|cpu| if online.contains(cpu) { chain(&levels, kernel, machine, cpu) } else { vec![] })
        .collect();
    let capacity: Vec<u64> =
        chains.iter().map(|c| cpu_capacity(c, machine.arch, kernel.version)).collect();
    let mut by_cpu: Vec<Vec<Domain>> = (0..machine.cpus.len())
        .map(|cpu| {
            let full = (0..chains[cpu].len())
                .map(|level| finish(&chains, cpu, level, &capacity, kernel.version))
                .collect();
            attach(full, kernel.version)
        })
        .collect();
    share_group_flags(&mut by_cpu);
    Ok(Domains { cpus: online, by_cpu, capacity, smt_mask })
}

/// One domain a level, up to the level that spans all online CPUs.
fn chain(levels: &[Level], kernel: &Kernel, machine: &Machine, cpu: usize) -> Vec<RawDomain> {
    let mut chain: Vec<RawDomain> = Vec::new();
    for level in levels {
        let domain = init(level, kernel, machine.arch, cpu);
        let spans_all = domain.span == machine.online;
        chain.push(domain);
        if spans_all {
            break;
        }
    }
    chain
}

/// What topology turns into behaviour (`sd_init`).
fn init(level: &Level, kernel: &Kernel, arch: Arch, cpu: usize) -> RawDomain {
    let threshold = if kernel.version >= LOWER_THRESHOLD_SINCE { 117 } else { 125 };
    let mut domain = RawDomain {
        name: level.name,
        span: level.masks[cpu],
        flags: level.flags
            | SdFlags::BALANCE_NEWIDLE
            | SdFlags::BALANCE_EXEC
            | SdFlags::BALANCE_FORK
            | SdFlags::WAKE_AFFINE
            | SdFlags::PREFER_SIBLING,
        weight: level.masks[cpu].len() as u32,
        imbalance_pct: threshold,
        cache_nice_tries: 1,
        busy_idx: 2,
        idle_idx: 0,
    };
    if level.flags.contains(SdFlags::SHARE_CPUCAPACITY) {
        domain.imbalance_pct = 110;
        domain.cache_nice_tries = 0;
        domain.busy_idx = 0;
    } else if level.flags.contains(SdFlags::SHARE_LLC) {
        domain.imbalance_pct = 117;
    } else if let Some(distance) = level.numa_distance {
        domain.flags -= SdFlags::PREFER_SIBLING;
        domain.flags |= SdFlags::SERIALIZE | SdFlags::OVERLAP;
        domain.cache_nice_tries = 2;
        domain.busy_idx = 3;
        domain.idle_idx = 2;
        if distance > reclaim_distance(arch, kernel) {
            domain.flags -= SdFlags::BALANCE_EXEC | SdFlags::BALANCE_FORK | SdFlags::WAKE_AFFINE;
        }
    } else {
        domain.idle_idx = 1;
    }
    domain
}

/// Capacity of the CPU whose chain this is (`arch_scale_cpu_capacity` on its lowest level). arm64 has its own
/// function in every release, which does not divide by threads.
fn cpu_capacity(chain: &[RawDomain], arch: Arch, version: Version) -> u64 {
    match chain.first() {
        None => 0,
        Some(smt)
            if arch != Arch::Arm64
                && version < FULL_SMT_CAPACITY_SINCE
                && smt.flags.contains(SdFlags::SHARE_CPUCAPACITY)
                && smt.weight > 1 =>
        {
            SMT_GAIN / u64::from(smt.weight)
        }
        Some(_) => CAPACITY_SCALE,
    }
}

fn finish(chains: &Chains, cpu: usize, level: usize, capacity: &[u64], version: Version) -> Domain {
    let raw = &chains[cpu][level];
    Domain {
        name: raw.name,
        level,
        span: raw.span,
        flags: raw.flags,
        groups: groups(chains, cpu, level, capacity, version),
        imbalance_pct: raw.imbalance_pct,
        cache_nice_tries: raw.cache_nice_tries,
        min_interval_ms: raw.weight,
        max_interval_ms: 2 * raw.weight,
        busy_factor: if version >= LOWER_THRESHOLD_SINCE { 16 } else { 32 },
        busy_idx: raw.busy_idx,
        idle_idx: raw.idle_idx,
    }
}

/// Takes out the levels that contribute nothing (`cpu_attach_domain`).
fn attach(full: Vec<Domain>, version: Version) -> Vec<Domain> {
    let mut kept: Vec<Domain> = Vec::with_capacity(full.len());
    let mut levels = full.into_iter().peekable();
    while let Some(domain) = levels.next() {
        let Some(below) = kept.last_mut().filter(|b| parent_degenerates(b, &domain, version))
        else {
            kept.push(domain);
            continue;
        };
        if version >= GROUP_FLAGS_FOLLOW_SINCE
            && let Some(above) = levels.peek_mut()
        {
            above.groups[0].flags = below.flags;
        }
        below.flags |= domain.flags & SdFlags::PREFER_SIBLING;
    }
    if kept.first().is_some_and(|d| degenerates(d, version)) {
        kept.remove(0);
        if let Some(lowest) = kept.first_mut() {
            lowest.groups[0].flags = SdFlags::empty();
        }
    }
    kept
}

/// CPUs of a tiling level share their groups, so flags that [`attach`] changes in one CPU's own group change
/// wherever that group stands.
fn share_group_flags(by_cpu: &mut [Vec<Domain>]) {
    let own: Vec<Vec<(usize, SdFlags)>> = by_cpu
        .iter()
        .map(|chain| chain.iter().map(|d| (d.level, d.groups[0].flags)).collect())
        .collect();
    let tiling = |d: &&mut Domain| !d.flags.contains(SdFlags::OVERLAP);
    for domain in by_cpu.iter_mut().flatten().filter(tiling) {
        for group in &mut domain.groups {
            let same = |&&(level, _): &&(usize, SdFlags)| level == domain.level;
            if let Some((_, flags)) = own[group.id].iter().find(same) {
                group.flags = *flags;
            }
        }
    }
}

/// `sd_degenerate`.
fn degenerates(domain: &Domain, version: Version) -> bool {
    if domain.span.len() == 1 {
        return true;
    }
    let uses_groups = domain.flags.intersects(SdFlags::needing_groups(version));
    !(uses_groups && domain.groups.len() > 1 || domain.flags.contains(SdFlags::WAKE_AFFINE))
}

/// `sd_parent_degenerate`.
fn parent_degenerates(below: &Domain, domain: &Domain, version: Version) -> bool {
    if degenerates(domain, version) {
        return true;
    }
    if below.span != domain.span {
        return false;
    }
    let mut flags = domain.flags;
    if domain.groups.len() == 1 {
        flags -= SdFlags::moot_in_single_group_parent(version);
    }
    below.flags.contains(flags)
}
