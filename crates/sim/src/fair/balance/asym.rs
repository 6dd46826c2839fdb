//! CPUs that are preferred: by number under `SD_ASYM_PACKING`, by capacity under `SD_ASYM_CPUCAPACITY`.
//!
//! Only SMT domains of powerpc carry `SD_ASYM_PACKING`, so the rules for packing between cores (whole cores must be
//! idle, x86 SMT cores) have nothing to act on and are left out. Capacity is never reduced by other classes or
//! interrupts, so no CPU is left for that. A misfit task is looked for when it is asked about, not noted at ticks.

use super::env::Env;
use crate::fair::Fair;
use crate::topology::{Cpu, Group};
use crate::world::{TaskId, World};
use kernel::SdFlags;

/// `sched_asym_prefer`: the lower CPU number (`arch_asym_cpu_priority`).
pub(super) fn prefers(a: Cpu, b: Cpu) -> bool {
    a < b
}

/// The preferred CPU of a group (`sg->asym_prefer_cpu`).
pub(in crate::fair) fn preferred(group: &Group) -> Option<Cpu> {
    group.cpus.first().copied()
}

/// `sched_group_asym`: the idle destination is preferred to the group.
pub(super) fn pulls_group(env: &Env, group: &Group, running: u64) -> bool {
    env.domain.flags.contains(SdFlags::ASYM_PACKING)
        && env.is_idle()
        && running > 0
        && preferred(group).is_some_and(|cpu| prefers(env.dst_cpu, cpu))
}

/// `capacity_greater`: by about five percent.
pub(super) fn capacity_greater(a: u64, b: u64) -> bool {
    a * 1024 > b * 1078
}

/// `fits_capacity`: with a fifth to spare.
fn fits_capacity(util: u64, capacity: u64) -> bool {
    util * 1280 < capacity * 1024
}

impl Fair {
    /// `task_fits_cpu`, by the estimated utilisation.
    pub(in crate::fair) fn task_fits_cpu(&self, w: &World, task: TaskId, cpu: Cpu) -> bool {
        fits_capacity(self.task_util_est(task), w.topo.capacity[cpu as usize])
    }

    /// `rq->misfit_task_load` (`update_misfit_status`): the load of a running task that is too big for its CPU and may
    /// run on another, from 6.10 on a bigger one; 0 without one.
    pub(in crate::fair) fn misfit_task_load(&self, w: &World, cpu: Cpu) -> u64 {
        let Some(curr) = self.running_task(cpu) else { return 0 };
        let allowed = &w.tasks[curr.index()].allowed;
        let bound = match self.rules.misfit_apart {
            true => !any_bigger(w, allowed.iter_and(&w.topo.online_set), cpu),
            false => allowed.intersection_len(&w.topo.online_set) == 1,
        };
        if bound || self.task_fits_cpu(w, curr, cpu) { 0 } else { self.task_h_load(w, curr).max(1) }
    }

    /// `check_misfit_status`: whether a task is too big for `cpu` while there are bigger ones.
    pub(super) fn misfit_wants_help(&self, w: &World, cpu: Cpu) -> bool {
        any_bigger(w, w.topo.online_set.iter(), cpu) && self.misfit_task_load(w, cpu) > 0
    }
}

/// Whether one of `cpus` has more capacity than `cpu`.
fn any_bigger(w: &World, mut cpus: impl Iterator<Item = usize>, cpu: Cpu) -> bool {
    cpus.any(|c| w.topo.capacity[c] > w.topo.capacity[cpu as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_of_capacity() {
        assert!(!capacity_greater(1078, 1024));
        assert!(capacity_greater(1079, 1024));
        // 80 % of 1024 is 819.2.
        assert!(fits_capacity(819, 1024));
        assert!(!fits_capacity(820, 1024));
    }
}
