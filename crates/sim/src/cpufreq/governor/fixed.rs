//! performance and powersave: they set a limit when they start and look at nothing afterwards
//! (`cpufreq_gov_performance_limits`, `cpufreq_gov_powersave_limits`).

use super::{Answer, Govern, Seen};
use crate::cpufreq::{Driver, Limits, Relation};

/// Which limit is set.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fixed {
    /// performance.
    Highest,
    /// powersave.
    Lowest,
}

impl Govern for Fixed {
    fn start_khz(&self, driver: &Driver, limits: &Limits) -> u64 {
        match self {
            Fixed::Highest => driver.resolve(limits.max_khz, limits, Relation::High),
            Fixed::Lowest => driver.resolve(limits.min_khz, limits, Relation::Low),
        }
    }

    fn update(&mut self, _: &Seen) -> Answer {
        Answer::Nothing
    }
}
