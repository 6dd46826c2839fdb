//! Idle states from `/sys/devices/system/cpu/cpuN/cpuidle`.

use super::cpus::DIR;
use super::files::Sysfs;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::IdleState;

/// Reads the idle states of the first CPU of `online`; sysfs gives times in µs.
pub(super) fn read(
    sysfs: &Sysfs<'_>,
    online: &CpuSet,
    unknown: &mut Vec<String>,
) -> Result<Vec<IdleState>, MachineError> {
    let Some(cpu) = online.first() else { return Ok(Vec::new()) };
    let dir = format!("{DIR}/cpu{cpu}/cpuidle");
    let mut states = Vec::new();
    for state in sysfs.numbered(&dir, "state")? {
        let place = |file: &str| format!("{dir}/state{state}/{file}");
        let time_ns = |file: &str| -> Result<u64, MachineError> {
            let us: u64 = sysfs.require(&place(file), sysfs.number(&place(file))?)?;
            let too_long = || sysfs.error(&place(file), format!("{us} µs"), "less than 2^64 ns");
            us.checked_mul(1000).ok_or_else(too_long)
        };
        states.push(IdleState {
            name: sysfs.require(&place("name"), sysfs.text(&place("name"))?)?,
            exit_latency_ns: time_ns("latency")?,
            target_residency_ns: time_ns("residency")?,
        });
    }
    if states.is_empty() {
        unknown.push(format!("Idle states: sysfs has none for CPU {cpu}."));
    }
    Ok(states)
}
