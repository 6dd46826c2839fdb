//! What a run counts besides its metrics.

use crate::topology::Distance;

/// Balancing attempts by one kind of CPU, as `/proc/schedstat` counts them for each domain; summed over domains.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Balancing {
    /// Attempts (`lb_count`).
    pub count: u64,
    /// Attempts that found nothing to do, or left it to another CPU (`lb_balanced`).
    pub balanced: u64,
    /// Attempts that moved nothing though a busiest queue was found (`lb_failed`).
    pub failed: u64,
    /// Tasks moved (`lb_gained`).
    pub gained: u64,
    /// Tasks moved though they were cache hot (`lb_hot_gained`).
    pub hot_gained: u64,
    /// Imbalance found (`lb_imbalance`): load, utilisation or tasks, whichever was compared.
    pub imbalance: u64,
    /// Attempts without a busiest group (`lb_nobusyg`).
    pub nobusyg: u64,
    /// Attempts without a busiest queue in the busiest group (`lb_nobusyq`).
    pub nobusyq: u64,
}

impl Balancing {
    fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("lb_count", self.count),
            ("lb_balanced", self.balanced),
            ("lb_failed", self.failed),
            ("lb_gained", self.gained),
            ("lb_hot_gained", self.hot_gained),
            ("lb_imbalance", self.imbalance),
            ("lb_nobusyg", self.nobusyg),
            ("lb_nobusyq", self.nobusyq),
        ]
    }
}

/// Bins of [`Counters::wakeup_latency`]; the last holds what is longer.
pub const LATENCY_BINS: usize = 20;

/// Name of a latency bin in tables: its range in us, as `wakeup_latency_4_7_us`.
fn latency_name(bin: usize) -> String {
    let low = if bin == 0 { 0 } else { 1u64 << bin };
    match bin + 1 {
        LATENCY_BINS => format!("wakeup_latency_{low}_more_us"),
        next => format!("wakeup_latency_{low}_{}_us", (1u64 << next) - 1),
    }
}

/// Counters of one run; times in ns, summed over CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// Events handled.
    pub events: u64,
    /// Calls of `schedule()` (`sched_count`).
    pub sched_count: u64,
    /// Those that left the CPU idle (`sched_goidle`).
    pub sched_goidle: u64,
    /// P-states that governors asked for, by policy.
    pub frequency_changes: u64,
    /// Calls of `sched_yield()` (`yld_count`).
    pub yields: u64,
    /// Context switches between tasks, idle included.
    pub switches: u64,
    /// Time that tasks were runnable without running (`run_delay`).
    pub run_delay_ns: u64,
    /// Wake-ups (`ttwu_count`), new tasks excluded.
    pub wakeups: u64,
    /// Those that landed on an idle CPU.
    pub wakeups_to_idle: u64,
    /// Wake-ups by the time until the woken task ran: below 2 us, below 4 us, and so on, as `runqlat` shows them.
    pub wakeup_latency: [u64; LATENCY_BINS],
    /// Wake-ups at which waker's and previous CPU were weighed (`nr_wakeups_affine_attempts`).
    pub affine_attempts: u64,
    /// Those that ended in a choice (`nr_wakeups_affine`, `ttwu_move_affine`).
    pub affine_moves: u64,
    /// Where woken tasks landed, by distance from the waking CPU.
    pub wakeups_by_distance: [u64; Distance::COUNT],
    /// Moves of tasks between CPUs at wake-up, fork and exec, and off CPUs that go offline, by distance.
    pub placements_by_distance: [u64; Distance::COUNT],
    /// Moves of tasks by the balancer, by distance.
    pub balanced_by_distance: [u64; Distance::COUNT],
    /// Balancing by idle CPUs (`CPU_IDLE`).
    pub lb_idle: Balancing,
    /// Balancing by busy CPUs (`CPU_NOT_IDLE`).
    pub lb_not_idle: Balancing,
    /// Balancing by CPUs about to go idle (`CPU_NEWLY_IDLE`).
    pub lb_newly_idle: Balancing,
    /// Attempts to push a running task (`alb_count`).
    pub alb_count: u64,
    /// Attempts to push that found no task that may go (`alb_failed`).
    pub alb_failed: u64,
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
    /// CPUs that went offline or came online.
    pub hotplug_steps: u64,
    /// Runnable tasks that left CPUs as these went offline.
    pub hotplug_moved: u64,
    /// Tasks that lost their affinity because none of its CPUs was online.
    pub affinities_broken: u64,
    /// Calls of `sched_setaffinity()` that failed for the same reason (`EINVAL`).
    pub affinities_refused: u64,
}

impl Counters {
    /// Notes how long a woken task waited.
    pub fn note_latency(&mut self, ns: u64) {
        let bin = (ns / 1000).max(1).ilog2() as usize;
        self.wakeup_latency[bin.min(LATENCY_BINS - 1)] += 1;
    }

    /// Names and values, for tables and the result store; those of hotplug where there was any.
    pub fn named(&self) -> Vec<(String, u64)> {
        let mut out: Vec<(String, u64)> = vec![
            ("events".into(), self.events),
            ("sched_count".into(), self.sched_count),
            ("sched_goidle".into(), self.sched_goidle),
            ("yld_count".into(), self.yields),
            ("context_switches".into(), self.switches),
            ("run_delay_ns".into(), self.run_delay_ns),
            ("ttwu_count".into(), self.wakeups),
            ("ttwu_to_idle_cpu".into(), self.wakeups_to_idle),
            ("ttwu_affine_attempts".into(), self.affine_attempts),
            ("ttwu_move_affine".into(), self.affine_moves),
            ("alb_count".into(), self.alb_count),
            ("alb_failed".into(), self.alb_failed),
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
        for (idle, balancing) in [
            ("idle", &self.lb_idle),
            ("not_idle", &self.lb_not_idle),
            ("newly_idle", &self.lb_newly_idle),
        ] {
            out.extend(balancing.named().map(|(what, n)| (format!("{what}_{idle}"), n)));
        }
        let latencies = self.wakeup_latency.iter().enumerate();
        out.extend(latencies.map(|(bin, &n)| (latency_name(bin), n)));
        let by_busy = self.run_ns_by_busy.iter().enumerate().skip(1);
        out.extend(by_busy.map(|(k, &ns)| (format!("run_ns_{k}_busy"), ns)));
        if self.frequency_changes > 0 {
            out.push(("frequency_changes".into(), self.frequency_changes));
        }
        if self.hotplug_steps > 0 {
            out.extend([
                ("hotplug_steps".into(), self.hotplug_steps),
                ("hotplug_moved".into(), self.hotplug_moved),
                ("affinities_broken".into(), self.affinities_broken),
                ("affinities_refused".into(), self.affinities_refused),
            ]);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_double_from_bin_to_bin() {
        let mut c = Counters::default();
        for (ns, bin) in [(0, 0), (1_999, 0), (2_000, 1), (3_999, 1), (4_000, 2), (u64::MAX, 19)] {
            c.note_latency(ns);
            assert_eq!(c.wakeup_latency[bin], 1 + u64::from(ns == 1_999 || ns == 3_999), "{ns}");
        }
        assert_eq!(latency_name(0), "wakeup_latency_0_1_us");
        assert_eq!(latency_name(2), "wakeup_latency_4_7_us");
        assert_eq!(latency_name(19), "wakeup_latency_524288_more_us");
    }
}
