//! What is there before a trace begins: a machine under a kernel.

use crate::SimError;
use crate::scenario::Scenario;
use crate::topology::{Distance, Topology};
use kernel::{Kernel, MechanismId};
use machine::Machine;
use workload::Workload;

/// A machine of the catalog whose costs serve where there are none.
const LENDER: &str = "epyc-7742-1s-nps1";
/// Threads of a core, at most.
const WIDEST_CORE: usize = 8;

/// A machine and a kernel.
#[derive(Debug)]
pub struct Ground(pub(super) Scenario);

impl Ground {
    /// `machine` under `kernel`. No choice depends on costs, so what the machine lacks of them is lent by another one.
    ///
    /// # Errors
    /// As [`Scenario::new`].
    pub fn new(machine: &Machine, kernel: &Kernel) -> Result<Ground, SimError> {
        let mut machine = machine.clone();
        lend(&mut machine);
        Scenario::new(&machine, kernel, Workload::default()).map(Ground)
    }

    /// Whether the kernel has `mechanism`.
    pub fn has(&self, mechanism: MechanismId) -> bool {
        self.0.setup.kernel.has(mechanism)
    }

    /// The machine as a class sees it.
    pub fn topology(&self) -> &Topology {
        self.0.topology()
    }
}

/// Gives `machine` costs and idle states where it has none.
fn lend(machine: &mut Machine) {
    let Ok(lender) = machine::catalog::load(LENDER) else { return };
    let any =
        lender.constants.get("handover_llc_ns").or(lender.constants.get("handover_remote_ns"));
    let distances = Distance::ALL.iter().filter_map(|d| d.handover_constant().zip(any));
    for (name, constant) in lender.constants.iter().chain(distances) {
        if machine.constants.get(name).is_none() {
            machine.constants.set(name, constant.clone());
        }
    }
    // Any share will do for cores with more threads than the lender's.
    if let Some(share) = machine.constants.get("smt_share_2").cloned() {
        for name in (3..=WIDEST_CORE).map(|busy| format!("smt_share_{busy}")) {
            if machine.constants.get(&name).is_none() {
                machine.constants.set(&name, share.clone());
            }
        }
    }
    if machine.idle_states.is_empty() {
        machine.idle_states = lender.idle_states;
    }
}
