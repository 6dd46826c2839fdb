//! The busiest group by classes (`update_sd_lb_stats`, `update_sd_pick_busiest`; from 5.5 on).
//!
//! NUMA balancing, core scheduling and energy-aware scheduling have no part in it.

use super::classes::{GroupStats, GroupType};
use super::env::{CpuIdle, Env};
use super::imbalance::Compared;
use super::{Fair, asym};
use crate::topology::Group;
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
        let (mut looked, mut overload) = (0, false);
        let mut local: Option<GroupStats> = None;
        let mut busiest: Option<GroupStats> = None;
        let (mut total_load, mut total_capacity, mut total_util) = (0, 0, 0);
        for (at, group) in env.domain.groups.iter().enumerate() {
            looked += group.cpus.len();
            let seen = self.update_sg_lb_stats(w, env, at, &mut overload);
            total_load += seen.load;
            total_capacity += seen.capacity;
            total_util += seen.util;
            match local {
                None => local = Some(seen),
                Some(here) if self.is_busier(w, env, &here, group, &seen, busiest.as_ref()) => {
                    busiest = Some(seen);
                }
                Some(_) => {}
            }
        }
        w.charge(env.dst, looked as f64 * w.hw.balance_cycles);
        if env.level + 1 == w.topo.domains[env.cpu as usize].len() {
            self.overload = overload;
        }
        self.update_idle_cpu_scan(w, env, total_util);
        let (local, busiest) = (local?, busiest?);
        let prefers = match self.rules.busiest_prefers_sibling {
            true => busiest.prefers_sibling,
            false => env.domain.child_prefers_sibling,
        };
        let prefer_sibling = prefers && self.rules.prefer_sibling;
        Some(Compared { local, busiest, total_load, total_capacity, prefer_sibling })
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

    /// `update_sg_lb_stats` of the group at index `at`; the local one is at 0.
    fn update_sg_lb_stats(
        &self,
        w: &World,
        env: &Env,
        at: usize,
        overload: &mut bool,
    ) -> GroupStats {
        let group = &env.domain.groups[at];
        let misfits = at > 0 && env.domain.flags.contains(SdFlags::ASYM_CPUCAPACITY);
        let mut s = self.group_stats_of(group);
        s.at = at;
        for &cpu in group.cpus.iter().filter(|&&c| env.cpus.contains(c as usize)) {
            s.load += self.cpu_load(cpu);
            s.util += self.cpu_util(w, cpu);
            s.runnable += self.cpu_runnable(cpu);
            let running = u64::from(w.cpus[cpu as usize].nr_running);
            s.running += running;
            *overload |= running > 1;
            // A CPU about to go idle still runs the scheduler: it does not count as idle.
            let leaves = env.idle == CpuIdle::NewlyIdle && cpu == env.cpu;
            if running == 0 && w.idle_cpu(cpu) && !leaves {
                s.idle_cpus += 1;
            } else if misfits {
                let load = self.misfit_task_load(w, cpu);
                s.misfit_load = s.misfit_load.max(load);
                *overload |= load > 0;
            }
        }
        if at > 0 {
            s.asym_packing = asym::pulls_group(env, group, s.running);
            s.smt_balance = self.rules.smt_balance && env.is_idle() && s.smt && s.running > 1;
        }
        s.class = s.classify(&self.rules, env.domain.imbalance_pct);
        if s.class == GroupType::Overloaded {
            s.avg_load = s.load_by_capacity();
        }
        s
    }

    /// What does not change of a group, and whether affinities kept it from balance.
    pub(super) fn group_stats_of(&self, group: &Group) -> GroupStats {
        GroupStats {
            capacity: group.capacity,
            weight: group.cpus.len() as u64,
            cores: u64::from(group.cores),
            smt: group.flags.contains(SdFlags::SHARE_CPUCAPACITY),
            prefers_sibling: group.flags.contains(SdFlags::PREFER_SIBLING),
            imbalanced: self.imbalanced_groups[group.state],
            ..GroupStats::default()
        }
    }

    /// `update_sd_pick_busiest`: whether `group` is busier than the busiest before it.
    fn is_busier(
        &self,
        w: &World,
        env: &Env,
        local: &GroupStats,
        group: &Group,
        seen: &GroupStats,
        before: Option<&GroupStats>,
    ) -> bool {
        if seen.running == 0 || !helps(w, env, local, group, seen) {
            return false;
        }
        let Some(before) = before else {
            // Against a group without tasks and idle CPUs, which no group with a task is below.
            return true;
        };
        if seen.class != before.class {
            return seen.class > before.class;
        }
        match seen.class {
            GroupType::Overloaded => seen.avg_load > before.avg_load,
            GroupType::Imbalanced => false,
            GroupType::AsymPacking => {
                let there = asym::preferred(&env.domain.groups[before.at]);
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
