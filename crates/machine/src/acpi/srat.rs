//! Who is in which proximity domain, from the System Resource Affinity Table (ACPI Specification 6.5, 5.2.16).

use super::header::Table;
use crate::error::MachineError;
use crate::model::Arch;
use std::collections::BTreeMap;

/// First structure; reserved fields come before it.
const ENTRIES: usize = 48;
const LOCAL_APIC: u8 = 0;
const MEMORY: u8 = 1;
const LOCAL_X2APIC: u8 = 2;
const GICC: u8 = 3;

const ENABLED: u32 = 1;
const HOT_PLUGGABLE: u32 = 1 << 1;

/// Domains as the table has them.
#[derive(Debug, Default)]
pub(super) struct Srat {
    /// Node number of each domain. As in Linux they go by first appearance: in the structures of processors,
    /// then in those of memory.
    pub(super) nodes: BTreeMap<u32, u32>,
    /// Node of each processor: by ACPI processor UID on arm64, by APIC id on x86.
    pub(super) processors: BTreeMap<u32, u32>,
    /// Bytes of memory that is there from the start, by node.
    pub(super) memory_bytes: BTreeMap<u32, u64>,
    /// Whether there are ranges that memory can be plugged into.
    pub(super) pluggable: bool,
    /// Number of memory ranges in use or for plugging.
    pub(super) ranges: usize,
}

/// Reads the structures that `arch` uses.
pub(super) fn read(table: &Table, arch: Arch) -> Result<Srat, MachineError> {
    // Domains have one byte in revision 1; what follows it is reserved.
    let domain_mask = if table.revision() > 1 { u32::MAX } else { 0xff };
    let mut srat = Srat::default();
    let entries = table.entries(ENTRIES)?;
    for entry in &entries {
        let (domain, id, flags) = match (arch, entry.kind) {
            (Arch::X86, LOCAL_APIC) => {
                let high = [entry.u8(9)?, entry.u8(10)?, entry.u8(11)?];
                let domain = u32::from_le_bytes([entry.u8(2)?, high[0], high[1], high[2]]);
                (domain & domain_mask, u32::from(entry.u8(3)?), entry.u32(4)?)
            }
            (Arch::X86, LOCAL_X2APIC) => (entry.u32(4)?, entry.u32(8)?, entry.u32(12)?),
            (Arch::Arm64, GICC) => (entry.u32(2)?, entry.u32(6)?, entry.u32(10)?),
            _ => continue,
        };
        if flags & ENABLED == 0 {
            continue;
        }
        let node = srat.node(domain);
        if let Some(other) = srat.processors.insert(id, node).filter(|&other| other != node) {
            let found = format!("processor {id:#x} in node {node}, before in node {other}");
            return Err(entry.error(found, "each processor in one node"));
        }
    }
    for entry in entries.iter().filter(|e| e.kind == MEMORY) {
        let flags = entry.u32(28)?;
        if flags & ENABLED == 0 {
            continue;
        }
        srat.ranges += 1;
        let node = srat.node(entry.u32(2)? & domain_mask);
        let bytes = match flags & HOT_PLUGGABLE {
            0 => entry.u64(16)?,
            _ => {
                srat.pluggable = true;
                continue;
            }
        };
        let sum = srat.memory_bytes.entry(node).or_insert(0);
        *sum = sum.checked_add(bytes).ok_or_else(|| {
            entry.error(format!("more than 2^64 bytes in node {node}"), "less memory")
        })?;
    }
    Ok(srat)
}

impl Srat {
    fn node(&mut self, domain: u32) -> u32 {
        // A table of less than 2^32 bytes has fewer domains.
        let next = self.nodes.len() as u32;
        *self.nodes.entry(domain).or_insert(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acpi::testing::{
        gicc_affinity, lapic_affinity, memory_affinity, srat, x2apic_affinity,
    };

    fn read_bytes(bytes: Vec<u8>, arch: Arch) -> Result<Srat, String> {
        read(&Table::parse("SRAT", bytes, "SRAT").unwrap(), arch).map_err(|e| e.to_string())
    }

    #[test]
    fn numbers_nodes_by_appearance_processors_first() {
        let entries = [
            memory_affinity(5, 4096, 1),
            gicc_affinity(9, 3),
            gicc_affinity(2, 1),
            memory_affinity(2, 1024, 1),
            memory_affinity(2, 1024, 1),
            memory_affinity(2, 1 << 40, 3),
            memory_affinity(7, 1024, 0),
        ];
        let read = read_bytes(srat(3, &entries), Arch::Arm64).unwrap();
        assert_eq!(read.nodes, [(9, 0), (2, 1), (5, 2)].into());
        assert_eq!(read.processors, [(3, 0), (1, 1)].into());
        assert_eq!(read.memory_bytes, [(1, 2048), (2, 4096)].into());
        assert!(read.pluggable);
    }

    #[test]
    fn revision_1_has_domains_of_one_byte() {
        let entries = [lapic_affinity(0x102, 4), x2apic_affinity(0x301, 0x1000)];
        let nodes = |revision| read_bytes(srat(revision, &entries), Arch::X86).unwrap().nodes;
        assert_eq!(nodes(1), [(2, 0), (0x301, 1)].into());
        assert_eq!(nodes(2), [(0x102, 0), (0x301, 1)].into());
    }

    #[test]
    fn says_what_is_wrong() {
        let twice = srat(3, &[gicc_affinity(0, 6), gicc_affinity(1, 6)]);
        assert_eq!(
            read_bytes(twice, Arch::Arm64).unwrap_err(),
            "SRAT: offset 0x42: found processor 0x6 in node 1, before in node 0, expected each \
             processor in one node"
        );
        let much = srat(3, &[memory_affinity(0, u64::MAX, 1), memory_affinity(0, 1, 1)]);
        assert!(
            read_bytes(much, Arch::X86).unwrap_err().contains("more than 2^64 bytes in node 0")
        );
    }
}
