//! Machines from device trees: flattened ones and directories as `/proc/device-tree`.

mod arm64;
mod caches;
mod cpus;
mod edit;
pub(crate) mod fdt;
mod files;
mod idle;
mod memory;
mod node;
mod numa;
mod powerpc;
#[cfg(test)]
pub(crate) mod testing;
mod thread_groups;

pub(crate) use caches::NO_OUTER_CACHES;
pub use edit::{with_thread_groups, with_timer_frequency};

use crate::error::MachineError;
use crate::model::{Arch, Machine};
use node::{Node, Tree};
use std::path::Path;

/// Cores of Arm's that know no 64-bit mode, by the start of their `compatible`.
const ARM_32_BIT: &[&str] = &[
    "arm,arm",
    "arm,cortex-a5\0",
    "arm,cortex-a7\0",
    "arm,cortex-a8\0",
    "arm,cortex-a9\0",
    "arm,cortex-a12\0",
    "arm,cortex-a15\0",
    "arm,cortex-a17\0",
    "arm,cortex-a32\0",
    "arm,cortex-r",
    "arm,cortex-m",
];

/// Reads the machine that the flattened device tree in `bytes` describes; `file` names it in errors, and its
/// stem becomes the machine's name. All CPUs are online, there are no constants, and
/// [`Machine::unknown`] lists what the tree leaves open.
///
/// Read are trees of POWER machines, as OPAL firmware and hypervisors (PAPR) hand them to a kernel, and of arm64
/// machines, these as Linux from 6.0 on reads them: before, clusters of the `cpu-map` were packages.
///
/// # Errors
/// Bytes that are no device tree, a tree of another architecture, and any property that contradicts its
/// format, with the node's path.
pub fn read(bytes: &[u8], file: &str) -> Result<Machine, MachineError> {
    machine(&Tree::read(bytes, file)?, file)
}

/// Reads the machine of a device-tree directory's `files`, each with its path below the tree's root (names joined
/// by `/`) and its bytes, which are one property; `name` names the tree in errors and the machine. As [`read`],
/// except that files have no order: nodes come by name and unit address.
///
/// # Errors
/// A path that leaves the root, two files of one path, more than 64 MiB, 2^20 properties and nodes or 64 nodes above
/// one another, and what [`read`] refuses.
pub fn read_files(
    files: impl IntoIterator<Item = (String, Vec<u8>)>,
    name: &str,
) -> Result<Machine, MachineError> {
    let mut machine = machine(&Tree::from_files(files, name)?, name)?;
    machine.unknown.push(
        "Order of CPUs: a directory does not keep the order of nodes; that of their unit addresses stands in."
            .to_string(),
    );
    Ok(machine)
}

/// Reads the device-tree directory `path`, such as `/proc/device-tree`; see [`read_files`]. Symbolic links below it
/// are not followed; properties that the system keeps from us are left out, and [`Machine::unknown`] counts them.
///
/// # Errors
/// A directory or file that cannot be read, and what [`read_files`] refuses.
pub fn read_dir(path: &Path) -> Result<Machine, MachineError> {
    let files::Walked { files, unreadable } = files::walk(path)?;
    let mut machine = read_files(files, &path.display().to_string())?;
    if unreadable > 0 {
        machine
            .unknown
            .push(format!("{unreadable} properties: the system does not let us read them."));
    }
    Ok(machine)
}

/// The machine that `tree` describes; `file` is its name.
fn machine(tree: &Tree<'_>, file: &str) -> Result<Machine, MachineError> {
    let Some(cpus) = tree.root().child("cpus") else {
        return Err(tree.root().error("no node `cpus`", "one"));
    };
    match arch(cpus)? {
        Arch::Arm64 => arm64::machine(tree, cpus, file),
        _ => powerpc::machine(tree, cpus, file),
    }
}

/// The machine's name: `file` without directory and extension.
fn name(file: &str) -> String {
    Path::new(file).file_stem().map_or(file.to_string(), |s| s.to_string_lossy().into_owned())
}

/// Children of `/cpus` that stand for a CPU, by type or name as in Linux (`of_get_next_cpu_node`).
fn cpu_nodes(cpus: Node<'_>) -> Result<Vec<Node<'_>>, MachineError> {
    let is_cpu = |n: &Node<'_>| n.bytes("device_type") == Some(b"cpu\0") || n.base_name() == "cpu";
    let nodes: Vec<Node<'_>> = cpus.children().filter(is_cpu).collect();
    match nodes.is_empty() {
        true => Err(cpus.error("no child with device_type `cpu`", "at least one")),
        false => Ok(nodes),
    }
}

/// Architecture, which the CPU nodes tell: on POWER they are called `PowerPC,…` or carry
/// `ibm,ppc-interrupt-server#s`, on arm64 `compatible` names a 64-bit core or `enable-method` a way that arm64 has.
fn arch(cpus: Node<'_>) -> Result<Arch, MachineError> {
    let nodes = cpu_nodes(cpus)?;
    let power = |n: &Node<'_>| n.name().starts_with("PowerPC,") || n.has(cpus::THREADS);
    if nodes.iter().all(power) {
        return Ok(Arch::Powerpc);
    }
    let mut compatible = Vec::new();
    let mut method = false;
    for node in nodes {
        compatible.extend(node.texts("compatible")?.into_iter().flatten());
        method |= matches!(node.bytes("enable-method"), Some(b"psci\0" | b"spin-table\0"));
    }
    compatible.dedup();
    let old = |text: &str| ARM_32_BIT.iter().any(|old| format!("{text}\0").starts_with(old));
    // `arm,armv8` starts as the 32-bit ARM11 and older cores do.
    let old = compatible.iter().any(|&text| old(text) && text != "arm,armv8");
    match method || compatible.iter().any(|text| text.starts_with("arm,")) {
        true if !old => Ok(Arch::Arm64),
        _ => {
            let found = format!("CPUs compatible with `{}`", compatible.join("`, `"));
            Err(cpus.error(found, "powerpc or arm64"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Dt, core, machine, seed};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refuses_other_architectures() {
        for other in ["riscv", "arm,cortex-a15", "arm,arm1176jzf-s"] {
            let cpu = Dt::node("cpu@0").text("device_type", "cpu").text("compatible", other);
            let tree = Dt::node("").child(Dt::node("cpus").child(cpu));
            assert_eq!(
                read(&tree.blob(), "a.dtb").unwrap_err().to_string(),
                format!(
                    "a.dtb: /cpus: found CPUs compatible with `{other}`, expected powerpc or arm64"
                )
            );
        }
    }

    #[test]
    fn refuses_trees_without_cpus() {
        let error = read(&Dt::node("").blob(), "a.dtb").unwrap_err().to_string();
        assert_eq!(error, "a.dtb: /: found no node `cpus`, expected one");
        let error = read(&machine(vec![]).blob(), "a.dtb").unwrap_err().to_string();
        assert_eq!(
            error,
            "a.dtb: /cpus: found no child with device_type `cpu`, expected at least one"
        );
    }

    #[test]
    fn seeds_for_fuzzing_are_machines() {
        let groups = [1, 2, 2, 0, 2, 1, 3];
        let grouped = core(&[0, 1, 2, 3]).cells("ibm,thread-groups", &groups);
        let numa = |ids: &[u32], domain| core(ids).cells("ibm,associativity", &[1, domain]);
        let opal = Dt::node("ibm,opal").cells("ibm,associativity-reference-points", &[1]);
        let cache = |phandle| {
            let node = Dt::node("l2-cache@0").text("device_type", "cache");
            node.cells("phandle", &[phandle]).cells("d-cache-size", &[512 << 10])
        };
        let trees = [
            ("powerpc-plain", machine(vec![core(&[0, 1]), core(&[8, 9])])),
            ("powerpc-thread-groups", machine(vec![grouped])),
            ("powerpc-numa", machine(vec![numa(&[0], 0), numa(&[1], 1)]).child(opal)),
            ("powerpc-l2", machine(vec![core(&[0, 1]).cells("l2-cache", &[5])]).child(cache(5))),
        ];
        for (name, tree) in trees {
            read(&tree.blob(), name).unwrap();
            seed("fdt", name, &tree.blob());
        }
    }

    const CATALOG_TREE: &[u8] = include_bytes!("../../catalog/power9-big-core.dtb");

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
            let _ = read(&bytes, "a.dtb");
        }

        #[test]
        fn arbitrary_structure_never_panics(words in prop::collection::vec(
            prop_oneof![Just(1u32), Just(2), Just(3), Just(4), Just(9), 0u32..64, any::<u32>()], 0..96))
        {
            let header = [0xd00d_feedu32, 0, 40, 40, 40, 17, 16, 0, 0, 0];
            let mut all: Vec<u32> = header.into_iter().chain(words).collect();
            let size = all.len() as u32 * 4;
            (all[1], all[8], all[9]) = (size, size - 40, size - 40);
            let bytes: Vec<u8> = all.iter().flat_map(|w| w.to_be_bytes()).collect();
            let _ = read(&bytes, "a.dtb");
        }

        #[test]
        fn damaged_trees_never_panic(
            flips in prop::collection::vec((0..CATALOG_TREE.len(), 0u8..8), 0..24),
            keep in prop_oneof![4 => Just(CATALOG_TREE.len()), 1 => 0..CATALOG_TREE.len()],
        ) {
            let mut bytes = CATALOG_TREE.to_vec();
            flips.iter().for_each(|(at, bit)| bytes[*at] ^= 1 << bit);
            bytes.truncate(keep);
            if keep < CATALOG_TREE.len() {
                prop_assert!(read(&bytes, "a.dtb").is_err());
            } else {
                let _ = read(&bytes, "a.dtb");
            }
        }

        #[test]
        fn arbitrary_cells_never_panic(
            property in prop::sample::select(&[
                "ibm,thread-groups", "ibm,associativity", "ibm,ppc-interrupt-server#s", "l2-cache",
                "d-cache-size", "ibm,chip-id", "phandle", "d-cache-line-size",
            ][..]),
            cells in prop::collection::vec(prop_oneof![0u32..10, any::<u32>()], 0..12),
            points in prop::collection::vec(prop_oneof![0u32..6, any::<u32>()], 0..5),
        ) {
            let cores = vec![core(&[0, 1, 2, 3]), core(&[4, 5, 6, 7]).cells(property, &cells)];
            let opal = Dt::node("ibm,opal").cells("ibm,associativity-reference-points", &points);
            let _ = read(&machine(cores).child(opal).blob(), "a.dtb");
        }
    }
}
