//! Governors that look at nothing.

use super::{Driver, Limits, Relation};
use setting::Governor;

/// What a governor that looks at nothing sets, in kHz (`cpufreq_gov_performance_limits`,
/// `cpufreq_gov_powersave_limits`); `None` for the others.
pub fn fixed_khz(governor: Governor, driver: &Driver, limits: &Limits) -> Option<u64> {
    match governor {
        Governor::Performance => Some(driver.resolve(limits.max_khz, limits, Relation::High)),
        Governor::Powersave => Some(driver.resolve(limits.min_khz, limits, Relation::Low)),
        Governor::Ondemand | Governor::Conservative | Governor::Schedutil => None,
    }
}
