//! Machines from flattened device trees.

mod caches;
mod cpus;
pub(crate) mod fdt;
mod idle;
mod node;
mod numa;
mod powerpc;
#[cfg(test)]
pub(crate) mod testing;
mod thread_groups;

pub(crate) use caches::NO_OUTER_CACHES;

use crate::error::MachineError;
use crate::model::{Arch, Machine};
use node::{Node, Tree};

/// Reads the machine that the flattened device tree in `bytes` describes; `file` names it in errors, and its
/// stem becomes the machine's name. All CPUs are online, there are no constants, and
/// [`Machine::unknown`] lists what the tree leaves open.
///
/// Trees of POWER machines are read, as OPAL firmware and hypervisors (PAPR) hand them to a kernel.
///
/// # Errors
/// Bytes that are no device tree, a tree of another architecture, and any property that contradicts its
/// format, with the node's path.
pub fn read(bytes: &[u8], file: &str) -> Result<Machine, MachineError> {
    let tree = Tree::read(bytes, file)?;
    let Some(cpus) = tree.root().child("cpus") else {
        return Err(tree.root().error("no node `cpus`", "one"));
    };
    match arch(cpus)? {
        Arch::Powerpc => powerpc::machine(&tree, cpus, file),
        Arch::Arm64 => Err(cpus.error("arm64, which is not supported", "powerpc")),
        Arch::X86 | Arch::Other => Err(cpus.error("another architecture", "powerpc")),
    }
}

/// Children of `/cpus` that stand for a core.
fn cpu_nodes(cpus: Node<'_>) -> Result<Vec<Node<'_>>, MachineError> {
    let mut nodes = Vec::new();
    for node in cpus.children() {
        if node.bytes("device_type") == Some(b"cpu\0") {
            nodes.push(node);
        }
    }
    match nodes.is_empty() {
        true => Err(cpus.error("no child with device_type `cpu`", "at least one")),
        false => Ok(nodes),
    }
}

/// Architecture, which the CPU nodes tell: on POWER they are called `PowerPC,…` or carry
/// `ibm,ppc-interrupt-server#s`, elsewhere `compatible` names it.
fn arch(cpus: Node<'_>) -> Result<Arch, MachineError> {
    let nodes = cpu_nodes(cpus)?;
    let power = |n: &Node<'_>| n.name().starts_with("PowerPC,") || n.has(cpus::THREADS);
    if nodes.iter().all(power) {
        return Ok(Arch::Powerpc);
    }
    let mut compatible = Vec::new();
    for node in nodes {
        compatible.extend(node.texts("compatible")?.into_iter().flatten());
    }
    compatible.dedup();
    match compatible.iter().any(|text| text.starts_with("arm,")) {
        true => Ok(Arch::Arm64),
        false => {
            let found = format!("CPUs compatible with `{}`", compatible.join("`, `"));
            Err(cpus.error(found, "powerpc"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Dt, core, machine};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refuses_other_architectures() {
        let arm = Dt::node("cpu@0").text("device_type", "cpu").text("compatible", "arm,cortex-a72");
        let tree = Dt::node("").child(Dt::node("cpus").child(arm));
        assert_eq!(
            read(&tree.blob(), "a.dtb").unwrap_err().to_string(),
            "a.dtb: /cpus: found arm64, which is not supported, expected powerpc"
        );
        let other = Dt::node("cpu@0").text("device_type", "cpu").text("compatible", "riscv");
        let tree = Dt::node("").child(Dt::node("cpus").child(other));
        let error = read(&tree.blob(), "a.dtb").unwrap_err().to_string();
        assert!(error.contains("compatible with `riscv`, expected powerpc"), "{error}");
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
