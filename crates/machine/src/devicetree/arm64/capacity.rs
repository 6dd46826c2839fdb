//! CPU capacities from `capacity-dmips-mhz`.

use super::cpus::CpuNode;
use crate::error::MachineError;

const NAME: &str = "capacity-dmips-mhz";
/// Capacity of the largest CPU (`SCHED_CAPACITY_SCALE`).
const SCALE: u32 = 1024;

/// Capacity of each CPU as Linux sets it (`topology_normalize_cpu_scale`, 6.12): `capacity-dmips-mhz` times the
/// highest clock, the largest product being 1024. Linux reads the property along the `cpu-map` alone, and takes 1024
/// for all CPUs where one of them lacks it.
pub(super) fn read(
    cpus: &[CpuNode<'_>],
    mapped: bool,
    highest_khz: &[Option<u64>],
    unknown: &mut Vec<String>,
) -> Result<Vec<Option<u32>>, MachineError> {
    let values = cpus.iter().map(|cpu| cpu.node.cell(NAME)).collect::<Result<Vec<_>, _>>()?;
    let known: Option<Vec<u32>> = values.iter().copied().collect();
    let Some(known) = known.filter(|_| mapped) else {
        if values.iter().any(Option::is_some) {
            unknown.push(format!(
                "Capacities: {NAME} is not in every CPU node, or there is no whole cpu-map; Linux takes {SCALE} for \
                 all CPUs."
            ));
        }
        return Ok(vec![Some(SCALE); cpus.len()]);
    };
    let clocks: Option<Vec<u64>> = highest_khz.iter().copied().collect();
    if clocks.is_none() {
        unknown.push(format!(
            "Capacities: they are {NAME} alone, as Linux has them until cpufreq tells each CPU's highest clock; the \
             device tree does not tell it for every CPU."
        ));
    }
    let clock = |cpu: usize| clocks.as_ref().and_then(|c| c.get(cpu)).copied().unwrap_or(1);
    let products: Vec<u128> =
        known.iter().enumerate().map(|(cpu, &v)| u128::from(v) * u128::from(clock(cpu))).collect();
    let largest = products.iter().copied().max().unwrap_or(1).max(1);
    // At most SCALE, as no product is above the largest.
    Ok(products.iter().map(|p| Some((p * u128::from(SCALE) / largest) as u32)).collect())
}
