//! The parts of a head that trace.dat, version 6, and perf.data's tracing data share (trace-cmd.dat.v6(5);
//! `tools/perf/util/trace-event-info.c`), and those of version 7's sections.

use crate::TraceError;
use crate::reader::bytes::{Endian, Head, wrong};
use crate::reader::format::{Format, fields};
use std::io::Read;

/// The first bytes of a trace.dat and of perf.data's tracing data.
pub(in crate::reader) const MAGIC: &[u8; 10] = b"\x17\x08\x44tracing";

/// What precedes everything else.
pub(in crate::reader) struct Beginning<R> {
    pub head: Head<R>,
    pub version: String,
    /// In bytes.
    pub page_size: usize,
}

/// Where a ring buffer's page has what (`ring_buffer_print_page_header`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::reader) struct PageLayout {
    /// Bytes of the page.
    pub page_size: usize,
    /// Bytes of the commit word: `long` of the kernel.
    pub long: usize,
    /// Bytes before the records.
    pub data: usize,
}

/// Reads up to the page size.
pub(in crate::reader) fn beginning<R: Read>(from: R) -> Result<Beginning<R>, TraceError> {
    let mut head = Head { from, endian: Endian::Little };
    let magic = head.bytes(MAGIC.len() as u64, "head")?;
    if magic != MAGIC {
        return Err(wrong("head", format!("{magic:02x?}"), "17 08 44 and `tracing`"));
    }
    let version = head.text("version")?;
    head.endian = match head.number(1, "order of bytes")? {
        0 => Endian::Little,
        1 => Endian::Big,
        other => return Err(wrong("order of bytes", other.to_string(), "0 or 1")),
    };
    head.number(1, "size of long")?;
    let page_size = page_size(head.u32("page size")?)?;
    Ok(Beginning { head, version, page_size })
}

/// A ring buffer's page has at most 2 MiB with the largest `buffer_subbuf_size_kb` and pages of 64 KiB.
pub(super) fn page_size(found: u32) -> Result<usize, TraceError> {
    match found {
        512..=0x20_0000 => Ok(found as usize),
        _ => Err(wrong("page size", found.to_string(), "512 to 2097152 bytes")),
    }
}

/// `header_page` and `header_event`. Only the first matters: the second has not changed since 2.6.30.
pub(in crate::reader) fn page_layout<R: Read>(
    head: &mut Head<R>,
    page_size: usize,
) -> Result<PageLayout, TraceError> {
    head.expect("header_page")?;
    let text = head.sized("header_page")?;
    head.expect("header_event")?;
    let n = head.u64("header_event")?;
    head.skip(n, "header_event")?;
    let fields = fields(&text);
    let field = |name: &str| fields.iter().find(|f| f.0 == name).map(|f| f.1);
    let long = field("commit").map_or(8, |f| f.size);
    let data = field("data").map_or(8 + long, |f| f.offset);
    if ![4, 8].contains(&long) || data < 8 + long || data >= page_size {
        let found = format!("a commit word of {long} bytes, records from byte {data} on");
        return Err(wrong("header_page", found, "4 or 8 bytes, then records"));
    }
    Ok(PageLayout { page_size, long, data })
}

/// Formats of ftrace's own events, without a system's name.
pub(in crate::reader) fn ftrace_formats<R: Read>(
    head: &mut Head<R>,
    formats: &mut Vec<Format>,
) -> Result<(), TraceError> {
    for _ in 0..head.u32("formats of ftrace's events")? {
        formats.extend(Format::parse(&head.sized("format of an event of ftrace")?));
    }
    Ok(())
}

/// Formats of all other events, by system.
pub(in crate::reader) fn event_formats<R: Read>(
    head: &mut Head<R>,
    formats: &mut Vec<Format>,
) -> Result<(), TraceError> {
    for _ in 0..head.u32("systems of events")? {
        head.text("system of events")?;
        for _ in 0..head.u32("events of a system")? {
            formats.extend(Format::parse(&head.sized("format of an event")?));
        }
    }
    Ok(())
}

/// A section of a size in four bytes, which timelines do not need.
pub(in crate::reader) fn skip_section<R: Read>(
    head: &mut Head<R>,
    name: &'static str,
) -> Result<(), TraceError> {
    let n = head.u32(name)?;
    head.skip(n.into(), name)
}
