//! Cores and threads: the CPU nodes of a POWER machine.

use super::node::Node;
use super::thread_groups::{self, Part};
use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::error::{Fault, MachineError};
use std::collections::BTreeSet;

/// Property that lists a core's threads.
pub(super) const THREADS: &str = "ibm,ppc-interrupt-server#s";

/// A core: one CPU node.
pub(super) struct Core<'t> {
    pub(super) node: Node<'t>,
    /// CPU number of the first thread; the others follow.
    pub(super) first_cpu: usize,
    /// Interrupt-server number of each thread.
    pub(super) threads: Vec<u32>,
    /// `ibm,thread-groups`; empty where the node has none.
    pub(super) parts: Vec<Part>,
    /// `ibm,chip-id` of the node or of one above it.
    pub(super) chip: Option<u32>,
    /// First cell of `reg`, where the node has it.
    pub(super) reg: Option<u32>,
}

impl Core<'_> {
    /// All CPUs of the core.
    pub(super) fn cpus(&self) -> CpuSet {
        (self.first_cpu..self.first_cpu + self.threads.len()).collect()
    }

    /// CPUs of each group of `part`.
    pub(super) fn group_cpus(&self, part: &Part) -> Vec<CpuSet> {
        let set = |group: &Vec<usize>| group.iter().map(|p| self.first_cpu + p).collect();
        part.groups.iter().map(set).collect()
    }
}

/// The cores of a machine and the CPU nodes that are out of use.
pub(super) struct Cores<'t> {
    pub(super) cores: Vec<Core<'t>>,
    pub(super) unavailable: Vec<String>,
}

/// Reads the CPU `nodes`. Linux numbers CPUs in the order of the nodes and, in a node, of
/// `ibm,ppc-interrupt-server#s`, whichever CPU it boots on.
pub(super) fn cores(nodes: Vec<Node<'_>>) -> Result<Cores<'_>, MachineError> {
    let mut all = Cores { cores: Vec::new(), unavailable: Vec::new() };
    let mut seen = BTreeSet::new();
    let mut first_cpu = 0;
    for node in nodes {
        if !node.is_available()? {
            all.unavailable.push(node.path());
            continue;
        }
        let threads = threads(node)?;
        if let Some(id) = threads.iter().find(|&&id| !seen.insert(id)) {
            let fault = Fault::new(format!("thread id {id} a second time"), "each thread id once");
            return Err(node.property_error(THREADS, fault));
        }
        let next_cpu = first_cpu + threads.len();
        if next_cpu > MAX_CPUS {
            let fault =
                Fault::new(format!("CPU {}", next_cpu - 1), format!("{MAX_CPUS} CPUs at most"));
            return Err(node.property_error(THREADS, fault));
        }
        let parts = match node.cells(thread_groups::NAME)? {
            Some(cells) => thread_groups::parse(&cells, &threads)
                .map_err(|fault| node.property_error(thread_groups::NAME, fault))?,
            None => Vec::new(),
        };
        let reg = node.cells("reg")?.and_then(|cells| cells.first().copied());
        all.cores.push(Core { node, first_cpu, threads, parts, chip: chip(node)?, reg });
        first_cpu = next_cpu;
    }
    Ok(all)
}

/// Interrupt-server numbers of the node's threads; a node without them is one thread, numbered by `reg`.
fn threads(node: Node<'_>) -> Result<Vec<u32>, MachineError> {
    let (property, threads) = match node.cells(THREADS)? {
        Some(threads) => (THREADS, threads),
        None => match node.cell("reg")? {
            Some(id) => ("reg", vec![id]),
            None => return Err(node.error(format!("neither {THREADS} nor reg"), "one of them")),
        },
    };
    if threads.is_empty() {
        return Err(node.property_error(property, Fault::new("no thread id", "at least one")));
    }
    Ok(threads)
}

fn chip(node: Node<'_>) -> Result<Option<u32>, MachineError> {
    let mut at = Some(node);
    while let Some(node) = at {
        if let Some(chip) = node.cell("ibm,chip-id")? {
            return Ok(Some(chip));
        }
        at = node.parent();
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use crate::devicetree::read;
    use crate::devicetree::testing::{Dt, core, machine};

    #[test]
    fn numbers_threads_in_tree_order() {
        let cores = vec![core(&[16, 17]), core(&[8, 9]).cells("ibm,chip-id", &[3])];
        let m = read(&machine(cores).blob(), "dir/small.dtb").unwrap();
        assert_eq!(m.name, "small");
        let ids: Vec<u32> = m.cpus.iter().map(|c| c.hw_id).collect();
        assert_eq!(ids, [16, 17, 8, 9]);
        let cores: Vec<_> = m.cpus.iter().map(|c| (c.core, c.thread, c.package)).collect();
        assert_eq!(cores, [(0, 0, 0), (0, 1, 0), (1, 0, 3), (1, 1, 3)]);
    }

    #[test]
    fn leaves_out_unavailable_cores_and_says_so() {
        let cores = vec![core(&[0, 1]), core(&[2, 3]).text("status", "bad")];
        let m = read(&machine(cores).blob(), "t.dtb").unwrap();
        assert_eq!(m.cpus.len(), 2);
        assert!(m.unknown.iter().any(|u| u.contains("/cpus/PowerPC,POWER9@2")), "{:?}", m.unknown);
    }

    #[test]
    fn refuses_thread_ids_that_repeat_or_are_missing() {
        let fail = |cores: Vec<Dt>| read(&machine(cores).blob(), "t.dtb").unwrap_err().to_string();
        let place = "t.dtb: /cpus/PowerPC,POWER9@2 ibm,ppc-interrupt-server#s: ";
        assert_eq!(
            fail(vec![core(&[0, 1]), core(&[2, 1])]),
            format!("{place}found thread id 1 a second time, expected each thread id once")
        );
        let none = core(&[2]).cells("ibm,ppc-interrupt-server#s", &[]);
        assert_eq!(fail(vec![none]), format!("{place}found no thread id, expected at least one"));
        let many: Vec<u32> = (2..9000).collect();
        assert!(fail(vec![core(&many)]).contains("expected 8192 CPUs at most"));
        let odd = core(&[2]).bytes("ibm,ppc-interrupt-server#s", &[0; 6]);
        assert_eq!(fail(vec![odd]), format!("{place}found 6 bytes, expected cells of 4 bytes"));
    }

    #[test]
    fn takes_reg_for_a_core_of_one_thread() {
        let single = Dt::node("PowerPC,970@5").text("device_type", "cpu").cells("reg", &[5]);
        let m = read(&machine(vec![single]).blob(), "t.dtb").unwrap();
        assert_eq!((m.cpus.len(), m.cpus[0].hw_id), (1, 5));
    }
}
