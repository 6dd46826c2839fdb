//! Who governs the clocks of a variant.

use serde::{Deserialize, Serialize};
use sim::cpufreq::{AmdPstateMode, Governor, MaxFreq};
use sim::{DriverChoice, Frequency, Invariance};

/// `[variant.frequency]`. What is not set is as the kernel starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct FrequencyEntry {
    fields: Fields,
    frequency: Frequency,
}

/// The table as it stands in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    governor: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    driver: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    freq_max: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_limit_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling_rate_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    up_threshold: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    down_threshold: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    powersave_bias: Option<u64>,
}

impl FrequencyEntry {
    /// What the simulator takes.
    pub fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// What the table sets, as `governor=schedutil`, in its order.
    pub fn set(&self) -> Vec<String> {
        let f = &self.fields;
        let texts = [
            ("governor", Some(&f.governor)),
            ("driver", f.driver.as_ref()),
            ("freq_max", f.freq_max.as_ref()),
        ];
        let numbers = [
            ("rate_limit_us", f.rate_limit_us),
            ("sampling_rate_us", f.sampling_rate_us),
            ("up_threshold", f.up_threshold),
            ("down_threshold", f.down_threshold),
            ("powersave_bias", f.powersave_bias),
        ];
        let texts = texts.into_iter().filter_map(|(name, v)| Some(format!("{name}={}", v?)));
        let numbers = numbers.into_iter().filter_map(|(name, v)| Some(format!("{name}={}", v?)));
        texts.chain(numbers).collect()
    }
}

/// The value called `found` among those of a field.
fn pick<T: Copy>(field: &str, found: &str, known: &[(&str, T)]) -> Result<T, String> {
    known.iter().find(|k| k.0 == found).map(|k| k.1).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|k| k.0).collect();
        format!("frequency: {field}: found `{found}`, expected one of {}", names.join(", "))
    })
}

impl TryFrom<Fields> for FrequencyEntry {
    type Error = String;

    fn try_from(f: Fields) -> Result<FrequencyEntry, String> {
        let governor: Governor = f.governor.parse().map_err(|e| format!("frequency: {e}"))?;
        let driver = match &f.driver {
            None => DriverChoice::AcpiCpufreq,
            Some(name) => pick(
                "driver",
                name,
                &[
                    ("acpi-cpufreq", DriverChoice::AcpiCpufreq),
                    ("amd-pstate", DriverChoice::AmdPstate(AmdPstateMode::Passive)),
                    ("amd-pstate-epp", DriverChoice::AmdPstate(AmdPstateMode::Active)),
                ],
            )?,
        };
        let invariance = match &f.freq_max {
            None => Invariance::Release,
            Some(name) => pick(
                "freq_max",
                name,
                &[
                    ("none", Invariance::Off),
                    ("max-boost", Invariance::By(MaxFreq::MaxBoost)),
                    ("midpoint", Invariance::By(MaxFreq::Midpoint)),
                    ("P0", Invariance::By(MaxFreq::P0)),
                ],
            )?,
        };
        let heard = |field: &str, value: Option<u64>, by: &[Governor]| match value {
            Some(_) if !by.contains(&governor) => {
                let names: Vec<&str> = by.iter().map(|g| g.name()).collect();
                Err(format!(
                    "frequency: {field}: found it with governor {governor}, expected it with {} only",
                    names.join(" and ")
                ))
            }
            _ => Ok(value),
        };
        let sampling = [Governor::Ondemand, Governor::Conservative];
        let frequency = Frequency {
            driver,
            governor,
            invariance,
            rate_limit_us: heard("rate_limit_us", f.rate_limit_us, &[Governor::Schedutil])?,
            sampling_rate_us: heard("sampling_rate_us", f.sampling_rate_us, &sampling)?,
            up_threshold: heard("up_threshold", f.up_threshold, &sampling)?,
            down_threshold: heard("down_threshold", f.down_threshold, &sampling[1..])?,
            powersave_bias: heard("powersave_bias", f.powersave_bias, &sampling[..1])?,
        };
        Ok(FrequencyEntry { fields: f, frequency })
    }
}

impl From<FrequencyEntry> for Fields {
    fn from(entry: FrequencyEntry) -> Fields {
        entry.fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<FrequencyEntry, String> {
        toml::from_str(text).map_err(|e| e.message().to_string())
    }

    #[test]
    fn tables_are_read_and_written_alike() {
        let text = "governor = \"schedutil\"\nfreq_max = \"P0\"\nrate_limit_us = 500\n";
        let entry = read(text).unwrap();
        assert_eq!(entry.frequency().invariance, Invariance::By(MaxFreq::P0));
        assert_eq!(entry.frequency().rate_limit_us, Some(500));
        assert_eq!(toml::to_string(&entry).unwrap(), text);
        assert_eq!(entry.set(), ["governor=schedutil", "freq_max=P0", "rate_limit_us=500"]);
    }

    #[test]
    fn errors_name_field_found_and_expected() {
        for (text, expected) in [
            ("governor = \"fast\"", "governor: found `fast`, expected one of performance"),
            (
                "governor = \"schedutil\"\nfreq_max = \"p0\"",
                "freq_max: found `p0`, expected one of none, max-boost, midpoint, P0",
            ),
            (
                "governor = \"schedutil\"\ndriver = \"intel\"",
                "driver: found `intel`, expected one of acpi-cpufreq",
            ),
            (
                "governor = \"schedutil\"\nup_threshold = 3",
                "up_threshold: found it with governor schedutil, expected it with ondemand and conservative",
            ),
            ("governor = \"schedutil\"\nspeed = 3", "unknown field `speed`"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
