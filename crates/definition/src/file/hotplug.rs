//! CPUs of a variant that go offline or come online while its runs last.

use machine::CpuSet;
use serde::{Deserialize, Serialize};
use setting::HotplugStep;

/// Longest time in s from the start of a run to an entry; simulated time ends before that.
const MAX_S: f64 = 1e6;

/// CPUs switched at one time: exactly one of `offline` and `online`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Fields", into = "Fields")]
pub struct HotplugEntry {
    /// When, in s from the start of the run.
    pub at_s: f64,
    /// The CPUs, switched one after the other, lowest first.
    pub cpus: CpuSet,
    /// Whether they come online.
    pub online: bool,
}

/// An entry as it stands in the file.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    at_s: f64,
    offline: Option<String>,
    online: Option<String>,
}

impl TryFrom<Fields> for HotplugEntry {
    type Error = String;

    fn try_from(f: Fields) -> Result<HotplugEntry, String> {
        let (key, list, online) = match (&f.offline, &f.online) {
            (Some(list), None) => ("offline", list, false),
            (None, Some(list)) => ("online", list, true),
            (None, None) | (Some(_), Some(_)) => {
                let found = if f.online.is_some() { "both" } else { "none" };
                return Err(format!(
                    "hotplug: found {found} of `offline` and `online`, expected exactly one"
                ));
            }
        };
        let cpus: CpuSet = list.parse().map_err(|e| format!("hotplug: {key}: {e}"))?;
        if cpus.is_empty() {
            return Err(format!("hotplug: {key}: found no CPUs, expected a CPU list such as 4-7"));
        }
        if !(0.0..=MAX_S).contains(&f.at_s) {
            return Err(format!("hotplug: at_s: found {}, expected 0 to {MAX_S}", f.at_s));
        }
        Ok(HotplugEntry { at_s: f.at_s, cpus, online })
    }
}

impl From<HotplugEntry> for Fields {
    fn from(e: HotplugEntry) -> Fields {
        let list = Some(e.cpus.to_string());
        let (offline, online) = if e.online { (None, list) } else { (list, None) };
        Fields { at_s: e.at_s, offline, online }
    }
}

impl HotplugEntry {
    /// One step for each CPU, ascending.
    pub fn steps(&self) -> impl Iterator<Item = HotplugStep> + use<'_> {
        let (at_ns, online) = ((self.at_s * 1e9).round() as u64, self.online);
        self.cpus.iter().map(move |cpu| HotplugStep { at_ns, cpu, online })
    }
}

#[cfg(test)]
mod tests {
    use crate::ExperimentFile;

    const GOOD: &str = include_str!("../../../../experiments/power9-big-core.toml");

    fn with(hotplug: &str) -> Result<ExperimentFile, String> {
        let to = format!("kernel = \"4.18\"\nhotplug = {hotplug}");
        ExperimentFile::parse(&GOOD.replacen("kernel = \"4.18\"", &to, 1), "x.toml")
            .map_err(|e| e.to_string())
    }

    #[test]
    fn lists_become_a_step_for_each_cpu_and_are_written_as_they_were_read() {
        let file =
            with("[{ at_s = 0.5, offline = \"5-6\" }, { at_s = 1, online = \"6\" }]").unwrap();
        let entries = &file.variants[0].hotplug;
        let steps: Vec<_> = entries.iter().flat_map(|e| e.steps()).collect();
        let seen: Vec<_> = steps.iter().map(|s| (s.at_ns, s.cpu, s.online)).collect();
        assert_eq!(
            seen,
            [(500_000_000, 5, false), (500_000_000, 6, false), (1_000_000_000, 6, true)]
        );
        let again = toml::to_string(&file).unwrap();
        assert_eq!(ExperimentFile::parse(&again, "x.toml").unwrap(), file);
    }

    #[test]
    fn a_file_without_hotplug_is_written_without() {
        let file = ExperimentFile::parse(GOOD, "x.toml").unwrap();
        assert!(!serde_json::to_string(&file).unwrap().contains("hotplug"));
    }

    #[test]
    fn bad_entries_are_named() {
        for (hotplug, expected) in [
            ("[{ at_s = 1, offline = \"4-\" }]", "hotplug: offline: found `4-`"),
            ("[{ at_s = 1, online = \"50000\" }]", "hotplug: online: found `50000`"),
            ("[{ at_s = 1, ofline = \"4\" }]", "unknown field `ofline`"),
            ("[{ at_s = 1 }]", "hotplug: found none of `offline` and `online`"),
            ("[{ at_s = 1, offline = \"4\", online = \"5\" }]", "hotplug: found both"),
            ("[{ at_s = -1, offline = \"4\" }]", "hotplug: at_s: found -1, expected 0 to"),
            ("[{ at_s = nan, offline = \"4\" }]", "hotplug: at_s: found NaN"),
            ("[{ at_s = 1, offline = \"\" }]", "hotplug: offline: found no CPUs"),
            ("[{ offline = \"4\" }]", "missing field `at_s`"),
            ("{ at_s = 1, offline = \"4\" }", "expected a sequence"),
        ] {
            let message = with(hotplug).unwrap_err();
            assert!(message.starts_with("x.toml: line "), "{message}");
            assert!(message.contains(expected), "{hotplug}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }
}
