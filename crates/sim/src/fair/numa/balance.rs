//! What load balancing and fork ask of NUMA balancing.

use crate::fair::Fair;
use crate::fair::balance::env::{CpuIdle, Env};
use crate::topology::{Cpu, Group};
use crate::world::{TaskId, World};
use kernel::SdFlags;

/// What a queue has to give away (`enum fbq_type`), the more willingly the less.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::fair) enum Gives {
    /// Tasks that prefer no node.
    Regular,
    /// Tasks that prefer another node.
    Remote,
    /// Only tasks that are where they prefer to be.
    All,
}

impl Gives {
    fn of(running: u32, numa: u32, preferred: u32) -> Gives {
        match (running > numa, running > preferred) {
            (true, _) => Gives::Regular,
            (false, true) => Gives::Remote,
            (false, false) => Gives::All,
        }
    }
}

impl Fair {
    /// `migrate_degrades_locality`: whether a move takes the task away from its memory; `None` where that does not matter.
    pub(in crate::fair) fn migrate_degrades_locality(
        &self,
        w: &World,
        env: &Env,
        src: Cpu,
        dst: Cpu,
        task: TaskId,
    ) -> Option<bool> {
        let numa = self.numa.as_ref()?;
        let t = numa.tasks.get(task.index()).filter(|t| !t.faults.is_empty())?;
        let (from, to) = (numa.node(src), numa.node(dst));
        if !env.domain.flags.contains(SdFlags::NUMA) || from == to {
            return None;
        }
        if t.preferred == Some(from) {
            let other = w.cpus[src as usize].nr_running > numa.nr_preferred_running[src as usize];
            return other.then_some(true);
        }
        if t.preferred == Some(to) {
            return Some(false);
        }
        // Leaving a CPU idle is often worse.
        if env.idle == CpuIdle::Idle {
            return None;
        }
        Some(t.weight(to) < t.weight(from))
    }

    /// `fbq_classify_group`: what the busiest group gives, between nodes.
    pub(in crate::fair) fn group_gives(&self, w: &World, env: &Env, group: &Group) -> Gives {
        let Some(numa) = self.numa.as_ref().filter(|_| env.domain.flags.contains(SdFlags::NUMA))
        else {
            return Gives::All;
        };
        let considered = group.cpus.iter().filter(|&&c| env.cpus.contains(c as usize));
        let (mut running, mut prefers, mut preferred) = (0, 0, 0);
        for &cpu in considered {
            running += w.cpus[cpu as usize].nr_running;
            prefers += numa.nr_numa_running[cpu as usize];
            preferred += numa.nr_preferred_running[cpu as usize];
        }
        Gives::of(running, prefers, preferred)
    }

    /// `fbq_classify_rq`.
    pub(in crate::fair) fn queue_gives(&self, w: &World, cpu: Cpu) -> Gives {
        let Some(numa) = &self.numa else { return Gives::Regular };
        let at = cpu as usize;
        Gives::of(w.cpus[at].nr_running, numa.nr_numa_running[at], numa.nr_preferred_running[at])
    }

    /// Where fork finds room on two sides, the side of the preferred node (5.5): whether `task` leaves the node of `here`
    /// for a group that begins with `there`; `None` where it prefers neither.
    pub(in crate::fair) fn prefers_to_leave(
        &self,
        task: TaskId,
        here: Cpu,
        there: Option<Cpu>,
    ) -> Option<bool> {
        let numa = self.numa.as_ref()?;
        let preferred = numa.tasks.get(task.index())?.preferred?;
        if numa.node(here) == preferred {
            return Some(false);
        }
        let there = numa.node(there?) == preferred;
        there.then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_with_strangers_give_first() {
        // Tasks, those that prefer a node, those that prefer this one.
        let rows = [
            ((0, 0, 0), Gives::All),
            ((2, 1, 1), Gives::Regular),
            ((2, 2, 1), Gives::Remote),
            ((2, 2, 2), Gives::All),
        ];
        for ((running, numa, preferred), expected) in rows {
            assert_eq!(Gives::of(running, numa, preferred), expected);
        }
        assert!(Gives::Regular < Gives::Remote && Gives::Remote < Gives::All);
    }
}
