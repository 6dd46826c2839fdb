//! Highest clock of each CPU by its operating points.

use super::cpus::CpuNode;
use crate::devicetree::node::Node;
use crate::error::{Fault, MachineError};
use std::collections::HashMap;

/// Highest frequency of each CPU in kHz without turbo, by `operating-points-v2` or `operating-points`: what cpufreq
/// makes `cpuinfo_max_freq`; `None` where the node has neither.
pub(super) fn highest_khz<'t>(
    cpus: &[CpuNode<'t>],
    phandles: &HashMap<u32, Node<'t>>,
) -> Result<Vec<Option<u64>>, MachineError> {
    let mut of_table: HashMap<usize, Option<u64>> = HashMap::new();
    let mut all = Vec::with_capacity(cpus.len());
    for cpu in cpus {
        let Some(table) = table(cpu.node, phandles)? else {
            all.push(of_pairs(cpu.node)?);
            continue;
        };
        let highest = match of_table.get(&table.index()) {
            Some(&highest) => highest,
            None => of_points(table)?,
        };
        of_table.insert(table.index(), highest);
        all.push(highest);
    }
    Ok(all)
}

/// What the tree says of frequencies, and what it does not.
pub(super) fn describe(highest_khz: &[Option<u64>]) -> String {
    let known = highest_khz.iter().flatten();
    match (known.clone().min(), known.max()) {
        (Some(low), Some(high)) => format!(
            "Frequencies: the CPUs' highest operating points lie between {} and {} MHz; which of them busy cores \
             reach is not in the device tree.",
            low / 1000,
            high / 1000
        ),
        _ => "Frequencies: the CPU nodes have no operating points.".to_string(),
    }
}

fn table<'t>(
    cpu: Node<'t>,
    phandles: &HashMap<u32, Node<'t>>,
) -> Result<Option<Node<'t>>, MachineError> {
    const NAME: &str = "operating-points-v2";
    let Some(phandle) = cpu.cells(NAME)?.and_then(|cells| cells.first().copied()) else {
        return Ok(None);
    };
    match phandles.get(&phandle) {
        Some(&table) => Ok(Some(table)),
        None => {
            let fault = Fault::new(format!("phandle {phandle:#x}"), "the phandle of a table");
            Err(cpu.property_error(NAME, fault))
        }
    }
}

/// Highest `opp-hz` of the table's points in use.
fn of_points(table: Node<'_>) -> Result<Option<u64>, MachineError> {
    let mut highest = None;
    for point in table.children() {
        if point.has("turbo-mode") || !point.is_available()? {
            continue;
        }
        // One value for each clock; the CPU's is the first.
        if let Some([high, low, ..]) = point.cells("opp-hz")?.as_deref() {
            highest = highest.max(Some((u64::from(*high) << 32 | u64::from(*low)) / 1000));
        }
    }
    Ok(highest)
}

/// Highest frequency of the older `operating-points`: pairs of kHz and µV.
fn of_pairs(cpu: Node<'_>) -> Result<Option<u64>, MachineError> {
    let cells = cpu.cells("operating-points")?.into_iter().flatten();
    Ok(cells.step_by(2).map(u64::from).max())
}
