//! Task groups: how a group's shares are divided among its CPUs (`update_cfs_group`).
//!
//! A group has a weight (`tg->shares`), and on each CPU an entity whose load is the part of that weight that falls to the CPU:
//! by the load of the group's queue there, out of the group's load everywhere (`tg->load_avg`). The latter is a sum that
//! queues bring up to date now and then (`update_tg_load_avg`), so a share follows load that comes and goes with some delay.

use super::bandwidth::Bandwidth;
use super::cfs_rq::CfsRq;
use super::entity::Entity;
use super::ids::{EntityId, QueueId};
use super::weight::{IDLE_WEIGHT, scale_load};
use crate::fair::{Fair, Group};
use crate::topology::Cpu;
use crate::world::World;

/// Least load of a group's entity (`MIN_SHARES`, not scaled there), and bounds of a group's weight.
const MIN_SHARES: u64 = 2;
const MAX_SHARES: u64 = 1 << 18;
/// Queues tell a group of their load at most that often (6.7).
const TELL_NS: u64 = 1_000_000;

/// One group (`struct task_group`).
#[derive(Debug, Clone)]
pub(in crate::fair) struct TaskGroup {
    /// The group above, from 1 on; 0 for the root.
    pub(super) above: u32,
    /// Levels between it and the root.
    depth: u32,
    /// Scaled weight.
    shares: u64,
    /// Sum of what its queues contributed.
    load_avg: u64,
    /// The groups below, itself first.
    pub(super) subtree: Vec<u32>,
    /// Where it has a quota.
    pub(in crate::fair) bandwidth: Option<Bandwidth>,
}

/// `__sched_group_set_shares`. An idle group has the weight of an idle task (`sched_group_set_idle`).
fn shares_of(group: &Group) -> u64 {
    let shares = if group.idle { IDLE_WEIGHT } else { group.shares };
    scale_load(shares.clamp(MIN_SHARES, MAX_SHARES))
}

impl Fair {
    /// Adds `groups`, each behind the one that it is in, before any task exists.
    pub(in crate::fair) fn add_groups(&mut self, groups: &[Group]) {
        let nr_cpus = self.rqs.len();
        self.groups.push(TaskGroup {
            above: 0,
            depth: 0,
            shares: 0,
            load_avg: 0,
            subtree: Vec::new(),
            bandwidth: None,
        });
        for (at, group) in groups.iter().enumerate() {
            self.any_idle |= group.idle && self.rules.sched_idle;
            let number = at as u32 + 1;
            let above = &self.groups[group.above];
            self.groups.push(TaskGroup {
                above: group.above as u32,
                depth: above.depth + 1,
                shares: shares_of(group),
                load_avg: 0,
                subtree: Vec::new(),
                bandwidth: group.quota.map(Bandwidth::new),
            });
            let mut holder = number;
            while holder != 0 {
                self.groups[holder as usize].subtree.push(number);
                holder = self.groups[holder as usize].above;
            }
            for cpu in 0..nr_cpus {
                let mut queue = CfsRq::new(cpu as Cpu, number);
                queue.allowance.enabled = group.quota.is_some();
                self.queues.push(queue);
                let slice_ns = self.tunables.base_slice_ns;
                let entity = Entity::of_group(group.above as u32, group.idle, slice_ns);
                self.entities.groups.push(entity);
            }
        }
    }

    /// Groups above `q`, its own included.
    pub(super) fn depth_of(&self, q: QueueId) -> u32 {
        let group = self.queues[q.index()].group;
        self.groups.get(group as usize).map_or(0, |g| g.depth)
    }

    /// `se_update_runnable`: what a group's entity counts for in the averages of runnable tasks.
    pub(super) fn se_update_runnable(&mut self, id: EntityId) {
        if let Some(q) = self.group_cfs_rq(id) {
            self.entities[id].runnable = u64::from(self.queues[q.index()].h_nr_runnable());
        }
    }

    /// `update_cfs_group`: the load of a group's entity, which is on `q` or on its way there or away.
    pub(super) fn update_cfs_group(&mut self, w: &World, q: QueueId, id: EntityId) {
        let Some(below) = self.group_cfs_rq(id) else { return };
        // An empty group keeps its weight for as long as its departure is delayed (6.12).
        let keeps = self.rules.delay_dequeue && self.queues[below.index()].load == 0;
        if keeps || self.throttled_hierarchy(below) {
            return;
        }
        let shares = self.calc_group_shares(below);
        if self.entities[id].load != shares {
            self.reweight_entity(w, q, id, shares);
        }
    }

    /// `calc_group_shares`.
    fn calc_group_shares(&self, q: QueueId) -> u64 {
        let rq = &self.queues[q.index()];
        let group = &self.groups[rq.group as usize];
        let load = rq.weight().max(rq.avg.load_avg);
        let everywhere = (group.load_avg - rq.to_parent.contributed) + load;
        let shares = (group.shares * load).checked_div(everywhere).unwrap_or(0);
        shares.clamp(MIN_SHARES, group.shares)
    }

    /// `update_tg_load_avg`: tells the group of the load of its queue `q`, if that has changed by more than 1/64.
    #[inline]
    pub(in crate::fair) fn update_tg_load_avg(&mut self, w: &World, q: QueueId) {
        if self.queues[q.index()].group != 0 {
            self.tell_group(w, q);
        }
    }

    fn tell_group(&mut self, w: &World, q: QueueId) {
        let rq = &mut self.queues[q.index()];
        let told = &mut rq.to_parent;
        if self.rules.tells_groups_rarely && w.now_ns - told.told_ns < TELL_NS {
            return;
        }
        let load = rq.avg.load_avg;
        if load.abs_diff(told.contributed) > told.contributed / 64 {
            let group = &mut self.groups[rq.group as usize];
            group.load_avg = group.load_avg - told.contributed + load;
            (told.contributed, told.told_ns) = (load, w.now_ns);
        }
    }
}
