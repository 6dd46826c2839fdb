//! Numbers and texts of binary files, in either order of bytes.

use crate::TraceError;
use std::io::Read;

/// Longest name of an event, a clock or the like, in bytes.
const LONGEST_NAME: usize = 4096;
/// Longest text (a `format` file, saved names), in bytes.
const LONGEST_TEXT: u64 = 64 << 20;

/// Order of bytes in a file: the traced machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

impl Endian {
    /// The number of up to eight bytes.
    pub(super) fn number(self, bytes: &[u8]) -> u64 {
        if let (Endian::Little, Ok(four)) = (self, bytes.try_into()) {
            return u32::from_le_bytes(four).into();
        }
        let add = |n: u64, b: &u8| n << 8 | u64::from(*b);
        match self {
            Endian::Little => bytes.iter().rev().fold(0, add),
            Endian::Big => bytes.iter().fold(0, add),
        }
    }

    /// `size` bytes at `at`, if they are there.
    pub(super) fn at(self, bytes: &[u8], at: usize, size: usize) -> Option<u64> {
        Some(self.number(bytes.get(at..at.checked_add(size)?)?))
    }

    /// Four bytes at `at`, if they are there.
    pub(super) fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        self.at(bytes, at, 4).map(|n| n as u32)
    }

    /// Eight bytes at `at`, if they are there.
    pub(super) fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        self.at(bytes, at, 8)
    }
}

/// The error that names a part of a file.
pub(super) fn wrong(
    field: &'static str,
    found: impl Into<String>,
    expected: &'static str,
) -> TraceError {
    let found = found.into().chars().take(60).collect();
    TraceError::File { field, found, expected }
}

/// The error of a part that the end of the file cuts off.
pub(super) fn cut(field: &'static str) -> TraceError {
    wrong(field, "the end of the file", "the whole of it")
}

/// Reads a file's head from its beginning on.
pub(super) struct Head<R> {
    pub from: R,
    pub endian: Endian,
}

impl<R: Read> Head<R> {
    /// `n` bytes. Memory grows with what is there, not with `n`.
    pub(super) fn bytes(&mut self, n: u64, field: &'static str) -> Result<Vec<u8>, TraceError> {
        if n > LONGEST_TEXT {
            return Err(wrong(field, format!("{n} bytes"), "at most 64 MiB"));
        }
        let mut bytes = Vec::new();
        self.from.by_ref().take(n).read_to_end(&mut bytes).map_err(TraceError::Input)?;
        if bytes.len() as u64 == n { Ok(bytes) } else { Err(cut(field)) }
    }

    /// Reads over `n` bytes.
    pub(super) fn skip(&mut self, n: u64, field: &'static str) -> Result<(), TraceError> {
        let mut over = self.from.by_ref().take(n);
        let there = std::io::copy(&mut over, &mut std::io::sink()).map_err(TraceError::Input)?;
        if there == n { Ok(()) } else { Err(cut(field)) }
    }

    pub(super) fn number(&mut self, size: usize, field: &'static str) -> Result<u64, TraceError> {
        let mut bytes = [0; 8];
        let bytes = bytes.get_mut(..size).unwrap_or_default();
        self.from.read_exact(bytes).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => cut(field),
            _ => TraceError::Input(e),
        })?;
        Ok(self.endian.number(bytes))
    }

    pub(super) fn u16(&mut self, field: &'static str) -> Result<u16, TraceError> {
        Ok(self.number(2, field)? as u16)
    }

    pub(super) fn u32(&mut self, field: &'static str) -> Result<u32, TraceError> {
        Ok(self.number(4, field)? as u32)
    }

    pub(super) fn u64(&mut self, field: &'static str) -> Result<u64, TraceError> {
        self.number(8, field)
    }

    /// A text that ends with a zero.
    pub(super) fn text(&mut self, field: &'static str) -> Result<String, TraceError> {
        let mut text = Vec::new();
        loop {
            match self.number(1, field)? {
                0 => return Ok(String::from_utf8_lossy(&text).into_owned()),
                _ if text.len() == LONGEST_NAME => {
                    return Err(wrong(field, String::from_utf8_lossy(&text), "a name"));
                }
                byte => text.push(byte as u8),
            }
        }
    }

    /// A text that its size in eight bytes precedes.
    pub(super) fn sized(&mut self, field: &'static str) -> Result<String, TraceError> {
        let n = self.u64(field)?;
        Ok(String::from_utf8_lossy(&self.bytes(n, field)?).into_owned())
    }

    /// A text that must be `expected`.
    pub(super) fn expect(&mut self, expected: &'static str) -> Result<(), TraceError> {
        let found = self.text(expected)?;
        if found == expected { Ok(()) } else { Err(wrong("section", found, expected)) }
    }
}
