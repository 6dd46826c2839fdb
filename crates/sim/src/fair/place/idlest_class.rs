//! The idlest group by classes (`find_idlest_group`, from 5.5 on).
//!
//! Each group in which the task may run is summed up as it would be without the task, over the CPUs that the task may
//! use (`update_sg_wakeup_stats`), and gets its class from `balance::classes`. The idlest of the groups but the local
//! one is that of the lowest class; within a class load, capacity or idle CPUs decide (`update_pick_idlest`). It is
//! then compared with the local group (`leaves`): the task goes there if the class is lower, or the same and the group
//! is better by enough. In a NUMA domain `balance::numa` may keep the task where the local group has spare capacity. A
//! task that may not use the local group goes to the idlest.
//!
//! The sums that balancing keeps count the task, so a group is taken from there without its tasks (`GroupSums::empty`).
//! The task's CPU pays for the CPUs of the groups looked at; nothing else is written. `idlest` chooses the CPU within
//! the group.

use crate::fair::Fair;
use crate::fair::balance::classes::{GroupType, SgLbStats};
use crate::fair::balance::numa;
use crate::fair::queue::weight::NICE_0_WEIGHT;
use crate::topology::{Group, SimDomain};
use crate::world::{TaskId, World};
use kernel::SdFlags;
use std::sync::Arc;

impl Fair {
    /// `find_idlest_group`: the group to go to, or `None` for the local one.
    pub(super) fn find_idlest_group_by_type(
        &self,
        w: &mut World,
        domain: &SimDomain,
        task: TaskId,
    ) -> Option<usize> {
        let here = w.tasks[task.index()].cpu;
        let mut local: Option<SgLbStats> = None;
        let mut idlest: Option<SgLbStats> = None;
        for (at, group) in domain.groups.iter().enumerate() {
            if !group.span.intersects(&w.tasks[task.index()].allowed) {
                continue;
            }
            super::idle_sibling::look_at(w, here, &group.cpus);
            let seen = self.update_sg_wakeup_stats(w, domain, at, task);
            if at == 0 {
                local = Some(seen);
            } else if idlest
                .as_ref()
                .is_none_or(|best| self.update_pick_idlest(domain, &seen, best))
            {
                idlest = Some(seen);
            }
        }
        let idlest = idlest?;
        let Some(local) = local else { return Some(idlest.at) };
        let allowed = &w.tasks[task.index()].allowed;
        let usable = domain.groups[0].span.intersection_len(allowed) as u32;
        let there = domain.groups[idlest.at].cpus.first().copied();
        let both_spare = local.group_type == GroupType::HasSpare
            && idlest.group_type == GroupType::HasSpare
            && domain.flags.contains(SdFlags::NUMA);
        let prefers = self.prefers_to_leave(task, domain.groups[0].cpus[0], there);
        let leaves = prefers.filter(|_| both_spare);
        let leaves = leaves.unwrap_or_else(|| self.leaves(domain, &local, &idlest, usable));
        leaves.then_some(idlest.at)
    }

    /// `update_sg_wakeup_stats`: a group as it would be without the task.
    fn update_sg_wakeup_stats(
        &self,
        w: &World,
        domain: &SimDomain,
        at: usize,
        task: TaskId,
    ) -> SgLbStats {
        let group = &domain.groups[at];
        let mut s = SgLbStats { at, ..*self.sums.empty(group.view) };
        let mut fits = !domain.flags.contains(SdFlags::ASYM_CPUCAPACITY);
        for &cpu in group.cpus.iter().filter(|&&c| w.allowed(task, c)) {
            s.load += self.cpu_load_without(w, cpu, task);
            s.util += self.cpu_util_without(w, cpu, task);
            s.runnable += self.cpu_runnable_without(w, cpu, task);
            let entity = &self.entities[task.index()];
            let own = w.tasks[task.index()].cpu == cpu && entity.attached && entity.on_rq;
            let running = u64::from(w.cpus[cpu as usize].nr_running) - u64::from(own);
            s.sum_nr_running += running;
            let others = w.cpus[cpu as usize].curr.is_some_and(|curr| curr != task);
            s.idle_cpus += u64::from(running == 0 && !others);
            fits = fits || self.task_fits_cpu(w, task, cpu);
        }
        s.misfit_load = u64::from(!fits);
        s.group_type = s.group_classify(&self.rules, domain.imbalance_pct);
        if matches!(s.group_type, GroupType::FullyBusy | GroupType::Overloaded) {
            s.avg_load = s.load_by_capacity();
        }
        s
    }

    /// Whether the task goes from the `local` group to the `idlest` of the others. `usable` CPUs of the local one may
    /// run it.
    fn leaves(
        &self,
        domain: &SimDomain,
        local: &SgLbStats,
        idlest: &SgLbStats,
        usable: u32,
    ) -> bool {
        if local.group_type != idlest.group_type {
            return local.group_type > idlest.group_type;
        }
        let numa = domain.flags.contains(SdFlags::NUMA);
        match local.group_type {
            GroupType::Overloaded | GroupType::FullyBusy => {
                let imbalance = NICE_0_WEIGHT * (domain.imbalance_pct - 100) / 100;
                let stays = (numa && idlest.avg_load + imbalance >= local.avg_load)
                    || idlest.avg_load >= local.avg_load + imbalance
                    || 100 * local.avg_load <= domain.imbalance_pct * idlest.avg_load;
                !stays
            }
            GroupType::Imbalanced | GroupType::AsymPacking | GroupType::SmtBalance => false,
            GroupType::MisfitTask => {
                max_capacity(&domain.groups, local) < max_capacity(&domain.groups, idlest)
            }
            GroupType::HasSpare => {
                let (nr, span) = (domain.imb_numa_nr, u64::from(domain.weight));
                let stays = numa && numa::fork_stays(&self.rules, local, idlest, span, usable, nr);
                !stays && local.idle_cpus < idlest.idle_cpus
            }
        }
    }

    /// `update_pick_idlest`: whether a group is idler than the idlest before it.
    fn update_pick_idlest(&self, domain: &SimDomain, seen: &SgLbStats, before: &SgLbStats) -> bool {
        if seen.group_type != before.group_type {
            return seen.group_type < before.group_type;
        }
        match seen.group_type {
            GroupType::Overloaded | GroupType::FullyBusy => seen.avg_load < before.avg_load,
            GroupType::Imbalanced | GroupType::AsymPacking | GroupType::SmtBalance => false,
            GroupType::MisfitTask => {
                max_capacity(&domain.groups, seen) > max_capacity(&domain.groups, before)
            }
            GroupType::HasSpare => {
                let less_used = self.rules.idlest_by_util && seen.util < before.util;
                seen.idle_cpus > before.idle_cpus
                    || (seen.idle_cpus == before.idle_cpus && less_used)
            }
        }
    }
}

fn max_capacity(groups: &[Arc<Group>], seen: &SgLbStats) -> u64 {
    groups[seen.at].max_capacity
}
