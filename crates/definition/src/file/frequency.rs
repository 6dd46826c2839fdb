//! Who governs the clocks of a variant.

use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use setting::{DriverChoice, Frequency, Governor, Invariance, Tunable, Tunables};
use std::fmt;

/// `[variant.frequency]`. What is not set is as the kernel starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrequencyEntry {
    governor: Governor,
    driver: Option<DriverChoice>,
    freq_max: Option<Invariance>,
    tunables: Tunables,
}

/// The keys: `governor`, `driver`, `freq_max`, and the tunables.
const KEYS: [&str; 3 + Tunable::ALL.len()] = {
    let mut keys = ["governor"; 3 + Tunable::ALL.len()];
    (keys[1], keys[2]) = ("driver", "freq_max");
    let mut at = 0;
    while at < Tunable::ALL.len() {
        keys[3 + at] = Tunable::ALL[at].name();
        at += 1;
    }
    keys
};

impl FrequencyEntry {
    /// What the simulator takes.
    pub fn frequency(&self) -> Frequency {
        Frequency {
            driver: self.driver.unwrap_or_default(),
            governor: self.governor,
            invariance: self.freq_max.unwrap_or_default(),
            tunables: self.tunables,
        }
    }

    /// What the table sets, as `governor=schedutil`, in its order.
    pub fn set(&self) -> Vec<String> {
        let texts = self.texts().map(|(key, value)| format!("{key}={value}"));
        texts.chain(self.tunables.iter().map(|(t, value)| format!("{t}={value}"))).collect()
    }

    /// Keys whose values are names.
    fn texts(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let texts = [
            ("governor", Some(self.governor.name())),
            ("driver", self.driver.map(DriverChoice::name)),
            ("freq_max", self.freq_max.and_then(Invariance::name)),
        ];
        texts.into_iter().filter_map(|(key, value)| Some((key, value?)))
    }
}

impl Serialize for FrequencyEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_map(None)?;
        for (key, value) in self.texts() {
            table.serialize_entry(key, value)?;
        }
        for (tunable, value) in self.tunables.iter() {
            table.serialize_entry(tunable.name(), &value)?;
        }
        table.end()
    }
}

impl<'de> Deserialize<'de> for FrequencyEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<FrequencyEntry, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

/// Reads the table key by key.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = FrequencyEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with a governor")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<FrequencyEntry, A::Error> {
        let refuse = |e| A::Error::custom(format!("frequency: {e}"));
        let (mut governor, mut driver, mut freq_max) = (None, None, None);
        let mut tunables = Tunables::default();
        while let Some(key) = table.next_key::<String>()? {
            match key.as_str() {
                "governor" => {
                    governor = Some(table.next_value::<String>()?.parse().map_err(refuse)?);
                }
                "driver" => driver = Some(table.next_value::<String>()?.parse().map_err(refuse)?),
                "freq_max" => {
                    freq_max = Some(table.next_value::<String>()?.parse().map_err(refuse)?);
                }
                other => match other.parse() {
                    Ok(tunable) => tunables.set(tunable, table.next_value()?),
                    Err(_) => return Err(A::Error::unknown_field(other, &KEYS)),
                },
            }
        }
        let governor = governor.ok_or_else(|| A::Error::missing_field("governor"))?;
        let entry = FrequencyEntry { governor, driver, freq_max, tunables };
        entry.frequency().check().map_err(refuse)?;
        Ok(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use setting::MaxFreq;

    fn read(text: &str) -> Result<FrequencyEntry, String> {
        toml::from_str(text).map_err(|e| e.message().to_string())
    }

    #[test]
    fn tables_are_read_and_written_alike() {
        let text = "governor = \"schedutil\"\nfreq_max = \"P0\"\nrate_limit_us = 500\n";
        let entry = read(text).unwrap();
        assert_eq!(entry.frequency().invariance, Invariance::By(MaxFreq::P0));
        assert_eq!(entry.frequency().tunables.get(Tunable::RateLimitUs), Some(500));
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
            (
                "governor = \"schedutil\"\nspeed = 3",
                "unknown field `speed`, expected one of `governor`, `driver`, `freq_max`, `rate_limit_us`",
            ),
            ("governor = \"schedutil\"\nrate_limit_us = \"1\"", "invalid type: string"),
            ("driver = \"acpi-cpufreq\"", "missing field `governor`"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
