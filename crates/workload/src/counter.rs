//! What an engine counts in every run besides the workload's metrics.

use serde::{Deserialize, Serialize};

/// A counter. An engine has one fixed list of them: every run gives a value for each, 0 included.
///
/// Values are totals of one run, over all CPUs and, for balancing, over all domains of each CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counter {
    /// Name, the kernel's own where `/proc/schedstat` has the counter.
    pub name: String,
    /// Unit: `ns`, `us`, `uJ`, `m°C` or `lines`, or empty for plain numbers.
    pub unit: String,
    /// What is counted, in one line.
    pub help: String,
    /// The counter to which this one adds up, together with all others that name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part_of: Option<String>,
}

impl Counter {
    /// A plain number that is part of no other.
    pub fn number(name: &str, help: &str) -> Counter {
        Counter { name: name.into(), unit: String::new(), help: help.into(), part_of: None }
    }

    /// A time in ns that is part of no other.
    pub fn ns(name: &str, help: &str) -> Counter {
        Counter::of_unit(name, "ns", help)
    }

    /// A counter in `unit` that is part of no other.
    pub fn of_unit(name: &str, unit: &str, help: &str) -> Counter {
        Counter { unit: unit.into(), ..Counter::number(name, help) }
    }

    /// The same counter as a part of `whole`.
    pub fn part_of(self, whole: &str) -> Counter {
        Counter { part_of: Some(whole.into()), ..self }
    }
}
