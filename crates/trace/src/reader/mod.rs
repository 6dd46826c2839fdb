//! Readers of recordings: ftrace's text, trace-cmd's trace.dat, perf's perf.data, Perfetto's protobuf.

mod bytes;
mod dat;
mod decode;
mod format;
mod line;
mod perf;
mod perfetto;
mod states;
mod tally;
mod text;

use crate::TraceError;
use crate::event::Sink;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;
pub use tally::Read;
pub use text::read;

/// Bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// What a file holds, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// ftrace's text.
    Text,
    /// The same, compressed by gzip.
    Gzip,
    /// trace-cmd's trace.dat.
    TraceDat,
    /// perf's perf.data.
    PerfData,
    /// Perfetto's protobuf.
    Perfetto,
}

impl FileKind {
    fn of(first: &[u8]) -> FileKind {
        match first {
            [0x1f, 0x8b, ..] => FileKind::Gzip,
            first if first.starts_with(dat::head::MAGIC) => FileKind::TraceDat,
            first if perf::MAGICS.iter().any(|magic| first.starts_with(*magic)) => {
                FileKind::PerfData
            }
            first if perfetto::begins(first) => FileKind::Perfetto,
            _ => FileKind::Text,
        }
    }
}

/// A file of which the kind is known.
#[derive(Debug)]
pub struct Recording<R> {
    file: R,
    kind: FileKind,
}

impl Recording<File> {
    /// Opens a file and looks at its first bytes.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn open(path: &Path) -> Result<Recording<File>, TraceError> {
        Recording::new(File::open(path).map_err(TraceError::Input)?)
    }
}

impl<R: std::io::Read + Seek> Recording<R> {
    /// Looks at the first bytes.
    ///
    /// # Errors
    /// Input that cannot be read.
    pub fn new(mut file: R) -> Result<Recording<R>, TraceError> {
        let mut first = Vec::new();
        let mut head = std::io::Read::take(&mut file, perfetto::HEAD as u64);
        std::io::Read::read_to_end(&mut head, &mut first).map_err(TraceError::Input)?;
        file.rewind().map_err(TraceError::Input)?;
        Ok(Recording { file, kind: FileKind::of(&first) })
    }

    /// What it holds.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// Passes the records that timelines show to `sink`, in the order of their times. Does not finish `sink`. Memory holds a few
    /// pages of each CPU, what perf wrote in two of its rounds, or Perfetto's bundles that overlap and the places of all.
    ///
    /// # Errors
    /// Input that cannot be read, a head or a line that is none of its kind, a file without any such record, and the sink's
    /// errors. Damage and a missing end behind the head are counted instead.
    pub fn read(self, sink: &mut impl Sink) -> Result<Read, TraceError> {
        match self.kind {
            FileKind::Text => read(BufReader::with_capacity(BUFFER, self.file), sink),
            FileKind::Gzip => {
                let text = flate2::read::MultiGzDecoder::new(BufReader::new(self.file));
                let mut text = BufReader::with_capacity(BUFFER, text);
                let first = text.fill_buf().map_err(TraceError::Input)?;
                match FileKind::of(first.get(..perfetto::HEAD).unwrap_or(first)) {
                    FileKind::Text => read(text, sink),
                    // Their readers go to and fro, which gzip cannot.
                    _ => {
                        Err(bytes::wrong("gzip", "no text", "ftrace's text; other files unpacked"))
                    }
                }
            }
            FileKind::TraceDat => dat::read(BufReader::with_capacity(BUFFER, self.file), sink),
            FileKind::PerfData => perf::read(BufReader::with_capacity(BUFFER, self.file), sink),
            FileKind::Perfetto => perfetto::read(self.file, sink),
        }
    }
}
