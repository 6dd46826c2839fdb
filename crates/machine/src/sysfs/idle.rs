//! Idle states from `/sys/devices/system/cpu/cpuN/cpuidle`.

use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::files::{CPU_DIR, Files};
use crate::model::IdleState;

/// Reads the idle states of the first CPU of `online`; sysfs gives times in µs.
pub(super) fn read(
    sysfs: &Files,
    online: &CpuSet,
    unknown: &mut Vec<String>,
) -> Result<Vec<IdleState>, MachineError> {
    let Some(cpu) = online.first() else { return Ok(Vec::new()) };
    let dir = format!("{CPU_DIR}/cpu{cpu}/cpuidle");
    let mut states = Vec::new();
    for state in sysfs.numbered(&dir, "state")? {
        let place = |file: &str| format!("{dir}/state{state}/{file}");
        let time_ns = |file: &str| -> Result<Option<u64>, MachineError> {
            let Some(us) = sysfs.number::<u64>(&place(file))? else { return Ok(None) };
            let too_long = || sysfs.error(&place(file), format!("{us} µs"), "less than 2^64 ns");
            us.checked_mul(1000).map(Some).ok_or_else(too_long)
        };
        let name = sysfs.require(&place("name"), sysfs.text(&place("name"))?)?;
        match (time_ns("latency")?, time_ns("residency")?) {
            (Some(exit_latency_ns), Some(target_residency_ns)) => {
                states.push(IdleState { name, exit_latency_ns, target_residency_ns });
            }
            _ => unknown.push(format!(
                "Idle state {name}: this kernel shows no latency or residency; it is left out."
            )),
        }
    }
    if states.is_empty() {
        unknown.push(format!("Idle states: sysfs has none for CPU {cpu}."));
    }
    Ok(states)
}
