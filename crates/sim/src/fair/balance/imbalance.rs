//! Whether two groups are out of balance and by how much (`find_busiest_group` and `calculate_imbalance`, from 5.5 on).
//!
//! | busiest \ local | has spare | fully busy | imbalanced | overloaded |
//! |---|---|---|---|---|
//! | has spare | idle CPUs | balanced | balanced | balanced |
//! | fully busy | idle CPUs | idle CPUs | balanced | balanced |
//! | misfit task | one task | - | - | - |
//! | SMT balance | one task | one task | balanced | balanced |
//! | asymmetric packing | all tasks | all tasks | all tasks | all tasks |
//! | imbalanced | one task | one task | one task | one task |
//! | overloaded | utilisation or tasks | load | load | load, beyond `imbalance_pct` |

use super::classes::{GroupType, SgLbStats};
use super::env::{CpuIdle, Migration};
use super::numa;
use crate::fair::rules::Rules;
use crate::topology::SimDomain;
use kernel::SdFlags;

/// The groups of a domain, seen by its local one (`struct sd_lb_stats`).
#[derive(Debug, Clone, Copy)]
pub(super) struct SdLbStats {
    pub(in crate::fair) local: SgLbStats,
    pub(in crate::fair) busiest: SgLbStats,
    /// Of all groups; not looked at where the local one has spare capacity.
    pub(super) total_load: u64,
    pub(super) total_capacity: u64,
    pub(in crate::fair) prefer_sibling: bool,
}

impl SdLbStats {
    fn average(&self) -> u64 {
        self.total_load * 1024 / self.total_capacity.max(1)
    }

    /// What should leave the busiest group for a CPU that is `idle`, and in what it is counted; `None` if nothing.
    pub(in crate::fair) fn imbalance(
        &self,
        rules: &Rules,
        domain: &SimDomain,
        idle: CpuIdle,
    ) -> Option<(Migration, i64)> {
        let forced = matches!(
            self.busiest.group_type,
            GroupType::MisfitTask | GroupType::AsymPacking | GroupType::Imbalanced
        );
        if !forced && self.is_balanced(rules, domain.imbalance_pct, idle) {
            return None;
        }
        let (migration, amount) = self.amount(rules, domain, idle);
        (amount > 0).then_some((migration, amount))
    }

    /// The decision table for groups that nothing forces to act.
    fn is_balanced(&self, rules: &Rules, imbalance_pct: u64, idle: CpuIdle) -> bool {
        let (local, busiest) = (&self.local, &self.busiest);
        if local.group_type > busiest.group_type {
            return true;
        }
        if local.group_type == GroupType::Overloaded {
            let much = 100 * busiest.avg_load > imbalance_pct * local.avg_load;
            if local.avg_load >= busiest.avg_load || local.avg_load >= self.average() || !much {
                return true;
            }
        }
        if self.prefer_sibling
            && local.group_type == GroupType::HasSpare
            && self.sibling_imbalance(rules, idle) > 1
        {
            return false;
        }
        if busiest.group_type == GroupType::Overloaded {
            return false;
        }
        if idle == CpuIdle::Busy {
            return true;
        }
        if busiest.group_type == GroupType::SmtBalance && local.smt != busiest.smt {
            return false;
        }
        let as_idle = busiest.weight > 1 && local.idle_cpus <= busiest.idle_cpus + 1;
        as_idle || busiest.sum_nr_running == 1
    }

    /// By how many tasks the groups differ, twice what should move: per core from 6.6 on (`sibling_imbalance`).
    fn sibling_imbalance(&self, rules: &Rules, idle: CpuIdle) -> i64 {
        let (local, busiest) = (&self.local, &self.busiest);
        if !rules.smt_balance {
            return busiest.sum_nr_running.saturating_sub(local.sum_nr_running) as i64;
        }
        if idle == CpuIdle::Busy || busiest.sum_nr_running == 0 {
            return 0;
        }
        if local.cores == busiest.cores {
            return busiest.sum_nr_running.saturating_sub(local.sum_nr_running) as i64;
        }
        let cores = (local.cores + busiest.cores).max(1);
        let more = (local.cores * busiest.sum_nr_running)
            .saturating_sub(busiest.cores * local.sum_nr_running);
        let even = (2 * more + cores) / cores;
        if even <= 1 && local.sum_nr_running == 0 && busiest.sum_nr_running > 1 {
            2
        } else {
            even as i64
        }
    }

    /// `calculate_imbalance`.
    fn amount(&self, rules: &Rules, domain: &SimDomain, idle: CpuIdle) -> (Migration, i64) {
        let (local, busiest) = (&self.local, &self.busiest);
        match busiest.group_type {
            GroupType::MisfitTask => (Migration::Misfit, 1),
            GroupType::AsymPacking => (Migration::Task, busiest.sum_nr_running as i64),
            GroupType::SmtBalance | GroupType::Imbalanced => (Migration::Task, 1),
            GroupType::HasSpare | GroupType::FullyBusy | GroupType::Overloaded => {
                if local.group_type == GroupType::HasSpare {
                    self.spare_to_fill(rules, domain, idle)
                } else {
                    (Migration::Load, self.load_to_even())
                }
            }
        }
    }

    /// The local group has spare capacity.
    fn spare_to_fill(&self, rules: &Rules, domain: &SimDomain, idle: CpuIdle) -> (Migration, i64) {
        let (local, busiest) = (&self.local, &self.busiest);
        let in_llc = rules.llc_evens_tasks && domain.flags.contains(SdFlags::SHARE_LLC);
        if busiest.group_type > GroupType::FullyBusy && !in_llc {
            let spare = local.capacity.saturating_sub(local.util) as i64;
            return match (spare, idle) {
                // Used to the full on average, but idle now: one waiting task comes.
                (0, CpuIdle::Idle | CpuIdle::NewlyIdle) => (Migration::Task, 1),
                _ => (Migration::Util, spare),
            };
        }
        let by_tasks = busiest.weight == 1 || self.prefer_sibling;
        let whole = if by_tasks {
            self.sibling_imbalance(rules, idle)
        } else {
            (local.idle_cpus as i64 - busiest.idle_cpus as i64).max(0)
        };
        let numa = domain.flags.contains(SdFlags::NUMA);
        let tolerate = |tasks| match numa {
            true => numa::balancing(rules, tasks, local, busiest, domain.imb_numa_nr),
            false => tasks,
        };
        let moving =
            if rules.numa_whole_imbalance { tolerate(whole) / 2 } else { tolerate(whole / 2) };
        (Migration::Task, moving)
    }

    /// Load that brings both groups to the average of the domain. The kernel's numbers have no sign: a busiest group below the
    /// average seems to be far above it, and what the local group lacks decides.
    fn load_to_even(&self) -> i64 {
        let (local, busiest) = (&self.local, &self.busiest);
        let average = self.average();
        let local_load = local.load_by_capacity();
        if local.group_type < GroupType::Overloaded
            && (local_load >= busiest.avg_load || local_load >= average)
        {
            return 0;
        }
        let above = busiest.avg_load.wrapping_sub(average).wrapping_mul(busiest.capacity);
        let below = average.wrapping_sub(local_load).wrapping_mul(local.capacity);
        (above.min(below) / 1024) as i64
    }
}

#[cfg(test)]
mod tests;
