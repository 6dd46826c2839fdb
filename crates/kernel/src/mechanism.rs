//! The mechanisms that can be switched: one table, by name.

use crate::version::Version;

/// A switchable mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum MechanismId {
    /// SMT domain = small-core siblings.
    SmallCoreSmt,
    /// CACHE domain over a big core's small cores.
    BigCoreCache,
    /// L2 siblings from `ibm,thread-groups` property 2.
    L2ThreadGroups,
    /// CLS domain over a cluster of cores.
    SchedCluster,
    /// NUMA levels balance fork, exec and wake-ups up to a distance of 32.
    ZenReclaimDistance,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mechanism {
    /// Which switch it is.
    pub id: MechanismId,
    /// Name on the command line and in experiment files.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// First mainline release that has it; on by default from there.
    pub since: Version,
    /// The study that asks about it, if one does.
    pub study: Option<&'static str>,
}

/// Every mechanism, in the order of [`MechanismId`].
pub const MECHANISMS: &[Mechanism] = &[
    Mechanism {
        id: MechanismId::SmallCoreSmt,
        name: "small-core-smt",
        what: "powerpc: where ibm,thread-groups names small cores, the SMT domain is the small core \
               instead of the whole big core (cpu_smt_mask() follows in 5.9)",
        since: Version::new(4, 20),
        study: Some("power9-big-core"),
    },
    Mechanism {
        id: MechanismId::BigCoreCache,
        name: "big-core-cache",
        what: "powerpc: L2 siblings are compared with the SMT domain's threads, so that a big core \
               whose small cores share the L2 gets a CACHE domain (v6 of the big-core patches; off = v5)",
        since: Version::new(4, 20),
        study: Some("power9-big-core"),
    },
    Mechanism {
        id: MechanismId::L2ThreadGroups,
        name: "l2-thread-groups",
        what: "powerpc: property 2 of ibm,thread-groups says which threads share the L2",
        since: Version::new(5, 11),
        study: Some("power10-idler-llc"),
    },
    Mechanism {
        id: MechanismId::SchedCluster,
        name: "sched-cluster",
        what: "x86, arm64: a CLS domain over the CPUs of a cluster: cores that share an L2 on x86, the \
               firmware's cluster on arm64 (CONFIG_SCHED_CLUSTER; Debian's arm64 kernels have it from 7.x on)",
        since: Version::new(5, 16),
        study: Some("kunpeng920-clusters"),
    },
    Mechanism {
        id: MechanismId::ZenReclaimDistance,
        name: "zen-reclaim-distance",
        what: "x86: node_reclaim_distance is 32 instead of 30, as the kernel sets it on AMD Zen and Hygon; \
               switch it off for other makers' machines (matters at distances 31 and 32 only)",
        since: Version::new(5, 4),
        study: None,
    },
];

impl MechanismId {
    /// The mechanism's row.
    pub fn row(self) -> &'static Mechanism {
        &MECHANISMS[self as usize]
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
