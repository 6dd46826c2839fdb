//! Runnable tasks by group, always up to date, and what a CPU that is about to go idle makes of them.
//!
//! Such a CPU most often finds groups with fewer tasks than CPUs, whose classes follow from numbers of tasks alone
//! (`group_has_capacity`). So loads are summed up for the few others only, and for the two groups that are compared in
//! the end.

use super::classes::{GroupType, SgLbStats};
use super::env::{CpuIdle, Env};
use super::groups::keeps;
use super::imbalance::SdLbStats;
use super::sums::GroupSums;
use crate::fair::Fair;
use crate::topology::{Cpu, Topology};
use crate::world::World;

/// Tasks of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(in crate::fair) sum_nr_running: u32,
    /// CPUs without a task.
    pub(in crate::fair) idle: u32,
    /// CPUs with more than one.
    pub(super) crowded: u32,
}

impl Counts {
    /// Of `cpus`, counted anew.
    pub(in crate::fair) fn of(w: &World, cpus: &[Cpu]) -> Counts {
        let mut counts = Counts::default();
        for &cpu in cpus {
            let tasks = w.cpus[cpu as usize].nr_running;
            counts.sum_nr_running += tasks;
            counts.idle += u32::from(tasks == 0);
            counts.crowded += u32::from(tasks > 1);
        }
        counts
    }

    /// One of the CPUs has one task more than the `before` that it had.
    fn more(&mut self, before: u32) {
        self.sum_nr_running += 1;
        self.idle -= u32::from(before == 0);
        self.crowded += u32::from(before == 1);
    }

    /// One of the CPUs has one task less than the `before` that it had.
    fn less(&mut self, before: u32) {
        self.sum_nr_running -= 1;
        self.idle += u32::from(before == 1);
        self.crowded -= u32::from(before == 2);
    }
}

impl Fair {
    /// `add_nr_running` of one task.
    pub(in crate::fair) fn add_nr_running(&mut self, w: &mut World, cpu: Cpu) {
        let before = w.cpus[cpu as usize].nr_running;
        w.cpus[cpu as usize].nr_running = before + 1;
        self.sums.touch(cpu);
        self.sums.counts_of(cpu, |counts| counts.more(before));
    }

    /// `sub_nr_running` of one task.
    pub(in crate::fair) fn sub_nr_running(&mut self, w: &mut World, cpu: Cpu) {
        let before = w.cpus[cpu as usize].nr_running;
        w.cpus[cpu as usize].nr_running = before - 1;
        self.sums.touch(cpu);
        self.sums.counts_of(cpu, |counts| counts.less(before));
    }

    /// Whether a CPU that is about to go idle sees only CPUs with one task or none: then no group is worth pulling from,
    /// and what they come to need not be known.
    pub(super) fn no_task_to_spare(&self, w: &World, env: &Env) -> bool {
        let cpus = &env.domain.single_cpus;
        env.idle == CpuIdle::NewlyIdle
            && env.whole
            && !cpus.is_empty()
            && !self.sums.any_imbalanced()
            && w.cpus[env.dst_cpu as usize].nr_running == 0
            && cpus.iter().all(|&c| w.cpus[c as usize].nr_running <= 1)
    }

    /// Whether numbers of tasks tell the classes of most groups, and nobody asks for what all groups come to: a CPU
    /// about to go idle looks from a group with spare capacity.
    pub(super) fn counts_suffice(&self, env: &Env) -> bool {
        let local = &env.domain.groups[0];
        env.idle == CpuIdle::NewlyIdle
            && keeps(env)
            && !self.sums.empty(local.view).imbalanced
            && (self.sums.counts(local.view).sum_nr_running as usize) < local.cpus.len()
    }

    /// `update_sd_lb_stats` where [`Fair::counts_suffice`]: the local group and the busiest of the others.
    pub(super) fn compare_counts(&mut self, w: &mut World, env: &Env) -> Option<SdLbStats> {
        let domain = env.domain;
        let mut crowded = self.sums.counts(domain.groups[0].view).crowded;
        let mut busiest: Option<SgLbStats> = None;
        for (at, &view) in domain.views.iter().enumerate().skip(1) {
            let view = view as usize;
            let counts = self.sums.counts(view);
            debug_assert_eq!(counts, Counts::of(w, &domain.groups[at].cpus));
            crowded += counts.crowded;
            if counts.sum_nr_running == 0 {
                continue;
            }
            let empty = self.sums.empty(view);
            let seen = if counts.crowded == 0 && u64::from(counts.sum_nr_running) < empty.weight {
                let class = self.class_by_counts(empty, counts);
                if busiest.as_ref().is_some_and(|b| is_less_busy(class, empty, counts, b)) {
                    continue;
                }
                let (sum_nr_running, idle_cpus) =
                    (u64::from(counts.sum_nr_running), u64::from(counts.idle));
                SgLbStats { group_type: class, sum_nr_running, idle_cpus, ..*empty }
            } else {
                self.group_sums(w, view);
                *self.sums.stats(view)
            };
            let busier = |before: &SgLbStats| {
                self.update_sd_pick_busiest(
                    &seen,
                    &domain.groups[at],
                    before,
                    &domain.groups[before.at],
                )
            };
            if busiest.as_ref().is_none_or(busier) {
                busiest = Some(SgLbStats { at, ..seen });
            }
        }
        w.look_at_domain(env.cpu, env.level);
        self.note_overload(w, env, crowded > 0);
        let at = busiest?.at;
        let view = domain.groups[at].view;
        self.group_sums(w, view);
        let busiest = SgLbStats { at, ..*self.sums.stats(view) };
        let local_sums = self.sums_of_group(w, env, &domain.groups[0]);
        let local = self.update_sg_lb_stats(w, env, 0, &local_sums);
        debug_assert_eq!(local.group_type, GroupType::HasSpare);
        Some(self.compared(env, local, busiest, 0))
    }

    /// The class of a group with fewer tasks than CPUs and none of them crowded.
    fn class_by_counts(&self, empty: &SgLbStats, counts: Counts) -> GroupType {
        if empty.imbalanced {
            GroupType::Imbalanced
        } else if self.rules.smt_balance && empty.smt && counts.sum_nr_running > 1 {
            GroupType::SmtBalance
        } else {
            GroupType::HasSpare
        }
    }
}

/// Whether a group of which only `class` and `counts` are known is clearly less busy than `before`
/// (`update_sd_pick_busiest`); most are.
fn is_less_busy(class: GroupType, empty: &SgLbStats, counts: Counts, before: &SgLbStats) -> bool {
    let more_idle = u64::from(counts.idle) > before.idle_cpus && empty.smt == before.smt;
    class < before.group_type || (class == before.group_type && more_idle)
}

impl GroupSums {
    /// Counts all groups anew.
    pub(in crate::fair) fn recount(&mut self, w: &World, topo: &Topology) {
        for group in topo.domains.iter().flatten().flat_map(|d| &d.groups) {
            self.set_counts(group.view, Counts::of(w, &group.cpus));
        }
    }
}
