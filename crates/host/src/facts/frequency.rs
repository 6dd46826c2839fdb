//! Clocks of the CPUs: `/sys/devices/system/cpu/cpufreq`.

use super::files;
use machine::CpuSet;
use std::path::Path;

const DIR: &str = "sys/devices/system/cpu/cpufreq";

/// A frequency policy: CPUs whose clock is set together, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policy {
    /// Those of its CPUs that are online (`affected_cpus`).
    pub(super) cpus: CpuSet,
    /// `scaling_driver`.
    pub(super) driver: Option<String>,
    /// `scaling_governor`.
    pub(super) governor: Option<String>,
    /// `energy_performance_preference`.
    pub(super) epp: Option<String>,
    /// `scaling_min_freq` and `scaling_max_freq`, in kHz, as `800000..3500000`.
    pub(super) limits_khz: Option<String>,
}

/// Every policy by its number.
pub(super) fn policies(root: &Path) -> Vec<Policy> {
    let numbers = files::numbered(root, DIR, "policy");
    let policy = |number: usize| {
        let file = |name: &str| files::text(root, &format!("{DIR}/policy{number}/{name}"));
        // The kernel's files separate these CPUs by spaces.
        let cpus = file("affected_cpus").unwrap_or_default();
        let cpus = cpus.split_whitespace().collect::<Vec<_>>().join(",").parse().ok();
        let limits = file("scaling_min_freq").zip(file("scaling_max_freq"));
        Some(Policy {
            cpus: cpus.filter(|cpus: &CpuSet| !cpus.is_empty())?,
            driver: file("scaling_driver"),
            governor: file("scaling_governor"),
            epp: file("energy_performance_preference"),
            limits_khz: limits.map(|(min, max)| format!("{min}..{max}")),
        })
    };
    numbers.into_iter().filter_map(policy).collect()
}

/// A value of the policies by CPUs that have it.
pub(super) fn of_each(
    policies: &[Policy],
    value: impl Fn(&Policy) -> Option<String>,
) -> Vec<(CpuSet, String)> {
    let values = policies.iter().filter_map(|p| Some((p.cpus.clone(), value(p)?)));
    files::by_value(values)
}

/// A value of the policies as text, with CPUs where it differs.
pub(super) fn told(
    policies: &[Policy],
    value: impl Fn(&Policy) -> Option<String>,
) -> Option<String> {
    files::where_they_differ(&of_each(policies, value))
}

/// Whether clocks may go above the nominal one: `intel_pstate/no_turbo`, else `cpufreq/boost`; none if there is no switch.
pub(super) fn turbo(root: &Path) -> Option<bool> {
    let switch = |path: &str| match files::text(root, path).as_deref() {
        Some("0") => Some(false),
        Some("1") => Some(true),
        _ => None,
    };
    let off = switch("sys/devices/system/cpu/intel_pstate/no_turbo");
    off.map(|off| !off).or_else(|| switch("sys/devices/system/cpu/cpufreq/boost"))
}
