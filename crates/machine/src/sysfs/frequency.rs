//! Frequencies and performance levels from `cpufreq` and `acpi_cppc` below `/sys/devices/system/cpu`.

use super::cpus::have;
use super::odd::Sysfs;
use crate::cpuset::CpuSet;
use crate::files::CPU_DIR;
use crate::model::{Cppc, FrequencyPolicy};

/// Reads the cpufreq policies, in the order of their first CPU: `cpufreq/policyN`, or `cpuN/cpufreq` of kernels
/// before 4.3.
pub(super) fn policies(
    sysfs: &Sysfs,
    count: usize,
    online: &CpuSet,
    unknown: &mut Vec<String>,
) -> Vec<FrequencyPolicy> {
    let mut dirs: Vec<(usize, String)> = Vec::new();
    for policy in sysfs.numbered(&format!("{CPU_DIR}/cpufreq"), "policy") {
        dirs.push((policy as usize, format!("{CPU_DIR}/cpufreq/policy{policy}")));
    }
    if dirs.is_empty() && have(sysfs, online, "cpufreq/cpuinfo_min_freq") {
        dirs.extend((0..count).map(|cpu| (cpu, format!("{CPU_DIR}/cpu{cpu}/cpufreq"))));
    }
    let mut policies: Vec<FrequencyPolicy> = Vec::new();
    for (cpu, dir) in dirs.into_iter().filter(|(cpu, _)| *cpu < count) {
        let covered = policies.iter().any(|p| p.cpus.contains(cpu));
        if !covered && let Some(policy) = policy(sysfs, &dir, cpu, count) {
            policies.push(policy);
        }
    }
    if policies.is_empty() {
        unknown.push("Frequencies: sysfs has no cpufreq policy with limits.".to_string());
    }
    policies.sort_by_key(|p| p.cpus.first());
    policies
}

/// The policy in `dir`, `None` where it has no limits or is none.
fn policy(sysfs: &Sysfs, dir: &str, cpu: usize, count: usize) -> Option<FrequencyPolicy> {
    let place = |file: &str| format!("{dir}/{file}");
    let khz = |file: &str| sysfs.number::<u64>(&place(file));
    let min_khz = khz("cpuinfo_min_freq")?;
    let max_khz = khz("cpuinfo_max_freq")?;
    if min_khz > max_khz || max_khz == 0 {
        let found = format!("{max_khz} kHz, below the {min_khz} of cpuinfo_min_freq");
        sysfs.odd(&place("cpuinfo_max_freq"), found, "at least as much, and no 0");
        return None;
    }
    let table = place("scaling_available_frequencies");
    let entry = |text: &str| {
        let khz = text.parse().ok();
        if khz.is_none() {
            sysfs.odd(&table, text, "numbers in kHz");
        }
        khz
    };
    // Only drivers with a table of frequencies have the file.
    let available = sysfs.text(&table);
    Some(FrequencyPolicy {
        cpus: related(sysfs, &place("related_cpus"), cpu, count),
        driver: sysfs.text(&place("scaling_driver")),
        min_khz,
        max_khz,
        base_khz: khz("base_frequency"),
        available_khz: available
            .iter()
            .flat_map(|t| t.split_whitespace())
            .filter_map(entry)
            .collect(),
    })
}

/// CPUs of `cpu`'s policy, `cpu` alone where `related_cpus` does not tell. The file has numbers with blanks between
/// them, unlike every other list of CPUs.
fn related(sysfs: &Sysfs, place: &str, cpu: usize, count: usize) -> CpuSet {
    let Some(text) = sysfs.text(place) else { return CpuSet::single(cpu) };
    match text.split_whitespace().collect::<Vec<_>>().join(",").parse::<CpuSet>() {
        Ok(set) if set.contains(cpu) => set & CpuSet::first_n(count),
        _ => {
            let expected = format!("CPU {cpu} and others below {count}");
            sysfs.odd(place, format!("`{text}`"), expected);
            CpuSet::single(cpu)
        }
    }
}

/// Reads CPPC's performance levels; CPUs with equal ones come together, in the order of the first.
pub(super) fn cppc(sysfs: &Sysfs, online: &CpuSet) -> Vec<Cppc> {
    let mut all: Vec<Cppc> = Vec::new();
    if !have(sysfs, online, "acpi_cppc/highest_perf") {
        return all;
    }
    for cpu in online.iter() {
        let Some(mut levels) = cppc_of(sysfs, cpu) else { continue };
        match all.iter_mut().find(|c| Cppc { cpus: CpuSet::EMPTY, ..(*c).clone() } == levels) {
            Some(same) => same.cpus.insert(cpu),
            None => {
                levels.cpus.insert(cpu);
                all.push(levels);
            }
        }
    }
    all
}

/// The levels of one CPU, for no CPU yet.
fn cppc_of(sysfs: &Sysfs, cpu: usize) -> Option<Cppc> {
    let number = |file: &str| sysfs.number::<u64>(&format!("{CPU_DIR}/cpu{cpu}/acpi_cppc/{file}"));
    Some(Cppc {
        cpus: CpuSet::EMPTY,
        highest_perf: number("highest_perf")?,
        nominal_perf: number("nominal_perf")?,
        lowest_nonlinear_perf: number("lowest_nonlinear_perf")?,
        lowest_perf: number("lowest_perf")?,
        reference_perf: number("reference_perf"),
        nominal_mhz: number("nominal_freq").filter(|&mhz| mhz != 0),
        lowest_mhz: number("lowest_freq").filter(|&mhz| mhz != 0),
    })
}
