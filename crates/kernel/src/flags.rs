//! Sched domain flags, and the flag sets of the degeneration rules by version.

use crate::version::Version;

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
        /// CPUs share computing capacity (SMT).
        const SHARE_CPUCAPACITY = 1 << 5;
        /// CPUs share a cluster of cores: an L2, or what firmware calls a cluster.
        const CLUSTER = 1 << 6;
        /// CPUs share the last-level cache (`SD_SHARE_PKG_RESOURCES` before 6.9).
        const SHARE_LLC = 1 << 7;
        /// Only one balancer at a time.
        const SERIALIZE = 1 << 8;
        /// Prefer to place tasks in a sibling domain.
        const PREFER_SIBLING = 1 << 9;
        /// Groups may overlap. Kernels from 6.17 on have no such flag, as `NUMA` says the same.
        const OVERLAP = 1 << 10;
        /// A level of NUMA distance.
        const NUMA = 1 << 11;
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

    /// Flags that a domain with fewer than two groups cannot use. Before 5.10 the kernel names them one by
    /// one (`sd_degenerate`); later each flag carries `SDF_NEEDS_GROUPS`.
    pub fn needing_groups(version: Version) -> SdFlags {
        let listed = SdFlags::BALANCE_NEWIDLE
            | SdFlags::BALANCE_EXEC
            | SdFlags::BALANCE_FORK
            | SdFlags::SHARE_CPUCAPACITY
            | SdFlags::SHARE_LLC;
        if version < Version::new(5, 10) { listed } else { SdFlags::all() - SdFlags::WAKE_AFFINE }
    }

    /// Flags of a parent that do not count in `sd_parent_degenerate` when it has one group. Before 5.10 the
    /// flags of NUMA levels count all the same.
    pub fn moot_in_single_group_parent(version: Version) -> SdFlags {
        let needing = SdFlags::needing_groups(version);
        if version < Version::new(5, 10) { needing | SdFlags::PREFER_SIBLING } else { needing }
    }
}
