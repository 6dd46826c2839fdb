//! Distances between proximity domains, from the System Locality Information Table (ACPI Specification 6.5,
//! 5.2.17).

use super::header::{HEADER_BYTES, Table};
use crate::error::MachineError;

pub(super) const LOCAL: u32 = 10;
const MATRIX: usize = HEADER_BYTES + 8;

/// A square of distances.
#[derive(Debug)]
pub(super) struct Slit<'t> {
    table: &'t Table,
    localities: usize,
}

/// Reads the table; a domain's distance to itself is 10 and to others more, or Linux takes none of it.
pub(super) fn read(table: &Table) -> Result<Slit<'_>, MachineError> {
    let count = table.u64(HEADER_BYTES)?;
    let bytes = table.size() - MATRIX;
    let side = usize::try_from(count).ok().filter(|n| n.checked_mul(*n) == Some(bytes));
    let Some(localities) = side else {
        let found = format!("{count} domains and {bytes} bytes of distances");
        return Err(table.error(HEADER_BYTES, found, "a byte for each pair"));
    };
    for (pair, offset) in (MATRIX..table.size()).enumerate() {
        let (from, to) = (pair / localities, pair % localities);
        let distance = u32::from(table.u8(offset)?);
        let (right, expected) = match from == to {
            true => (distance == LOCAL, "10"),
            false => (distance > LOCAL, "more than 10"),
        };
        if !right {
            let found = format!("distance {distance} from domain {from} to {to}");
            return Err(table.error(offset, found, expected));
        }
    }
    Ok(Slit { table, localities })
}

impl Slit<'_> {
    /// Distance between two proximity domains.
    pub(super) fn distance(&self, from: u32, to: u32) -> Result<u32, MachineError> {
        let inside = |domain: u32| usize::try_from(domain).ok().filter(|&d| d < self.localities);
        match (inside(from), inside(to)) {
            (Some(from), Some(to)) => {
                Ok(u32::from(self.table.u8(MATRIX + from * self.localities + to)?))
            }
            _ => {
                let found = format!("distances of {} domains", self.localities);
                let expected = format!("one from domain {from} to {to}, which the SRAT has");
                Err(self.table.error(HEADER_BYTES, found, expected))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acpi::testing::slit;

    fn distance(bytes: Vec<u8>, from: u32, to: u32) -> Result<u32, String> {
        let table = Table::parse("SLIT", bytes, "SLIT").unwrap();
        read(&table).and_then(|slit| slit.distance(from, to)).map_err(|e| e.to_string())
    }

    #[test]
    fn gives_distances_by_direction() {
        let bytes = slit(2, &[10, 21, 31, 10]);
        assert_eq!(distance(bytes.clone(), 0, 1), Ok(21));
        assert_eq!(distance(bytes.clone(), 1, 0), Ok(31));
        assert_eq!(
            distance(bytes, 0, 2).unwrap_err(),
            "SLIT: offset 0x24: found distances of 2 domains, expected one from domain 0 to 2, which \
             the SRAT has"
        );
    }

    #[test]
    fn says_what_is_wrong() {
        let fail = |count, distances: &[u8]| distance(slit(count, distances), 0, 0).unwrap_err();
        assert_eq!(
            fail(2, &[10, 20, 20]),
            "SLIT: offset 0x24: found 2 domains and 3 bytes of distances, expected a byte for each \
             pair"
        );
        assert!(fail(1 << 32, &[]).contains("4294967296 domains"));
        assert!(fail(2, &[10, 20, 20, 11]).contains("0x2f: found distance 11 from domain 1 to 1"));
        assert!(fail(2, &[10, 20, 10, 10]).contains("domain 1 to 0, expected more than 10"));
    }
}
