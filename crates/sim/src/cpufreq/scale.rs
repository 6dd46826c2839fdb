//! Frequency invariance on x86: how much of the maximum a CPU ran at (`arch/x86/kernel/cpu/aperfmperf.c`, up to 5.17
//! `smpboot.c`).
//!
//! AMD has it from 5.11 on; the study's kernels are 5.9 with the patches. Arithmetic and checks are the same from
//! 5.9 (overflow checks) to 6.12.

use super::rules::Rules;
use super::{CAPACITY_SCALE, CAPACITY_SHIFT, FrequencyError};
use kernel::Version;
use setting::MaxFreq;

/// What a kernel without patches takes for the highest clock on AMD with CPPC under `acpi-cpufreq`: nothing before 5.11,
/// where AMD is not frequency-invariant, then the midpoint, or P0 where the driver finds no [`boost_ratio`]
/// (`acpi_cpufreq_cpu_init`), so that schedutil does not ask for less than what utilisation stands for.
pub(crate) fn max_freq_of_acpi_cpufreq(version: Version, boost_known: bool) -> Option<MaxFreq> {
    let choice = if boost_known { MaxFreq::Midpoint } else { MaxFreq::P0 };
    Rules::new(version).amd_boost.then_some(choice)
}

/// Maximum frequency by nominal frequency, 1024 for 1 (`amd_set_max_freq_ratio`), from CPPC's performance levels.
///
/// The highest level is the one that the kernel counts with, which is not CPPC's on machines with preferred cores:
/// 6.1 takes 166 for some models (`amd_get_highest_perf`), among them all of Family 17h 30h to 3fh, and 255 otherwise.
///
/// # Errors
/// A level of 0, or levels so far apart that the ratio becomes 0: the kernel then stays without invariance.
pub(crate) fn max_freq_ratio(
    highest_perf: u32,
    nominal_perf: u32,
    choice: MaxFreq,
) -> Result<u64, FrequencyError> {
    let highest = level("highest_perf", highest_perf)?;
    let nominal = level("nominal_perf", nominal_perf)?;
    let boost = highest * CAPACITY_SCALE / nominal;
    let ratio = match choice {
        MaxFreq::MaxBoost => boost,
        MaxFreq::P0 => CAPACITY_SCALE,
        MaxFreq::Midpoint => (boost + CAPACITY_SCALE) >> 1,
    };
    if ratio == 0 {
        let expected = format!("at least nominal_perf / {CAPACITY_SCALE} of {nominal}");
        return Err(FrequencyError::Value { field: "highest_perf", found: highest, expected });
    }
    Ok(ratio)
}

/// Boost by nominal frequency, 1024 for 1, as `acpi-cpufreq` takes it from 5.11 on (`get_max_boost_ratio`).
///
/// # Errors
/// A level of 0, or a nominal level above the highest.
pub(crate) fn boost_ratio(highest_perf: u32, nominal_perf: u32) -> Result<u64, FrequencyError> {
    let ratio = max_freq_ratio(highest_perf, nominal_perf, MaxFreq::MaxBoost)?;
    if highest_perf < nominal_perf {
        let expected = format!("at least nominal_perf, {nominal_perf}");
        let found = u64::from(highest_perf);
        return Err(FrequencyError::Value { field: "highest_perf", found, expected });
    }
    Ok(ratio)
}

fn level(field: &'static str, found: u32) -> Result<u64, FrequencyError> {
    if found == 0 {
        let expected = "a CPPC performance level above 0".to_string();
        return Err(FrequencyError::Value { field, found: 0, expected });
    }
    Ok(u64::from(found))
}

/// The frequency that a CPU ran at since the last tick by the maximum, at most 1024 (`scale_freq_tick`, up to 5.17
/// `arch_scale_freq_tick`). APERF counts at the frequency that the CPU has, MPERF at the nominal one, both while
/// it is not idle.
///
/// `None` where counters overflow, stand still or give 0: the kernel then warns that invariance "went wobbly" and
/// turns it off on all CPUs until the next boot.
pub(crate) fn freq_scale(delta_aperf: u64, delta_mperf: u64, max_freq_ratio: u64) -> Option<u64> {
    let aperf = delta_aperf.checked_mul(1 << (2 * CAPACITY_SHIFT))?;
    let mperf = delta_mperf.checked_mul(max_freq_ratio)?;
    match aperf.checked_div(mperf)? {
        0 => None,
        scale => Some(scale.min(CAPACITY_SCALE)),
    }
}
