//! Properties that firmware leaves out, put into a flattened tree.

use super::fdt::{self, Parts};
use super::thread_groups;
use crate::error::MachineError;
use std::collections::{BTreeMap, BTreeSet};

/// Property of a core: the numbers of its threads.
const SERVERS: &str = "ibm,ppc-interrupt-server#s";
/// What arm's timers are compatible with.
const ARM_TIMER: &[u8] = b"arm,armv8-timer";
/// Bytes of a version 17 header.
const HEADER: usize = 40;
/// Alignment of the memory reservations, and of what is written.
const ALIGNMENT: usize = 8;

/// The tree in `blob` with `ibm,thread-groups` of cores: cells by the number of the core's first thread. `file` names
/// the tree in errors. What else the tree holds stays as it is; the result is of version 17.
///
/// # Errors
/// What [`super::read`] refuses of the form, and a core that the tree does not have.
pub fn with_thread_groups(
    blob: &[u8],
    file: &str,
    groups: &BTreeMap<u32, Vec<u32>>,
) -> Result<Vec<u8>, MachineError> {
    let parts = fdt::parts(blob, file)?;
    let mut values: BTreeMap<usize, &[u32]> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (node, &body) in parts.nodes.iter().zip(&parts.bodies) {
        let servers = node.properties.iter().find(|(name, _)| name == SERVERS);
        let first = servers.and_then(|(_, value)| value.first_chunk::<4>());
        let Some(first) = first.map(|bytes| u32::from_be_bytes(*bytes)) else { continue };
        if let Some(cells) = groups.get(&first) {
            values.insert(body, cells);
            found.insert(first);
        }
    }
    match groups.keys().find(|first| !found.contains(first)) {
        None => Ok(written(&parts, blob, thread_groups::NAME, &values)),
        Some(first) => Err(MachineError::File {
            file: file.to_string(),
            found: format!("no core whose {SERVERS} begin with {first}"),
            expected: "one for each of the thread groups".to_string(),
        }),
    }
}

/// The tree in `blob` with the frequency in Hz that it gives arm's timers. Kernels then take their counter to run at that frequency,
/// whatever the counter's own register says. `file` names the tree in errors.
///
/// # Errors
/// What [`super::read`] refuses of the form, and a tree without such timers.
pub fn with_timer_frequency(blob: &[u8], file: &str, hz: u32) -> Result<Vec<u8>, MachineError> {
    let parts = fdt::parts(blob, file)?;
    let is_timer = |node: &fdt::RawNode| {
        let compatible = node.properties.iter().find(|(name, _)| name == "compatible");
        let mut names = compatible.iter().flat_map(|(_, value)| value.split(|&byte| byte == 0));
        names.any(|name| name == ARM_TIMER)
    };
    let nodes = parts.nodes.iter().zip(&parts.bodies);
    let timers: BTreeMap<usize, &[u32]> = nodes
        .filter(|(node, _)| is_timer(node))
        .map(|(_, &body)| (body, std::slice::from_ref(&hz)))
        .collect();
    match timers.is_empty() {
        false => Ok(written(&parts, blob, "clock-frequency", &timers)),
        true => Err(MachineError::File {
            file: file.to_string(),
            found: "no timer of arm".to_string(),
            expected: "one, whose frequency is to be set".to_string(),
        }),
    }
}

/// The blob again, with the property `name` at each of the offsets in `values`.
fn written(parts: &Parts, blob: &[u8], name: &str, values: &BTreeMap<usize, &[u32]>) -> Vec<u8> {
    let mut strings = parts.strings.to_vec();
    let name_offset = strings.len() as u32;
    strings.extend_from_slice(name.as_bytes());
    strings.push(0);
    let mut structure = Vec::new();
    let mut from = 0;
    for (&offset, cells) in values {
        let to = offset - parts.structure_start;
        structure.extend_from_slice(&parts.structure[from..to]);
        let head = [fdt::PROPERTY, 4 * cells.len() as u32, name_offset];
        structure.extend(head.iter().chain(*cells).flat_map(|word| word.to_be_bytes()));
        from = to;
    }
    structure.extend_from_slice(&parts.structure[from..]);
    let structure_at = HEADER + parts.reservations.len();
    let strings_at = structure_at + structure.len();
    let total = (strings_at + strings.len()).next_multiple_of(ALIGNMENT);
    let boot_cpu = fdt::boot_cpu(blob).unwrap_or(0);
    let header = [
        fdt::MAGIC,
        total as u32,
        structure_at as u32,
        strings_at as u32,
        HEADER as u32,
        17,
        16,
        boot_cpu,
        strings.len() as u32,
        structure.len() as u32,
    ];
    let mut out: Vec<u8> = header.iter().flat_map(|word| word.to_be_bytes()).collect();
    out.extend_from_slice(parts.reservations);
    out.extend(structure);
    out.extend(strings);
    out.resize(total, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devicetree::testing::{Dt, core, machine};

    #[test]
    fn thread_groups_are_added_and_nothing_else_changes() {
        let blob = machine(vec![core(&[0, 1, 2, 3]), core(&[4, 5, 6, 7])]).blob();
        let cells = |at: u32| vec![1, 2, 2, at, at + 2, at + 1, at + 3];
        let groups = BTreeMap::from([(0, cells(0)), (4, cells(4))]);
        let edited = with_thread_groups(&blob, "t.dtb", &groups).unwrap();
        let read = crate::devicetree::read(&edited, "t.dtb").unwrap();
        assert_eq!(read.small_core_siblings(5).unwrap().to_string(), "5,7");
        let rest = |blob: &[u8]| {
            let nodes = fdt::nodes(blob, "t.dtb").unwrap().into_iter();
            let with = nodes.map(|mut node| {
                node.properties.retain(|(name, _)| name != thread_groups::NAME);
                format!("{node:?}")
            });
            with.collect::<Vec<_>>()
        };
        assert_eq!(rest(&edited), rest(&blob));
        assert_eq!(with_thread_groups(&edited, "t.dtb", &BTreeMap::new()).unwrap().len() % 8, 0);
    }

    #[test]
    fn timers_get_a_frequency() {
        let timer = Dt::node("timer").bytes("compatible", b"arm,armv8-timer\0arm,armv7-timer\0");
        let blob = Dt::node("").child(timer).child(Dt::node("other")).blob();
        let edited = with_timer_frequency(&blob, "t.dtb", 240_000_000).unwrap();
        let nodes = fdt::nodes(&edited, "t.dtb").unwrap();
        let found: Vec<_> = (nodes.iter().flat_map(|node| &node.properties))
            .filter(|(name, _)| *name == "clock-frequency")
            .map(|(_, value)| value.to_vec())
            .collect();
        assert_eq!(found, [240_000_000u32.to_be_bytes().to_vec()]);
        let error = with_timer_frequency(&Dt::node("").blob(), "t.dtb", 1).unwrap_err();
        assert!(error.to_string().contains("found no timer of arm"), "{error}");
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        let blob = machine(vec![core(&[0, 1])]).blob();
        let error = with_thread_groups(&blob, "t.dtb", &BTreeMap::from([(8, vec![])]));
        assert_eq!(
            error.unwrap_err().to_string(),
            "t.dtb: found no core whose ibm,ppc-interrupt-server#s begin with 8, expected one for each of the thread groups"
        );
    }
}
