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
