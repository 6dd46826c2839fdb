//! Version 7 of trace.dat (trace-cmd.dat.v7(5)): sections that options name, compressed or not.

use super::Contents;
use super::codec::Codec;
use super::head::{Beginning, PageLayout, event_formats, ftrace_formats, page_layout, page_size};
use super::options::Options;
use super::stream::{Kept, Part};
use crate::TraceError;
use crate::reader::bytes::{Head, wrong};
use crate::reader::decode::Names;
use std::io::{Cursor, Read, Seek, SeekFrom};

/// `TRACECMD_SEC_FL_COMPRESS`.
const COMPRESSED: u16 = 1;
/// Most sections of options that follow each other. trace-cmd writes a few.
const MOST_OPTIONS: u32 = 100;

/// The file, and what its sections are packed with.
struct Sections<'a, R> {
    head: Head<&'a mut R>,
    codec: Option<Codec>,
}

/// Reads everything but the pages.
pub(super) fn contents<R: Read + Seek>(
    beginning: Beginning<&mut R>,
) -> Result<Contents, TraceError> {
    let Beginning { mut head, page_size, .. } = beginning;
    let codec = Codec::named(&head.text("compression")?)?;
    head.text("version of the compression")?;
    let first = head.u64("place of options")?;
    let endian = head.endian;
    let mut sections = Sections { head, codec };
    let options = sections.options(first)?;
    let layout = match options.headers {
        Some(at) => page_layout(&mut sections.open(at)?, page_size)?,
        None => return Err(wrong("options", "no place of header_page", "one")),
    };
    let mut formats = Vec::new();
    if let Some(at) = options.ftrace_events {
        ftrace_formats(&mut sections.open(at)?, &mut formats)?;
    }
    if let Some(at) = options.event_formats {
        event_formats(&mut sections.open(at)?, &mut formats)?;
    }
    let names = match options.cmdlines {
        Some(at) => Names::saved(&sections.open(at)?.sized("names of tasks")?),
        None => Names::default(),
    };
    let mut parts = Vec::new();
    for buffer in &options.buffers {
        sections.buffer(buffer, layout, &mut parts)?;
    }
    Ok(Contents { endian, formats, names, parts, clock: options.clock, lost: options.lost })
}

impl<R: Read + Seek> Sections<'_, R> {
    fn seek(&mut self, at: u64) -> Result<(), TraceError> {
        self.head.from.seek(SeekFrom::Start(at)).map_err(TraceError::Input)?;
        Ok(())
    }

    /// Goes behind the header of the section at `at`; its size, and what it is packed with.
    fn header(&mut self, at: u64) -> Result<(u64, Option<Codec>), TraceError> {
        self.seek(at)?;
        self.head.u16("section")?;
        let flags = self.head.u16("section")?;
        self.head.u32("section")?;
        let size = self.head.u64("section")?;
        match (flags & COMPRESSED != 0, self.codec) {
            (true, None) => Err(wrong("section", "a compressed one", "a file with compression")),
            (packed, codec) => Ok((size, codec.filter(|_| packed))),
        }
    }

    /// The contents of the section at `at`.
    fn open(&mut self, at: u64) -> Result<Head<Cursor<Vec<u8>>>, TraceError> {
        let (size, codec) = self.header(at)?;
        let bytes = match codec {
            Some(codec) => codec.section(&mut self.head)?,
            None => self.head.bytes(size, "section")?,
        };
        Ok(Head { from: Cursor::new(bytes), endian: self.head.endian })
    }

    /// All options, from the first section of them on.
    fn options(&mut self, first: u64) -> Result<Options, TraceError> {
        let mut options = Options { further: first, ..Options::default() };
        if first == 0 {
            let found = "none, as in the file of a recording that was cut off";
            return Err(wrong("place of options", found, "one"));
        }
        for _ in 0..MOST_OPTIONS {
            let at = std::mem::take(&mut options.further);
            if at == 0 {
                return Ok(options);
            }
            let mut section = self.open(at)?;
            while options.read(&mut section, 7)? {}
        }
        Err(wrong("options", format!("more than {MOST_OPTIONS} sections"), "some"))
    }

    /// Adds the places of an instance's pages.
    fn buffer(
        &mut self,
        bytes: &[u8],
        layout: PageLayout,
        parts: &mut Vec<Part>,
    ) -> Result<(), TraceError> {
        let mut option = Head { from: bytes, endian: self.head.endian };
        let at = option.u64("instance")?;
        option.text("name of an instance")?;
        option.text("clock of an instance")?;
        let page_size = page_size(option.u32("page size")?)?;
        let layout = PageLayout { page_size, ..layout };
        let kept = match self.header(at)?.1 {
            Some(codec) => Kept::Compressed(codec),
            None => Kept::Plain,
        };
        for _ in 0..option.u32("number of CPUs")? {
            let cpu = option.u32("CPU")?;
            if cpu as usize >= machine::MAX_CPUS {
                return Err(wrong("CPU", cpu.to_string(), "a CPU that a machine can have"));
            }
            let (at, size) = (option.u64("place of pages")?, option.u64("size of pages")?);
            parts.push(Part { cpu, at, size, layout, kept });
        }
        Ok(())
    }
}
