//! Memory bandwidth of a node among the CPUs that use its memory.
//!
//! `pace` calls `demand` when it has foreseen how many bytes a core cycle of a CPU moves, and when that ends. What the
//! CPU would move at its present rate goes into the node's list, and `fair_level` shares the supply anew. The CPU gets
//! its `floor_ns`, the time that a core cycle takes at least. If the level has changed by more than a trifle, each
//! other user is settled, gets its new floor, is slowed down, aimed and armed (`hold_back`).
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
}

impl NodeLoad {
    pub(super) fn new() -> NodeLoad {
        NodeLoad { users: Vec::new(), level: f64::INFINITY }
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
    /// `cpu` moves so many bytes a core cycle from or to memory of `node`; 0 where it stops.
    pub(super) fn demand(&mut self, cpu: Cpu, node: u16, bytes_per_cycle: f64) {
        let Some(memory) = &self.setup.memory else { return };
        let supply = memory.bandwidth[node as usize];
        let (rate, clock) = (self.w.cpus[cpu as usize].rate, self.w.cpus[cpu as usize].clock);
        let pace = &mut self.memory.paces[cpu as usize];
        pace.bytes_per_cycle = bytes_per_cycle;
        let wanted = bytes_per_cycle / (1.0 / rate + pace.memory.ns(clock));
        let load = &mut self.memory.nodes[node as usize];
        let at = load.users.iter().position(|u| u.0 == cpu);
        match (at, wanted > 0.0) {
            (Some(at), true) => load.users[at].1 = wanted,
            (Some(at), false) => {
                load.users.swap_remove(at);
            }
            (None, true) => load.users.push((cpu, wanted)),
            (None, false) => {}
        }
        let level = fair_level(load.users.iter().map(|u| u.1), supply);
        let before = load.level;
        let near = before.is_finite() && (level - before).abs() <= SMALL * before;
        let same = level == before || near;
        if !same {
            load.level = level;
        }
        let level = load.level;
        self.memory.paces[cpu as usize].floor_ns = bytes_per_cycle / level;
        if !same {
            self.hold_back(cpu, node, level);
        }
    }

    /// Gives the users of `node` but `cpu` their new level.
    fn hold_back(&mut self, cpu: Cpu, node: u16, level: f64) {
        for i in 0..self.memory.nodes[node as usize].users.len() {
            let other = self.memory.nodes[node as usize].users[i].0;
            if other != cpu {
                self.settle(other);
                let pace = &mut self.memory.paces[other as usize];
                pace.floor_ns = pace.bytes_per_cycle / level;
                self.slow_down(other);
                self.aim(other);
                self.arm(other);
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
