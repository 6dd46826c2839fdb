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
    by_model: Option<bool>,
    fast_switch: Option<bool>,
    tunables: Tunables,
}

/// The keys that are no tunables.
const OWN: [&str; 5] = ["governor", "driver", "freq_max", "by_model", "fast_switch"];

/// All keys.
const KEYS: [&str; OWN.len() + Tunable::ALL.len()] = {
    let mut keys = [""; OWN.len() + Tunable::ALL.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = if at < OWN.len() { OWN[at] } else { Tunable::ALL[at - OWN.len()].name() };
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
            by_model: self.by_model.unwrap_or(false),
            fast_switch: self.fast_switch.unwrap_or(true),
        }
    }

    /// The driver that it names.
    pub fn driver(&self) -> Option<DriverChoice> {
        self.driver
    }

    /// What it sets that only the simulator has: the key.
    pub fn of_models(&self) -> Option<&'static str> {
        let set = [
            ("freq_max", self.freq_max.is_some()),
            ("by_model", self.by_model.is_some()),
            ("fast_switch", self.fast_switch.is_some()),
        ];
        set.into_iter().find(|(_, is_set)| *is_set).map(|(key, _)| key)
    }

    /// What a variant, which `has_source` or not, cannot have: the key, what was found, what was expected.
    pub(super) fn wrong(&self, has_source: bool) -> Option<(&'static str, String, &'static str)> {
        let by_model = self.by_model.unwrap_or(!has_source);
        match (self.switches().next(), self.driver) {
            (Some((key, value)), _) if !has_source => Some((
                key,
                value.to_string(),
                "it with a source only: the model's governors switch fast",
            )),
            _ if by_model && self.fast_switch == Some(false) => Some((
                "fast_switch",
                "false with by_model".into(),
                "true: the model's governors switch fast",
            )),
            (_, Some(driver)) if !by_model && driver != DriverChoice::AcpiCpufreq => {
                let expected = "acpi-cpufreq with a source, or by_model = true: a tree's governors \
                                have the machine's table of P-states";
                Some(("driver", driver.name().into(), expected))
            }
            _ => None,
        }
    }

    /// What the table sets, as `governor=schedutil`, in its order.
    pub fn set(&self) -> Vec<String> {
        let texts = self.texts().map(|(key, value)| format!("{key}={value}"));
        let switches = self.switches().map(|(key, value)| format!("{key}={value}"));
        texts
            .chain(switches)
            .chain(self.tunables.iter().map(|(t, value)| format!("{t}={value}")))
            .collect()
    }

    /// Keys whose values are true or false.
    fn switches(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let switches = [("by_model", self.by_model), ("fast_switch", self.fast_switch)];
        switches.into_iter().filter_map(|(key, value)| Some((key, value?)))
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
        for (key, value) in self.switches() {
            table.serialize_entry(key, &value)?;
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
        let (mut by_model, mut fast_switch) = (None, None);
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
                "by_model" => by_model = Some(table.next_value()?),
                "fast_switch" => fast_switch = Some(table.next_value()?),
                other => match other.parse() {
                    Ok(tunable) => tunables.set(tunable, table.next_value()?),
                    Err(_) => return Err(A::Error::unknown_field(other, &KEYS)),
                },
            }
        }
        let governor = governor.ok_or_else(|| A::Error::missing_field("governor"))?;
        let entry = FrequencyEntry { governor, driver, freq_max, by_model, fast_switch, tunables };
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
        let text = "governor = \"schedutil\"\nfreq_max = \"P0\"\nfast_switch = false\nrate_limit_us = 500\n";
        let entry = read(text).unwrap();
        assert!(!entry.frequency().fast_switch && !entry.frequency().by_model);
        assert_eq!(entry.frequency().invariance, Invariance::By(MaxFreq::P0));
        assert_eq!(entry.frequency().tunables.get(Tunable::RateLimitUs), Some(500));
        assert_eq!(toml::to_string(&entry).unwrap(), text);
        assert_eq!(
            entry.set(),
            ["governor=schedutil", "freq_max=P0", "fast_switch=false", "rate_limit_us=500"]
        );
    }

    #[test]
    fn what_only_one_of_model_and_tree_has_is_refused_with_the_other() {
        let wrong = |set: &str, has_source| {
            let entry = read(&format!("governor = \"schedutil\"\n{set}")).unwrap();
            entry.wrong(has_source).map(|(key, found, _)| (key, found))
        };
        let found = |key, found: &str| Some((key, found.to_string()));
        assert_eq!(wrong("", true), None);
        assert_eq!(wrong("by_model = true\ndriver = \"amd-pstate\"", true), None);
        assert_eq!(wrong("driver = \"amd-pstate\"", false), None);
        assert_eq!(wrong("fast_switch = false", true), None);
        assert_eq!(wrong("by_model = true", false), found("by_model", "true"));
        assert_eq!(wrong("fast_switch = true", false), found("fast_switch", "true"));
        assert_eq!(wrong("driver = \"amd-pstate\"", true), found("driver", "amd-pstate"));
        let both = "by_model = true\nfast_switch = false";
        assert_eq!(wrong(both, true), found("fast_switch", "false with by_model"));
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
                "unknown field `speed`, expected one of `governor`, `driver`, `freq_max`, `by_model`, `fast_switch`, `rate_limit_us`",
            ),
            ("governor = \"schedutil\"\nrate_limit_us = \"1\"", "invalid type: string"),
            ("driver = \"acpi-cpufreq\"", "missing field `governor`"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
