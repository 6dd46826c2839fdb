//! What all ACPI tables have in common: the header with its checksum, and lists of structures that start with
//! their type and length (ACPI Specification 6.5, 5.2.6).
//!
//! The bytes are read here because crates at hand either write tables only, or map physical memory through
//! unsafe code and know no PPTT.

use crate::error::MachineError;

/// Bytes of the header; the table's own fields follow.
pub(super) const HEADER_BYTES: usize = 36;

/// A table whose signature, length and checksum are right.
#[derive(Debug)]
pub(super) struct Table {
    file: String,
    bytes: Vec<u8>,
}

impl Table {
    /// Checks the header of the table in `bytes`; `file` names it in errors.
    pub(super) fn parse(
        file: &str,
        bytes: Vec<u8>,
        signature: &str,
    ) -> Result<Table, MachineError> {
        let table = Table { file: file.to_string(), bytes };
        let size = table.bytes.len();
        if size < HEADER_BYTES {
            let expected = format!("a table header of {HEADER_BYTES} bytes");
            return Err(table.error(0, format!("a file of {size} bytes"), expected));
        }
        if !table.bytes.starts_with(signature.as_bytes()) {
            let found = format!("`{}`", table.bytes[..4].escape_ascii());
            return Err(table.error(0, found, format!("the signature `{signature}`")));
        }
        let length = table.u32(4)?;
        if length as usize != size {
            let expected = format!("the size of the file, {size} bytes");
            return Err(table.error(4, format!("a length of {length} bytes"), expected));
        }
        let sum = table.bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
        if sum != 0 {
            let found = table.bytes[9];
            let right = found.wrapping_sub(sum);
            return Err(table.error(9, format!("checksum {found:#04x}"), format!("{right:#04x}")));
        }
        Ok(table)
    }

    /// Whether the table has this signature.
    pub(super) fn is(&self, signature: &str) -> bool {
        self.bytes.starts_with(signature.as_bytes())
    }

    /// Revision of the table's format.
    pub(super) fn revision(&self) -> u8 {
        self.bytes[8]
    }

    /// Bytes of the whole table.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn error(
        &self,
        offset: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> MachineError {
        MachineError::Blob {
            file: self.file.clone(),
            offset,
            found: found.into(),
            expected: expected.into(),
        }
    }

    fn array<const N: usize>(&self, offset: usize) -> Result<[u8; N], MachineError> {
        let bytes = offset.checked_add(N).and_then(|end| self.bytes.get(offset..end));
        bytes.and_then(|b| b.try_into().ok()).ok_or_else(|| {
            self.error(offset, "the end of the table", format!("a field of {N} bytes"))
        })
    }

    pub(super) fn u8(&self, offset: usize) -> Result<u8, MachineError> {
        Ok(u8::from_le_bytes(self.array(offset)?))
    }

    pub(super) fn u32(&self, offset: usize) -> Result<u32, MachineError> {
        Ok(u32::from_le_bytes(self.array(offset)?))
    }

    pub(super) fn u64(&self, offset: usize) -> Result<u64, MachineError> {
        Ok(u64::from_le_bytes(self.array(offset)?))
    }

    /// The structures from `start` to the end of the table.
    pub(super) fn entries(&self, start: usize) -> Result<Vec<Entry<'_>>, MachineError> {
        let mut entries = Vec::new();
        let mut offset = start;
        if start > self.size() {
            let expected = format!("at least {start}");
            return Err(self.error(4, format!("a length of {} bytes", self.size()), expected));
        }
        while offset < self.size() {
            let (kind, length) = (self.u8(offset)?, usize::from(self.u8(offset + 1)?));
            let rest = self.size() - offset;
            if length < 2 || length > rest {
                let found = format!("a structure of type {kind} and {length} bytes");
                return Err(self.error(offset, found, format!("2 to {rest} bytes")));
            }
            entries.push(Entry { table: self, offset, kind, length });
            offset += length;
        }
        Ok(entries)
    }
}

/// One structure of a table. Offsets of its fields count from its own start.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'t> {
    table: &'t Table,
    /// Where it starts in the table.
    pub(super) offset: usize,
    pub(super) kind: u8,
    length: usize,
}

impl Entry<'_> {
    fn field<const N: usize>(&self, at: usize) -> Result<[u8; N], MachineError> {
        let end = at.checked_add(N).filter(|&end| end <= self.length);
        match end {
            Some(_) => self.table.array(self.offset + at),
            None => {
                let found = format!("a structure of type {} and {} bytes", self.kind, self.length);
                Err(self.error(found, format!("a field of {N} bytes at byte {at} of it")))
            }
        }
    }

    pub(super) fn u8(&self, at: usize) -> Result<u8, MachineError> {
        Ok(u8::from_le_bytes(self.field(at)?))
    }

    pub(super) fn u16(&self, at: usize) -> Result<u16, MachineError> {
        Ok(u16::from_le_bytes(self.field(at)?))
    }

    pub(super) fn u32(&self, at: usize) -> Result<u32, MachineError> {
        Ok(u32::from_le_bytes(self.field(at)?))
    }

    pub(super) fn u64(&self, at: usize) -> Result<u64, MachineError> {
        Ok(u64::from_le_bytes(self.field(at)?))
    }

    pub(super) fn error(
        &self,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> MachineError {
        self.table.error(self.offset, found, expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acpi::testing::sealed;

    fn fail(bytes: Vec<u8>) -> String {
        Table::parse("T", bytes, "SRAT").unwrap_err().to_string()
    }

    #[test]
    fn says_what_is_wrong_with_a_header() {
        assert_eq!(
            fail(vec![0; 35]),
            "T: offset 0x0: found a file of 35 bytes, expected a table header of 36 bytes"
        );
        assert_eq!(
            fail(sealed("SLIT", 1, &[])),
            "T: offset 0x0: found `SLIT`, expected the signature `SRAT`"
        );
        let whole = sealed("SRAT", 1, &[1, 2, 3]);
        let mut long = whole.clone();
        long.push(0);
        assert_eq!(
            fail(long),
            "T: offset 0x4: found a length of 39 bytes, expected the size of the file, 40 bytes"
        );
        let mut damaged = whole.clone();
        damaged[38] = 5;
        let (found, right) = (whole[9], whole[9].wrapping_sub(2));
        assert_eq!(
            fail(damaged),
            format!("T: offset 0x9: found checksum {found:#04x}, expected {right:#04x}")
        );
        Table::parse("T", whole, "SRAT").unwrap();
    }

    #[test]
    fn says_where_a_list_of_structures_breaks() {
        let entries = |body: &[u8]| {
            let table = Table::parse("T", sealed("SRAT", 1, body), "SRAT").unwrap();
            table.entries(HEADER_BYTES).map(|e| e.len()).map_err(|e| e.to_string())
        };
        assert_eq!(entries(&[7, 2, 8, 3, 0]), Ok(2));
        assert_eq!(
            entries(&[7, 2, 8, 4, 0]).unwrap_err(),
            "T: offset 0x26: found a structure of type 8 and 4 bytes, expected 2 to 3 bytes"
        );
        assert!(entries(&[7, 0]).unwrap_err().contains("type 7 and 0 bytes"));
        assert!(entries(&[7, 2, 9]).unwrap_err().contains("0x27: found the end of the table"));
        let table = Table::parse("T", sealed("SRAT", 1, &[7, 3, 9]), "SRAT").unwrap();
        let entry = table.entries(HEADER_BYTES).unwrap()[0];
        assert_eq!(entry.u8(2), Ok(9));
        assert_eq!(
            entry.u32(0).unwrap_err().to_string(),
            "T: offset 0x24: found a structure of type 7 and 3 bytes, expected a field of 4 bytes at \
             byte 0 of it"
        );
        assert!(table.entries(40).unwrap_err().to_string().contains("expected at least 40"));
    }
}
