//! Which of the fair class's rules a kernel has: every switch and every change between releases, in one place.
//!
//! Releases 6.1 and 6.12 are read from their sources; the others are placed by the kernel's history as it is
//! commonly known.

use crate::pelt::{LOAD_AVG_MAX, Pelt};
use kernel::levels::REBUILDS_AT_ONCE_SINCE;
use kernel::{Kernel, MechanismId, Version};

/// How far `select_idle_cpu` looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanLimit {
    /// As far as the average idle time pays for (`SIS_PROP`).
    IdleTime,
    /// By the utilisation of the LLC (`SIS_UTIL`).
    Utilisation,
    /// The whole LLC.
    None,
}

/// Imbalance that NUMA domains tolerate while few tasks run (`adjust_numa_imbalance`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumaImbalance {
    /// None.
    Never,
    /// A pair of tasks (5.6).
    Pair,
    /// A pair of tasks while the group runs on less than a quarter of its CPUs (5.11).
    Quarter,
    /// `sd->imb_numa_nr` tasks (5.18).
    ByLlc,
}

/// The rules of one kernel.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    // Who runs.
    pub(super) eevdf: bool,
    pub(super) start_debit: bool,
    pub(super) gentle_fair_sleepers: bool,
    pub(super) last_buddy: bool,
    pub(super) wakeup_preemption: bool,
    /// A task that is to run next counts as cache hot, unless the CPU that pulls is idle.
    pub(super) cache_hot_buddy: bool,
    pub(super) place_lag: bool,
    pub(super) place_deadline_initial: bool,
    pub(super) place_rel_deadline: bool,
    pub(super) run_to_parity: bool,
    pub(super) preempt_short: bool,
    pub(super) delay_dequeue: bool,
    pub(super) delay_zero: bool,
    /// A group's entity has the shortest slice of what is in it (6.12).
    pub(super) group_slice: bool,
    /// A group whose task sleeps within its turn goes on (`PICK_BUDDY`, 6.13, and in Debian's 6.12).
    pub(super) pick_buddy: bool,
    /// What is `SCHED_IDLE` has a minimal granularity of its own, and less credit after a sleep (5.15).
    pub(super) idle_min_granularity: bool,
    /// Wake-ups take a CPU whose tasks are all idle for an idle one (5.4).
    pub(super) sched_idle: bool,
    /// A group hears of a queue's load once a millisecond at most (6.7).
    pub(super) tells_groups_rarely: bool,
    /// EEVDF: a request on one CPU, in ns (`normalized_sysctl_sched_base_slice`; shorter from 6.15 on).
    pub(super) normalized_base_slice_ns: u64,
    /// Governors and balancing by utilisation see tasks that wait as well.
    pub(super) runnable_boost: bool,
    /// What a queue's load sum is bounded with has 32 bits.
    narrow_load_sum: bool,
    /// A task whose departure is delayed moves only to even out load.
    pub(super) delayed_moves_as_load: bool,
    /// A task may have a slice of its own (`sched_attr.sched_runtime`, 6.12).
    pub(super) custom_slice: bool,
    /// A tick compares with at most the latency (`check_preempt_tick`, 6.2).
    pub(super) tick_slice_at_most_latency: bool,
    /// A queue's period counts at least a minimal granularity for each task that is not `SCHED_IDLE` (5.13).
    pub(super) base_slice: bool,

    // Load tracking.
    pub(super) util_est: bool,
    /// Growth of the estimate counts at once (`UTIL_EST_FASTUP`, 5.5).
    pub(super) util_est_fastup: bool,
    /// The estimate is the average alone, which stays while a task waits for its CPU (6.8).
    pub(super) util_est_single: bool,
    /// The estimate is noted before load tracking sees the task leave (6.12).
    pub(super) util_est_before_leaving: bool,
    /// The load of a CPU is what is queued, averaged apart (`runnable_load_avg`, up to 5.6).
    pub(super) runnable_load: bool,
    /// Groups and CPUs are also compared by `runnable_avg`, the average number of runnable tasks (5.7).
    pub(super) runnable_avg: bool,
    /// Balancing compares histories of load (`cpu_load[]`, up to 5.2).
    pub(super) cpu_load_history: bool,

    // Waking up.
    pub(super) wake_wide: bool,
    pub(super) wa_idle: bool,
    /// `WA_IDLE` takes an idle previous CPU even without a shared cache (5.10).
    pub(super) wa_idle_prev: bool,
    pub(super) wa_idler_llc: bool,
    pub(super) wa_waker: bool,
    pub(super) wa_weight: bool,
    pub(super) wa_bias: bool,
    pub(super) recent_used_cpu: bool,
    /// Every wake-up makes the previous CPU the recent one, not only those that are affine, and the search for an idle CPU
    /// begins behind the target (5.16).
    pub(super) recent_always: bool,
    /// Placement looks at the capacities of CPUs (`sched_asym_cpucap_active`, 5.10).
    pub(super) asym_cpucapacity: bool,
    /// `sd_asym_cpucapacity` is the lowest domain that sees all capacities (5.14), not one that sees different ones.
    pub(super) asym_by_full_domain: bool,
    pub(super) idle_core_search: bool,
    /// The search for an idle core notes an idle CPU in passing, and both searches are one (5.12).
    pub(super) one_search: bool,
    /// Without an idle core, the siblings of the previous CPU are looked at first (5.13).
    pub(super) smt_of_prev_first: bool,
    pub(super) scan_limit: ScanLimit,
    /// The search uses an average idle time of its own that ages (`wake_avg_idle`, 5.14).
    pub(super) wake_avg_idle: bool,
    pub(super) cluster_scan_rfc: bool,
    pub(super) cluster_scan: bool,

    // Balancing.
    pub(super) group_classes: bool,
    pub(super) numa_imbalance: NumaImbalance,
    pub(super) prefer_sibling: bool,
    pub(super) newidle_balance: bool,
    pub(super) nohz_balance: bool,
    pub(super) active_balance: bool,
    /// Fork and exec keep to the node while it has an idle CPU (5.5 to 5.10).
    pub(super) fork_stays_on_node: bool,
    /// Of groups with as many idle CPUs, fork and exec take the less utilised (5.9), not the first.
    pub(super) idlest_by_util: bool,
    /// NUMA domains tolerate an imbalance by its whole, not by the tasks that would move, at fork as well (6.0).
    pub(super) numa_whole_imbalance: bool,
    /// Within an LLC tasks are evened out by number even where a group is overloaded (5.10).
    pub(super) llc_evens_tasks: bool,
    /// Each failed attempt halves what a task counts against the imbalance (`shr_bound`, 5.10).
    pub(super) failures_shrink_tasks: bool,
    /// SMT siblings share their cache, so no task is hot there (5.10).
    pub(super) smt_never_hot: bool,
    /// The interval of a busy CPU is a tick short of a multiple of the level below (5.10).
    pub(super) odd_busy_interval: bool,
    /// Newly idle balancing leaves the interval alone (5.1).
    pub(super) newidle_keeps_interval: bool,
    /// After failures only an imbalance in tasks pushes a running one (5.13).
    pub(super) push_for_tasks_only: bool,
    /// Only lower-priority CPUs give up a single task under asymmetric packing (5.16).
    pub(super) asym_source: bool,
    /// Newly idle balancing asks what the lowest domain costs, not the fixed migration cost, and costs decay a
    /// second after their last rise (5.16).
    pub(super) newidle_by_cost: bool,
    /// Newly idle balancing runs at its success rate (`NI_RANDOM`, 6.19).
    pub(super) newidle_random: bool,
    /// Blocked load is updated after newly idle balancing that found nothing, and the CPU that balances for idle
    /// ones begins behind itself and ends with itself (5.12).
    pub(super) nohz_own_last: bool,
    /// The busiest group's flags say whether siblings are preferred, not those of the local child (6.5).
    pub(super) busiest_prefers_sibling: bool,
    /// Groups of SMT cores with several tasks are a class, spreading goes by cores, an idle core's CPU balances
    /// first (6.6).
    pub(super) smt_balance: bool,
    /// A task is misfit only where it may use a bigger CPU, and counts neither as a failed attempt nor for the
    /// interval (6.10).
    pub(super) misfit_apart: bool,

    // NUMA balancing. 6.12 is read from its source; the releases below are not checked against theirs.
    /// Pages move at their first fault early in a task's life, a task that leaves its node is scanned sooner, and small
    /// improvements move nobody (4.20).
    pub(super) numa_moves_early: bool,
    /// Pages that move to a node are limited (up to 4.19).
    pub(super) numa_rate_limit: bool,
    /// Tasks go to a node with room without being weighed, and a search ends with a good place (5.7).
    pub(super) numa_spare: bool,
    /// New memory is left alone for the time of the first delay (6.4).
    pub(super) numa_new_memory_waits: bool,

    // Hotplug.
    /// Domains are built while a CPU is still on its way out (6.10).
    pub(super) rebuilds_at_once: bool,
}

/// Divider at the start of a period (`PELT_MIN_DIVIDER`).
const MIN_DIVIDER: u64 = LOAD_AVG_MAX - 1024;

impl Rules {
    /// After load was taken off a queue, its sum is at least what its average stands for (5.17). `max_t(u32, ...)` does that,
    /// and so cuts off what exceeds 32 bits: the load of a queue with more than some 90 tasks of nice 0 drops with the first
    /// that leaves. Read in 6.1 and 6.12, gone in 7.2.
    pub(super) fn bound_load_sum(&self, queue: &mut Pelt) {
        if self.narrow_load_sum {
            let least = queue.load_avg * MIN_DIVIDER;
            queue.load_sum = u64::from((queue.load_sum as u32).max(least as u32));
        }
    }

    pub(super) fn new(kernel: &Kernel) -> Rules {
        let has = |id: MechanismId| kernel.has(id);
        let from = |major, minor| kernel.version >= Version::new(major, minor);
        Rules {
            eevdf: has(MechanismId::Eevdf),
            start_debit: has(MechanismId::StartDebit),
            gentle_fair_sleepers: has(MechanismId::GentleFairSleepers),
            last_buddy: has(MechanismId::LastBuddy),
            cache_hot_buddy: has(MechanismId::CacheHotBuddy),
            wakeup_preemption: has(MechanismId::WakeupPreemption),
            place_lag: has(MechanismId::PlaceLag),
            place_deadline_initial: has(MechanismId::PlaceDeadlineInitial),
            place_rel_deadline: has(MechanismId::PlaceRelDeadline),
            run_to_parity: has(MechanismId::RunToParity),
            preempt_short: has(MechanismId::PreemptShort),
            delay_dequeue: has(MechanismId::DelayDequeue),
            delay_zero: has(MechanismId::DelayZero),
            group_slice: from(6, 12),
            pick_buddy: from(6, 12),
            idle_min_granularity: from(5, 15),
            sched_idle: from(5, 4),
            tells_groups_rarely: from(6, 7),
            normalized_base_slice_ns: if from(6, 15) { 700_000 } else { 750_000 },
            runnable_boost: from(6, 5),
            narrow_load_sum: from(5, 17) && !from(7, 0),
            delayed_moves_as_load: from(6, 14),
            custom_slice: from(6, 12),
            tick_slice_at_most_latency: from(6, 2),
            base_slice: from(5, 13),
            util_est: has(MechanismId::UtilEst),
            util_est_fastup: from(5, 5),
            util_est_single: from(6, 8),
            util_est_before_leaving: from(6, 12),
            runnable_load: !from(5, 7),
            runnable_avg: from(5, 7),
            cpu_load_history: !from(5, 3),
            wake_wide: has(MechanismId::WakeWide),
            wa_idle: has(MechanismId::WaIdle),
            wa_idle_prev: from(5, 10),
            wa_idler_llc: has(MechanismId::WaIdlerLlc),
            wa_waker: has(MechanismId::WaWaker),
            wa_weight: has(MechanismId::WaWeight),
            wa_bias: has(MechanismId::WaBias),
            recent_used_cpu: has(MechanismId::RecentUsedCpu),
            recent_always: from(5, 16),
            asym_cpucapacity: from(5, 10),
            asym_by_full_domain: from(5, 14),
            idle_core_search: has(MechanismId::IdleCoreSearch),
            one_search: from(5, 12),
            smt_of_prev_first: from(5, 13),
            scan_limit: if has(MechanismId::SisUtil) {
                ScanLimit::Utilisation
            } else if has(MechanismId::SisProp) {
                ScanLimit::IdleTime
            } else {
                ScanLimit::None
            },
            wake_avg_idle: from(5, 14),
            cluster_scan_rfc: has(MechanismId::ClusterScanRfc),
            cluster_scan: has(MechanismId::ClusterScan),
            group_classes: has(MechanismId::GroupClasses),
            numa_imbalance: numa_imbalance(kernel),
            prefer_sibling: has(MechanismId::PreferSibling),
            newidle_balance: has(MechanismId::NewidleBalance),
            nohz_balance: has(MechanismId::NohzBalance),
            active_balance: has(MechanismId::ActiveBalance),
            fork_stays_on_node: !from(5, 11),
            idlest_by_util: from(5, 9),
            numa_whole_imbalance: from(6, 0),
            llc_evens_tasks: from(5, 10),
            failures_shrink_tasks: from(5, 10),
            smt_never_hot: from(5, 10),
            odd_busy_interval: from(5, 10),
            newidle_keeps_interval: from(5, 1),
            push_for_tasks_only: from(5, 13),
            asym_source: from(5, 16),
            newidle_by_cost: from(5, 16),
            newidle_random: from(6, 19),
            nohz_own_last: from(5, 12),
            busiest_prefers_sibling: from(6, 5),
            smt_balance: from(6, 6),
            misfit_apart: from(6, 10),
            numa_moves_early: from(4, 20),
            numa_rate_limit: !from(4, 20),
            numa_spare: from(5, 7),
            numa_new_memory_waits: from(6, 4),
            rebuilds_at_once: kernel.version >= REBUILDS_AT_ONCE_SINCE,
        }
    }
}

fn numa_imbalance(kernel: &Kernel) -> NumaImbalance {
    let from = |major, minor| kernel.version >= Version::new(major, minor);
    if !kernel.has(MechanismId::NumaImbalance) {
        NumaImbalance::Never
    } else if from(5, 18) {
        NumaImbalance::ByLlc
    } else if from(5, 11) {
        NumaImbalance::Quarter
    } else {
        NumaImbalance::Pair
    }
}
