//! What a variant sets on this computer, and nowhere else: `[variant.host]`.

use machine::CpuSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where files that may be written to by their path are.
const KERNEL_FILES: [&str; 2] = ["/sys/", "/proc/sys/"];
/// Real-time priorities.
const PRIORITIES: std::ops::RangeInclusive<u32> = 1..=99;

/// A scheduling policy of commands, under the names that `chrt` has for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostPolicy {
    /// SCHED_OTHER.
    Other,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_FIFO.
    Fifo,
    /// SCHED_RR.
    Rr,
}

impl HostPolicy {
    /// As `chrt` and experiment files have it.
    pub fn name(self) -> &'static str {
        match self {
            HostPolicy::Other => "other",
            HostPolicy::Batch => "batch",
            HostPolicy::Idle => "idle",
            HostPolicy::Fifo => "fifo",
            HostPolicy::Rr => "rr",
        }
    }

    /// Whether it has priorities.
    pub fn is_realtime(self) -> bool {
        matches!(self, HostPolicy::Fifo | HostPolicy::Rr)
    }
}

/// `[variant.host]`. What is not set stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostEntry {
    /// Words that the running kernel's command line must have.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command_line: String,
    /// CPUs that are offline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offline: Option<CpuSet>,
    /// CPUs that commands may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<CpuSet>,
    /// Nice value of commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nice: Option<i8>,
    /// Scheduling policy of commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<HostPolicy>,
    /// Priority of commands whose policy has priorities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// Environment of commands.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Lowest clock in kHz (`scaling_min_freq`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_khz: Option<u32>,
    /// Highest clock in kHz (`scaling_max_freq`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_khz: Option<u32>,
    /// Energy performance preference (`energy_performance_preference`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epp: Option<String>,
    /// Whether clocks above the nominal one are allowed (`cpufreq/boost`, `intel_pstate/no_turbo`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boost: Option<bool>,
    /// Idle states by name, and whether CPUs may use them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub idle_states: BTreeMap<String, bool>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transparent_hugepages: Option<String>,
    /// Automatic NUMA balancing (`kernel.numa_balancing`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa_balancing: Option<bool>,
    /// Other files of the kernel below /sys and /proc/sys, and what is written to them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

impl HostEntry {
    /// What is wrong with it: the field, what was found and what was expected.
    pub(super) fn wrong(&self) -> Option<(String, String, &'static str)> {
        let priority = self.priority.map_or("none".to_owned(), |p| p.to_string());
        let is_realtime = self.policy.is_some_and(HostPolicy::is_realtime);
        if is_realtime && !self.priority.is_some_and(|p| PRIORITIES.contains(&p)) {
            return Some(("priority".into(), priority, "1 to 99, as the policy has them"));
        }
        if !is_realtime && self.priority.is_some() {
            let expected = "none: only the policies fifo and rr have priorities";
            return Some(("priority".into(), priority, expected));
        }
        if let Some(nice) = self.nice.filter(|nice| !(-20..=19).contains(nice)) {
            return Some(("nice".into(), nice.to_string(), "-20 to 19"));
        }
        let has = |path: &str| KERNEL_FILES.iter().any(|below| path.starts_with(below));
        let odd = |path: &&String| !has(path) || path.split('/').any(|part| part == "..");
        if let Some(path) = self.files.keys().find(odd) {
            return Some(("files".into(), format!("`{path}`"), "files below /sys or /proc/sys"));
        }
        let odd = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
        if let Some(name) = self.env.keys().find(odd) {
            return Some(("env".into(), format!("`{name}`"), "names of variables"));
        }
        None
    }

    /// What it sets, as `nice=5`, in the order of the file's documentation.
    pub fn set(&self) -> Vec<String> {
        let text = |name: &str, value: Option<String>| value.map(|v| format!("{name}={v}"));
        let line = (!self.command_line.is_empty())
            .then(|| format!("kernel command line {}", self.command_line));
        let single = [
            line,
            text("offline", self.offline.as_ref().map(CpuSet::to_string)),
            text("cpus", self.cpus.as_ref().map(CpuSet::to_string)),
            text("nice", self.nice.map(|n| n.to_string())),
            text("policy", self.policy.map(|p| p.name().to_owned())),
            text("priority", self.priority.map(|p| p.to_string())),
            text("min_khz", self.min_khz.map(|k| k.to_string())),
            text("max_khz", self.max_khz.map(|k| k.to_string())),
            text("epp", self.epp.clone()),
            text("boost", self.boost.map(|b| b.to_string())),
            text("transparent_hugepages", self.transparent_hugepages.clone()),
            text("numa_balancing", self.numa_balancing.map(|b| b.to_string())),
        ];
        let states = self.idle_states.iter();
        let states =
            states.map(|(n, on)| format!("idle state {n} {}", if *on { "on" } else { "off" }));
        let all = |map: &BTreeMap<String, String>| -> Vec<String> {
            map.iter().map(|(name, value)| format!("{name}={value}")).collect()
        };
        let single = single.into_iter().flatten();
        single.chain(states).chain(all(&self.env)).chain(all(&self.files)).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::ExperimentFile;

    const GOOD: &str = include_str!("../../../../experiments/wa-weight-guest.toml");

    fn with(host: &str) -> Result<ExperimentFile, String> {
        let (head, tail) = GOOD.split_once("[[workload]]").unwrap();
        let text = format!(
            "{head}[[variant]]\nname = \"other\"\nkernel = \"6.12\"\n{host}\n[[workload]]{tail}"
        );
        ExperimentFile::parse(&text, "x.toml").map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_set_is_listed_and_comes_back() {
        let file = with(
            "features = { WA_WEIGHT = false }\nsysctl = { \"kernel.sched_rr_timeslice_ms\" = 5 }\n\
             [variant.host]\ncpus = \"0-1\"\nnice = -5\npolicy = \"rr\"\npriority = 7\n\
             idle_states = { C6 = false }\nenv = { A = \"b\" }\nboost = false\n",
        )
        .unwrap();
        let host = file.variants.last().unwrap().host.clone().unwrap();
        let expected =
            "cpus=0-1, nice=-5, policy=rr, priority=7, boost=false, idle state C6 off, A=b";
        assert_eq!(host.set().join(", "), expected);
        let again = toml::to_string(&file).unwrap();
        assert_eq!(ExperimentFile::parse(&again, "x.toml").unwrap(), file);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        for (host, expected) in [
            ("policy = \"fifo\"", "host.priority: found none, expected 1 to 99"),
            ("policy = \"fifo\"\npriority = 100", "host.priority: found 100"),
            ("priority = 3", "host.priority: found 3, expected none: only"),
            ("nice = 20", "host.nice: found 20, expected -20 to 19"),
            ("files = { \"/etc/passwd\" = \"x\" }", "host.files: found `/etc/passwd`"),
            (
                "files = { \"/sys/../etc/passwd\" = \"x\" }",
                "host.files: found `/sys/../etc/passwd`",
            ),
            ("env = { \"A=B\" = \"x\" }", "host.env: found `A=B`"),
            ("polcy = \"x\"", "unknown field `polcy`"),
        ] {
            let error = with(&format!("[variant.host]\n{host}")).unwrap_err();
            assert!(error.contains(expected), "{host}: {error}");
        }
    }
}
