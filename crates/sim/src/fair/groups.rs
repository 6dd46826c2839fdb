//! The busiest group by classes (`update_sd_lb_stats`, `update_sd_pick_busiest`; from 5.5 on).
//!
//! NUMA balancing, core scheduling and energy-aware scheduling have no part in it.

use super::classes::{GroupStats, GroupType};
use super::env::{CpuIdle, Env};
use super::imbalance::Compared;
use super::sums::Sums;
use super::{Fair, asym};
use crate::topology::{Cpu, Group};
use crate::world::World;
use kernel::SdFlags;

impl Fair {
    /// `find_busiest_group`: its index in the domain; what should leave it goes into `env`.
    pub(super) fn find_busiest_class(&mut self, w: &mut World, env: &mut Env) -> Option<usize> {
        let seen = self.compare_groups(w, env)?;
        let (migration, amount) = seen.imbalance(&self.rules, env.domain, env.idle)?;
        env.migration = migration;
        env.imbalance = amount;
        Some(seen.busiest.at)
    }

    /// `update_sd_lb_stats`: the local group and the busiest of the others; `None` where nothing can be pulled.
    fn compare_groups(&mut self, w: &mut World, env: &Env) -> Option<Compared> {
        let uniform =
            !env.domain.flags.intersects(SdFlags::ASYM_PACKING | SdFlags::ASYM_CPUCAPACITY);
        let kept =
            env.whole && env.is_idle() && uniform && !env.domain.flags.contains(SdFlags::OVERLAP);
        let mut total = self.domain_sums(w, env);
        let local_sums = self.sums_of_group(w, env, &env.domain.groups[0]);
        let local = self.update_sg_lb_stats(w, env, 0, &local_sums);
        let mut others = std::mem::take(&mut self.others);
        others.clear();
        if !kept {
            for (at, group) in env.domain.groups.iter().enumerate().skip(1) {
                let sums = self.sums_of_group(w, env, group);
                let seen = self.update_sg_lb_stats(w, env, at, &sums);
                total.crowded |= seen.misfit_load > 0;
                others.push(seen);
            }
        }
        w.charge(env.dst, env.domain.looked as f64 * w.hw.balance_cycles);
        if env.level + 1 == w.topo.domains[env.cpu as usize].len() {
            self.overload = total.crowded;
        }
        self.update_idle_cpu_scan(w, env, total.util);
        let busiest = match kept {
            true => self.busiest_of(w, env, &local, |_, view| self.sums.stats(view)),
            false => self.busiest_of(w, env, &local, |at, _| &others[at - 1]),
        };
        self.others = others;
        let busiest = busiest?;
        let prefers = match self.rules.busiest_prefers_sibling {
            true => busiest.prefers_sibling,
            false => env.domain.child_prefers_sibling,
        };
        let prefer_sibling = prefers && self.rules.prefer_sibling;
        Some(Compared {
            local,
            busiest,
            total_load: total.load,
            total_capacity: env.domain.capacity,
            prefer_sibling,
        })
    }

    /// `update_idle_cpu_scan`: how many CPUs of an LLC a wake-up may look at, `1 - x^2` of them, where `x` is the
    /// LLC's utilisation stretched by what it tolerates as imbalance (`SIS_UTIL`).
    fn update_idle_cpu_scan(&mut self, w: &World, env: &Env, util: u64) {
        let llc = w.topo.llc_of[env.dst as usize] as usize;
        let cpus = w.topo.llcs[llc].cpus.len() as u64;
        if env.idle == CpuIdle::NewlyIdle || cpus != u64::from(env.domain.weight) {
            return;
        }
        let used = util / cpus * env.domain.imbalance_pct;
        let left = 1024u64.saturating_sub(used * used / (10_000 * 1024));
        self.llcs[llc].nr_idle_scan = left * cpus / 1024;
    }

    /// The busiest of the groups but the local one, by `stats` of their index and their view.
    fn busiest_of<'s>(
        &self,
        w: &World,
        env: &Env,
        local: &GroupStats,
        stats: impl Fn(usize, usize) -> &'s GroupStats,
    ) -> Option<GroupStats> {
        let mut busiest: Option<(usize, &GroupStats)> = None;
        for (at, group) in env.domain.groups.iter().enumerate().skip(1) {
            let seen = stats(at, group.view);
            // There is nothing to pull from a group without tasks.
            if seen.running > 0
                && helps(w, env, local, group, seen)
                && busiest.is_none_or(|(b, before)| {
                    self.is_busier(seen, group, before, &env.domain.groups[b])
                })
            {
                busiest = Some((at, seen));
            }
        }
        busiest.map(|(at, seen)| GroupStats { at, ..*seen })
    }

    /// What all groups of the domain come to; CPUs in several of them count in each.
    fn domain_sums(&mut self, w: &World, env: &Env) -> Sums {
        let mut total = Sums::default();
        for group in &env.domain.groups {
            match env.whole {
                true => total.add(self.group_sums(w, group.view)),
                false => total.add(&self.sums_of_group(w, env, group)),
            }
        }
        total
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
    fn update_sg_lb_stats(&self, w: &World, env: &Env, at: usize, sums: &Sums) -> GroupStats {
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
            s.asym_packing = asym::pulls_group(env, group, s.running);
            s.smt_balance = self.rules.smt_balance && env.is_idle() && s.smt && s.running > 1;
        }
        s.settle_class(&self.rules, env.domain.imbalance_pct);
        s
    }

    /// `update_sd_pick_busiest`: whether `group` is busier than the busiest before it.
    fn is_busier(
        &self,
        seen: &GroupStats,
        group: &Group,
        before: &GroupStats,
        other: &Group,
    ) -> bool {
        if seen.class != before.class {
            return seen.class > before.class;
        }
        match seen.class {
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
                !seen.smt || seen.running > 1
            }
            GroupType::SmtBalance | GroupType::HasSpare => {
                seen.idle_cpus < before.idle_cpus
                    || (seen.idle_cpus == before.idle_cpus && seen.running > before.running)
            }
        }
    }
}

/// Whether the destination's capacity does any good to a group of CPUs that differ in capacity.
fn helps(w: &World, env: &Env, local: &GroupStats, group: &Group, seen: &GroupStats) -> bool {
    if !env.domain.flags.contains(SdFlags::ASYM_CPUCAPACITY) {
        return true;
    }
    let here = w.topo.capacity[env.dst as usize];
    match seen.class {
        GroupType::MisfitTask => {
            asym::capacity_greater(here, group.max_capacity) && local.class == GroupType::HasSpare
        }
        GroupType::HasSpare | GroupType::FullyBusy => {
            !asym::capacity_greater(group.min_capacity, here)
        }
        _ => true,
    }
}
