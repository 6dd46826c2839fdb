//! A part of a file, of which memory holds a piece, and the protobuf in it.

use crate::TraceError;
use prost::bytes::Bytes;
use std::io::{BufReader, Read, Seek, SeekFrom};

/// Bytes of a part that are read at once.
const PIECE: u64 = 1 << 14;
/// Bytes of the longest number.
const LONGEST: usize = 10;

/// Wire types of fields.
const NUMBER: u8 = 0;
const EIGHT_BYTES: u8 = 1;
const PART: u8 = 2;
const FOUR_BYTES: u8 = 5;

/// A file that is read here and there.
pub(super) struct Input<R> {
    file: BufReader<R>,
    /// Where the file is.
    at: u64,
    /// Its size in bytes.
    pub length: u64,
}

impl<R: Read + Seek> Input<R> {
    pub(super) fn new(file: R) -> Result<Input<R>, TraceError> {
        let mut file = BufReader::with_capacity(super::super::BUFFER, file);
        let length = file.seek(SeekFrom::End(0)).map_err(TraceError::Input)?;
        file.rewind().map_err(TraceError::Input)?;
        Ok(Input { file, at: 0, length })
    }

    /// Appends the `n` bytes at `at` to `to`, or what is there of them.
    fn read(&mut self, at: u64, n: u64, to: &mut Vec<u8>) -> Result<(), TraceError> {
        // Within what is buffered, this reads nothing again.
        self.file.seek_relative(at.wrapping_sub(self.at) as i64).map_err(TraceError::Input)?;
        self.at = at;
        let n = n.min(self.length.saturating_sub(at));
        to.reserve_exact(n as usize);
        let read = self.file.by_ref().take(n).read_to_end(to).map_err(TraceError::Input)?;
        self.at += read as u64;
        Ok(())
    }
}

/// Why nothing more can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The part ends too early.
    Cut,
    /// It is no protobuf.
    Damaged,
}

/// Number and wire type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub number: u32,
    wire: u8,
}

/// A part of a file, or of decompressed bytes: what is left of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Window {
    /// The piece in memory, and what has been read of it.
    bytes: Bytes,
    read: usize,
    /// Where what follows the piece begins and ends.
    at: u64,
    end: u64,
    flaw: Option<Flaw>,
}

impl Window {
    /// `size` bytes of the file at `at`.
    pub(super) fn of_file(at: u64, size: u64) -> Window {
        Window { at, end: at.saturating_add(size), ..Window::default() }
    }

    /// Bytes that are in memory.
    pub(super) fn of_bytes(bytes: Bytes) -> Window {
        let end = bytes.len() as u64;
        Window { bytes, at: end, end, ..Window::default() }
    }

    /// `size` bytes of the file at `at`, in memory if they are at most `most`.
    pub(super) fn loaded<R: Read + Seek>(
        at: u64,
        size: u64,
        most: u64,
        input: &mut Input<R>,
    ) -> Result<Window, TraceError> {
        let mut window = Window::of_file(at, size);
        if size <= most {
            window.load(size, input)?;
        }
        Ok(window)
    }

    fn in_memory(&self) -> usize {
        self.bytes.len() - self.read
    }

    /// Where it begins: in the file, or in the decompressed bytes.
    pub(super) fn position(&self) -> u64 {
        self.at - self.in_memory() as u64
    }

    /// Bytes that are left.
    pub(super) fn len(&self) -> u64 {
        self.end - self.position()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_memory() == 0 && self.at >= self.end
    }

    /// What was wrong with it, which is told once.
    pub(super) fn flaw(&mut self) -> Option<Flaw> {
        self.flaw.take()
    }

    /// Leaves the rest out.
    pub(super) fn close(&mut self) {
        (self.bytes, self.read, self.at) = (Bytes::new(), 0, self.end);
    }

    fn fail(&mut self, flaw: Flaw) {
        self.flaw = Some(flaw);
        self.close();
    }

    /// Reads the next `n` bytes behind the piece.
    fn load<R: Read + Seek>(&mut self, n: u64, input: &mut Input<R>) -> Result<(), TraceError> {
        let n = n.min(self.end - self.at);
        let mut piece = self.bytes.get(self.read..).unwrap_or(&[]).to_vec();
        let before = piece.len();
        input.read(self.at, n, &mut piece)?;
        let there = (piece.len() - before) as u64;
        self.at += there;
        if there < n {
            (self.end, self.flaw) = (self.at, Some(Flaw::Cut));
        }
        (self.bytes, self.read) = (Bytes::from(piece), 0);
        Ok(())
    }

    /// Sees to it that the next number is in memory.
    #[inline]
    pub(super) fn fill<R: Read + Seek>(&mut self, input: &mut Input<R>) -> Result<(), TraceError> {
        if self.at < self.end && self.in_memory() < LONGEST {
            self.load(PIECE, input)
        } else {
            Ok(())
        }
    }

    /// The next number; `None` at the end, and for what is none.
    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let rest = self.bytes.get(self.read..)?;
        if let Some(&first) = rest.first()
            && first < 0x80
        {
            self.read += 1;
            return Some(first.into());
        }
        let mut number = 0;
        for (nth, &byte) in rest.iter().take(LONGEST).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * nth);
            if byte < 0x80 {
                self.read += nth + 1;
                return Some(number);
            }
        }
        if !rest.is_empty() {
            self.fail(if rest.len() < LONGEST { Flaw::Cut } else { Flaw::Damaged });
        }
        None
    }

    /// The next field; `None` at the end, and for what is none.
    pub(super) fn key<R: Read + Seek>(
        &mut self,
        input: &mut Input<R>,
    ) -> Result<Option<Key>, TraceError> {
        self.fill(input)?;
        let Some(key) = self.number() else { return Ok(None) };
        let (number, wire) = (key >> 3, (key & 7) as u8);
        if number == 0 || number > u64::from(u32::MAX >> 3) {
            self.fail(Flaw::Damaged);
            return Ok(None);
        }
        Ok(Some(Key { number: number as u32, wire }))
    }

    /// The value of a field that is a number; `None` for another one, which is skipped.
    pub(super) fn value<R: Read + Seek>(
        &mut self,
        key: Key,
        input: &mut Input<R>,
    ) -> Result<Option<u64>, TraceError> {
        if key.wire != NUMBER {
            self.skip(key, input)?;
            return Ok(None);
        }
        self.fill(input)?;
        Ok(self.number_or_cut())
    }

    fn number_or_cut(&mut self) -> Option<u64> {
        let number = self.number();
        if number.is_none() && self.flaw.is_none() {
            self.fail(Flaw::Cut);
        }
        number
    }

    /// The value of a field that has a length; `None` for another one, which is skipped.
    pub(super) fn part<R: Read + Seek>(
        &mut self,
        key: Key,
        input: &mut Input<R>,
    ) -> Result<Option<Window>, TraceError> {
        if key.wire != PART {
            self.skip(key, input)?;
            return Ok(None);
        }
        self.fill(input)?;
        let Some(size) = self.number_or_cut() else { return Ok(None) };
        if size > self.len() {
            self.fail(Flaw::Cut);
            return Ok(None);
        }
        Ok(Some(self.take(size)))
    }

    /// The next `size` bytes, which are there.
    fn take(&mut self, size: u64) -> Window {
        let from = self.position();
        let (at, end) = (self.at, from + size);
        let bytes = self.bytes.slice(self.read..self.read + (at.min(end) - from) as usize);
        self.pass(size);
        Window { bytes, read: 0, at: at.min(end), end, flaw: None }
    }

    /// Goes over the next `size` bytes, which are there.
    fn pass(&mut self, size: u64) {
        let in_memory = self.in_memory() as u64;
        if size <= in_memory {
            self.read += size as usize;
        } else {
            self.at += size - in_memory;
            (self.bytes, self.read) = (Bytes::new(), 0);
        }
    }

    /// Goes over the value of a field.
    pub(super) fn skip<R: Read + Seek>(
        &mut self,
        key: Key,
        input: &mut Input<R>,
    ) -> Result<(), TraceError> {
        self.fill(input)?;
        let size = match key.wire {
            NUMBER => {
                self.number_or_cut();
                return Ok(());
            }
            EIGHT_BYTES => 8,
            FOUR_BYTES => 4,
            PART => match self.number_or_cut() {
                Some(size) => size,
                None => return Ok(()),
            },
            _ => {
                self.fail(Flaw::Damaged);
                return Ok(());
            }
        };
        if size > self.len() {
            self.fail(Flaw::Cut);
        } else {
            self.pass(size);
        }
        Ok(())
    }

    /// All of it in one piece; `None` if it has more than `most` bytes, or the file ends before.
    pub(super) fn whole<R: Read + Seek>(
        mut self,
        most: u64,
        input: &mut Input<R>,
    ) -> Result<Option<Bytes>, TraceError> {
        if self.len() > most {
            return Ok(None);
        }
        if self.at < self.end {
            self.load(self.end - self.at, input)?;
        }
        Ok(self.flaw.is_none().then(|| self.bytes.slice(self.read..)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Field 3 with `n` bytes, field 1 with 300, four bytes, and eight.
    fn message(n: usize) -> Vec<u8> {
        let mut bytes = vec![3 << 3 | PART, (n & 0x7f) as u8 | 0x80, (n >> 7) as u8 | 0x80, 0];
        bytes.extend(vec![7; n]);
        bytes.extend([1 << 3, 0xac, 0x02, 5 << 3 | FOUR_BYTES, 0, 0, 0, 0]);
        bytes.extend([6 << 3 | EIGHT_BYTES, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes
    }

    #[test]
    fn fields_are_found_in_pieces_and_in_memory() {
        for n in [0, 5, 127, 10_000] {
            let bytes = message(n);
            let mut input = Input::new(Cursor::new(bytes.clone())).expect("memory");
            let all = bytes.len() as u64;
            let windows = [Window::of_file(0, all), Window::of_bytes(bytes.clone().into())];
            for mut window in windows {
                let key = window.key(&mut input).expect("memory").expect("a field");
                let part = window.part(key, &mut input).expect("memory").expect("a part");
                assert_eq!((key.number, part.position(), part.len()), (3, 4, n as u64));
                assert_eq!(
                    part.whole(1 << 20, &mut input).expect("memory"),
                    Some(vec![7; n].into())
                );
                let key = window.key(&mut input).expect("memory").expect("a field");
                assert_eq!(window.value(key, &mut input).expect("memory"), Some(300));
                while let Some(key) = window.key(&mut input).expect("memory") {
                    window.skip(key, &mut input).expect("memory");
                }
                assert!(window.is_empty() && window.flaw().is_none());
            }
        }
    }

    #[test]
    fn ends_come_too_early() {
        let bytes = message(100);
        for end in 1..bytes.len() {
            let mut input = Input::new(Cursor::new(bytes[..end].to_vec())).expect("memory");
            for mut window in
                [Window::of_file(0, bytes.len() as u64), Window::of_file(0, end as u64)]
            {
                while let Some(key) = window.key(&mut input).expect("memory") {
                    window.skip(key, &mut input).expect("memory");
                }
                let between = [104, 107, 112].contains(&end);
                let flaw = window.flaw();
                assert!(flaw == Some(Flaw::Cut) || between, "{end}: {flaw:?}");
            }
        }
    }
}
