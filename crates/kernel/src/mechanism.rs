//! The mechanisms that can be switched: one table, by name.

use crate::version::Version;
use std::fmt;

/// A switchable mechanism; its row in [`MECHANISMS`] says what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum MechanismId {
    /// `small-core-smt`.
    SmallCoreSmt,
    /// `big-core-cache`.
    BigCoreCache,
    /// `l2-thread-groups`.
    L2ThreadGroups,
    /// `sched-cluster`.
    SchedCluster,
    /// `zen-reclaim-distance`.
    ZenReclaimDistance,
    /// `eevdf`.
    Eevdf,
    /// `start-debit`.
    StartDebit,
    /// `gentle-fair-sleepers`.
    GentleFairSleepers,
    /// `last-buddy`.
    LastBuddy,
    /// `cache-hot-buddy`.
    CacheHotBuddy,
    /// `wakeup-preemption`.
    WakeupPreemption,
    /// `place-lag`.
    PlaceLag,
    /// `place-deadline-initial`.
    PlaceDeadlineInitial,
    /// `run-to-parity`.
    RunToParity,
    /// `place-rel-deadline`.
    PlaceRelDeadline,
    /// `preempt-short`.
    PreemptShort,
    /// `delay-dequeue`.
    DelayDequeue,
    /// `delay-zero`.
    DelayZero,
    /// `util-est`.
    UtilEst,
    /// `wa-idle`.
    WaIdle,
    /// `wa-idler-llc`.
    WaIdlerLlc,
    /// `wa-waker`.
    WaWaker,
    /// `wa-weight`.
    WaWeight,
    /// `wa-bias`.
    WaBias,
    /// `wake-wide`.
    WakeWide,
    /// `recent-used-cpu`.
    RecentUsedCpu,
    /// `idle-core-search`.
    IdleCoreSearch,
    /// `sis-prop`.
    SisProp,
    /// `sis-util`.
    SisUtil,
    /// `cluster-scan-rfc`.
    ClusterScanRfc,
    /// `cluster-scan`.
    ClusterScan,
    /// `group-classes`.
    GroupClasses,
    /// `numa-imbalance`.
    NumaImbalance,
    /// `prefer-sibling`.
    PreferSibling,
    /// `asym-packing`.
    AsymPacking,
    /// `newidle-balance`.
    NewidleBalance,
    /// `nohz-balance`.
    NohzBalance,
    /// `active-balance`.
    ActiveBalance,
    /// `l2-prefetch-engine`.
    L2PrefetchEngine,
    /// `l3-prefetch-engine`.
    L3PrefetchEngine,
}

/// Releases in which mainline has a mechanism switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Default {
    /// From this release on.
    Since(Version),
    /// From the first release up to, not including, the second.
    Between(Version, Version),
    /// In none: proposed, or for few machines only.
    Never,
}

impl Default {
    /// Whether mainline has it on at `version`.
    pub fn at(self, version: Version) -> bool {
        match self {
            Default::Since(since) => version >= since,
            Default::Between(since, until) => (since..until).contains(&version),
            Default::Never => false,
        }
    }
}

impl fmt::Display for Default {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Default::Since(since) => write!(f, "on since {since}"),
            Default::Between(since, until) => write!(f, "on since {since}, gone in {until}"),
            Default::Never => f.write_str("off in every release"),
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mechanism {
    /// Which switch it is.
    pub id: MechanismId,
    /// Name on the command line and in experiment files.
    pub name: &'static str,
    /// Where mainline has it on; [`crate::Kernel::with`] switches it anywhere.
    pub default: Default,
    /// The study that asks about it, if one does.
    pub study: Option<&'static str>,
    /// What it does, with the kernel's own name for the switch where it has one.
    pub what: &'static str,
}

/// Every mechanism, in the order of [`MechanismId`].
pub const MECHANISMS: &[Mechanism] = &[
    Mechanism {
        id: MechanismId::SmallCoreSmt,
        name: "small-core-smt",
        default: Default::Since(Version::new(4, 20)),
        study: Some("power9-big-core"),
        what: "powerpc: where ibm,thread-groups names small cores, the SMT domain is the small core \
               instead of the whole big core (cpu_smt_mask() follows in 5.9)",
    },
    Mechanism {
        id: MechanismId::BigCoreCache,
        name: "big-core-cache",
        default: Default::Since(Version::new(4, 20)),
        study: Some("power9-big-core"),
        what: "powerpc: L2 siblings are compared with the SMT domain's threads, so that a big core \
               whose small cores share the L2 gets a CACHE domain (v6 of the big-core patches; off = \
               v5)",
    },
    Mechanism {
        id: MechanismId::L2ThreadGroups,
        name: "l2-thread-groups",
        default: Default::Since(Version::new(5, 11)),
        study: Some("power10-idler-llc"),
        what: "powerpc: property 2 of ibm,thread-groups says which threads share the L2",
    },
    Mechanism {
        id: MechanismId::SchedCluster,
        name: "sched-cluster",
        default: Default::Since(Version::new(5, 16)),
        study: Some("kunpeng920-clusters"),
        what: "x86, arm64: a CLS domain over the CPUs of a cluster: cores that share an L2 on x86, the \
               firmware's cluster on arm64 (CONFIG_SCHED_CLUSTER; Debian's arm64 kernels have it from \
               7.x on)",
    },
    Mechanism {
        id: MechanismId::ZenReclaimDistance,
        name: "zen-reclaim-distance",
        default: Default::Since(Version::new(5, 4)),
        study: None,
        what: "x86: node_reclaim_distance is 32 instead of 30, as the kernel sets it on AMD Zen and \
               Hygon, and as is assumed where the maker is unknown (matters at distances 31 and 32 only)",
    },
    Mechanism {
        id: MechanismId::Eevdf,
        name: "eevdf",
        default: Default::Since(Version::new(6, 6)),
        study: None,
        what: "picks by eligibility and virtual deadline; without it CFS, which picks by virtual \
               runtime",
    },
    Mechanism {
        id: MechanismId::StartDebit,
        name: "start-debit",
        default: Default::Between(Version::new(2, 6), Version::new(6, 6)),
        study: None,
        what: "CFS: a new task starts a slice behind (START_DEBIT)",
    },
    Mechanism {
        id: MechanismId::GentleFairSleepers,
        name: "gentle-fair-sleepers",
        default: Default::Between(Version::new(2, 6), Version::new(6, 6)),
        study: None,
        what: "CFS: a sleeper gets half a latency of credit instead of a whole one \
               (GENTLE_FAIR_SLEEPERS)",
    },
    Mechanism {
        id: MechanismId::LastBuddy,
        name: "last-buddy",
        default: Default::Between(Version::new(2, 6), Version::new(6, 6)),
        study: None,
        what: "CFS: a task that was preempted by a woken one runs next, if the queue is long \
               (LAST_BUDDY)",
    },
    Mechanism {
        id: MechanismId::CacheHotBuddy,
        name: "cache-hot-buddy",
        default: Default::Since(Version::new(2, 6)),
        study: None,
        what: "balancing leaves a task that is to run next, unless the CPU that pulls is idle \
               (CACHE_HOT_BUDDY)",
    },
    Mechanism {
        id: MechanismId::WakeupPreemption,
        name: "wakeup-preemption",
        default: Default::Since(Version::new(2, 6)),
        study: None,
        what: "a woken task may preempt the running one (WAKEUP_PREEMPTION)",
    },
    Mechanism {
        id: MechanismId::PlaceLag,
        name: "place-lag",
        default: Default::Since(Version::new(6, 6)),
        study: None,
        what: "EEVDF: a task keeps its lag over sleep and migration (PLACE_LAG)",
    },
    Mechanism {
        id: MechanismId::PlaceDeadlineInitial,
        name: "place-deadline-initial",
        default: Default::Since(Version::new(6, 6)),
        study: None,
        what: "EEVDF: a new task's first slice is half as long (PLACE_DEADLINE_INITIAL)",
    },
    Mechanism {
        id: MechanismId::RunToParity,
        name: "run-to-parity",
        default: Default::Since(Version::new(6, 6)),
        study: None,
        what: "EEVDF: the running task is not preempted before its lag is used up (RUN_TO_PARITY; its \
               slice from 6.12 on)",
    },
    Mechanism {
        id: MechanismId::PlaceRelDeadline,
        name: "place-rel-deadline",
        default: Default::Since(Version::new(6, 12)),
        study: None,
        what: "EEVDF: a task that moves keeps the distance to its deadline (PLACE_REL_DEADLINE)",
    },
    Mechanism {
        id: MechanismId::PreemptShort,
        name: "preempt-short",
        default: Default::Since(Version::new(6, 12)),
        study: None,
        what: "EEVDF: a woken task with a shorter slice may preempt within a slice (PREEMPT_SHORT)",
    },
    Mechanism {
        id: MechanismId::DelayDequeue,
        name: "delay-dequeue",
        default: Default::Since(Version::new(6, 12)),
        study: None,
        what: "EEVDF: a task that sleeps before its lag is used up stays on its queue until it would be \
               picked (DELAY_DEQUEUE)",
    },
    Mechanism {
        id: MechanismId::DelayZero,
        name: "delay-zero",
        default: Default::Since(Version::new(6, 12)),
        study: None,
        what: "EEVDF: a delayed task that is dequeued or woken has no positive lag left (DELAY_ZERO)",
    },
    Mechanism {
        id: MechanismId::UtilEst,
        name: "util-est",
        default: Default::Since(Version::new(4, 17)),
        study: None,
        what: "utilisation of a task is remembered over its sleep (UTIL_EST)",
    },
    Mechanism {
        id: MechanismId::WaIdle,
        name: "wa-idle",
        default: Default::Since(Version::new(4, 14)),
        study: None,
        what: "wake_affine(): the waker's CPU if idle, or about to be (WA_IDLE)",
    },
    Mechanism {
        id: MechanismId::WaIdlerLlc,
        name: "wa-idler-llc",
        default: Default::Never,
        study: Some("power10-idler-llc"),
        what: "wake_affine(): of the waker's and the previous CPU, the one whose LLC has more idle CPUs \
               (WA_IDLER_LLC of the idler-LLC study); a move is then counted as affine only if it goes \
               to the waker",
    },
    Mechanism {
        id: MechanismId::WaWaker,
        name: "wa-waker",
        default: Default::Never,
        study: Some("power10-idler-llc"),
        what: "with wa-idler-llc: the waker's CPU whenever its LLC has an idle CPU (WA_WAKER of the \
               idler-LLC study)",
    },
    Mechanism {
        id: MechanismId::WaWeight,
        name: "wa-weight",
        default: Default::Since(Version::new(4, 14)),
        study: None,
        what: "wake_affine(): the waker's CPU if it would carry less load than the previous one \
               (WA_WEIGHT)",
    },
    Mechanism {
        id: MechanismId::WaBias,
        name: "wa-bias",
        default: Default::Since(Version::new(4, 15)),
        study: None,
        what: "wa-weight takes the previous CPU's load for higher, by half of what the domain tolerates \
               (WA_BIAS)",
    },
    Mechanism {
        id: MechanismId::WakeWide,
        name: "wake-wide",
        default: Default::Since(Version::new(3, 12)),
        study: None,
        what: "a waker and a wakee with more partners than an LLC has CPUs are not brought together",
    },
    Mechanism {
        id: MechanismId::RecentUsedCpu,
        name: "recent-used-cpu",
        default: Default::Since(Version::new(4, 16)),
        study: None,
        what: "select_idle_sibling(): the CPU used before the previous one, if idle and in the LLC",
    },
    Mechanism {
        id: MechanismId::IdleCoreSearch,
        name: "idle-core-search",
        default: Default::Since(Version::new(4, 9)),
        study: None,
        what: "select_idle_sibling(): looks for a core with all threads idle while one is said to exist",
    },
    Mechanism {
        id: MechanismId::SisProp,
        name: "sis-prop",
        default: Default::Between(Version::new(4, 13), Version::new(6, 0)),
        study: None,
        what: "the search for an idle CPU ends after a number of CPUs that the average idle time pays \
               for (SIS_PROP)",
    },
    Mechanism {
        id: MechanismId::SisUtil,
        name: "sis-util",
        default: Default::Since(Version::new(6, 0)),
        study: None,
        what: "the search for an idle CPU ends after a number of CPUs that falls with the LLC's \
               utilisation, 0 at 85 % (SIS_UTIL)",
    },
    Mechanism {
        id: MechanismId::ClusterScanRfc,
        name: "cluster-scan-rfc",
        default: Default::Never,
        study: Some("kunpeng920-clusters"),
        what: "select_idle_sibling(): the target's cluster is searched before the LLC \
               (select_idle_cluster() of the clusters study, v2 of the RFC; no SMT machines)",
    },
    Mechanism {
        id: MechanismId::ClusterScan,
        name: "cluster-scan",
        default: Default::Since(Version::new(6, 7)),
        study: Some("kunpeng920-clusters"),
        what: "select_idle_sibling(): the target's cluster is searched before the LLC, and idle \
               previous or recent CPUs outside of it are a last resort (as merged)",
    },
    Mechanism {
        id: MechanismId::GroupClasses,
        name: "group-classes",
        default: Default::Since(Version::new(5, 5)),
        study: None,
        what: "balancing and find_idlest_group() class groups (has spare, fully busy, ..., overloaded) \
               and count the imbalance in tasks, utilisation or load; without it load alone decides",
    },
    Mechanism {
        id: MechanismId::NumaImbalance,
        name: "numa-imbalance",
        default: Default::Since(Version::new(5, 6)),
        study: None,
        what: "NUMA domains tolerate an imbalance while few tasks run: 2 tasks in 5.6, a quarter of a \
               group from 5.11, by LLC from 5.18",
    },
    Mechanism {
        id: MechanismId::PreferSibling,
        name: "prefer-sibling",
        default: Default::Since(Version::new(2, 6)),
        study: None,
        what: "balancing spreads tasks over the child domain's groups where its flags say so \
               (SD_PREFER_SIBLING)",
    },
    Mechanism {
        id: MechanismId::AsymPacking,
        name: "asym-packing",
        default: Default::Never,
        study: None,
        what: "SMT domains pull tasks to the lowest idle thread (SD_ASYM_PACKING, which powerpc sets on \
               POWER7)",
    },
    Mechanism {
        id: MechanismId::NewidleBalance,
        name: "newidle-balance",
        default: Default::Since(Version::new(2, 6)),
        study: None,
        what: "a CPU that is about to go idle pulls tasks",
    },
    Mechanism {
        id: MechanismId::NohzBalance,
        name: "nohz-balance",
        default: Default::Since(Version::new(2, 6)),
        study: None,
        what: "an idle CPU is kicked to balance for all that are idle without a tick",
    },
    Mechanism {
        id: MechanismId::ActiveBalance,
        name: "active-balance",
        default: Default::Since(Version::new(2, 6)),
        study: None,
        what: "after failures to pull a waiting task the running one is pushed",
    },
    Mechanism {
        id: MechanismId::L2PrefetchEngine,
        name: "l2-prefetch-engine",
        default: Default::Between(Version::new(3, 17), Version::new(4, 3)),
        study: Some("power8-prefetch-engine"),
        what: "powerpc, KVM HV: the L2 is logged when a vcore leaves its guest, and restored when it enters \
               (logmpp and MPPR of POWER8's micro-partition prefetch engine)",
    },
    Mechanism {
        id: MechanismId::L3PrefetchEngine,
        name: "l3-prefetch-engine",
        default: Default::Never,
        study: Some("power8-prefetch-engine"),
        what: "with l2-prefetch-engine: the most recently used way of the L3 is logged and restored as well",
    },
];

impl MechanismId {
    /// The mechanism's row.
    pub fn row(self) -> &'static Mechanism {
        &MECHANISMS[self as usize]
    }

    /// Whether it is what the architecture or firmware tells of the machine, and not a rule of the scheduler.
    pub fn is_of_topology(self) -> bool {
        self <= MechanismId::ZenReclaimDistance
    }

    /// The mechanism called `name`.
    pub fn by_name(name: &str) -> Option<MechanismId> {
        MECHANISMS.iter().find(|m| m.name == name).map(|m| m.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_indexed_by_id() {
        for row in MECHANISMS {
            assert_eq!(row.id.row(), row);
            assert_eq!(MechanismId::by_name(row.name), Some(row.id));
        }
    }
}
