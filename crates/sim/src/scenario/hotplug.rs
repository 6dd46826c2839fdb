//! CPUs that go offline or come online while a run lasts, each with the domains that the kernel builds then.

use crate::SimError;
use crate::topology::{Cpu, Topology};
use kernel::Kernel;
use machine::{CpuSet, Machine};

/// One write to `/sys/devices/system/cpu/cpuN/online` in the middle of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotplugStep {
    /// When, in ns from the start of the run.
    pub at_ns: u64,
    /// CPU number.
    pub cpu: usize,
    /// Whether it comes online (1) or goes offline (0).
    pub online: bool,
}

/// A step that can be taken.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) at_ns: u64,
    pub(crate) cpu: Cpu,
    pub(crate) online: bool,
    /// Number of the topology from then on.
    pub(crate) topology: usize,
}

/// Online CPUs, and the one that the kernel's masks still hold as it goes.
type Key = (CpuSet, Option<usize>);

/// All steps, in order, and the topologies that they lead to.
#[derive(Debug)]
pub(crate) struct Hotplug {
    pub(crate) steps: Vec<Prepared>,
    /// Where steps lead to; the start's is not among them.
    topologies: Vec<(Key, Topology)>,
    /// Every CPU that is online at some time.
    pub(crate) ever_online: CpuSet,
}

impl Hotplug {
    /// Checks `steps` from the machine's online CPUs on, and builds the domains of each.
    pub(crate) fn new(
        machine: &Machine,
        kernel: &Kernel,
        steps: &[HotplugStep],
    ) -> Result<Hotplug, SimError> {
        let mut hotplug = Hotplug {
            steps: Vec::new(),
            topologies: Vec::new(),
            ever_online: machine.online.clone(),
        };
        let (mut online, mut before_ns) = (machine.online.clone(), 0);
        for (at, step) in steps.iter().enumerate() {
            check(machine.possible(), online.clone(), before_ns, at, step)?;
            before_ns = step.at_ns;
            if step.online {
                online.insert(step.cpu);
            } else {
                online.remove(step.cpu);
            }
            hotplug.ever_online |= &online;
            let leaving = (!step.online).then_some(step.cpu);
            let topology = hotplug.topology_of(machine, kernel, (online.clone(), leaving))?;
            let (at_ns, cpu) = (step.at_ns, step.cpu as Cpu);
            hotplug.steps.push(Prepared { at_ns, cpu, online: step.online, topology });
        }
        Ok(hotplug)
    }

    /// The number of a topology, which is built where no step before led to it.
    fn topology_of(
        &mut self,
        machine: &Machine,
        kernel: &Kernel,
        key: Key,
    ) -> Result<usize, SimError> {
        if let Some(known) = self.topologies.iter().position(|(k, _)| *k == key) {
            return Ok(known);
        }
        let machine = Machine { online: key.0.clone(), ..machine.clone() };
        let domains = match key.1 {
            Some(leaving) => kernel::build_after_offline(&machine, kernel, leaving)?,
            None => kernel::build(&machine, kernel)?,
        };
        self.topologies.push((key, Topology::new(&machine, &domains)));
        Ok(self.topologies.len() - 1)
    }

    /// The topology that `step` leads to.
    pub(crate) fn topology(&self, step: &Prepared) -> &Topology {
        &self.topologies[step.topology].1
    }
}

/// Whether step number `at` can be taken with these CPUs `online`.
fn check(
    possible: CpuSet,
    online: CpuSet,
    before_ns: u64,
    at: usize,
    step: &HotplugStep,
) -> Result<(), SimError> {
    let cpu = step.cpu;
    if step.at_ns < before_ns {
        return Err(SimError::HotplugOrder { step: at, found_ns: step.at_ns, before_ns });
    }
    if !possible.iter().any(|c| c == cpu) {
        let expected = possible.to_string();
        return Err(SimError::HotplugCpu { step: at, found: cpu, expected });
    }
    if online.contains(cpu) == step.online {
        let found = if step.online { "online" } else { "offline" };
        return Err(SimError::HotplugState { step: at, cpu, found });
    }
    if !step.online && online.len() == 1 {
        return Err(SimError::HotplugLast { step: at, cpu });
    }
    Ok(())
}
