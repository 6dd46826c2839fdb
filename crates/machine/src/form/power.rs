//! Frequencies, performance levels and idle states: `cpufreq`, `acpi_cppc`, `cpuidle`.

use super::{CPU_DIR, Files};
use crate::cpuset::CpuSet;
use crate::model::{Cppc, FrequencyPolicy, Machine};

pub(super) fn add(machine: &Machine, files: &mut Files) {
    machine.policies.iter().for_each(|p| policy(machine, p, files));
    machine.cppc.iter().for_each(|c| cppc(machine, c, files));
    for cpu in machine.online.iter() {
        for (index, state) in machine.idle_states.iter().enumerate() {
            let dir = format!("{CPU_DIR}/cpu{cpu}/cpuidle/state{index}");
            files.line(format!("{dir}/name"), &state.name);
            if state.mwait {
                files.line(format!("{dir}/desc"), "ACPI FFH MWAIT 0x0");
            }
            files.line(format!("{dir}/latency"), state.exit_latency_ns / 1000);
            files.line(format!("{dir}/residency"), state.target_residency_ns / 1000);
        }
    }
}

fn policy(machine: &Machine, policy: &FrequencyPolicy, files: &mut Files) {
    let Some(first) = policy.cpus.first() else { return };
    let place = |name: &str| format!("{CPU_DIR}/cpufreq/policy{first}/{name}");
    files.line(place("related_cpus"), spaced(policy.cpus.iter()));
    let online: CpuSet = &policy.cpus & &machine.online;
    // A policy without online CPUs refuses to be read.
    if !online.is_empty() {
        files.line(place("affected_cpus"), spaced(online.iter()));
    }
    files.known(place("scaling_driver"), policy.driver.as_ref());
    files.line(place("cpuinfo_min_freq"), policy.min_khz);
    files.line(place("cpuinfo_max_freq"), policy.max_khz);
    files.known(place("base_frequency"), policy.base_khz);
    if !policy.available_khz.is_empty() {
        // The kernel ends each frequency of this list with a space.
        let list = policy.available_khz.iter().map(|khz| format!("{khz} "));
        files.line(place("scaling_available_frequencies"), list.collect::<String>());
    }
}

fn cppc(machine: &Machine, cppc: &Cppc, files: &mut Files) {
    for cpu in (&cppc.cpus & &machine.online).iter() {
        let place = |name: &str| format!("{CPU_DIR}/cpu{cpu}/acpi_cppc/{name}");
        files.line(place("highest_perf"), cppc.highest_perf);
        files.line(place("nominal_perf"), cppc.nominal_perf);
        files.line(place("lowest_nonlinear_perf"), cppc.lowest_nonlinear_perf);
        files.line(place("lowest_perf"), cppc.lowest_perf);
        files.known(place("reference_perf"), cppc.reference_perf);
        files.known(place("nominal_freq"), cppc.nominal_mhz);
        files.known(place("lowest_freq"), cppc.lowest_mhz);
    }
}

fn spaced(numbers: impl Iterator<Item = usize>) -> String {
    numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(" ")
}
