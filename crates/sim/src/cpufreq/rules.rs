//! Which rules of frequency a kernel has: every change between releases, in one place.
//!
//! Releases 6.1 and 6.12 are read from their sources; the others are placed by the kernel's history as it is commonly
//! known.

use kernel::Version;

/// First release with `amd-pstate`, passive mode.
pub(super) const AMD_PSTATE_SINCE: Version = Version::new(5, 17);
/// First release with its active mode (`amd-pstate-epp`).
pub(super) const AMD_PSTATE_EPP_SINCE: Version = Version::new(6, 3);

/// Where the quarter goes that keeps schedutil's tipping point at 80 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Headroom {
    /// To the frequency (`map_util_freq` up to 5.10, from memory). It differs from the next by rounding only.
    Frequency,
    /// To utilisation after clamps (`map_util_perf`).
    Utilisation,
    /// To utilisation before clamps (`sugov_effective_cpu_perf`, 6.8).
    BeforeClamps,
}

/// How `cpufreq_policy_transition_delay_us` makes a delay of a driver's latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransitionDelay {
    /// A thousand times the latency, at most so many us: 10 ms (4.14, read in 6.1), 2 ms (6.9, from memory).
    Thousandfold {
        /// The most, in us.
        cap_us: u64,
    },
    /// 1.5 times the latency (6.12).
    OneAndAHalf,
}

/// The rules of one kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// AMD is frequency-invariant with CPPC, and `acpi-cpufreq` tells the boost that CPPC names (5.11). 5.11 adds a boost
    /// entry to the table, which 5.12 takes out again in favour of `cpuinfo.max_freq` alone. Both set P0 for it, and what
    /// a governor sees of the maximum is the same.
    pub(super) amd_boost: bool,
    /// A policy's limits are rounded to the table, so that boost that is known but no state does not count in
    /// `policy->max` (5.16).
    pub(super) limits_in_table: bool,
    /// Without invariance full utilisation stands for a quarter more than the frequency that the CPU has
    /// (`get_capacity_ref_freq`, 6.8).
    pub(super) reference_with_quarter: bool,
    pub(super) transition_delay: TransitionDelay,
    /// schedutil: where its headroom goes.
    pub(super) headroom: Headroom,
    /// schedutil: clamps count (5.3).
    pub(super) uclamp: bool,
    /// schedutil: clamps bound the boost as well, and a capped CPU may slow down while busy (5.18, from memory).
    pub(super) uclamp_strict: bool,
    /// schedutil: a boost for I/O starts at an eighth (`IOWAIT_BOOST_MIN`, 5.2), before that at the lowest frequency;
    /// before 5.1 in kHz of it, which is the same but for rounding.
    pub(super) iowait_boost_min: bool,
}

impl Rules {
    pub(super) fn new(version: Version) -> Rules {
        let from = |major, minor| version >= Version::new(major, minor);
        Rules {
            amd_boost: from(5, 11),
            limits_in_table: from(5, 16),
            reference_with_quarter: from(6, 8),
            transition_delay: if from(6, 12) {
                TransitionDelay::OneAndAHalf
            } else {
                TransitionDelay::Thousandfold { cap_us: if from(6, 9) { 2_000 } else { 10_000 } }
            },
            headroom: if from(6, 8) {
                Headroom::BeforeClamps
            } else if from(5, 11) {
                Headroom::Utilisation
            } else {
                Headroom::Frequency
            },
            uclamp: from(5, 3),
            uclamp_strict: from(5, 18),
            iowait_boost_min: from(5, 2),
        }
    }
}
