//! Frequencies and performance levels from `cpufreq` and `acpi_cppc` below `/sys/devices/system/cpu`.

use super::cpus::have;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::files::{CPU_DIR, Files};
use crate::model::{Cppc, FrequencyPolicy};

/// Reads the cpufreq policies, in the order of their first CPU: `cpufreq/policyN`, or `cpuN/cpufreq` of kernels
/// before 4.3.
pub(super) fn policies(
    sysfs: &Files,
    count: usize,
    online: CpuSet,
    unknown: &mut Vec<String>,
) -> Result<Vec<FrequencyPolicy>, MachineError> {
    let mut dirs: Vec<(usize, String)> = Vec::new();
    for policy in sysfs.numbered(&format!("{CPU_DIR}/cpufreq"), "policy")? {
        dirs.push((policy as usize, format!("{CPU_DIR}/cpufreq/policy{policy}")));
    }
    if dirs.is_empty() && have(sysfs, online, "cpufreq/cpuinfo_min_freq") {
        dirs.extend((0..count).map(|cpu| (cpu, format!("{CPU_DIR}/cpu{cpu}/cpufreq"))));
    }
    let mut policies: Vec<FrequencyPolicy> = Vec::new();
    for (cpu, dir) in dirs {
        let covered = policies.iter().any(|p| p.cpus.contains(cpu));
        if !covered && let Some(policy) = policy(sysfs, &dir, cpu, count)? {
            policies.push(policy);
        }
    }
    if policies.is_empty() {
        unknown.push("Frequencies: sysfs has no cpufreq policy with limits.".to_string());
    }
    policies.sort_by_key(|p| p.cpus.first());
    Ok(policies)
}

/// The policy in `dir`, `None` where it has no limits or is none.
fn policy(
    sysfs: &Files,
    dir: &str,
    cpu: usize,
    count: usize,
) -> Result<Option<FrequencyPolicy>, MachineError> {
    let place = |file: &str| format!("{dir}/{file}");
    let khz = |file: &str| sysfs.number::<u64>(&place(file));
    let Some(min_khz) = khz("cpuinfo_min_freq")? else { return Ok(None) };
    let Some(max_khz) = khz("cpuinfo_max_freq")? else { return Ok(None) };
    if min_khz > max_khz || max_khz == 0 {
        let found = format!("{max_khz} kHz, below the {min_khz} of cpuinfo_min_freq");
        return Err(sysfs.error(&place("cpuinfo_max_freq"), found, "at least as much, and no 0"));
    }
    let cpus = match sysfs.text(&place("related_cpus"))? {
        None => CpuSet::single(cpu),
        // Numbers with blanks between them, unlike every other list of CPUs.
        Some(text) => match text.split_whitespace().collect::<Vec<_>>().join(",").parse() {
            Ok(set) if CpuSet::single(cpu).is_subset(&set) => set & CpuSet::first_n(count),
            _ => {
                let expected = format!("CPU {cpu} and others below {count}");
                return Err(sysfs.error(&place("related_cpus"), format!("`{text}`"), &expected));
            }
        },
    };
    let table = place("scaling_available_frequencies");
    let available_khz = match sysfs.text(&table)? {
        None => Vec::new(),
        Some(text) => text
            .split_whitespace()
            .map(|khz| khz.parse().map_err(|_| sysfs.error(&table, khz, "numbers in kHz")))
            .collect::<Result<_, _>>()?,
    };
    Ok(Some(FrequencyPolicy {
        cpus,
        driver: sysfs.text(&place("scaling_driver"))?,
        min_khz,
        max_khz,
        base_khz: khz("base_frequency")?,
        available_khz,
    }))
}

/// Reads CPPC's performance levels; CPUs with equal ones come together, in the order of the first.
pub(super) fn cppc(sysfs: &Files, online: CpuSet) -> Result<Vec<Cppc>, MachineError> {
    let mut all: Vec<Cppc> = Vec::new();
    if !have(sysfs, online.clone(), "acpi_cppc/highest_perf") {
        return Ok(all);
    }
    for cpu in online.iter() {
        let number =
            |file: &str| sysfs.number::<u64>(&format!("{CPU_DIR}/cpu{cpu}/acpi_cppc/{file}"));
        let Some(highest_perf) = number("highest_perf")? else { continue };
        let (Some(nominal_perf), Some(lowest_perf), Some(lowest_nonlinear_perf)) =
            (number("nominal_perf")?, number("lowest_perf")?, number("lowest_nonlinear_perf")?)
        else {
            continue;
        };
        let mut levels = Cppc {
            cpus: CpuSet::EMPTY,
            highest_perf,
            nominal_perf,
            lowest_nonlinear_perf,
            lowest_perf,
            reference_perf: number("reference_perf")?,
            nominal_mhz: number("nominal_freq")?.filter(|&mhz| mhz != 0),
            lowest_mhz: number("lowest_freq")?.filter(|&mhz| mhz != 0),
        };
        match all.iter_mut().find(|c| Cppc { cpus: CpuSet::EMPTY, ..(*c).clone() } == levels) {
            Some(same) => same.cpus.insert(cpu),
            None => {
                levels.cpus.insert(cpu);
                all.push(levels);
            }
        }
    }
    Ok(all)
}
