//! The governors and their tunables: one row each.

use crate::{SettingError, named};
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

use Tunable::{DownThreshold, PowersaveBias, RateLimitUs, SamplingRateUs, UpThreshold};

impl Governor {
    /// All of them; the kernel's `userspace` is none, as nobody in a simulation would set a frequency.
    pub const ALL: [Governor; 5] = [
        Governor::Performance,
        Governor::Powersave,
        Governor::Ondemand,
        Governor::Conservative,
        Governor::Schedutil,
    ];

    /// The name in `scaling_governor`, and the tunables that an experiment may set.
    const fn row(self) -> (&'static str, &'static [Tunable]) {
        match self {
            Governor::Performance => ("performance", &[]),
            Governor::Powersave => ("powersave", &[]),
            Governor::Ondemand => ("ondemand", &[SamplingRateUs, UpThreshold, PowersaveBias]),
            Governor::Conservative => {
                ("conservative", &[SamplingRateUs, UpThreshold, DownThreshold])
            }
            Governor::Schedutil => ("schedutil", &[RateLimitUs]),
        }
    }

    /// The name in `scaling_governor`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The tunables that it has.
    pub const fn tunables(self) -> &'static [Tunable] {
        self.row().1
    }
}

impl fmt::Display for Governor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Governor {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Governor, SettingError> {
        named("governor", text, Governor::ALL.map(|g| (g.name(), g)))
    }
}

/// A number in a governor's folder of sysfs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tunable {
    /// schedutil: time between changes, in us.
    RateLimitUs,
    /// ondemand and conservative: time between samples, in us.
    SamplingRateUs,
    /// ondemand and conservative: busy share in % above which the clock goes up.
    UpThreshold,
    /// conservative: busy share in % below which the clock goes down.
    DownThreshold,
    /// ondemand: part of the clock to save, in 1/1000.
    PowersaveBias,
}

impl Tunable {
    /// All of them, in the order in which they are listed and written.
    pub const ALL: [Tunable; 5] =
        [RateLimitUs, SamplingRateUs, UpThreshold, DownThreshold, PowersaveBias];

    /// The file's name in sysfs.
    pub const fn file(self) -> &'static str {
        match self {
            SamplingRateUs => "sampling_rate",
            other => other.name(),
        }
    }

    /// What an experiment calls it: the file's name, with the unit.
    pub const fn name(self) -> &'static str {
        match self {
            RateLimitUs => "rate_limit_us",
            SamplingRateUs => "sampling_rate_us",
            UpThreshold => "up_threshold",
            DownThreshold => "down_threshold",
            PowersaveBias => "powersave_bias",
        }
    }
}

impl fmt::Display for Tunable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Tunable {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Tunable, SettingError> {
        named("tunable", text, Tunable::ALL.map(|t| (t.name(), t)))
    }
}

/// The tunables that somebody set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tunables([Option<u64>; Tunable::ALL.len()]);

impl Tunables {
    /// What `tunable` is set to.
    pub fn get(&self, tunable: Tunable) -> Option<u64> {
        self.0[tunable as usize]
    }

    /// Sets `tunable`.
    pub fn set(&mut self, tunable: Tunable, value: u64) {
        self.0[tunable as usize] = Some(value);
    }

    /// Those that are set, in the order of [`Tunable::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Tunable, u64)> + use<'_> {
        Tunable::ALL.into_iter().filter_map(|t| Some((t, self.get(t)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for governor in Governor::ALL {
            assert_eq!(governor.name().parse(), Ok(governor));
        }
        for (at, tunable) in Tunable::ALL.into_iter().enumerate() {
            assert_eq!(tunable.name().parse(), Ok(tunable));
            assert_eq!(tunable as usize, at, "the order of the list is that of the type");
        }
        let error = "fast".parse::<Governor>().unwrap_err().to_string();
        assert_eq!(
            error,
            "governor: found `fast`, expected one of performance, powersave, ondemand, \
             conservative, schedutil"
        );
    }

    #[test]
    fn every_tunable_is_somebodys() {
        for tunable in Tunable::ALL {
            assert!(Governor::ALL.iter().any(|g| g.tunables().contains(&tunable)), "{tunable}");
        }
    }

    #[test]
    fn what_is_set_is_listed_in_order() {
        let mut tunables = Tunables::default();
        tunables.set(Tunable::PowersaveBias, 5);
        tunables.set(Tunable::UpThreshold, 80);
        let set: Vec<_> = tunables.iter().collect();
        assert_eq!(set, [(Tunable::UpThreshold, 80), (Tunable::PowersaveBias, 5)]);
        assert_eq!(tunables.get(Tunable::RateLimitUs), None);
    }
}
