//! How a variant uses POWER8's prefetch engine, where its mechanisms switch it on.

use serde::{Deserialize, Serialize};
use setting::{Prefetch, Rate};

/// `[variant.prefetch]`. What is not set is as the kernel and the machine have it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct PrefetchEntry(Prefetch);

/// The table as it stands in the file.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    /// Cycles from a line to the next while restoring: 8, 16, 24 or 32; as fast as possible where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_cycles: Option<u32>,
    /// Cycles from a place of the directory to the next while logging.
    #[serde(skip_serializing_if = "Option::is_none")]
    log_cycles: Option<f64>,
}

/// Longest step of a log, in cycles.
const MAX_LOG_CYCLES: f64 = 1e6;

impl PrefetchEntry {
    /// What the simulator takes.
    pub fn prefetch(&self) -> Prefetch {
        self.0
    }

    /// What the table sets, as `rate_cycles=32`, in its order.
    pub fn set(&self) -> Vec<String> {
        let fields = Fields::from(*self);
        let rate = fields.rate_cycles.map(|cycles| format!("rate_cycles={cycles}"));
        let log = fields.log_cycles.map(|cycles| format!("log_cycles={cycles}"));
        rate.into_iter().chain(log).collect()
    }
}

impl TryFrom<Fields> for PrefetchEntry {
    type Error = String;
    fn try_from(f: Fields) -> Result<PrefetchEntry, String> {
        let rate = match f.rate_cycles {
            None => Rate::Fastest,
            Some(cycles) => Rate::of_cycles(cycles).map_err(|e| format!("prefetch: {e}"))?,
        };
        let possible = 0.1..=MAX_LOG_CYCLES;
        match f.log_cycles.filter(|cycles| !possible.contains(cycles)) {
            Some(found) => Err(format!("prefetch: log_cycles: found {found}, expected 0.1 to 1e6")),
            None => Ok(PrefetchEntry(Prefetch { rate, log_cycles: f.log_cycles })),
        }
    }
}

impl From<PrefetchEntry> for Fields {
    fn from(PrefetchEntry(p): PrefetchEntry) -> Fields {
        Fields { rate_cycles: p.rate.cycles(), log_cycles: p.log_cycles }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PrefetchEntry, String> {
        toml::from_str(text).map_err(|e| e.message().to_string())
    }

    #[test]
    fn tables_are_read_and_written_alike() {
        let text = "rate_cycles = 24\nlog_cycles = 2.5\n";
        let entry = read(text).unwrap();
        assert_eq!(entry.prefetch(), Prefetch { rate: Rate::Every24, log_cycles: Some(2.5) });
        assert_eq!(toml::to_string(&entry).unwrap(), text);
        assert_eq!(entry.set(), ["rate_cycles=24", "log_cycles=2.5"]);
        assert_eq!(read("").unwrap().prefetch(), Prefetch::default());
    }

    #[test]
    fn errors_name_field_found_and_expected() {
        for (text, expected) in [
            ("rate_cycles = 12", "prefetch: rate_cycles: found 12, expected 8, 16, 24 or 32"),
            ("log_cycles = 0", "prefetch: log_cycles: found 0, expected 0.1 to 1e6"),
            ("log_cycles = nan", "prefetch: log_cycles: found NaN, expected 0.1 to 1e6"),
            ("rate = 8", "unknown field `rate`"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
    }
}
