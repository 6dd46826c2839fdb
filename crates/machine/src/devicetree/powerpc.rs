//! Puts a POWER machine together from the parts of its device tree.

use super::node::{Node, Tree};
use super::thread_groups::Part;
use super::{caches, cpu_nodes, cpus, idle, name, numa};
use crate::constants::Constants;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::{Arch, Cpu, Firmware, Machine, OsIds, ThreadGroups, sort_caches};

/// Reads the machine below `cpus_node`, which is `/cpus`.
pub(super) fn machine(
    tree: &Tree<'_>,
    cpus_node: Node<'_>,
    file: &str,
) -> Result<Machine, MachineError> {
    let cpus::Cores { cores, unavailable } = cpus::cores(cpu_nodes(cpus_node)?)?;
    if cores.is_empty() {
        return Err(cpus_node.error("no CPU node whose status is okay", "at least one"));
    }
    let numa = numa::read(tree, &cores)?;
    let mut caches = caches::read(tree, &cores)?;
    sort_caches(&mut caches.caches);

    let mut unknown = Vec::new();
    if !unavailable.is_empty() {
        let nodes = unavailable.join(", ");
        unknown.push(format!(
            "CPUs of {nodes}: their status is not okay, so they are left out; Linux still numbers them."
        ));
    }
    if cores.iter().any(|c| c.chip.is_none()) {
        unknown
            .push("Packages: a CPU node lacks ibm,chip-id; its NUMA node stands in.".to_string());
    }
    unknown.extend(numa.unknown);
    unknown.extend(caches.unknown);
    let idle_states = idle::read(tree)?.unwrap_or_else(|sentence| {
        unknown.push(sentence);
        Vec::new()
    });
    unknown.push(frequencies(tree, &cores)?);

    let cpus = cpus(&cores, &numa.core_nodes);
    Ok(Machine {
        name: name(file),
        title: title(tree.root(), cpus.len())?,
        arch: Arch::Powerpc,
        online: CpuSet::first_n(cpus.len()),
        cpus,
        caches: caches.caches,
        nodes: numa.nodes,
        thread_groups: thread_groups(&cores),
        idle_states,
        policies: Vec::new(),
        cppc: Vec::new(),
        vendor: None,
        smt_control: None,
        costs: None,
        firmware: Some(Firmware::DeviceTree),
        constants: Constants::default(),
        unknown,
    })
}

fn cpus(cores: &[cpus::Core<'_>], nodes: &[u32]) -> Vec<Cpu> {
    let mut all = Vec::new();
    for ((core, number), &node) in cores.iter().zip(0..).zip(nodes) {
        let package = core.chip.unwrap_or(node);
        all.extend(core.threads.iter().zip(0..).map(|(&hw_id, thread)| Cpu {
            hw_id,
            core: number,
            thread,
            cluster: None,
            die: package,
            package,
            node,
            // `core_id` is the node's `reg` (`cpu_to_core_id`), which need not be the first thread's number.
            ids: OsIds { core: core.reg, ..OsIds::default() },
            capacity: None,
        }));
    }
    all
}

fn thread_groups(cores: &[cpus::Core<'_>]) -> Vec<ThreadGroups> {
    let of_core = |(core, number): (&cpus::Core<'_>, u32)| {
        let groups = |part: &Part| ThreadGroups {
            property: part.property,
            core: number,
            groups: core.group_cpus(part),
        };
        core.parts.iter().map(groups).collect::<Vec<_>>()
    };
    cores.iter().zip(0..).flat_map(of_core).collect()
}

/// What the tree says of frequencies: never what cores reach under load.
fn frequencies(tree: &Tree<'_>, cores: &[cpus::Core<'_>]) -> Result<String, MachineError> {
    const STATES_MHZ: &str = "ibm,pstate-frequencies-mhz";
    for node in tree.nodes() {
        // QEMU's POWER8 gives 0 MHz to a p-state that it does not have.
        let mhz = node.cells(STATES_MHZ)?.into_iter().flatten().filter(|&f| f != 0);
        if let (Some(low), Some(high)) = (mhz.clone().min(), mhz.max()) {
            return Ok(format!(
                "Frequencies: the p-states lie between {low} and {high} MHz; which of them busy cores reach \
                 is not in the device tree."
            ));
        }
    }
    for core in cores {
        if let Some(hz) = core.node.number("clock-frequency")? {
            return Ok(format!(
                "Frequencies: the device tree has no p-states, only a clock-frequency of {hz} Hz, which \
                 firmware may give as a placeholder."
            ));
        }
    }
    Ok("Frequencies: the device tree has neither p-states nor a clock-frequency.".to_string())
}

fn title(root: Node<'_>, cpus: usize) -> Result<String, MachineError> {
    let model = root.text("model")?.unwrap_or("POWER machine");
    Ok(format!("{model}, {cpus} CPUs"))
}
