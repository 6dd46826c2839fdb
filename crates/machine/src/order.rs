//! The same machine with its CPUs numbered in another order.

use crate::cpuset::CpuSet;
use crate::model::Machine;

impl Machine {
    /// The same machine whose CPU `n` is this one's CPU `order[n]`; `None` where `order` does not hold every CPU once.
    /// Caches, nodes, groups and policies stay in their order.
    pub fn reordered(&self, order: &[usize]) -> Option<Machine> {
        let all: CpuSet = order.iter().copied().filter(|&cpu| cpu < self.cpus.len()).collect();
        if order.len() != self.cpus.len() || all != self.possible() {
            return None;
        }
        let renumbered = |set: &mut CpuSet| {
            let old = set.clone();
            *set = (0..order.len()).filter(|&n| old.contains(order[n])).collect();
        };
        let mut out = self.clone();
        out.cpus = order.iter().map(|&cpu| self.cpus[cpu].clone()).collect();
        renumbered(&mut out.online);
        out.caches.iter_mut().for_each(|c| renumbered(&mut c.cpus));
        out.nodes.iter_mut().for_each(|n| renumbered(&mut n.cpus));
        out.thread_groups.iter_mut().flat_map(|t| &mut t.groups).for_each(renumbered);
        out.policies.iter_mut().for_each(|p| renumbered(&mut p.cpus));
        out.cppc.iter_mut().for_each(|c| renumbered(&mut c.cpus));
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sets_follow_their_cpus() {
        let machine = crate::catalog::load("epyc-7742-2s-nps1").unwrap();
        let half = machine.cpus.len() / 2;
        // Siblings side by side instead of the machine's half apart.
        let order: Vec<usize> = (0..half).flat_map(|core| [core, core + half]).collect();
        let other = machine.reordered(&order).unwrap();
        assert_eq!(machine.core_cpus(1).to_string(), format!("1,{}", 1 + half));
        assert_eq!(other.core_cpus(2).to_string(), "2-3");
        assert_eq!(other.node_cpus(2), other.nodes[0].cpus);
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| back[old] = new);
        assert_eq!(other.reordered(&back).unwrap(), machine);
    }

    #[test]
    fn an_order_that_is_none_is_refused() {
        let machine = crate::catalog::load("power9-big-core").unwrap();
        assert!(machine.reordered(&[0; 16]).is_none());
        assert!(machine.reordered(&[0, 1]).is_none());
    }
}
