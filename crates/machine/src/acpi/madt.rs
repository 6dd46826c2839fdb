//! Processors from the Multiple APIC Description Table (ACPI Specification 6.5, 5.2.12).

use super::header::Table;
use crate::cpuset::MAX_CPUS;
use crate::error::MachineError;
use crate::model::Arch;
use std::collections::BTreeMap;

/// First structure; the local APIC's address and flags come before it.
const ENTRIES: usize = 44;
const LOCAL_APIC: u8 = 0;
const LOCAL_X2APIC: u8 = 9;
const GICC: u8 = 11;

const ENABLED: u32 = 1;
const APIC_ONLINE_CAPABLE: u32 = 1 << 1;
const GICC_ONLINE_CAPABLE: u32 = 1 << 3;

/// Id of a local APIC that does not exist.
const NO_APIC: u64 = 0xff;

/// An enabled processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Processor {
    /// ACPI processor UID, by which PPTT and (on arm64) SRAT name it.
    pub(super) uid: u32,
    /// APIC id, or the affinity bytes of MPIDR, Aff3 in the highest.
    pub(super) hw_id: u32,
    /// MPIDR's MT bit: the lowest affinity level is threads.
    pub(super) multithreaded: bool,
}

/// Enabled processors in the order of the table, which is that of Linux's CPU numbers.
#[derive(Debug)]
pub(super) struct Madt {
    pub(super) arch: Arch,
    pub(super) processors: Vec<Processor>,
    /// Processors that are not enabled but can be plugged in later.
    pub(super) pluggable: usize,
}

/// One processor structure, enabled or not.
struct Found {
    offset: usize,
    kind: u8,
    processor: Processor,
    enabled: bool,
    pluggable: bool,
}

/// Reads the table.
pub(super) fn read(table: &Table) -> Result<Madt, MachineError> {
    let found = processors(table)?;
    let arch = arch(table, &found)?;
    let mut by_uid: BTreeMap<u32, usize> = BTreeMap::new();
    let mut by_hw_id: BTreeMap<u32, (usize, u8)> = BTreeMap::new();
    let mut madt = Madt { arch, processors: Vec::new(), pluggable: 0 };
    for Found { offset, kind, processor, enabled, pluggable } in found {
        if !enabled {
            madt.pluggable += usize::from(pluggable);
            continue;
        }
        let what = if arch == Arch::Arm64 { "MPIDR" } else { "APIC id" };
        match by_hw_id.get(&processor.hw_id) {
            // Firmware may list a processor both as local APIC and as x2APIC.
            Some((_, earlier)) if *earlier != kind => continue,
            Some((earlier, _)) => {
                let found = format!("{what} {:#x}, also at {earlier:#x}", processor.hw_id);
                return Err(table.error(offset, found, "each enabled processor once"));
            }
            None => by_hw_id.insert(processor.hw_id, (offset, kind)),
        };
        if let Some(earlier) = by_uid.insert(processor.uid, offset) {
            let found = format!("ACPI processor UID {}, also at {earlier:#x}", processor.uid);
            return Err(table.error(offset, found, "each enabled processor once"));
        }
        madt.processors.push(processor);
    }
    match madt.processors.len() {
        1..=MAX_CPUS => Ok(madt),
        count => {
            let found = format!("{count} enabled processors");
            Err(table.error(ENTRIES, found, format!("1 to {MAX_CPUS}")))
        }
    }
}

fn processors(table: &Table) -> Result<Vec<Found>, MachineError> {
    let mut all = Vec::new();
    for entry in table.entries(ENTRIES)? {
        let (uid, id, flags, capable) = match entry.kind {
            LOCAL_APIC => {
                let (uid, id) = (u32::from(entry.u8(2)?), u32::from(entry.u8(3)?));
                (uid, u64::from(id), entry.u32(4)?, APIC_ONLINE_CAPABLE)
            }
            LOCAL_X2APIC => {
                let id = u64::from(entry.u32(4)?);
                (entry.u32(12)?, id, entry.u32(8)?, APIC_ONLINE_CAPABLE)
            }
            GICC => (entry.u32(8)?, entry.u64(68)?, entry.u32(12)?, GICC_ONLINE_CAPABLE),
            _ => continue,
        };
        if entry.kind == LOCAL_APIC && id == NO_APIC {
            continue;
        }
        let processor = match entry.kind {
            GICC => Processor { uid, hw_id: affinity(id), multithreaded: id & (1 << 24) != 0 },
            _ => Processor { uid, hw_id: id as u32, multithreaded: false },
        };
        let enabled = flags & ENABLED != 0;
        let (offset, kind) = (entry.offset, entry.kind);
        all.push(Found { offset, kind, processor, enabled, pluggable: flags & capable != 0 });
    }
    Ok(all)
}

/// Affinity bytes of `mpidr`: Aff0 to Aff2 are its lowest 24 bits, Aff3 its bits 32 to 39.
pub(crate) fn affinity(mpidr: u64) -> u32 {
    ((mpidr & 0xff_ffff) | ((mpidr >> 32 & 0xff) << 24)) as u32
}

fn arch(table: &Table, found: &[Found]) -> Result<Arch, MachineError> {
    let gicc = found.iter().find(|f| f.kind == GICC);
    let apic = found.iter().find(|f| f.kind != GICC);
    match (gicc, apic) {
        (Some(_), None) => Ok(Arch::Arm64),
        (None, Some(_)) => Ok(Arch::X86),
        (Some(gicc), Some(apic)) => {
            let found = format!("a GIC CPU interface, and a local APIC at {:#x}", apic.offset);
            Err(table.error(gicc.offset, found, "processors of one architecture"))
        }
        (None, None) => {
            Err(table.error(ENTRIES, "no processor", "GIC CPU interfaces or local APICs"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acpi::testing::{gicc, giccs, lapic, madt, sealed, x2apic};

    fn read_bytes(bytes: Vec<u8>) -> Result<Madt, String> {
        read(&Table::parse("APIC", bytes, "APIC").unwrap()).map_err(|e| e.to_string())
    }

    #[test]
    fn numbers_enabled_processors_in_table_order() {
        let mpidr = 0x0a_8104_0302;
        let other = vec![12, 4, 0, 0];
        let bytes = madt(&[gicc(7, mpidr, 1), other, gicc(5, 1, 0), gicc(4, 2, 8), gicc(3, 4, 1)]);
        let read = read_bytes(bytes).unwrap();
        assert_eq!((read.arch, read.pluggable), (Arch::Arm64, 1));
        let first = Processor { uid: 7, hw_id: 0x0a04_0302, multithreaded: true };
        assert_eq!(read.processors, [first, Processor { uid: 3, hw_id: 4, multithreaded: false }]);
    }

    #[test]
    fn reads_both_kinds_of_apic() {
        let entries = [
            lapic(9, 4, 1),
            lapic(1, 0xff, 1),
            lapic(2, 6, 2),
            x2apic(9, 4, 1),
            x2apic(300, 0x1000, 1),
        ];
        let read = read_bytes(madt(&entries)).unwrap();
        let ids: Vec<_> = read.processors.iter().map(|p| (p.uid, p.hw_id)).collect();
        assert_eq!((read.arch, ids, read.pluggable), (Arch::X86, vec![(9, 4), (300, 0x1000)], 1));
    }

    #[test]
    fn says_what_is_wrong() {
        let fail = |entries: &[Vec<u8>]| read_bytes(madt(entries)).unwrap_err();
        assert_eq!(
            fail(&[]),
            "APIC: offset 0x2c: found no processor, expected GIC CPU interfaces or local APICs"
        );
        assert_eq!(
            fail(&[gicc(0, 0, 0)]),
            "APIC: offset 0x2c: found 0 enabled processors, expected 1 to 8192"
        );
        assert!(read_bytes(giccs(8193)).unwrap_err().contains("found 8193 enabled processors"));
        assert_eq!(
            fail(&[lapic(0, 0, 1), gicc(1, 1, 1)]),
            "APIC: offset 0x34: found a GIC CPU interface, and a local APIC at 0x2c, expected \
             processors of one architecture"
        );
        assert_eq!(
            fail(&[lapic(0, 3, 1), lapic(1, 3, 1)]),
            "APIC: offset 0x34: found APIC id 0x3, also at 0x2c, expected each enabled processor once"
        );
        assert!(fail(&[gicc(0, 3, 1), gicc(1, 3, 1)]).contains("found MPIDR 0x3, also at 0x2c"));
        assert!(fail(&[gicc(6, 0, 1), gicc(6, 1, 1)]).contains("ACPI processor UID 6, also at"));
        assert!(fail(&[vec![11, 4, 0, 0]]).contains("type 11 and 4 bytes, expected a field"));
        assert!(read_bytes(sealed("APIC", 4, &[0; 7])).unwrap_err().contains("at least 44"));
    }
}
