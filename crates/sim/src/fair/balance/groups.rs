//! The busiest group by classes (`update_sd_lb_stats`, `update_sd_pick_busiest`; from 5.5 on).
//!
//! NUMA balancing, core scheduling and energy-aware scheduling have no part in it.

use super::asym;
use super::classes::{GroupType, SgLbStats};
use super::env::{CpuIdle, Env};
use super::imbalance::SdLbStats;
use super::sums::Sums;
use crate::fair::Fair;
use crate::topology::{Cpu, Group};
use crate::world::World;
use kernel::SdFlags;

impl Fair {
    /// By the types of groups, from 5.5 on.
    pub(super) fn find_busiest_group_by_type(
        &mut self,
        w: &mut World,
        env: &mut Env,
    ) -> Option<usize> {
        if self.no_task_to_spare(w, env) {
            w.look_at_domain(env.cpu, env.level);
            self.note_overload(w, env, false);
            return None;
        }
        let seen = match self.counts_suffice(env) {
            true => self.compare_counts(w, env)?,
            false => self.compare_groups(w, env)?,
        };
        let (migration, amount) = seen.imbalance(&self.rules, env.domain, env.idle)?;
        env.migration_type = migration;
        env.imbalance = amount;
        Some(seen.busiest.at)
    }

    /// `set_rd_overload`, by the highest domain.
    pub(super) fn note_overload(&mut self, w: &World, env: &Env, crowded: bool) {
        if env.level + 1 == w.topo.domains[env.cpu as usize].len() {
            self.overload = crowded;
        }
    }

    /// `update_sd_lb_stats`: the local group and the busiest of the others; `None` where nothing can be pulled.
    fn compare_groups(&mut self, w: &mut World, env: &Env) -> Option<SdLbStats> {
        let local_sums = self.sums_of_group(w, env, &env.domain.groups[0]);
        let local = self.update_sg_lb_stats(w, env, 0, &local_sums);
        let (total, busiest) = match env.is_idle() && keeps(env) {
            true => self.busiest_kept(w, env, &local_sums),
            false => self.busiest_seen(w, env, &local, &local_sums),
        };
        w.look_at_domain(env.cpu, env.level);
        self.note_overload(w, env, total.crowded);
        self.update_idle_cpu_scan(w, env, total.util);
        Some(self.compared(env, local, busiest?, total.load))
    }

    /// Two groups to compare. `total_load` is that of all groups, which only matters where the local one has no spare
    /// capacity.
    pub(super) fn compared(
        &self,
        env: &Env,
        local: SgLbStats,
        busiest: SgLbStats,
        total_load: u64,
    ) -> SdLbStats {
        let prefers = match self.rules.busiest_prefers_sibling {
            true => busiest.prefers_sibling,
            false => env.domain.child_prefers_sibling,
        };
        SdLbStats {
            local,
            busiest,
            total_load,
            total_capacity: env.domain.capacity,
            prefer_sibling: prefers && self.rules.prefer_sibling,
        }
    }

    /// `update_idle_cpu_scan`, at the domain that is the destination's LLC.
    fn update_idle_cpu_scan(&mut self, w: &World, env: &Env, util: u64) {
        let llc = w.topo.llc_of[env.dst_cpu as usize] as usize;
        let cpus = w.topo.llcs[llc].cpus.len() as u64;
        if env.idle != CpuIdle::NewlyIdle && cpus == u64::from(env.domain.weight) {
            self.llcs[llc].nr_idle_scan = idle_scan(cpus, util, env.domain.imbalance_pct);
        }
    }

    /// What all groups of the domain come to, CPUs in several of them counting in each, and the busiest but the local one.
    fn busiest_seen(
        &mut self,
        w: &World,
        env: &Env,
        local: &SgLbStats,
        local_sums: &Sums,
    ) -> (Sums, Option<SgLbStats>) {
        let (mut total, mut busiest) = (*local_sums, None::<SgLbStats>);
        for (at, group) in env.domain.groups.iter().enumerate().skip(1) {
            let sums = self.sums_of_group(w, env, group);
            let seen = self.update_sg_lb_stats(w, env, at, &sums);
            total.add(&sums);
            total.crowded |= seen.misfit_load > 0;
            // There is nothing to pull from a group without tasks.
            let pulls = seen.sum_nr_running > 0 && helps(w, env, local, group, &seen);
            let busier = |b: &SgLbStats| {
                self.update_sd_pick_busiest(&seen, group, b, &env.domain.groups[b.at])
            };
            if pulls && busiest.as_ref().is_none_or(busier) {
                busiest = Some(seen);
            }
        }
        (total, busiest)
    }

    /// The same for an idle CPU, from what is kept of groups that tile a domain of CPUs alike.
    fn busiest_kept(
        &mut self,
        w: &World,
        env: &Env,
        local_sums: &Sums,
    ) -> (Sums, Option<SgLbStats>) {
        let (mut total, mut busiest) = (*local_sums, None::<usize>);
        let groups = &env.domain.groups;
        for (at, &view) in env.domain.views.iter().enumerate().skip(1) {
            let sums = self.group_sums(w, view as usize);
            total.add(sums);
            if sums.sum_nr_running == 0 {
                continue;
            }
            let busier = |b: usize| {
                let (seen, before) =
                    (self.sums.stats(view as usize), self.sums.stats(groups[b].view));
                self.update_sd_pick_busiest(seen, &groups[at], before, &groups[b])
            };
            if busiest.is_none_or(busier) {
                busiest = Some(at);
            }
        }
        (total, busiest.map(|at| SgLbStats { at, ..*self.sums.stats(groups[at].view) }))
    }

    /// What the CPUs of a group come to, those that are no longer considered left out.
    pub(super) fn sums_of_group(&mut self, w: &World, env: &Env, group: &Group) -> Sums {
        if env.whole {
            return *self.group_sums(w, group.view);
        }
        let mut sums = Sums::default();
        for &cpu in group.cpus.iter().filter(|&&c| env.cpus.contains(c as usize)) {
            sums.add(&self.sums_of_cpu(w, cpu));
        }
        sums
    }

    /// `update_sg_lb_stats` of the group at index `at`; the local one is at 0.
    pub(super) fn update_sg_lb_stats(
        &self,
        w: &World,
        env: &Env,
        at: usize,
        sums: &Sums,
    ) -> SgLbStats {
        let group = &env.domain.groups[at];
        let considers = |c: Cpu| env.cpus.contains(c as usize);
        let mut s = self.sums.empty(group.view).with(sums);
        s.at = at;
        // A CPU about to go idle still runs the scheduler: it does not count as idle.
        let leaves = env.idle == CpuIdle::NewlyIdle && w.idle_cpu(env.cpu) && considers(env.cpu);
        s.idle_cpus -= u64::from(leaves && group.span.contains(env.cpu as usize));
        if at > 0 {
            if env.domain.flags.contains(SdFlags::ASYM_CPUCAPACITY) {
                let loads = group.cpus.iter().filter(|&&c| considers(c));
                s.misfit_load =
                    loads.map(|&c| self.misfit_task_load(w, c)).fold(0, |most, l| most.max(l));
            }
            s.asym_packing = asym::pulls_group(env, group, s.sum_nr_running);
            s.smt_balance =
                self.rules.smt_balance && env.is_idle() && s.smt && s.sum_nr_running > 1;
        }
        s.settle_class(&self.rules, env.domain.imbalance_pct);
        s
    }

    /// `update_sd_pick_busiest`: whether `group` is busier than the busiest before it.
    pub(super) fn update_sd_pick_busiest(
        &self,
        seen: &SgLbStats,
        group: &Group,
        before: &SgLbStats,
        other: &Group,
    ) -> bool {
        if seen.group_type != before.group_type {
            return seen.group_type > before.group_type;
        }
        match seen.group_type {
            GroupType::Overloaded => seen.avg_load > before.avg_load,
            GroupType::Imbalanced => false,
            GroupType::AsymPacking => {
                let there = asym::preferred(other);
                there.zip(asym::preferred(group)).is_some_and(|(b, g)| asym::prefers(b, g))
            }
            GroupType::MisfitTask => seen.misfit_load > before.misfit_load,
            GroupType::SmtBalance if seen.idle_cpus == 0 && before.idle_cpus == 0 => !before.smt,
            GroupType::FullyBusy => self.rules.smt_balance && !before.smt,
            GroupType::HasSpare if self.rules.smt_balance && seen.smt != before.smt => {
                !seen.smt || seen.sum_nr_running > 1
            }
            GroupType::SmtBalance | GroupType::HasSpare => {
                seen.idle_cpus < before.idle_cpus
                    || (seen.idle_cpus == before.idle_cpus
                        && seen.sum_nr_running > before.sum_nr_running)
            }
        }
    }
}

/// How many of the `cpus` of an LLC a wake-up may look at (`update_idle_cpu_scan`, `SIS_UTIL`): `1 - x^2` of them, where `x` is the
/// LLC's utilisation, stretched by what it tolerates as imbalance. `util` is that of all CPUs, 1024 each.
pub(in crate::fair) fn idle_scan(cpus: u64, util: u64, imbalance_pct: u64) -> u64 {
    let used = util / cpus * imbalance_pct;
    let left = 1024u64.saturating_sub(used * used / (10_000 * 1024));
    left * cpus / 1024
}

/// Whether what is kept of groups is what an idle CPU makes of them: they tile a domain of CPUs that are alike, and all
/// of it is considered.
pub(in crate::fair) fn keeps(env: &Env) -> bool {
    let apart = SdFlags::ASYM_PACKING | SdFlags::ASYM_CPUCAPACITY | SdFlags::OVERLAP;
    env.whole && !env.domain.flags.intersects(apart)
}

/// Whether the destination's capacity does any good to a group of CPUs that differ in capacity.
fn helps(w: &World, env: &Env, local: &SgLbStats, group: &Group, seen: &SgLbStats) -> bool {
    if !env.domain.flags.contains(SdFlags::ASYM_CPUCAPACITY) {
        return true;
    }
    let here = w.topo.capacity[env.dst_cpu as usize];
    match seen.group_type {
        GroupType::MisfitTask => {
            asym::capacity_greater(here, group.max_capacity)
                && local.group_type == GroupType::HasSpare
        }
        GroupType::HasSpare | GroupType::FullyBusy => {
            !asym::capacity_greater(group.min_capacity, here)
        }
        _ => true,
    }
}
