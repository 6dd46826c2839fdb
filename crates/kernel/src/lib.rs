//! Kernel releases, their mechanisms, and the sched domains that a kernel builds from a machine.
//!
//! [`build`](build()) follows `build_sched_domains` from start to end, and each step has a module:
//!
//! 1. `levels` lists the topology levels: those of the architecture (`powerpc`, `arm64`, `x86`), lowest first, then one for
//!    each NUMA distance (`numa`). A level is a mask for each CPU.
//! 2. `chain` cuts each CPU's domains out of the masks and sets what `sd_init` sets: flags, thresholds, intervals.
//! 3. `groups` divides every domain into groups, with their capacities (`capacity`).
//! 4. `imb_numa` computes the imbalance that a domain tolerates across nodes, while all levels are still there.
//! 5. `attach` removes the levels that tell the scheduler nothing and leaves the rest to the CPU (`cpu_attach_domain`).
//!
//! [`log`] and [`debugfs`] print the result as a kernel does, and [`recorded`] compares it with what a kernel printed. A rule that
//! a release changed stands where it is applied, beside the first [`Version`] that has the new one; what a user can switch is a row
//! of [`MECHANISMS`].
//!
//! Everything here is a pure function of a [`machine::Machine`] and a [`Kernel`]. Nothing reads a clock, a file or the environment,
//! and nothing knows of the simulator: it takes the finished [`Domains`].

mod arm64;
mod attach;
pub mod build;
mod capacity;
mod chain;
mod config;
pub mod cpuidle;
pub mod debugfs;
mod domain;
mod flags;
mod groups;
mod imb_numa;
pub mod levels;
mod llc;
pub mod log;
mod mechanism;
mod numa;
mod powerpc;
pub mod priority;
pub mod recorded;
mod version;
mod wrong;
mod x86;

pub use build::{build, build_after_offline};
pub use chain::reclaim_distance;
pub use config::Kernel;
pub use domain::{Domain, Domains, Group};
pub use flags::SdFlags;
pub use mechanism::{MECHANISMS, Mechanism, MechanismId};
pub use version::Version;

/// Why a kernel cannot be modelled as asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// Text that is no kernel version.
    #[error("kernel: found `{found}`, expected a version such as 4.18 or 6.12")]
    Version {
        /// What was given.
        found: String,
    },
    /// A version older than the rules that are modelled.
    #[error("kernel: found {found}, expected {oldest} or newer")]
    TooOld {
        /// What was given.
        found: Version,
        /// The oldest version modelled.
        oldest: Version,
    },
    /// No mechanism of that name.
    #[error("mechanism: found `{found}`, expected one of {known}")]
    Mechanism {
        /// What was given.
        found: String,
        /// The names that exist, comma separated.
        known: String,
    },
    /// A machine of an architecture whose levels are not modelled.
    #[error(
        "domains of machine `{machine}`: found another architecture, expected powerpc, arm64 or x86"
    )]
    Arch {
        /// The machine's name.
        machine: String,
    },
    /// A level whose CPUs do not fit together.
    #[error(
        "domains of machine `{machine}`: level {level} of CPU {cpu}: found {found}, expected {expected}"
    )]
    Level {
        /// The machine's name.
        machine: String,
        /// The level's name.
        level: &'static str,
        /// The CPU whose mask is wrong.
        cpu: usize,
        /// Its mask.
        found: String,
        /// What would fit.
        expected: String,
    },
    /// A CPU said to go offline that is online or does not exist.
    #[error("CPU that went offline: found {found}, expected one of the offline CPUs ({expected})")]
    NotOffline {
        /// The CPU.
        found: usize,
        /// The CPUs that are offline, as a list.
        expected: String,
    },
    /// A file of a capture that cannot be read as what it is.
    #[error("{file}: {place}: found {found}, expected {expected}")]
    Recorded {
        /// Name of the file below the step.
        file: String,
        /// Line or field.
        place: String,
        /// What is there.
        found: String,
        /// What would do.
        expected: String,
    },
}
