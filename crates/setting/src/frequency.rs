//! Who governs the clocks: driver, governor, and what load tracking takes for the highest clock.

use crate::{Governor, SettingError, Tunables, named};
use std::str::FromStr;

/// Who chooses performance levels under `amd-pstate`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AmdPstateMode {
    /// The hardware, by an energy preference (from 6.3 on).
    Active,
    /// The kernel's governor.
    Passive,
}

/// Which driver talks to the hardware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DriverChoice {
    /// `acpi-cpufreq`, by the machine's table of P-states.
    #[default]
    AcpiCpufreq,
    /// `amd-pstate`, by CPPC.
    AmdPstate(AmdPstateMode),
}

impl DriverChoice {
    /// All of them.
    pub const ALL: [DriverChoice; 3] = [
        DriverChoice::AcpiCpufreq,
        DriverChoice::AmdPstate(AmdPstateMode::Passive),
        DriverChoice::AmdPstate(AmdPstateMode::Active),
    ];

    /// The name in `scaling_driver`.
    pub const fn name(self) -> &'static str {
        match self {
            DriverChoice::AcpiCpufreq => "acpi-cpufreq",
            DriverChoice::AmdPstate(AmdPstateMode::Passive) => "amd-pstate",
            DriverChoice::AmdPstate(AmdPstateMode::Active) => "amd-pstate-epp",
        }
    }
}

impl FromStr for DriverChoice {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<DriverChoice, SettingError> {
        named("driver", text, DriverChoice::ALL.map(|d| (d.name(), d)))
    }
}

/// What counts as the maximum frequency, which depends on how many cores boost and is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxFreq {
    /// The highest boost of CPPC.
    MaxBoost,
    /// The highest frequency without boost (`arch_set_max_freq_ratio(true)`).
    P0,
    /// Midway between the two.
    Midpoint,
}

/// What load tracking takes for the highest clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Invariance {
    /// What the release does by itself on such a machine.
    #[default]
    Release,
    /// Load tracking knows of no clocks.
    Off,
    /// So much, as with the study's patches.
    By(MaxFreq),
}

impl Invariance {
    /// What an experiment calls `freq_max`.
    const NAMES: [(&str, Invariance); 4] = [
        ("none", Invariance::Off),
        ("max-boost", Invariance::By(MaxFreq::MaxBoost)),
        ("midpoint", Invariance::By(MaxFreq::Midpoint)),
        ("P0", Invariance::By(MaxFreq::P0)),
    ];

    /// Its name as `freq_max`; `None` for [`Invariance::Release`], which holds where nothing is said.
    pub fn name(self) -> Option<&'static str> {
        Invariance::NAMES.into_iter().find(|n| n.1 == self).map(|n| n.0)
    }
}

impl FromStr for Invariance {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Invariance, SettingError> {
        named("freq_max", text, Invariance::NAMES)
    }
}

/// How clocks are governed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frequency {
    /// The driver.
    pub driver: DriverChoice,
    /// The governor.
    pub governor: Governor,
    /// Frequency invariance.
    pub invariance: Invariance,
    /// What is set of the governor's tunables; the others are as it starts.
    pub tunables: Tunables,
    /// Under a kernel tree's code: whether the simulator's governors govern instead of the tree's.
    pub by_model: bool,
    /// Whether the driver switches from the scheduler's code. Else governors have a thread do it, which the simulator's
    /// own do not have.
    pub fast_switch: bool,
}

impl Frequency {
    /// `governor` as it starts, under `acpi-cpufreq`.
    pub fn new(governor: Governor) -> Frequency {
        Frequency {
            driver: DriverChoice::default(),
            governor,
            invariance: Invariance::default(),
            tunables: Tunables::default(),
            by_model: false,
            fast_switch: true,
        }
    }

    /// Whether the governor has all tunables that are set.
    ///
    /// # Errors
    /// [`SettingError::Unheard`] for the first that it has not.
    pub fn check(&self) -> Result<(), SettingError> {
        match self.tunables.iter().find(|(t, _)| !self.governor.tunables().contains(t)) {
            None => Ok(()),
            Some((tunable, _)) => {
                let having = Governor::ALL.into_iter().filter(|g| g.tunables().contains(&tunable));
                let names: Vec<&str> = having.map(Governor::name).collect();
                let expected = names.join(" and ");
                Err(SettingError::Unheard { tunable, governor: self.governor, expected })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tunable;

    #[test]
    fn names_are_read_back() {
        for driver in DriverChoice::ALL {
            assert_eq!(driver.name().parse(), Ok(driver));
        }
        assert_eq!("P0".parse(), Ok(Invariance::By(MaxFreq::P0)));
        let error = "p0".parse::<Invariance>().unwrap_err().to_string();
        assert_eq!(error, "freq_max: found `p0`, expected one of none, max-boost, midpoint, P0");
    }

    #[test]
    fn a_tunable_of_another_governor_is_named_with_those_that_have_it() {
        let mut frequency = Frequency::new(Governor::Schedutil);
        frequency.tunables.set(Tunable::RateLimitUs, 500);
        assert_eq!(frequency.check(), Ok(()));
        frequency.tunables.set(Tunable::UpThreshold, 3);
        assert_eq!(
            frequency.check().unwrap_err().to_string(),
            "up_threshold: found it with governor schedutil, expected it with ondemand and \
             conservative only"
        );
    }
}
