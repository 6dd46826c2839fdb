//! What a run counts besides its metrics.

mod optional;

use crate::topology::Distance;
pub use optional::{Bandwidth, NumaBalancing, Pressure};
use workload::Counter;

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
    /// Name, help and value of each.
    fn rows(&self) -> [(&'static str, &'static str, u64); 8] {
        [
            ("lb_count", "balancing attempts", self.count),
            (
                "lb_balanced",
                "attempts that found nothing to do, or left it to another CPU",
                self.balanced,
            ),
            ("lb_failed", "attempts that found a busiest queue and moved nothing", self.failed),
            ("lb_gained", "tasks that attempts moved", self.gained),
            (
                "lb_hot_gained",
                "tasks that attempts moved though they were cache hot",
                self.hot_gained,
            ),
            (
                "lb_imbalance",
                "imbalance found: load, utilisation or tasks, whichever was compared",
                self.imbalance,
            ),
            ("lb_nobusyg", "attempts that found no busiest group", self.nobusyg),
            (
                "lb_nobusyq",
                "attempts that found no busiest queue in the busiest group",
                self.nobusyq,
            ),
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

/// What caches and prefetch engines of a host with KVM partitions counted, in lines: a sampled line counts for all that it
/// stands for. All 0 on a machine without partitions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prefetching {
    /// Times a vcpu entered its partition.
    pub guest_entries: u64,
    /// Logs begun as a vcore left its core.
    pub logs: u64,
    /// Logs that were stopped before their end.
    pub logs_aborted: u64,
    /// Lines noted in logs.
    pub lines_logged: u64,
    /// Restores begun as a vcore came back.
    pub restores: u64,
    /// Restores that were stopped before their end.
    pub restores_stopped: u64,
    /// Lines that a restore fetched from memory.
    pub lines_from_memory: u64,
    /// Lines that a restore fetched from the L3.
    pub lines_from_l3: u64,
    /// Lines of a log that were still there.
    pub lines_present: u64,
    /// Restored lines that were used before they were evicted.
    pub lines_useful: u64,
    /// Restored lines that were evicted unused.
    pub lines_useless: u64,
    /// Accesses that the cache model followed.
    pub accesses_simulated: u64,
}

impl Prefetching {
    fn rows(&self) -> [(&'static str, &'static str, u64); 12] {
        [
            ("guest_entries", "times a vcpu entered its partition", self.guest_entries),
            ("mpp_logs", "logs of a vcore's caches begun", self.logs),
            ("mpp_logs_aborted", "logs stopped before their end", self.logs_aborted),
            ("mpp_lines_logged", "lines noted in logs", self.lines_logged),
            ("mpp_restores", "restores of a vcore's caches begun", self.restores),
            ("mpp_restores_stopped", "restores stopped before their end", self.restores_stopped),
            (
                "mpp_lines_from_memory",
                "lines that restores fetched from memory",
                self.lines_from_memory,
            ),
            ("mpp_lines_from_l3", "lines that restores fetched from the L3", self.lines_from_l3),
            ("mpp_lines_present", "lines of logs that were still there", self.lines_present),
            ("mpp_lines_useful", "restored lines used before they were evicted", self.lines_useful),
            ("mpp_lines_useless", "restored lines evicted unused", self.lines_useless),
            (
                "cache_accesses_simulated",
                "accesses that the cache model followed",
                self.accesses_simulated,
            ),
        ]
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
    /// Instructions of the kernel that were counted in guests and charged.
    pub kernel_instructions: u64,
    /// Times that a CPU spun for a lock of the kernel.
    pub lock_waits: u64,
    /// How long.
    pub lock_wait_ns: u64,
    /// Lines that CPUs waited for, in thousandths, by distance to the CPU that had them.
    pub lines_by_distance: [u64; Distance::COUNT],
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
    /// Caches and prefetch engines of a host with partitions.
    pub prefetching: Prefetching,
    /// Quotas of control groups; not in [`Counters::schema`].
    pub bandwidth: Bandwidth,
    /// By control group, in the order of the setting: CPU time of its own tasks in ns, without those of groups below. Empty without
    /// groups; not in [`Counters::schema`].
    pub group_run_ns: Vec<u64>,
    /// Pressure stall information on CPUs, which only a kernel tree's code has; not in [`Counters::schema`] either.
    pub pressure: Pressure,
    /// NUMA balancing, which only workloads that use memory meet; not in [`Counters::schema`] either.
    pub numa: NumaBalancing,
}

impl Counters {
    /// Notes how long a woken task waited.
    pub fn note_latency(&mut self, ns: u64) {
        let bin = (ns / 1000).max(1).ilog2() as usize;
        self.wakeup_latency[bin.min(LATENCY_BINS - 1)] += 1;
    }

    /// Notes `lines` that a CPU waits for.
    pub fn note_lines(&mut self, distance: Distance, lines: f64) {
        self.note_milli_lines(distance, milli_lines(lines));
    }

    /// The same in thousandths of lines.
    pub(crate) fn note_milli_lines(&mut self, distance: Distance, milli_lines: u64) {
        self.lines_by_distance[distance as usize] += milli_lines;
    }

    /// Every counter with its value, always the same ones in the same order.
    fn table(&self) -> Vec<(Counter, u64)> {
        let mut out = self.scheduling();
        out.extend(self.by_distance());
        for (idle, by, balancing) in [
            ("idle", "idle CPUs (CPU_IDLE)", &self.lb_idle),
            ("not_idle", "busy CPUs (CPU_NOT_IDLE)", &self.lb_not_idle),
            ("newly_idle", "CPUs about to go idle (CPU_NEWLY_IDLE)", &self.lb_newly_idle),
        ] {
            out.extend(balancing.rows().map(|(what, help, n)| {
                (Counter::number(&format!("{what}_{idle}"), &format!("{help}; {by}")), n)
            }));
        }
        for (bin, &n) in self.wakeup_latency.iter().enumerate() {
            let help = "wake-ups by the time in us until the woken task ran; one that never ran is in none";
            out.push((Counter::number(&latency_name(bin), help), n));
        }
        for (k, &ns) in self.run_ns_by_busy.iter().enumerate().skip(1) {
            let help =
                format!("running time with {k} busy threads on the pipeline, one's own among them");
            out.push((Counter::ns(&format!("run_ns_{k}_busy"), &help), ns));
        }
        out.extend(self.switched());
        let number = |(name, help, n): (&str, &str, u64)| match name.contains("_lines_") {
            true => (Counter { unit: "lines".into(), ..Counter::number(name, help) }, n),
            false => (Counter::number(name, help), n),
        };
        out.extend(self.prefetching.rows().map(number));
        out
    }

    fn scheduling(&self) -> Vec<(Counter, u64)> {
        let number = Counter::number;
        vec![
            (number("events", "events that the simulator handled"), self.events),
            (number("sched_count", "calls of schedule()"), self.sched_count),
            (
                number("sched_goidle", "calls of schedule() that left the CPU idle"),
                self.sched_goidle,
            ),
            (number("yld_count", "calls of sched_yield()"), self.yields),
            (
                number("context_switches", "switches between tasks, to and from idle included"),
                self.switches,
            ),
            (
                Counter::ns("run_delay_ns", "time that tasks were runnable without running"),
                self.run_delay_ns,
            ),
            (
                number("ttwu_count", "wake-ups (try_to_wake_up), new tasks not counted"),
                self.wakeups,
            ),
            (
                number("ttwu_to_idle_cpu", "wake-ups that landed on an idle CPU"),
                self.wakeups_to_idle,
            ),
            (
                number(
                    "ttwu_affine_attempts",
                    "wake-ups that weighed the waker's against the previous CPU",
                ),
                self.affine_attempts,
            ),
            (
                number("ttwu_move_affine", "wake-ups that wake_affine() gave to the waker's CPU"),
                self.affine_moves,
            ),
            (number("alb_count", "attempts to push a running task"), self.alb_count),
            (
                number("alb_failed", "attempts to push that found no task that may move"),
                self.alb_failed,
            ),
            (number("alb_pushed", "running tasks pushed to another CPU"), self.alb_pushed),
            (number("ilb_kicks", "idle CPUs kicked to balance for all idle CPUs"), self.ilb_kicks),
            (number("ipis", "inter-processor interrupts sent"), self.ipis),
            (
                number(
                    "kernel_instructions",
                    "instructions of the kernel, as far as they were counted, also on the way into idle states",
                ),
                self.kernel_instructions,
            ),
            (
                number(
                    "lock_waits",
                    "times that a CPU waited for a lock of the kernel, or for a count of references",
                ),
                self.lock_waits,
            ),
            (Counter::ns("lock_wait_ns", "time that CPUs waited for these"), self.lock_wait_ns),
            (Counter::ns("idle_ns", "idle time"), self.idle_ns),
            (Counter::ns("waking_ns", "time spent leaving idle states"), self.waking_ns),
        ]
    }

    fn by_distance(&self) -> Vec<(Counter, u64)> {
        let mut out = Vec::new();
        for (what, help, whole, counts) in [
            (
                "ttwu",
                "wake-ups that landed so far from the waking CPU",
                Some("ttwu_count"),
                &self.wakeups_by_distance,
            ),
            (
                "placed",
                "moves at wake-up, fork, exec and off CPUs that go offline, so far",
                None,
                &self.placements_by_distance,
            ),
            ("balanced", "moves by the balancer, so far", None, &self.balanced_by_distance),
            (
                "lines",
                "cache lines that the kernel's work waited for, from a CPU so far",
                None,
                &self.lines_by_distance.map(|thousandths| thousandths / 1000),
            ),
        ] {
            for (distance, &n) in Distance::ALL.iter().zip(counts) {
                let counter = Counter::number(&format!("{what}_{}", distance.name()), help);
                let whole = whole.map(String::from);
                out.push((Counter { part_of: whole, ..counter }, n));
            }
        }
        out
    }

    /// What governors and hotplug did.
    fn switched(&self) -> [(Counter, u64); 5] {
        let number = Counter::number;
        [
            (
                number("frequency_changes", "P-states that governors asked for, by policy"),
                self.frequency_changes,
            ),
            (number("hotplug_steps", "CPUs that went offline or came online"), self.hotplug_steps),
            (
                number("hotplug_moved", "runnable tasks moved off CPUs that went offline"),
                self.hotplug_moved,
            ),
            (
                number(
                    "affinities_broken",
                    "tasks that lost their affinity because none of its CPUs was online",
                ),
                self.affinities_broken,
            ),
            (
                number(
                    "affinities_refused",
                    "calls of sched_setaffinity() refused because none of its CPUs was online",
                ),
                self.affinities_refused,
            ),
        ]
    }

    /// What every run of the simulator counts.
    pub fn schema() -> Vec<Counter> {
        Counters::default().table().into_iter().map(|(counter, _)| counter).collect()
    }

    /// The values in the order of [`Counters::schema`].
    pub fn values(&self) -> Vec<u64> {
        self.table().into_iter().map(|(_, value)| value).collect()
    }
}

/// `lines` in thousandths.
pub(crate) fn milli_lines(lines: f64) -> u64 {
    (lines * 1000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

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

    #[test]
    fn every_counter_has_a_name_of_its_own_and_parts_name_a_whole() {
        let schema = Counters::schema();
        let names: BTreeSet<&str> = schema.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names.len(), schema.len());
        for counter in &schema {
            assert!(!counter.help.is_empty(), "{}", counter.name);
            let whole = counter.part_of.as_deref();
            assert!(whole.is_none_or(|whole| names.contains(whole)), "{}", counter.name);
        }
    }
}
