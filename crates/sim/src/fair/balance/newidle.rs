//! Balancing of a CPU that is about to go idle (`idle_balance`, `newidle_balance`), and what it costs.
//!
//! First comes whether it pays: as far as is known, some CPU has a task to spare (`overload`), and this one is idle for
//! long enough on average (`newidle_pays`). If so, `newidle_levels` goes up the domains and lets `load_balance` try
//! each one with `SD_BALANCE_NEWIDLE`, until something comes or the known costs exceed the idle time. From 6.19 on a
//! draw by the domain's success rate says whether it is tried ([`SuccessRate`]). `next_balance` is then at most a
//! second away, and no later than the domains seen are due. Blocked load of other idle CPUs is left to `nohz`: up to
//! 5.11 where balancing does not pay, from 5.12 on where nothing came.
//!
//! What an attempt costs is estimated from the number of CPUs in its domain. The highest cost is kept with the queue,
//! and decays when `rebalance_domains` asks. It is used for these choices only: who compares groups charges the CPU.
//! The engine hears whether there is something to run, and goes idle if not.

use super::env::CpuIdle;
use crate::fair::{Fair, MIGRATION_COST_NS};
use crate::topology::Cpu;
use crate::world::World;
use kernel::SdFlags;

/// Calls after which the success rate is taken (`update_newidle_stats`).
const RATE_CALLS: u32 = 1024;

/// How often newly idle balancing pulled something at one domain, for `NI_RANDOM`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fair) struct SuccessRate {
    calls: u32,
    successes: u32,
    /// Successes in 1024 calls.
    ratio: u32,
}

impl SuccessRate {
    /// As a domain starts (`sd_init`): every second call is taken for a success.
    pub(in crate::fair) fn new() -> SuccessRate {
        SuccessRate { calls: RATE_CALLS / 2, successes: RATE_CALLS / 4, ratio: RATE_CALLS / 2 }
    }

    /// `update_newidle_stats`: one call that counts as so many successes.
    fn note(&mut self, successes: u32) {
        self.calls += 1;
        self.successes += successes;
        if self.calls >= RATE_CALLS {
            self.ratio = self.successes;
            self.calls /= 2;
            self.successes /= 2;
        }
    }

    /// For a draw from 0 to 1023: what a success counts, or `None` where balancing does not run.
    fn weight(&self, draw: u32) -> Option<u32> {
        let chance = 1 + self.ratio;
        (draw <= chance).then(|| (RATE_CALLS + chance / 2) / chance)
    }
}

impl Fair {
    /// `newidle_balance`: pulls when the CPU is about to go idle, if it will be idle for long enough; whether it has
    /// something to run.
    pub(in crate::fair) fn newidle_balance(&mut self, w: &mut World, cpu: Cpu) -> bool {
        let jiffies = w.jiffies();
        self.rqs[cpu as usize].idle_since_ns = Some(w.now_ns);
        let mut next_balance = jiffies + w.hz;
        let levels = w.topo.domains[cpu as usize].len();
        if !self.newidle_pays(cpu) {
            if levels > 0 {
                next_balance = next_balance.min(self.next_due(w, cpu, 0, CpuIdle::Idle));
            }
            if !self.rules.nohz_own_last {
                self.nohz_newidle_balance(w, cpu);
            }
        } else if self.rules.newidle_balance {
            next_balance = next_balance.min(self.newidle_levels(w, cpu));
        }
        let rq = &mut self.rqs[cpu as usize];
        rq.next_balance = rq.next_balance.min(next_balance);
        let pulled = w.cpus[cpu as usize].nr_running > 0;
        if pulled {
            rq.idle_since_ns = None;
        } else if self.rules.nohz_own_last {
            self.nohz_newidle_balance(w, cpu);
        }
        pulled
    }

    /// Whether some CPU has a task to spare and the idle time covers the cost.
    fn newidle_pays(&self, cpu: Cpu) -> bool {
        let rq = &self.rqs[cpu as usize];
        let least_ns = match self.rules.newidle_by_cost {
            true => rq.domains.first().map_or(0, |d| d.max_newidle_cost_ns),
            false => MIGRATION_COST_NS,
        };
        self.overload && rq.avg_idle_ns >= least_ns
    }

    /// Balances level by level until something comes or the idle time is used up; when the first is due again.
    fn newidle_levels(&mut self, w: &mut World, cpu: Cpu) -> u64 {
        self.update_blocked_averages(w, cpu);
        let avg_idle_ns = self.rqs[cpu as usize].avg_idle_ns;
        let (mut next_balance, mut cost_ns) = (u64::MAX, 0);
        for level in 0..w.topo.domains[cpu as usize].len() {
            let domain = &w.topo.domains[cpu as usize][level];
            let known_ns = self.rqs[cpu as usize].domains[level].max_newidle_cost_ns;
            next_balance = next_balance.min(self.next_due(w, cpu, level, CpuIdle::Idle));
            if avg_idle_ns < cost_ns + known_ns {
                break;
            }
            if !domain.flags.contains(SdFlags::BALANCE_NEWIDLE) {
                continue;
            }
            let Some(weight) = self.newidle_weight(w, cpu, level) else { continue };
            let before = w.cpus[cpu as usize].debt;
            let pulled = self.load_balance(w, cpu, level, CpuIdle::NewlyIdle, &mut true) > 0;
            let spent_ns = w.hw.ns(w.cpus[cpu as usize].debt - before);
            self.update_newidle_cost(w, cpu, level, spent_ns);
            let rate = &mut self.rqs[cpu as usize].domains[level].newidle_rate;
            rate.note(if pulled { weight } else { 0 });
            cost_ns += spent_ns;
            if pulled || w.cpus[cpu as usize].nr_running > 0 {
                break;
            }
        }
        let rq = &mut self.rqs[cpu as usize];
        rq.max_idle_balance_cost_ns = rq.max_idle_balance_cost_ns.max(cost_ns);
        next_balance
    }

    /// Whether balancing runs at this level, and what a success counts (`NI_RANDOM`).
    fn newidle_weight(&mut self, w: &mut World, cpu: Cpu, level: usize) -> Option<u32> {
        if !self.rules.newidle_random {
            return Some(1);
        }
        let rate = &mut self.rqs[cpu as usize].domains[level].newidle_rate;
        let weight = rate.weight(w.balance_draws.below(u64::from(RATE_CALLS)) as u32);
        if weight.is_none() {
            rate.note(0);
        }
        weight
    }

    /// `update_newidle_cost` with a cost; from 5.16 on the highest cost stays for a second before it decays.
    fn update_newidle_cost(&mut self, w: &World, cpu: Cpu, level: usize, cost_ns: u64) {
        let state = &mut self.rqs[cpu as usize].domains[level];
        if cost_ns > state.max_newidle_cost_ns {
            state.max_newidle_cost_ns = cost_ns;
            if self.rules.newidle_by_cost {
                state.next_decay = w.jiffies() + w.hz;
            }
        }
    }

    /// Lets the highest cost decay by about a percent a second (`update_newidle_cost` without a cost).
    pub(in crate::fair) fn decay_newidle_cost(
        &mut self,
        w: &World,
        cpu: Cpu,
        level: usize,
    ) -> bool {
        let state = &mut self.rqs[cpu as usize].domains[level];
        let decays = w.jiffies() > state.next_decay;
        if decays {
            state.max_newidle_cost_ns = state.max_newidle_cost_ns * 253 / 256;
            state.next_decay = w.jiffies() + w.hz;
        }
        decays
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balancing_that_never_pulls_runs_about_once_in_a_thousand() {
        let mut rate = SuccessRate::new();
        assert_eq!(rate.weight(513), Some(2));
        assert_eq!(rate.weight(514), None);
        (0..20_000).for_each(|_| rate.note(0));
        assert_eq!(rate.weight(1), Some(1024));
        assert_eq!(rate.weight(2), None);
    }

    #[test]
    fn a_success_counts_for_the_calls_that_did_not_run() {
        let mut rate = SuccessRate::new();
        // Half of the calls run and succeed, each for two.
        (0..4_096).for_each(|i| rate.note(2 * (i % 2)));
        assert!((1000..=1024).contains(&rate.ratio), "{}", rate.ratio);
        assert_eq!(rate.weight(1000), Some(1));
    }
}
