//! Classes of groups (`group_classify`, from 5.5 on).
//!
//! [`SgLbStats`] is filled in steps: what does not change of a group (`of`), what its CPUs come to (`with`), marks for
//! misfit tasks, packing, SMT and affinities, and last the class with the load it is compared by (`settle_class`).
//! `group_classify` asks from the worst class down and takes the first that fits: overloaded, imbalanced, asymmetric
//! packing, SMT balance, misfit task; what is left is fully busy unless it has capacity to spare. Overload and capacity
//! go by tasks and utilisation, from 5.7 on also by runnable time.
//!
//! All of it follows from the group's own numbers; no queue or CPU is looked at. `sums`, `groups` and
//! `place::idlest_class` fill the numbers in. `groups` and `imbalance` say what classes lead to when balancing,
//! `place::idlest_class` when a task is placed. For a CPU about to go idle `counts` tells most classes from numbers of
//! tasks, without this room.

use super::sums::Sums;
use crate::fair::rules::Rules;
use crate::topology::Group;
use kernel::SdFlags;

/// What a group is like, in the order in which groups are pulled from (`enum group_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(in crate::fair) enum GroupType {
    /// It can run more tasks.
    #[default]
    HasSpare,
    /// It is fully used, and its tasks do not compete.
    FullyBusy,
    /// A task is too big for its CPU.
    MisfitTask,
    /// An SMT core runs several tasks (6.6).
    SmtBalance,
    /// A CPU that is preferred is idle.
    AsymPacking,
    /// Affinities kept the levels below from balancing.
    Imbalanced,
    /// It has more tasks than it can handle.
    Overloaded,
}

/// What a group looks like (`struct sg_lb_stats`).
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::fair) struct SgLbStats {
    /// Index in the domain.
    pub(in crate::fair) at: usize,
    pub(in crate::fair) group_type: GroupType,
    /// Load for the capacity; only where the class compares it.
    pub(in crate::fair) avg_load: u64,
    pub(in crate::fair) load: u64,
    pub(in crate::fair) util: u64,
    /// Average number of runnable tasks x 1024.
    pub(in crate::fair) runnable: u64,
    pub(in crate::fair) capacity: u64,
    /// Runnable tasks.
    pub(in crate::fair) sum_nr_running: u64,
    pub(in crate::fair) idle_cpus: u64,
    /// CPUs.
    pub(in crate::fair) weight: u64,
    pub(in crate::fair) cores: u64,
    /// Whether it stands for an SMT core.
    pub(in crate::fair) smt: bool,
    pub(in crate::fair) prefers_sibling: bool,
    pub(in crate::fair) imbalanced: bool,
    pub(in crate::fair) asym_packing: bool,
    pub(in crate::fair) smt_balance: bool,
    /// Load of the biggest task that does not fit its CPU.
    pub(in crate::fair) misfit_load: u64,
}

impl SgLbStats {
    /// What does not change of a group.
    pub(in crate::fair) fn of(group: &Group) -> SgLbStats {
        SgLbStats {
            capacity: group.capacity,
            weight: group.cpus.len() as u64,
            cores: u64::from(group.cores),
            smt: group.flags.contains(SdFlags::SHARE_CPUCAPACITY),
            prefers_sibling: group.flags.contains(SdFlags::PREFER_SIBLING),
            ..SgLbStats::default()
        }
    }

    /// The same with what its CPUs come to.
    pub(in crate::fair) fn with(&self, sums: &Sums) -> SgLbStats {
        SgLbStats {
            load: sums.load,
            util: sums.util,
            runnable: sums.runnable,
            sum_nr_running: u64::from(sums.sum_nr_running),
            idle_cpus: u64::from(sums.idle_cpus),
            ..*self
        }
    }

    /// Sets the class, and what groups of it are compared by.
    pub(super) fn settle_class(&mut self, rules: &Rules, imbalance_pct: u64) {
        self.group_type = self.group_classify(rules, imbalance_pct);
        if self.group_type == GroupType::Overloaded {
            self.avg_load = self.load_by_capacity();
        }
    }

    /// `group_has_capacity`.
    fn has_capacity(&self, rules: &Rules, imbalance_pct: u64) -> bool {
        if self.sum_nr_running < self.weight {
            return true;
        }
        let crowded = rules.runnable_avg && self.capacity * imbalance_pct < self.runnable * 100;
        !crowded && self.capacity * 100 > self.util * imbalance_pct
    }

    /// `group_is_overloaded`.
    fn is_overloaded(&self, rules: &Rules, imbalance_pct: u64) -> bool {
        let used = self.capacity * 100 < self.util * imbalance_pct;
        let crowded = rules.runnable_avg && self.capacity * imbalance_pct < self.runnable * 100;
        self.sum_nr_running > self.weight && (used || crowded)
    }

    /// `group_classify`.
    pub(in crate::fair) fn group_classify(&self, rules: &Rules, imbalance_pct: u64) -> GroupType {
        if self.is_overloaded(rules, imbalance_pct) {
            GroupType::Overloaded
        } else if self.imbalanced {
            GroupType::Imbalanced
        } else if self.asym_packing {
            GroupType::AsymPacking
        } else if self.smt_balance {
            GroupType::SmtBalance
        } else if self.misfit_load > 0 {
            GroupType::MisfitTask
        } else if !self.has_capacity(rules, imbalance_pct) {
            GroupType::FullyBusy
        } else {
            GroupType::HasSpare
        }
    }

    /// Load for the capacity, x 1024.
    pub(in crate::fair) fn load_by_capacity(&self) -> u64 {
        self.load * 1024 / self.capacity.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Kernel, Version};

    fn class(version: Version, stats: SgLbStats) -> GroupType {
        stats.group_classify(&Rules::new(&Kernel::new(version)), 117)
    }

    fn two_cpus(running: u64, util: u64, runnable: u64) -> SgLbStats {
        SgLbStats {
            capacity: 2048,
            weight: 2,
            sum_nr_running: running,
            util,
            runnable,
            ..SgLbStats::default()
        }
    }

    #[test]
    fn classes_go_by_tasks_utilisation_and_from_5_7_by_runnable_time() {
        let (old, new) = (Version::new(5, 6), Version::new(5, 7));
        for version in [old, new] {
            assert_eq!(class(version, two_cpus(1, 2048, 2048)), GroupType::HasSpare);
            // 2048 x 100 is not more than 1751 x 117.
            assert_eq!(class(version, two_cpus(2, 1751, 1751)), GroupType::FullyBusy);
            assert_eq!(class(version, two_cpus(3, 1751, 1751)), GroupType::Overloaded);
            assert_eq!(class(version, two_cpus(2, 1750, 1750)), GroupType::HasSpare);
        }
        // Little used, but 2397 x 100 is more than 2048 x 117.
        assert_eq!(class(old, two_cpus(3, 1000, 2397)), GroupType::HasSpare);
        assert_eq!(class(new, two_cpus(3, 1000, 2397)), GroupType::Overloaded);
        assert_eq!(class(new, two_cpus(2, 1000, 2397)), GroupType::FullyBusy);
    }

    #[test]
    fn what_makes_a_class_goes_from_the_worst_down() {
        let all = SgLbStats {
            imbalanced: true,
            asym_packing: true,
            smt_balance: true,
            misfit_load: 5,
            ..two_cpus(2, 0, 0)
        };
        let new = Version::new(6, 6);
        assert_eq!(class(new, all), GroupType::Imbalanced);
        let all = SgLbStats { imbalanced: false, ..all };
        assert_eq!(class(new, all), GroupType::AsymPacking);
        let all = SgLbStats { asym_packing: false, ..all };
        assert_eq!(class(new, all), GroupType::SmtBalance);
        let all = SgLbStats { smt_balance: false, ..all };
        assert_eq!(class(new, all), GroupType::MisfitTask);
    }
}
