//! One CPU's domains before groups and degeneration (`build_sched_domain`, `sd_init`).

use crate::capacity::Asymmetry;
use crate::config::Kernel;
use crate::flags::SdFlags;
use crate::levels::Level;
use crate::mechanism::MechanismId;
use crate::version::Version;
use machine::{Arch, CpuSet, Machine};

/// First release with an imbalance of 117 % instead of 125 % and a busy factor of 16 instead of 32.
pub(crate) const LOWER_THRESHOLD_SINCE: Version = Version::new(5, 10);
/// First release whose asymmetric domains do not balance on wake-up.
const NO_BALANCE_WAKE_SINCE: Version = Version::new(5, 7);
/// First release that weighs the span instead of the level's mask, which may hold a CPU that goes offline.
const SPAN_WEIGHT_SINCE: Version = Version::new(7, 1);

/// Makers whose processors get the reclaim distance of AMD's Zen (`init_amd_zn`, `init_hygon`).
const ZEN_VENDORS: [&str; 2] = ["AuthenticAMD", "HygonGenuine"];

/// Distance above which a NUMA level neither balances fork and exec nor pulls wake-ups
/// (`RECLAIM_DISTANCE`, from 5.4 on the initial value of `node_reclaim_distance`).
pub fn reclaim_distance(machine: &Machine, kernel: &Kernel) -> u32 {
    match machine.arch {
        Arch::Powerpc => 10,
        Arch::X86 if raises_reclaim_distance(machine, kernel) => 32,
        Arch::Arm64 | Arch::X86 | Arch::Other => 30,
    }
}

/// Switched explicitly, else by release on processors that are Zen or of an unknown maker.
fn raises_reclaim_distance(machine: &Machine, kernel: &Kernel) -> bool {
    let mechanism = MechanismId::ZenReclaimDistance;
    let zen = machine.vendor.as_deref().is_none_or(|v| ZEN_VENDORS.contains(&v));
    kernel.switched(mechanism).unwrap_or(zen && kernel.has(mechanism))
}

/// A domain before groups and degeneration.
#[derive(Debug, Clone)]
pub(crate) struct RawDomain {
    pub(crate) name: &'static str,
    pub(crate) span: CpuSet,
    pub(crate) flags: SdFlags,
    /// CPUs by which the balance intervals go.
    pub(crate) weight: u32,
    pub(crate) imbalance_pct: u32,
    pub(crate) cache_nice_tries: u32,
    pub(crate) busy_idx: u8,
    pub(crate) idle_idx: u8,
}

/// One domain a level, up to the level that spans all online CPUs.
pub(crate) fn chain(
    levels: &[Level],
    asymmetry: &Asymmetry,
    kernel: &Kernel,
    machine: &Machine,
    cpu: usize,
) -> Vec<RawDomain> {
    let mut chain: Vec<RawDomain> = Vec::new();
    for (index, level) in levels.iter().enumerate() {
        let mut domain = init(level, kernel, machine, cpu);
        domain.flags |= asymmetry.flags(index, &domain.span);
        let spans_all = domain.span == machine.online;
        let differs = domain.flags.contains(SdFlags::ASYM_CPUCAPACITY);
        if differs && let Some(below) = chain.last_mut() {
            below.flags -= SdFlags::PREFER_SIBLING;
        }
        chain.push(domain);
        if differs && kernel.version < NO_BALANCE_WAKE_SINCE {
            chain.iter_mut().for_each(|d| d.flags |= SdFlags::BALANCE_WAKE);
        }
        if spans_all {
            break;
        }
    }
    chain
}

/// What topology turns into behaviour (`sd_init`).
fn init(level: &Level, kernel: &Kernel, machine: &Machine, cpu: usize) -> RawDomain {
    let mask = &level.masks[cpu];
    let span = mask & &machine.online;
    let weighed = if kernel.version >= SPAN_WEIGHT_SINCE { span.len() } else { mask.len() };
    let threshold = if kernel.version >= LOWER_THRESHOLD_SINCE { 117 } else { 125 };
    let mut domain = RawDomain {
        name: level.name,
        span,
        flags: level.flags
            | SdFlags::BALANCE_NEWIDLE
            | SdFlags::BALANCE_EXEC
            | SdFlags::BALANCE_FORK
            | SdFlags::WAKE_AFFINE
            | SdFlags::PREFER_SIBLING,
        weight: weighed as u32,
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
        if distance > reclaim_distance(machine, kernel) {
            domain.flags -= SdFlags::BALANCE_EXEC | SdFlags::BALANCE_FORK | SdFlags::WAKE_AFFINE;
        }
    } else {
        domain.idle_idx = 1;
    }
    domain
}
