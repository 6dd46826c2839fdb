//! Sched domain flags, and the flag sets of the degeneration rules by version.

use crate::version::Version;
use serde::{Serialize, Serializer};

bitflags::bitflags! {
    /// Flags of a sched domain (`include/linux/sched/sd_flags.h`, without the `SD_` prefix).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct SdFlags: u32 {
        /// Balance when about to become idle.
        const BALANCE_NEWIDLE = 1 << 0;
        /// Balance on exec.
        const BALANCE_EXEC = 1 << 1;
        /// Balance on fork.
        const BALANCE_FORK = 1 << 2;
        /// Balance on wake-up.
        const BALANCE_WAKE = 1 << 3;
        /// Consider waking the task on the waking CPU.
        const WAKE_AFFINE = 1 << 4;
        /// CPUs differ in capacity.
        const ASYM_CPUCAPACITY = 1 << 5;
        /// CPUs differ in capacity, and every capacity of the root domain is among them (from 5.14 on).
        const ASYM_CPUCAPACITY_FULL = 1 << 6;
        /// CPUs share computing capacity (SMT).
        const SHARE_CPUCAPACITY = 1 << 7;
        /// CPUs share a cluster of cores: an L2, or what firmware calls a cluster.
        const CLUSTER = 1 << 8;
        /// CPUs share the last-level cache (`SD_SHARE_PKG_RESOURCES` before 6.9).
        const SHARE_LLC = 1 << 9;
        /// Only one balancer at a time.
        const SERIALIZE = 1 << 10;
        /// Lower-numbered or preferred CPUs fill first. POWER7, shared-processor partitions of POWER and preferred
        /// cores on x86 set it, by facts that [`machine::Machine`] does not hold; predicted are SMT domains of
        /// powerpc under the mechanism `asym-packing` only.
        const ASYM_PACKING = 1 << 11;
        /// Prefer to place tasks in a sibling domain.
        const PREFER_SIBLING = 1 << 12;
        /// Groups may overlap. Kernels from 6.17 on have no such flag, as `NUMA` says the same.
        const OVERLAP = 1 << 13;
        /// A level of NUMA distance.
        const NUMA = 1 << 14;
    }
}

/// First release that says `SHARE_LLC` for `SHARE_PKG_RESOURCES`.
const SHARE_LLC_SINCE: Version = Version::new(6, 9);
/// First release without `SD_OVERLAP`.
const NO_OVERLAP_SINCE: Version = Version::new(6, 17);

impl SdFlags {
    /// The flags' names in a kernel of `version`, lowest bit first, each followed by a blank, as `flags` in
    /// debugfs shows them.
    pub fn names(self, version: Version) -> String {
        let shown = if version < NO_OVERLAP_SINCE { self } else { self - SdFlags::OVERLAP };
        let name = |(name, flag): (&str, SdFlags)| match flag {
            SdFlags::SHARE_LLC if version < SHARE_LLC_SINCE => {
                "SD_SHARE_PKG_RESOURCES ".to_string()
            }
            _ => format!("SD_{name} "),
        };
        shown.iter_names().map(name).collect()
    }

    /// The flags that kernels before 5.10 show as the number `bits`. `SD_LOAD_BALANCE` and `SD_SHARE_POWERDOMAIN`
    /// are left out; `None` where a bit has no meaning.
    pub(crate) fn from_number(bits: u32) -> Option<SdFlags> {
        const BY_BIT: [SdFlags; 15] = [
            SdFlags::empty(), // SD_LOAD_BALANCE
            SdFlags::BALANCE_NEWIDLE,
            SdFlags::BALANCE_EXEC,
            SdFlags::BALANCE_FORK,
            SdFlags::BALANCE_WAKE,
            SdFlags::WAKE_AFFINE,
            SdFlags::ASYM_CPUCAPACITY,
            SdFlags::SHARE_CPUCAPACITY,
            SdFlags::empty(), // SD_SHARE_POWERDOMAIN
            SdFlags::SHARE_LLC,
            SdFlags::SERIALIZE,
            SdFlags::ASYM_PACKING,
            SdFlags::PREFER_SIBLING,
            SdFlags::OVERLAP,
            SdFlags::NUMA,
        ];
        let set = |(bit, _): &(usize, &SdFlags)| bits >> bit & 1 == 1;
        let flags =
            BY_BIT.iter().enumerate().filter(set).fold(SdFlags::empty(), |all, (_, &f)| all | f);
        (bits >> BY_BIT.len() == 0).then_some(flags)
    }

    /// Flags that a domain with fewer than two groups cannot use. Before 5.10 the kernel names them one by
    /// one (`sd_degenerate`); later each flag carries `SDF_NEEDS_GROUPS`.
    pub(crate) fn needing_groups(version: Version) -> SdFlags {
        let listed = SdFlags::BALANCE_NEWIDLE
            | SdFlags::BALANCE_EXEC
            | SdFlags::BALANCE_FORK
            | SdFlags::ASYM_CPUCAPACITY
            | SdFlags::SHARE_CPUCAPACITY
            | SdFlags::SHARE_LLC;
        if version < Version::new(5, 10) { listed } else { SdFlags::all() - SdFlags::WAKE_AFFINE }
    }

    /// Flags of a parent that do not count in `sd_parent_degenerate` when it has one group. Before 5.10 the
    /// flags of NUMA levels count all the same.
    pub(crate) fn moot_in_single_group_parent(version: Version) -> SdFlags {
        let needing = SdFlags::needing_groups(version);
        if version < Version::new(5, 10) { needing | SdFlags::PREFER_SIBLING } else { needing }
    }
}

/// The flags' names, lowest bit first, as this model calls them.
impl Serialize for SdFlags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter_names().map(|(name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_kernels_number_their_flags() {
        let smt = SdFlags::BALANCE_NEWIDLE | SdFlags::SHARE_CPUCAPACITY | SdFlags::NUMA;
        assert_eq!(SdFlags::from_number(0x4083), Some(smt));
        assert_eq!(SdFlags::from_number(0x8000), None);
    }
}
