//! The table in memory to which the engine writes its log: address, size and entries.

use crate::CacheError;
use crate::sampling::Sampling;
use crate::set_associative::Line;

/// Bytes per entry: 32 KiB for the 4096 lines of a 512 KiB L2.
pub(crate) const ENTRY_BYTES: u64 = 8;

/// The address bits that fit into operands, in units of 16 KiB.
pub(crate) const ADDRESS_MASK: u64 = 0x0000_ffff_ffff_c000;

/// Size class of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeClass {
    /// Log of the L2.
    L2,
    /// Log of the L2 and of the most recently used way of the L3.
    L2AndL3,
}

impl SizeClass {
    /// Largest size of a table, which is also its alignment: 32 KiB or 128 KiB.
    pub fn bytes(self) -> u64 {
        match self {
            SizeClass::L2 => 32 << 10,
            SizeClass::L2AndL3 => 128 << 10,
        }
    }
}

/// Address of a table: aligned to the largest size of its class, and representable in operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableAddress {
    address: u64,
    class: SizeClass,
}

impl TableAddress {
    /// The address `address` (a real address) of a table of `bytes` bytes and size class `class`.
    ///
    /// # Errors
    /// [`CacheError::Oversized`], [`CacheError::Misaligned`], [`CacheError::Address`].
    pub fn new(address: u64, bytes: u64, class: SizeClass) -> Result<TableAddress, CacheError> {
        let most = class.bytes();
        if bytes > most {
            return Err(CacheError::Oversized { found: bytes, expected: most });
        }
        if !address.is_multiple_of(most) {
            return Err(CacheError::Misaligned { found: address, expected: most });
        }
        if address & !ADDRESS_MASK != 0 {
            return Err(CacheError::Address { found: address, expected: 1 << 48 });
        }
        Ok(TableAddress { address, class })
    }

    /// The real address.
    pub fn address(self) -> u64 {
        self.address
    }

    /// The size class.
    pub fn class(self) -> SizeClass {
        self.class
    }
}

/// An entry of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The line.
    pub line: Line,
    /// Whether it goes back to the L3 instead of the L2.
    pub l3: bool,
}

/// The entries of a table, in the order in which they were logged.
#[derive(Debug, Clone)]
pub struct LogTable {
    entries: Vec<u32>,
    room: usize,
}

impl LogTable {
    /// Creates an empty table with room for `room` entries.
    fn new(room: usize) -> LogTable {
        LogTable { entries: Vec::with_capacity(room), room }
    }

    /// Empties the table at the start of a log.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Adds an entry. Returns whether there was room.
    #[inline]
    pub fn push(&mut self, entry: Entry) -> bool {
        let room = self.entries.len() < self.room;
        if room {
            self.entries.push((entry.line << 1) | u32::from(entry.l3));
        }
        room
    }

    /// Entry `at`.
    #[inline]
    pub fn entry(&self, at: usize) -> Option<Entry> {
        self.entries.get(at).map(|e| Entry { line: e >> 1, l3: e & 1 == 1 })
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Consecutive tables in memory, one for each vcore whose caches are logged.
#[derive(Debug, Clone)]
pub struct Tables {
    first: u64,
    class: SizeClass,
    tables: Vec<LogTable>,
}

impl Tables {
    /// Creates `number` empty tables of `class`, of `bytes` bytes each, starting at the real address `first`. They hold only sampled
    /// lines.
    ///
    /// # Errors
    /// As [`TableAddress::new`].
    pub fn new(
        first: u64,
        class: SizeClass,
        bytes: u64,
        sampling: Sampling,
        number: usize,
    ) -> Result<Tables, CacheError> {
        let behind = first.saturating_add(number.saturating_sub(1) as u64 * class.bytes());
        for address in [first, behind] {
            TableAddress::new(address, bytes, class)?;
        }
        let room = bytes / ENTRY_BYTES / u64::from(sampling.factor());
        let table = LogTable::new(room as usize);
        Ok(Tables { first, class, tables: vec![table; number] })
    }

    /// The size class of the tables.
    pub fn class(&self) -> SizeClass {
        self.class
    }

    /// Address of table `at`; `None` if there are fewer tables.
    pub fn address(&self, at: usize) -> Option<TableAddress> {
        self.tables.get(at)?;
        let address = self.first + at as u64 * self.class.bytes();
        Some(TableAddress { address, class: self.class })
    }

    /// The number of the table at `address`, which an operand of `class` names.
    ///
    /// # Errors
    /// [`CacheError::Oversized`] if the log needs more room than the tables have, [`CacheError::NoTable`].
    pub fn number(&self, address: u64, class: SizeClass) -> Result<u32, CacheError> {
        if class.bytes() > self.class.bytes() {
            return Err(CacheError::Oversized {
                found: class.bytes(),
                expected: self.class.bytes(),
            });
        }
        let offset = address.wrapping_sub(self.first);
        let at = offset / self.class.bytes();
        if offset.is_multiple_of(self.class.bytes()) && at < self.tables.len() as u64 {
            return Ok(at as u32);
        }
        Err(CacheError::NoTable { found: address, first: self.first, number: self.tables.len() })
    }

    /// Table `at`.
    pub fn get(&self, at: u32) -> Option<&LogTable> {
        self.tables.get(at as usize)
    }

    /// Table `at`, for writing.
    pub fn get_mut(&mut self, at: u32) -> Option<&mut LogTable> {
        self.tables.get_mut(at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned_to_the_most_of_their_class() {
        let place = |address, bytes, class| TableAddress::new(address, bytes, class);
        let (l2, both) = (SizeClass::L2, SizeClass::L2AndL3);
        assert_eq!(place(0x2_8000, 0x8000, l2).unwrap().address(), 0x2_8000);
        assert_eq!(
            place(0x2_8000, 0x8000, both).unwrap_err().to_string(),
            "log table: address: found 0x28000, expected a multiple of 0x20000"
        );
        assert_eq!(
            place(0x2_c000, 0x1000, l2).unwrap_err().to_string(),
            "log table: address: found 0x2c000, expected a multiple of 0x8000"
        );
        assert_eq!(
            place(0, 0x8001, l2).unwrap_err().to_string(),
            "log table: size: found 32769 bytes, expected at most 32768"
        );
        assert!(matches!(place(0, 0x2_0001, both), Err(CacheError::Oversized { .. })));
        assert_eq!(
            place(1 << 48, 0, l2).unwrap_err().to_string(),
            "log table: address: found 0x1000000000000, expected one below 0x1000000000000"
        );
    }

    #[test]
    fn tables_lie_one_behind_the_other() {
        let tables = Tables::new(0x10_0000, SizeClass::L2, 0x8000, Sampling::ALL, 3).unwrap();
        assert_eq!(tables.address(2).map(TableAddress::address), Some(0x11_0000));
        assert_eq!(tables.address(3), None);
        assert_eq!(tables.number(0x10_8000, SizeClass::L2), Ok(1));
        for address in [0xf_8000, 0x11_8000, 0x10_4000] {
            let error = tables.number(address, SizeClass::L2).unwrap_err().to_string();
            assert_eq!(
                error,
                format!(
                    "log table: address: found {address:#x}, expected one of the 3 tables from 0x100000 on"
                )
            );
        }
        let error = tables.number(0x10_0000, SizeClass::L2AndL3).unwrap_err().to_string();
        assert_eq!(error, "log table: size: found 131072 bytes, expected at most 32768");
        let new = |first, bytes| Tables::new(first, SizeClass::L2, bytes, Sampling::ALL, 2);
        assert!(matches!(new(0xffff_ffff_8000, 0x8000), Err(CacheError::Address { .. })));
        assert!(matches!(new(0x10_0000, 0x8001), Err(CacheError::Oversized { .. })));
    }

    #[test]
    fn a_full_table_takes_no_more() {
        let mut table = LogTable::new(4096);
        let all = (0..5000).filter(|&line| table.push(Entry { line, l3: line % 3 == 0 })).count();
        assert_eq!((all, table.len()), (4096, 4096));
        assert_eq!(table.entry(4095), Some(Entry { line: 4095, l3: true }));
        assert_eq!(table.entry(4096), None);
        table.clear();
        assert!(table.is_empty());
    }
}
