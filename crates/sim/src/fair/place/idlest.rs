//! Where tasks go at fork and exec: down the domains to the idlest CPU (`find_idlest_cpu`); by load up to 5.4.
//!
//! The walk begins at the level that `wakeup` found. At each level with the flag it asks for the idlest group: up to
//! 5.4 `find_idlest_group` here, from 5.5 on `idlest_class`. If the local group is the answer, it goes one level down.
//! Otherwise it takes the idlest CPU of the group (`find_idlest_group_cpu`) and goes on below that level, in the
//! domains of that CPU. A task that may use no CPU of the first domain stays where it is.
//!
//! `find_idlest_group` compares runnable loads, and load averages where these are close. For exec, but not for fork,
//! spare capacity decides before load, if there is enough of it for the task. The task's CPU pays for every CPU of the
//! groups compared; nothing else is written. Placing and queueing the task is the engine's business.

use crate::fair::Fair;
use crate::fair::queue::weight::NICE_0_WEIGHT;
use crate::topology::{Cpu, Group, SimDomain};
use crate::world::{TaskId, World};
use kernel::SdFlags;

/// What `find_idlest_group` compares of one group.
struct Seen {
    runnable: u64,
    average: u64,
    spare: u64,
}

impl Fair {
    /// From level `level` of `cpu`'s domains with `flag` down; `cpu` where nothing is idler, the
    /// previous CPU where the task may use none of the first domain.
    pub(in crate::fair) fn find_idlest_cpu(
        &mut self,
        w: &mut World,
        task: TaskId,
        cpu: Cpu,
        level: usize,
        flag: SdFlags,
    ) -> Cpu {
        let topo = w.topo;
        let prev = w.tasks[task.index()].cpu;
        let allowed = &w.tasks[task.index()].allowed;
        if !topo.domains[cpu as usize][level].span.intersects(allowed) {
            return prev;
        }
        if self.entities[task.index()].attached {
            self.update_h_load(w, self.queue_of(task.into(), prev));
        }
        let mut cpu = cpu;
        let mut below = level + 1;
        while below > 0 {
            let level = below - 1;
            let domain = &topo.domains[cpu as usize][level];
            below = level;
            if !domain.flags.contains(flag) {
                continue;
            }
            let group = match self.rules.group_classes {
                true => self.find_idlest_group_by_type(w, domain, task),
                false => self.find_idlest_group(w, domain, task, flag),
            };
            let Some(group) = group else { continue };
            let chosen = self.find_idlest_group_cpu(w, &domain.groups[group], task, cpu);
            if chosen != cpu {
                cpu = chosen;
                // Below the level just searched, as the chosen CPU has it.
                let chain = &topo.domains[cpu as usize];
                below = chain
                    .iter()
                    .take_while(|d| d.weight < domain.weight)
                    .filter(|d| d.flags.contains(flag))
                    .count();
            }
        }
        cpu
    }

    /// `find_idlest_group`: the group to go to, or `None` for the local one.
    fn find_idlest_group(
        &self,
        w: &mut World,
        domain: &SimDomain,
        task: TaskId,
        flag: SdFlags,
    ) -> Option<usize> {
        let scale = 100 + (domain.imbalance_pct - 100) / 2;
        let imbalance = NICE_0_WEIGHT * (domain.imbalance_pct - 100) / 100;
        let here = self.look_at_group(w, &domain.groups[0], task);
        let (mut min_runnable, mut min_average) = (u64::MAX, u64::MAX);
        let (mut most_spare, mut spare_group, mut idlest) = (0, None, None);
        for (i, group) in domain.groups.iter().enumerate().skip(1) {
            if !group.span.intersects(&w.tasks[task.index()].allowed) {
                continue;
            }
            let seen = self.look_at_group(w, group, task);
            let clearly_less = min_runnable > seen.runnable.saturating_add(imbalance);
            let close = seen.runnable < min_runnable.saturating_add(imbalance);
            if clearly_less {
                (min_runnable, min_average, idlest) = (seen.runnable, seen.average, Some(i));
            } else if close && over(min_average, 100, seen.average, scale) {
                (min_average, idlest) = (seen.average, Some(i));
            }
            if most_spare < seen.spare {
                (most_spare, spare_group) = (seen.spare, Some(i));
            }
        }
        if flag != SdFlags::BALANCE_FORK {
            let half_util = self.entities[task.index()].avg.util_avg / 2;
            if here.spare > half_util && scale * here.spare > 100 * most_spare {
                return None;
            }
            if most_spare > half_util {
                return spare_group;
            }
        }
        idlest?;
        let numa = domain.flags.contains(SdFlags::NUMA);
        let stays = (numa && min_runnable + imbalance >= here.runnable)
            || min_runnable > here.runnable + imbalance
            || (here.runnable < min_runnable + imbalance
                && over(min_average, scale, here.average, 100));
        if stays { None } else { idlest }
    }

    fn look_at_group(&self, w: &mut World, group: &Group, task: TaskId) -> Seen {
        let (mut runnable, mut average, mut spare) = (0, 0, 0);
        for &cpu in &group.cpus {
            runnable += self.cpu_load(cpu);
            average += self.queues[cpu as usize].avg.load_avg;
            let left =
                w.topo.capacity[cpu as usize].saturating_sub(self.cpu_util_without(w, cpu, task));
            spare = spare.max(left);
        }
        let here = w.tasks[task.index()].cpu;
        super::idle_sibling::look_at(w, here, &group.cpus);
        let by_capacity = |load: u64| load * 1024 / group.capacity.max(1);
        Seen { runnable: by_capacity(runnable), average: by_capacity(average), spare }
    }

    /// `find_idlest_group_cpu`: a CPU whose tasks are all idle (5.4), the idle CPU that wakes fastest, of those the one idle for the shortest time;
    /// else the least loaded.
    fn find_idlest_group_cpu(&self, w: &World, group: &Group, task: TaskId, cpu: Cpu) -> Cpu {
        if let [only] = *group.cpus {
            return only;
        }
        let (mut shallowest, mut latest_ns, mut idlest) = (usize::MAX, 0, None);
        let mut least: (u64, Cpu) = (u64::MAX, cpu);
        for &c in group.cpus.iter().filter(|&&c| w.allowed(task, c)) {
            if self.sched_idle_cpu(w, c) {
                return c;
            }
            if w.idle_cpu(c) {
                // Since when it has nothing to run, not since when it is in its idle state: a tick may have it choose another.
                let idle_ns = self.rqs[c as usize].idle_since_ns.unwrap_or(0);
                let state = w.idle_state(c);
                if let Some(state) = state.filter(|&state| state < shallowest) {
                    (shallowest, latest_ns, idlest) = (state, idle_ns, Some(c));
                } else if state.is_none_or(|state| state == shallowest) && idle_ns > latest_ns {
                    (latest_ns, idlest) = (idle_ns, Some(c));
                }
            } else if idlest.is_none() && self.cpu_load(c) < least.0 {
                least = (self.cpu_load(c), c);
            }
        }
        idlest.unwrap_or(least.1)
    }
}

/// Whether `a x by_a > b x by_b` without overflow.
fn over(a: u64, by_a: u64, b: u64, by_b: u64) -> bool {
    u128::from(a) * u128::from(by_a) > u128::from(b) * u128::from(by_b)
}
