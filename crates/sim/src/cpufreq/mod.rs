//! The kernel's side of CPU frequency: what a governor asks for, what a driver makes of it, and how the scheduler
//! scales its averages by it.
//!
//! Pure: values go in with the time, and a frequency in kHz comes out. [`governor`] chooses one, [`driver`] rounds it to
//! what the hardware takes, [`scale`] is frequency invariance; [`rules`] says which release has which rule. Nothing here
//! knows of tasks or events: the engine tells governors what changed and takes what they ask for.
//!
//! Left out: what deadline and real-time tasks ask for, interrupt time, inefficient frequencies, the worker thread
//! that drivers without fast switching need, and `->adjust_perf` of drivers that take performance levels.

mod driver;
pub(crate) mod governor;
mod rules;
mod scale;
mod table;
mod util;

#[cfg(test)]
mod tests;

pub(crate) use driver::{AcpiCpufreq, AmdPstate, Driver};
pub(crate) use scale::{boost_ratio, freq_scale, max_freq_of_acpi_cpufreq, max_freq_ratio};
pub(crate) use table::{Relation, Table};
pub(crate) use util::Util;

/// Capacity and frequency scale of 1 (`SCHED_CAPACITY_SCALE`).
pub(crate) const CAPACITY_SCALE: u64 = 1 << CAPACITY_SHIFT;
const CAPACITY_SHIFT: u32 = 10;

/// What a policy may run at and was last set to (`policy->min`, `max` and `cur`), in kHz.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Lowest frequency.
    pub min_khz: u64,
    /// Highest frequency, not below `min_khz`.
    pub max_khz: u64,
    /// What the driver was last asked for, after rounding; boost above it is the hardware's.
    pub cur_khz: u64,
}

/// Why frequencies or a governor cannot be as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrequencyError {
    /// A table without frequencies.
    #[error("P-states: found none, expected at least one")]
    NoStates,
    /// One state, for which `acpi-cpufreq` does not load.
    #[error("P-states of acpi-cpufreq: found 1, expected at least 2")]
    OneState,
    /// A frequency of zero.
    #[error("P{index}: found 0 kHz, expected more")]
    ZeroState {
        /// The state's number.
        index: usize,
    },
    /// A state that is not below the one before.
    #[error("P{index}: found {found} kHz, expected less than {before} kHz of P{}", .index - 1)]
    StateOrder {
        /// The state's number.
        index: usize,
        /// Its frequency in kHz.
        found: u64,
        /// The frequency of the state before, in kHz.
        before: u64,
    },
    /// The same frequency twice.
    #[error("P{index}: found {found} kHz again, expected less")]
    SameState {
        /// The state's number.
        index: usize,
        /// Its frequency in kHz.
        found: u64,
    },
    /// A number outside what the kernel takes.
    #[error("{field}: found {found}, expected {expected}")]
    Value {
        /// Which number.
        field: &'static str,
        /// What it is.
        found: u64,
        /// What is possible.
        expected: String,
    },
    /// A governor that a driver does not offer.
    #[error("governor of {driver}: found {found}, expected performance or powersave")]
    NotOffered {
        /// The driver.
        driver: &'static str,
        /// The governor.
        found: setting::Governor,
    },
    /// A driver or a mode of it that the kernel does not have yet.
    #[error("{driver}: found kernel {found}, expected {since} or newer")]
    DriverTooNew {
        /// The driver.
        driver: &'static str,
        /// The kernel.
        found: kernel::Version,
        /// Its first release.
        since: kernel::Version,
    },
}

/// `found`, if it is one of `range`.
fn within(
    field: &'static str,
    found: u64,
    range: std::ops::RangeInclusive<u64>,
) -> Result<(), FrequencyError> {
    if range.contains(&found) {
        return Ok(());
    }
    let expected = format!("{} to {}", range.start(), range.end());
    Err(FrequencyError::Value { field, found, expected })
}
