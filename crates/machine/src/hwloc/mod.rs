//! Machines from and to hwloc: its XML (versions 2 and 3) and its synthetic strings.
//!
//! hwloc describes a machine as a tree of objects, each with the CPUs it holds: `cpuset` those that run,
//! `complete_cpuset` all of them. Reading takes CPU sets from the objects and not from how they nest, so a level
//! that hwloc merged or left out costs only itself.

mod annotations;
mod build;
mod check;
mod cpus;
mod mask;
mod nodes;
mod parse;
mod partition;
mod render;
mod synthetic;
mod topology;
mod tree;

use crate::error::{Fault, MachineError};
use crate::model::Machine;

/// What a machine is read from, for errors and for [`Machine::unknown`].
struct Source<'a> {
    /// Name of the file, or which form of string.
    file: &'a str,
    /// The format in a sentence.
    format: &'static str,
}

impl Source<'_> {
    fn error(&self, field: impl Into<String>, fault: Fault) -> MachineError {
        MachineError::Field {
            file: self.file.to_string(),
            field: field.into(),
            found: fault.found,
            expected: fault.expected,
        }
    }
}

/// Reads the machine that hwloc XML of version 2 or 3 describes (`lstopo machine.xml`); `file` is its name in errors.
///
/// * Packages, dies, cores, clusters (groups of subtype `Cluster`), caches and NUMA nodes come from the objects of
///   these types; other groups, memory-side caches, devices and memory attributes are left out.
/// * CPUs of `complete_cpuset` without a PU object are offline. Numbers that it skips stand as offline cores.
/// * A CPU's node is the smallest NUMA node that holds it, the first of equal ones; a node that is left without CPUs
///   has memory only.
/// * Sizes are rounded down to KiB.
/// * A file that [`write_xml`] wrote gives the machine that was written, also where hwloc has no object for it.
///
/// What the file cannot tell is in [`Machine::unknown`].
///
/// # Errors
/// Text that is no XML or no hwloc topology of these versions, attributes that cannot be read, CPUs at or above
/// [`MAX_CPUS`](crate::MAX_CPUS), and objects that contradict each other.
pub fn read_xml(text: &str, file: &str) -> Result<Machine, MachineError> {
    let source = Source { file, format: "hwloc XML" };
    let topology = parse::topology(text, &source)?;
    let mut machine = build::machine(&topology, &source)?;
    annotations::apply(&topology, &mut machine, &source)?;
    check::check(&machine).map_err(|(field, fault)| source.error(field, fault))?;
    Ok(machine)
}

/// Reads the machine that a synthetic string of hwloc describes, such as `pack:2 numa:2 l3:1 core:4 pu:2`.
///
/// The syntax is that of hwloc's chapter "Synthetic topologies": levels with types or without, NUMA nodes as a level
/// or attached in brackets, and attributes in parentheses (`size`, `memory`, `indexes` as a list, as `x*y` loops or
/// as types). Sizes that the string leaves open are hwloc 3's, 1 GiB for every NUMA node among them. Where hwloc ignores what it cannot use (unknown attributes, indexes that do not fit), this is an error.
///
/// # Errors
/// Text that does not follow the syntax, and more CPUs or NUMA nodes than [`MAX_CPUS`](crate::MAX_CPUS).
pub fn read_synthetic(spec: &str) -> Result<Machine, MachineError> {
    let source = Source { file: "synthetic string", format: "the synthetic string" };
    let read = synthetic::topology(spec, &source)?;
    let mut machine = build::machine(&read.topology, &source)?;
    machine.name = "synthetic".to_string();
    machine.title = format!("{} CPUs, from the synthetic string `{spec}`", machine.cpus.len());
    machine.unknown.extend(read.left_out);
    Ok(machine)
}

/// The machine as hwloc XML of version 2, which `lstopo -i FILE` draws and [`read_xml`] reads back unchanged.
///
/// * CPU sets of objects hold online CPUs and their `complete_cpuset` all, so objects without an online CPU are left
///   out of the tree, as hwloc does.
/// * hwloc's objects form a tree. Where sets overlap only partly, packages go before dies, clusters, cores and caches,
///   and what crosses an earlier one is left out. Such a NUMA node is attached to the machine, as are nodes
///   without CPUs.
/// * What the tree cannot tell goes into `<info>` elements of the Machine object, whose names start with
///   `schedscape:` and whose values are JSON. There are only those without which reading would differ.
///
/// Constants must be finite numbers.
pub fn write_xml(machine: &Machine) -> String {
    let mut tree = tree::tree(machine);
    let source = Source { file: "machine", format: "hwloc XML" };
    let plain = build::machine(&tree.topology, &source).ok();
    tree.topology.infos.extend(annotations::of(machine, plain.as_ref()));
    render::xml(&tree)
}

#[cfg(test)]
mod tests;
