//! New domains because a CPU goes offline or comes online (`partition_sched_domains`).
//!
//! Every domain of the machine is torn down and built anew, whether or not it held the CPU, as the root domain's span
//! changes. What balancing remembers goes with them; load averages, virtual time and idle times stay with the queues.

use super::balance::sums::GroupSums;
use super::place::idle_sibling::llc_level;
use super::queue::rq::DomainState;
use super::rules::Rules;
use super::{Fair, LlcState, Tunables};
use crate::topology::{Cpu, Topology};
use crate::world::World;
use kernel::SdFlags;

impl Rules {
    /// `sched_cluster_active`: whether clusters below LLCs are searched first.
    pub(super) fn searches_clusters(&self, topo: &Topology) -> bool {
        self.cluster_scan && topo.cluster.iter().any(Option::is_some)
    }

    /// `sched_asym_cpucap_active` (5.10): whether placement looks at the capacities of CPUs.
    pub(super) fn looks_at_capacity(&self, topo: &Topology) -> bool {
        let mut all = topo.domains.iter().flatten();
        self.asym_cpucapacity && all.any(|d| d.flags.contains(SdFlags::ASYM_CPUCAPACITY))
    }
}

impl Fair {
    /// Takes over `w.topo`, which is new because of `cpu`.
    pub(super) fn partition_sched_domains(&mut self, w: &mut World, cpu: Cpu, online: bool) {
        self.limit_groups(w, cpu, online);
        let topo = w.topo;
        for (queue, chain) in self.rqs.iter_mut().zip(&topo.domains) {
            queue.domains = DomainState::of_chain(chain, w.jiffies());
        }
        if !online {
            self.rqs[cpu as usize].active_balance = false;
        }
        self.llcs = (0..topo.llcs.len()).map(|llc| fresh_llc(topo, llc)).collect();
        self.nohz.rebuild(&topo.online_set);
        // The flag belongs to the root domain, which is a new one.
        self.overload = false;
        self.sums = GroupSums::new(topo);
        self.sums.recount(w, topo);
        self.cluster_active = self.rules.searches_clusters(topo);
        self.asym_capacity = self.rules.looks_at_capacity(topo);
        // `update_sysctl` runs as queues join the new root domain. Where domains are built while the CPU is still on
        // its way out, it counts as online (`num_online_cpus`).
        let leaving = !online && self.rules.rebuilds_at_once;
        let counted = topo.online.len() + usize::from(leaving);
        self.tunables = Tunables::new(counted, &self.rules);
    }
}

/// `sched_domain_shared` as `sd_init` leaves it: every CPU that the level's mask holds counts as busy.
fn fresh_llc(topo: &Topology, llc: usize) -> LlcState {
    let cpus = &topo.llcs[llc].cpus;
    let chain = cpus.first().map(|&c| &topo.domains[c as usize]);
    let domain = chain.and_then(|chain| chain.get(llc_level(chain)?));
    let weight = domain.map_or(cpus.len() as u32, |d| d.min_interval_ms as u32);
    LlcState { has_idle_cores: false, nr_busy_cpus: weight, nr_idle_scan: 0 }
}
