//! What a run counts besides its metrics.

use crate::topology::Distance;

/// Counters of one run; times in ns, summed over CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// Events handled.
    pub events: u64,
    /// Context switches between tasks, idle included.
    pub switches: u64,
    /// Wake-ups (`ttwu_count`), new tasks excluded.
    pub wakeups: u64,
    /// Wake-ups at which waker's and previous CPU were weighed (`nr_wakeups_affine_attempts`).
    pub affine_attempts: u64,
    /// Those that ended in a choice (`nr_wakeups_affine`, `ttwu_move_affine`).
    pub affine_moves: u64,
    /// Where woken tasks landed, by distance from the waking CPU.
    pub wakeups_by_distance: [u64; Distance::COUNT],
    /// Moves of tasks between CPUs at wake-up, fork and exec, by distance.
    pub placements_by_distance: [u64; Distance::COUNT],
    /// Moves of tasks by the balancer, by distance.
    pub balanced_by_distance: [u64; Distance::COUNT],
    /// Balancing attempts (`lb_count`).
    pub lb_count: u64,
    /// Attempts that moved nothing though a busiest group was found (`lb_failed`).
    pub lb_failed: u64,
    /// Running tasks pushed to another CPU (`alb_pushed`).
    pub alb_pushed: u64,
    /// Times an idle CPU was kicked to balance for all idle CPUs.
    pub ilb_kicks: u64,
    /// Inter-processor interrupts sent.
    pub ipis: u64,
    /// Running time by number of busy threads on the pipeline, from 0 (unused) to 8.
    pub run_ns_by_busy: [u64; 9],
    /// Idle time.
    pub idle_ns: u64,
    /// Time spent on leaving idle states, interrupts on the way included.
    pub waking_ns: u64,
}

impl Counters {
    /// Names and values, for tables and the result store.
    pub fn named(&self) -> Vec<(String, u64)> {
        let mut out: Vec<(String, u64)> = vec![
            ("events".into(), self.events),
            ("context_switches".into(), self.switches),
            ("ttwu_count".into(), self.wakeups),
            ("ttwu_affine_attempts".into(), self.affine_attempts),
            ("ttwu_move_affine".into(), self.affine_moves),
            ("lb_count".into(), self.lb_count),
            ("lb_failed".into(), self.lb_failed),
            ("alb_pushed".into(), self.alb_pushed),
            ("ilb_kicks".into(), self.ilb_kicks),
            ("ipis".into(), self.ipis),
            ("idle_ns".into(), self.idle_ns),
            ("waking_ns".into(), self.waking_ns),
        ];
        for (what, counts) in [
            ("ttwu", &self.wakeups_by_distance),
            ("placed", &self.placements_by_distance),
            ("balanced", &self.balanced_by_distance),
        ] {
            let by_name = Distance::ALL.iter().zip(counts);
            out.extend(by_name.map(|(d, &n)| (format!("{what}_{}", d.name()), n)));
        }
        let by_busy = self.run_ns_by_busy.iter().enumerate().skip(1);
        out.extend(by_busy.map(|(k, &ns)| (format!("run_ns_{k}_busy"), ns)));
        out
    }
}
