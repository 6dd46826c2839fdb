//! What a user sets around a workload: CPUs that go offline, who governs the clocks, how the prefetch engine is used,
//! control groups, files of a running kernel.
//!
//! Plain data with names. What a setting means for a machine and a kernel is decided by who runs it.

mod accel;
mod files;
mod frequency;
mod governor;
mod groups;
mod hotplug;
mod prefetch;

pub use accel::Accel;
pub use files::{Form, KernelFile};
pub use frequency::{AmdPstateMode, DriverChoice, Frequency, Invariance, MaxFreq};
pub use governor::{Governor, Tunable, Tunables};
pub use groups::{
    CpuFiles, FILES, Group, GroupError, Hierarchy, Partition, Place, Weight, group_of, matches,
};
pub use hotplug::HotplugStep;
pub use prefetch::{Prefetch, Rate};

/// Everything that is set around a workload. By default nothing is but what kernels set themselves.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// CPUs that go offline and come online while the run lasts, in order.
    pub hotplug: Vec<HotplugStep>,
    /// Who governs the clocks; without, all cores run at `nominal_khz`.
    pub frequency: Option<Frequency>,
    /// How a hypervisor uses the prefetch engine, where the kernel does.
    pub prefetch: Prefetch,
    /// Control groups of a kernel tree's own, those above first.
    pub groups: Vec<Group>,
    /// Automatic NUMA balancing (`kernel.numa_balancing`): on by default, as kernels have it that are built with it.
    pub numa_balancing: bool,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            hotplug: Vec::new(),
            frequency: None,
            prefetch: Prefetch::default(),
            groups: Vec::new(),
            numa_balancing: true,
        }
    }
}

/// Why a setting cannot be as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// A name that is not known.
    #[error("{field}: found `{found}`, expected one of {expected}")]
    Name {
        /// What it was to name.
        field: &'static str,
        /// The name.
        found: String,
        /// The names that exist, comma separated.
        expected: String,
    },
    /// A tunable that the governor does not have.
    #[error("{tunable}: found it with governor {governor}, expected it with {expected} only")]
    Unheard {
        /// The tunable.
        tunable: Tunable,
        /// The governor.
        governor: Governor,
        /// The governors that have it, joined by `and`.
        expected: String,
    },
    /// A restore rate that the engine does not have.
    #[error("rate_cycles: found {found}, expected {expected}")]
    RateCycles {
        /// Cycles between lines.
        found: u32,
        /// The rates that exist.
        expected: String,
    },
}

/// The value called `found` in a table of names.
fn named<T: Copy>(
    field: &'static str,
    found: &str,
    table: impl IntoIterator<Item = (&'static str, T)>,
) -> Result<T, SettingError> {
    let mut names = Vec::new();
    for (name, value) in table {
        if name == found {
            return Ok(value);
        }
        names.push(name);
    }
    Err(SettingError::Name { field, found: found.to_string(), expected: names.join(", ") })
}
