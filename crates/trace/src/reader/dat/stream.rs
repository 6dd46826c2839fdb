//! The records of one CPU, page by page. Memory holds one chunk: a few pages.

use super::codec::Codec;
use super::head::PageLayout;
use super::ring::{Missing, Page, Step};
use crate::TraceError;
use crate::reader::bytes::Endian;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

/// Pages that are read at once.
const PAGES: usize = 16;
/// Most pages of a chunk. trace-cmd puts ten into one (`PAGES_IN_CHUNK`).
const CHUNK_PAGES: u64 = 64;

/// How a file keeps a CPU's pages.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kept {
    /// As they are.
    Plain,
    /// In chunks.
    Compressed(Codec),
}

/// Where a file keeps a CPU's pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub cpu: u32,
    /// In bytes from the file's beginning.
    pub at: u64,
    /// In bytes.
    pub size: u64,
    pub layout: PageLayout,
    pub kept: Kept,
}

/// What went wrong with a CPU's pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Flaws {
    /// Records that the kernel counted as lost.
    pub lost: u64,
    /// Places where it lost records without counting them.
    pub gaps: u64,
    /// Pages with bytes that are no records.
    pub damaged: u64,
    /// The file ends before the pages do.
    pub cut: bool,
}

/// A position in a CPU's records.
#[derive(Debug)]
pub(super) struct Stream {
    pub part: Part,
    endian: Endian,
    /// Where the next chunk is, and where the last ends.
    at: u64,
    end: u64,
    /// Compressed chunks that are left, once their number is read.
    chunks: Option<u32>,
    /// Whole pages, and where the current one begins.
    bytes: Vec<u8>,
    from: usize,
    page: Page,
    record: Range<usize>,
    pub flaws: Flaws,
}

impl Stream {
    /// Begins a CPU's records in a file of `length` bytes.
    pub(super) fn new(part: Part, endian: Endian, length: u64) -> Stream {
        let end = match part.kept {
            Kept::Plain => part.at.saturating_add(part.size),
            // Their size leaves out the number of chunks, which alone says where they end.
            Kept::Compressed(_) if part.size > 0 => length.max(part.at),
            Kept::Compressed(_) => part.at,
        };
        Stream {
            part,
            endian,
            at: part.at,
            end: end.min(length),
            chunks: None,
            bytes: Vec::new(),
            from: 0,
            page: Page::default(),
            record: 0..0,
            flaws: Flaws { cut: end > length, ..Flaws::default() },
        }
    }

    /// The record found last.
    pub(super) fn record(&self) -> &[u8] {
        self.bytes.get(self.from..).and_then(|page| page.get(self.record.clone())).unwrap_or(&[])
    }

    /// Goes to the next record and gives its time in ticks of the clock; `None` behind the last.
    pub(super) fn next<R: Read + Seek>(&mut self, file: &mut R) -> Result<Option<u64>, TraceError> {
        loop {
            let page = self.bytes.get(self.from..).unwrap_or(&[]);
            match self.page.next(page, self.endian) {
                Step::Record(record) => {
                    self.record = record;
                    return Ok(Some(self.page.time));
                }
                Step::End => {}
                Step::Damaged => self.flaws.damaged += 1,
            }
            if !self.turn(file)? {
                return Ok(None);
            }
        }
    }

    /// Begins the next page; `false` behind the last.
    fn turn<R: Read + Seek>(&mut self, file: &mut R) -> Result<bool, TraceError> {
        let size = self.part.layout.page_size;
        self.from = self.from.saturating_add(size);
        if self.from >= self.bytes.len() {
            self.from = 0;
            self.bytes.clear();
            match self.part.kept {
                Kept::Plain => self.read(file, (PAGES * size) as u64)?,
                Kept::Compressed(codec) => self.chunk(file, codec)?,
            }
            if self.bytes.is_empty() {
                self.page = Page::default();
                return Ok(false);
            }
        }
        let rest = self.bytes.get(self.from..).unwrap_or(&[]);
        let page = rest.get(..size).unwrap_or(rest);
        self.flaws.cut |= page.len() < size;
        let Some((page, missing, cut)) = Page::begin(page, &self.part.layout, self.endian) else {
            self.page = Page::default();
            return Ok(true);
        };
        self.page = page;
        self.flaws.damaged += u64::from(cut && rest.len() >= size);
        match missing {
            Missing::None => {}
            Missing::Counted(lost) => self.flaws.lost = self.flaws.lost.saturating_add(lost),
            Missing::Uncounted => self.flaws.gaps += 1,
        }
        Ok(true)
    }

    /// Reads up to `n` bytes of this CPU.
    fn read<R: Read + Seek>(&mut self, file: &mut R, n: u64) -> Result<(), TraceError> {
        let n = n.min(self.end.saturating_sub(self.at));
        file.seek(SeekFrom::Start(self.at)).map_err(TraceError::Input)?;
        file.by_ref().take(n).read_to_end(&mut self.bytes).map_err(TraceError::Input)?;
        self.at += n;
        Ok(())
    }

    /// A number of four bytes; `None` at the end of this CPU's pages.
    fn number<R: Read + Seek>(&mut self, file: &mut R) -> Result<Option<u32>, TraceError> {
        self.bytes.clear();
        self.read(file, 4)?;
        let number = self.endian.u32(&self.bytes, 0);
        self.bytes.clear();
        Ok(number)
    }

    /// Reads the next chunk: its sizes compressed and not, and its bytes. One that cannot be decompressed ends the CPU.
    fn chunk<R: Read + Seek>(&mut self, file: &mut R, codec: Codec) -> Result<(), TraceError> {
        if self.chunks.is_none() && self.at < self.end {
            self.chunks = Some(self.number(file)?.unwrap_or(0));
        }
        let Some(left) = self.chunks.and_then(|left| left.checked_sub(1)) else { return Ok(()) };
        self.chunks = Some(left);
        let sizes = (self.number(file)?, self.number(file)?);
        let (Some(packed), Some(plain)) = sizes else {
            self.flaws.cut = true;
            return Ok(());
        };
        self.read(file, packed.into())?;
        if self.bytes.len() < packed as usize {
            self.flaws.cut = true;
            self.bytes.clear();
            return Ok(());
        }
        let most = CHUNK_PAGES * self.part.layout.page_size as u64;
        match codec.unpack(&self.bytes, plain, most) {
            Some(plain) => self.bytes = plain,
            None => {
                self.flaws.damaged += 1;
                self.bytes.clear();
                self.chunks = Some(0);
            }
        }
        Ok(())
    }
}
