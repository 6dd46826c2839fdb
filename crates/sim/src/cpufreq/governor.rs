//! The governors by name.

use super::{Driver, FrequencyError, Limits, Relation};
use std::fmt;
use std::str::FromStr;

/// Who chooses the frequency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Governor {
    /// The highest frequency, and with it the hardware's boost.
    Performance,
    /// The lowest frequency; with amd-pstate in active mode the hardware's choice by its energy preference.
    Powersave,
    /// By the share of busy time, up at once (`cpufreq_ondemand.c`).
    Ondemand,
    /// By the share of busy time, in steps (`cpufreq_conservative.c`).
    Conservative,
    /// By utilisation (`cpufreq_schedutil.c`).
    Schedutil,
}

impl Governor {
    /// All of them; the kernel's `userspace` is none, as nobody in a simulation would set a frequency.
    pub const ALL: [Governor; 5] = [
        Governor::Performance,
        Governor::Powersave,
        Governor::Ondemand,
        Governor::Conservative,
        Governor::Schedutil,
    ];

    /// The name in `scaling_governor`.
    pub const fn name(self) -> &'static str {
        match self {
            Governor::Performance => "performance",
            Governor::Powersave => "powersave",
            Governor::Ondemand => "ondemand",
            Governor::Conservative => "conservative",
            Governor::Schedutil => "schedutil",
        }
    }

    /// What a governor that looks at nothing sets, in kHz (`cpufreq_gov_performance_limits`,
    /// `cpufreq_gov_powersave_limits`); `None` for the others.
    pub fn fixed_khz(self, driver: &Driver, limits: &Limits) -> Option<u64> {
        match self {
            Governor::Performance => Some(driver.resolve(limits.max_khz, limits, Relation::High)),
            Governor::Powersave => Some(driver.resolve(limits.min_khz, limits, Relation::Low)),
            Governor::Ondemand | Governor::Conservative | Governor::Schedutil => None,
        }
    }
}

impl fmt::Display for Governor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Governor {
    type Err = FrequencyError;

    fn from_str(text: &str) -> Result<Governor, FrequencyError> {
        Governor::ALL.into_iter().find(|g| g.name() == text).ok_or_else(|| {
            FrequencyError::Governor {
                found: text.to_string(),
                expected: Governor::ALL.map(Governor::name).join(", "),
            }
        })
    }
}
