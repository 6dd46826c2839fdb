//! Idle states from `/sys/devices/system/cpu/cpuN/cpuidle`.

use super::odd::Sysfs;
use crate::cpuset::CpuSet;
use crate::files::CPU_DIR;
use crate::model::IdleState;

/// Reads the idle states of the first CPU of `online`; sysfs gives times in µs.
pub(super) fn read(sysfs: &Sysfs, online: &CpuSet, unknown: &mut Vec<String>) -> Vec<IdleState> {
    let Some(cpu) = online.first() else { return Vec::new() };
    let dir = format!("{CPU_DIR}/cpu{cpu}/cpuidle");
    let mut states = Vec::new();
    for state in sysfs.numbered(&dir, "state") {
        let place = |file: &str| format!("{dir}/state{state}/{file}");
        let time_ns = |file: &str| {
            let us = sysfs.number::<u64>(&place(file))?;
            let ns = us.checked_mul(1000);
            if ns.is_none() {
                sysfs.odd(&place(file), format!("{us} µs"), "less than 2^64 ns");
            }
            ns
        };
        let name = sysfs.text(&place("name")).unwrap_or_else(|| format!("state{state}"));
        match (time_ns("latency"), time_ns("residency")) {
            (Some(exit_latency_ns), Some(target_residency_ns)) => {
                // acpi_idle says "ACPI FFH MWAIT 0x0", intel_idle "MWAIT 0x00".
                let mwait = sysfs.text(&place("desc")).is_some_and(|d| d.contains("MWAIT"));
                states.push(IdleState { name, exit_latency_ns, target_residency_ns, mwait });
            }
            _ => unknown.push(format!(
                "Idle state {name}: this kernel shows no latency or residency; it is left out."
            )),
        }
    }
    if states.is_empty() {
        unknown.push(format!("Idle states: sysfs has none for CPU {cpu}."));
    }
    states
}
