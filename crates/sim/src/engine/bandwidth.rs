//! Memory bandwidth of a node among the CPUs that use its memory.
//!
//! `pace` calls `demand` when it has foreseen how many bytes a core cycle of a CPU moves from and to each node, and when that
//! ends. What the CPU would move at its present rate goes into each node's list, and `fair_level` shares the supply anew.
//! The CPU gets its `floor_ns`, the time that a core cycle takes at least: as it draws from several nodes side by side, that
//! of the slowest. If a level has changed by more than a trifle, each other user is settled, gets its new floor, is slowed
//! down, aimed and armed (`hold_back`).
//!
//! The CPU that asks is left to `pace`, which slows it down afterwards. `working_sets` computes the bytes, and the
//! latency of memory is in its forecast, not here. `crate::hypervisor` uses `fair_level` too.

use super::Sim;
use super::core::Core;
use crate::topology::Cpu;
use crate::trace::Trace;

/// A change of what a CPU may get by less than this part is not worth a new completion time.
const SMALL: f64 = 1e-3;

/// The users of a node's memory.
#[derive(Debug, Clone)]
pub(super) struct NodeLoad {
    /// CPUs with the bytes a ns that they would move if nothing held them back.
    users: Vec<(Cpu, f64)>,
    /// The most that one gets, in bytes a ns; infinite where all get what they want.
    level: f64,
    /// What all move, in bytes a ns, as was last told.
    traffic: f64,
}

impl NodeLoad {
    pub(super) fn new() -> NodeLoad {
        NodeLoad { users: Vec::new(), level: f64::INFINITY, traffic: 0.0 }
    }
}

/// Max-min fair: those who want less than the level get what they want, the others get the level.
pub(crate) fn fair_level(wanted: impl Iterator<Item = f64> + Clone, supply: f64) -> f64 {
    if wanted.clone().sum::<f64>() <= supply {
        return f64::INFINITY;
    }
    let mut level = supply / wanted.clone().count() as f64;
    loop {
        let (mut left, mut greedy) = (supply, 0.0);
        for w in wanted.clone() {
            if w <= level {
                left -= w;
            } else {
                greedy += 1.0;
            }
        }
        // The level only rises, and each time past somebody's wish.
        let next = left / greedy;
        if greedy == 0.0 || next <= level {
            return level;
        }
        level = next;
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// `cpu` moves so many bytes a core cycle from or to memory of each node as [`Memory::ahead`](super::memory::Memory) says.
    pub(super) fn demand(&mut self, cpu: Cpu) {
        let draws = self.memory.ahead.iter().any(|&bytes| bytes > 0.0);
        if !draws && !self.memory.paces[cpu as usize].draws {
            return;
        }
        self.memory.paces[cpu as usize].draws = draws;
        let nodes = self.memory.nodes.len();
        let before = cpu as usize * nodes;
        for node in 0..nodes {
            let drawn =
                std::mem::replace(&mut self.memory.drawn[before + node], self.memory.ahead[node]);
            if drawn > 0.0 && self.memory.ahead[node] == 0.0 {
                self.share_anew(cpu, node);
            }
        }
        for node in 0..nodes {
            if self.memory.drawn[before + node] > 0.0 {
                self.share_anew(cpu, node);
            }
        }
        self.memory.paces[cpu as usize].floor_ns = self.floor_ns(cpu, None);
    }

    /// `cpu` wants another amount from `node` than before: its users share anew.
    fn share_anew(&mut self, cpu: Cpu, node: usize) {
        let Some(memory) = &self.setup.memory else { return };
        let wanted = self.wanted(cpu, node);
        let load = &mut self.memory.nodes[node];
        let at = load.users.iter().position(|u| u.0 == cpu);
        match (at, wanted > 0.0) {
            (Some(at), true) => load.users[at].1 = wanted,
            (Some(at), false) => {
                load.users.swap_remove(at);
            }
            (None, true) => load.users.push((cpu, wanted)),
            (None, false) => {}
        }
        let level = fair_level(load.users.iter().map(|u| u.1), memory.bandwidth[node]);
        let before = load.level;
        let near = before.is_finite() && (level - before).abs() <= SMALL * before;
        if level != before && !near {
            load.level = level;
            self.hold_back(cpu, node);
        }
        self.tell_traffic(node);
    }

    /// What the memory of `node` moves may have changed.
    fn tell_traffic(&mut self, node: usize) {
        if self.frequency.clocks.is_none() {
            return;
        }
        let load = &mut self.memory.nodes[node];
        let now = load.users.iter().map(|u| u.1.min(load.level)).sum();
        let before = std::mem::replace(&mut load.traffic, now);
        self.note_traffic(node, now, before);
    }

    /// Bytes a ns that `cpu` would move from or to `node` if only the other nodes held it back.
    fn wanted(&self, cpu: Cpu, node: usize) -> f64 {
        let c = &self.w.cpus[cpu as usize];
        let alone_ns = 1.0 / c.rate + self.memory.paces[cpu as usize].memory.ns(c.clock);
        let bytes = self.memory.drawn[cpu as usize * self.memory.nodes.len() + node];
        bytes / alone_ns.max(self.floor_ns(cpu, Some(node)))
    }

    /// What a core cycle of `cpu` takes at least by the levels of all nodes but `left_out`. It draws from them side by side.
    fn floor_ns(&self, cpu: Cpu, left_out: Option<usize>) -> f64 {
        let nodes = self.memory.nodes.len();
        let drawn = &self.memory.drawn[cpu as usize * nodes..][..nodes];
        let users = drawn.iter().zip(&self.memory.nodes).enumerate();
        let others = users.filter(|(node, (bytes, _))| Some(*node) != left_out && **bytes > 0.0);
        others.map(|(_, (bytes, load))| bytes / load.level).fold(0.0, f64::max)
    }

    /// The users of `node` but `cpu` go on at its new level.
    fn hold_back(&mut self, cpu: Cpu, node: usize) {
        for i in 0..self.memory.nodes[node].users.len() {
            let other = self.memory.nodes[node].users[i].0;
            if other != cpu {
                self.settle(other);
                self.memory.paces[other as usize].floor_ns = self.floor_ns(other, None);
                self.want_elsewhere(other, node);
                self.slow_down(other);
                self.aim(other);
                self.arm(other);
            }
        }
    }

    /// Notes what `cpu` wants of nodes other than `node`, whose level has changed. They share anew when one of their users is
    /// next looked at, a tick later at most.
    fn want_elsewhere(&mut self, cpu: Cpu, node: usize) {
        for other in (0..self.memory.nodes.len()).filter(|&n| n != node) {
            if self.memory.drawn[cpu as usize * self.memory.nodes.len() + other] > 0.0 {
                let wanted = self.wanted(cpu, other);
                let mut users = self.memory.nodes[other].users.iter_mut();
                if let Some(user) = users.find(|u| u.0 == cpu) {
                    user.1 = wanted;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_greedy_share_what_the_modest_leave() {
        let level = |wanted: &[f64]| fair_level(wanted.iter().copied(), 10.0);
        assert_eq!(level(&[2.0, 3.0]), f64::INFINITY);
        assert_eq!(level(&[20.0, 20.0]), 5.0);
        assert_eq!(level(&[1.0, 8.0, 8.0]), 4.5);
        assert_eq!(level(&[1.0, 2.0, 4.0, 20.0]), 3.5);
    }

    proptest! {
        #[test]
        fn a_saturated_node_gives_all_it_has(wanted in prop::collection::vec(0.01f64..50.0, 1..40)) {
            let level = fair_level(wanted.iter().copied(), 60.0);
            let given: f64 = wanted.iter().map(|w| w.min(level)).sum();
            let sum: f64 = wanted.iter().sum();
            prop_assert!((given - sum.min(60.0)).abs() < 1e-6);
        }
    }
}
