//! A trace's tasks again: `[workload.replay]`. Whoever builds it reads the trace ([`crate::Target::replay`]).

use serde::{Deserialize, Serialize};

/// Which trace, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// The recording: trace.dat, perf.data, Perfetto's protobuf or ftrace's text. Relative to the experiment file.
    pub trace: String,
    /// The machine on which it was recorded, as for the experiment's `machine`; that one if absent. A file is relative to the
    /// experiment file. Times are turned into work by its clocks and by how its threads share a core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// Whether new tasks begin on the CPU where they began in the trace; otherwise where the variant's kernel puts them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_forks: bool,
    /// Whether idle CPUs take as long to run a woken task as in the trace; if absent, they do unless `machine` is another one. Otherwise
    /// the experiment's machine says how long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_idle_exits: Option<bool>,
    /// Where to begin, in ms of the trace's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<f64>,
    /// Where to end, in ms of the trace's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<f64>,
    /// Names of a waker and a woken task between which wake-ups are synchronous (`WF_SYNC`), which only probes record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sync: Vec<(String, String)>,
}
