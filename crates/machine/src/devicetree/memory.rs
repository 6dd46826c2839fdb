//! Memory nodes and their sizes.

use super::node::{Node, Tree};
use crate::error::{Fault, MachineError};

/// Memory nodes in use and their size in bytes.
pub(super) fn memory<'t>(tree: &'t Tree<'t>) -> Result<Vec<(Node<'t>, u64)>, MachineError> {
    let mut all = Vec::new();
    for node in tree.nodes().filter(|n| n.bytes("device_type") == Some(b"memory\0")) {
        if node.is_available()? {
            all.push((node, reg_bytes(node)?));
        }
    }
    Ok(all)
}

/// Sum of the sizes in `reg`, in the parent's `#address-cells` and `#size-cells` (2 and 1 where absent, as the
/// Devicetree Specification has it).
fn reg_bytes(node: Node<'_>) -> Result<u64, MachineError> {
    let count = |name, default| match node.parent() {
        Some(parent) => match parent.cell(name)? {
            Some(count @ 0..=4) => Ok(count as usize),
            Some(count) => {
                Err(parent.property_error(name, Fault::new(format!("{count}"), "0 to 4")))
            }
            None => Ok(default),
        },
        None => Ok(default),
    };
    let (address, size) = (count("#address-cells", 2)?, count("#size-cells", 1)?);
    let Some(cells) = node.cells("reg")? else {
        return Err(node.error("no reg", "the memory's address and size"));
    };
    let entry = address + size;
    if !(1..=2).contains(&size) || cells.len() % entry != 0 {
        let found = format!("{} cells", cells.len());
        let expected = format!("entries of {address} address and {size} (1 or 2) size cells");
        return Err(node.property_error("reg", Fault::new(found, expected)));
    }
    let join = |cells: &[u32]| cells.iter().fold(0u64, |sum, &c| sum << 32 | u64::from(c));
    let mut sizes = cells.chunks(entry).map(|e| join(&e[address..]));
    sizes.try_fold(0u64, |sum, size| sum.checked_add(size)).ok_or_else(|| {
        node.property_error("reg", Fault::new("sizes beyond 2^64 bytes", "less memory"))
    })
}
