//! Caches of an arm64 machine: first level in the CPU nodes, the others along `next-level-cache`.

use super::cpus::CpuNode;
use crate::cpuset::CpuSet;
use crate::devicetree::caches::{Shape, chain, two_levels};
use crate::devicetree::node::Node;
use crate::error::MachineError;
use crate::model::{Cache, CacheKind};
use std::collections::{BTreeMap, HashMap};

/// Reads all caches. As in Linux (`cache_leaves_are_shared`), CPUs share a cache where their chains reach one node;
/// the first level belongs to the CPU node, so that even threads of one core have it each to itself.
pub(super) fn read<'t>(
    cpus: &[CpuNode<'t>],
    phandles: &HashMap<u32, Node<'t>>,
    unknown: &mut Vec<String>,
) -> Result<Vec<Cache>, MachineError> {
    let mut caches = Vec::new();
    let mut outer: BTreeMap<usize, (Node<'t>, u8, CpuSet)> = BTreeMap::new();
    let (mut silent, mut unsized_first) = (CpuSet::EMPTY, CpuSet::EMPTY);
    for (number, cpu) in cpus.iter().enumerate() {
        let chain = chain(cpu.node, phandles)?;
        let mut first = Shape::of_node(cpu.node, 1)?;
        match (first.is_empty(), chain.is_empty()) {
            (true, true) => silent.insert(number),
            (true, false) => {
                first.extend([CacheKind::Data, CacheKind::Instruction].map(Shape::unsized_of));
                unsized_first.insert(number);
            }
            _ => {}
        }
        caches.extend(first.iter().map(|shape| shape.cache(1, CpuSet::single(number))));
        for (node, level) in chain {
            let entry = outer.entry(node.index()).or_insert((node, level, CpuSet::EMPTY));
            if entry.1 != level {
                return Err(two_levels(node, [entry.1, level], cpu.node));
            }
            entry.2.insert(number);
        }
    }
    for (node, level, sharers) in outer.into_values() {
        for shape in Shape::of_node(node, level)? {
            if shape.size_kib.is_none() {
                unknown.push(format!("Size of the level-{level} cache at {}.", node.path()));
            }
            caches.push(shape.cache(level, sharers.clone()));
        }
    }
    if !silent.is_empty() {
        unknown.push(format!(
            "Caches of CPUs {silent}: the device tree names none; a kernel asks the CPU, which tells levels and types \
             but no sizes, and calls the first level private and the others everybody's."
        ));
    }
    if !unsized_first.is_empty() {
        unknown.push(format!(
            "First-level caches of CPUs {unsized_first}: the CPU nodes tell nothing; as Linux counts them, each has \
             one for data and one for instructions."
        ));
    }
    Ok(caches)
}
