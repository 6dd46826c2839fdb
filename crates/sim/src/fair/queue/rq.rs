//! What balancing and placement remember of a CPU (`struct rq` without its fair queue, which is `cfs_rq`'s).
//!
//! The fields belong to the rooms that read and write them: `balance` (domains, costs), `place` (the cost of searches) and
//! `track` (`cpu_load`). Only average idle times have their rules here: `end_of_idle` when a wake-up ends an idle period,
//! `age_wake_avg_idle` when a search asks.

use crate::fair::MIGRATION_COST_NS;
use crate::fair::balance::newidle::SuccessRate;
use crate::topology::SimDomain;
use crate::world::TaskId;

/// Indices of `rq->cpu_load` (`CPU_LOAD_IDX_MAX`).
pub(in crate::fair) const LOAD_INDICES: usize = 5;

/// What balancing remembers of one domain of one CPU.
#[derive(Debug, Clone)]
pub(in crate::fair) struct DomainState {
    /// Tick of the last attempt.
    pub(in crate::fair) last_balance: u64,
    pub(in crate::fair) balance_interval_ms: u64,
    pub(in crate::fair) nr_balance_failed: u32,
    pub(in crate::fair) max_newidle_cost_ns: u64,
    pub(in crate::fair) next_decay: u64,
    pub(in crate::fair) newidle_rate: SuccessRate,
    /// `avg_scan_cost` of the wake-up scan, in ns.
    pub(in crate::fair) avg_scan_cost_ns: u64,
}

impl DomainState {
    /// As `sd_init` leaves the domains of one CPU, built at tick `jiffies`.
    pub(in crate::fair) fn of_chain(domains: &[SimDomain], jiffies: u64) -> Vec<DomainState> {
        domains
            .iter()
            .map(|d| DomainState {
                last_balance: jiffies,
                balance_interval_ms: d.min_interval_ms,
                nr_balance_failed: 0,
                max_newidle_cost_ns: 0,
                next_decay: jiffies,
                newidle_rate: SuccessRate::new(),
                avg_scan_cost_ns: 0,
            })
            .collect()
    }
}

/// One CPU.
#[derive(Debug, Clone)]
pub(in crate::fair) struct RunQueue {
    pub(in crate::fair) cpu_load: [u64; LOAD_INDICES],
    pub(in crate::fair) last_load_update: u64,
    pub(in crate::fair) domains: Vec<DomainState>,
    /// Tick of the next balancing.
    pub(in crate::fair) next_balance: u64,
    pub(in crate::fair) avg_idle_ns: u64,
    /// Average idle time that wake-ups may spend on searching, and the tick to which it has aged (5.14).
    pub(in crate::fair) wake_avg_idle_ns: u64,
    pub(in crate::fair) wake_stamp: u64,
    pub(in crate::fair) idle_since_ns: Option<u64>,
    pub(in crate::fair) max_idle_balance_cost_ns: u64,
    /// The task that ran until the current choice.
    pub(in crate::fair) put: Option<TaskId>,
    /// A queue of the running task has used up its time: the next tick chooses again.
    pub(in crate::fair) out_of_time: bool,
    /// A push off this CPU is under way.
    pub(in crate::fair) active_balance: bool,
}

impl RunQueue {
    pub(in crate::fair) fn new(domains: &[SimDomain]) -> RunQueue {
        RunQueue {
            cpu_load: [0; LOAD_INDICES],
            last_load_update: 0,
            domains: DomainState::of_chain(domains, 0),
            next_balance: 0,
            avg_idle_ns: 2 * MIGRATION_COST_NS,
            wake_avg_idle_ns: 2 * MIGRATION_COST_NS,
            wake_stamp: 0,
            idle_since_ns: None,
            max_idle_balance_cost_ns: MIGRATION_COST_NS,
            put: None,
            out_of_time: false,
            active_balance: false,
        }
    }

    /// `update_avg` of `avg_idle` when a wake-up ends an idle period (`ttwu_do_wakeup`).
    pub(in crate::fair) fn end_of_idle(&mut self, now_ns: u64, jiffies: u64) {
        if let Some(since_ns) = self.idle_since_ns.take() {
            let difference = (now_ns - since_ns) as i64 - self.avg_idle_ns as i64;
            let average = self.avg_idle_ns as i64 + (difference >> 3);
            self.avg_idle_ns = (average.max(0) as u64).min(2 * self.max_idle_balance_cost_ns);
            self.wake_stamp = jiffies;
            self.wake_avg_idle_ns = self.avg_idle_ns / 2;
        }
    }

    /// `wake_avg_idle`, halved for every tick since it was set.
    pub(in crate::fair) fn age_wake_avg_idle(&mut self, jiffies: u64) -> u64 {
        let ticks = jiffies.saturating_sub(self.wake_stamp).min(63);
        self.wake_avg_idle_ns >>= ticks;
        self.wake_stamp = self.wake_stamp.max(jiffies);
        self.wake_avg_idle_ns
    }
}
