//! Idle states that OPAL firmware offers.

use super::node::{Node, Tree};
use crate::error::{Fault, MachineError};
use crate::model::IdleState;

const NAMES: &str = "ibm,cpu-idle-state-names";
const LATENCIES: &str = "ibm,cpu-idle-state-latencies-ns";
const RESIDENCIES: &str = "ibm,cpu-idle-state-residency-ns";

/// Idle states, the shallowest first, or the sentence that says why there are none.
///
/// Linux's `cpuidle-powernv` puts a polling state of its own, `snooze`, before those of firmware.
pub(super) fn read(tree: &Tree<'_>) -> Result<Result<Vec<IdleState>, String>, MachineError> {
    let Some(node) = tree.nodes().find(|n| n.has(NAMES)) else {
        return Ok(Err(format!("Idle states: the device tree has no {NAMES}.")));
    };
    let arrays = (node.texts(NAMES)?, node.cells(LATENCIES)?, node.cells(RESIDENCIES)?);
    let (Some(names), Some(latencies), Some(residencies)) = arrays else {
        let place = node.path();
        return Ok(Err(format!("Idle states: {place} lacks {LATENCIES} or {RESIDENCIES}.")));
    };
    require_one_each(node, LATENCIES, latencies.len(), names.len())?;
    require_one_each(node, RESIDENCIES, residencies.len(), names.len())?;
    let snooze = IdleState {
        name: "snooze".to_string(),
        exit_latency_ns: 0,
        target_residency_ns: 0,
        mwait: false,
    };
    let firmware = names.iter().zip(latencies.iter().zip(&residencies));
    let firmware = firmware.map(|(name, (&latency, &residency))| IdleState {
        name: (*name).to_string(),
        exit_latency_ns: u64::from(latency),
        target_residency_ns: u64::from(residency),
        mwait: false,
    });
    Ok(Ok(std::iter::once(snooze).chain(firmware).collect()))
}

fn require_one_each(
    node: Node<'_>,
    name: &str,
    found: usize,
    names: usize,
) -> Result<(), MachineError> {
    if found == names {
        return Ok(());
    }
    let fault = Fault::new(format!("{found} values"), format!("one for each of {names} names"));
    Err(node.property_error(name, fault))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devicetree::read;
    use crate::devicetree::testing::{Dt, core, machine};

    fn tree(latencies: &[u32]) -> Vec<u8> {
        let states = Dt::node("power-mgt")
            .text(NAMES, "stop0\0stop1")
            .cells(LATENCIES, latencies)
            .cells(RESIDENCIES, &[20000, 50000]);
        machine(vec![core(&[0])]).child(Dt::node("ibm,opal").child(states)).blob()
    }

    #[test]
    fn puts_snooze_before_the_states_of_firmware() {
        let states = read(&tree(&[2000, 5000]), "t.dtb").unwrap().idle_states;
        let shape: Vec<_> = states
            .iter()
            .map(|s| (s.name.as_str(), s.exit_latency_ns, s.target_residency_ns))
            .collect();
        assert_eq!(shape, [("snooze", 0, 0), ("stop0", 2000, 20000), ("stop1", 5000, 50000)]);
    }

    #[test]
    fn refuses_arrays_of_different_length() {
        assert_eq!(
            read(&tree(&[2000]), "t.dtb").unwrap_err().to_string(),
            "t.dtb: /ibm,opal/power-mgt ibm,cpu-idle-state-latencies-ns: \
             found 1 values, expected one for each of 2 names"
        );
    }

    #[test]
    fn says_when_there_are_none() {
        let m = read(&machine(vec![core(&[0])]).blob(), "t.dtb").unwrap();
        assert!(m.idle_states.is_empty());
        assert!(m.unknown.iter().any(|u| u.starts_with("Idle states")), "{:?}", m.unknown);
    }
}
