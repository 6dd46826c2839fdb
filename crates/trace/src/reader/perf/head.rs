//! The head of a perf.data file (`tools/perf/Documentation/perf.data-file-format.txt`).

use super::attr::Attr;
use crate::TraceError;
use crate::reader::bytes::{Endian, Head, cut, wrong};
use crate::reader::dat::head::{
    beginning, event_formats, ftrace_formats, page_layout, skip_section,
};
use crate::reader::decode::Names;
use crate::reader::format::Format;
use rustc_hash::FxHashMap;
use std::io::{Read, Seek, SeekFrom};

/// `HEADER_TRACING_DATA`.
const TRACING_DATA: u32 = 1;
/// Size of the header of pipe mode (`struct perf_pipe_file_header`).
const PIPE: u64 = 16;
/// Bytes of a place: offset and size.
const PLACE: u64 = 16;
/// Most events that a file may have. perf opens each on each CPU.
const MOST_ATTRS: u64 = 100_000;
/// Most bytes of all events' numbers: eight for each event on each CPU.
const MOST_IDS: u64 = 64 << 20;

/// The recorded events.
#[derive(Debug, Default)]
pub(super) struct Attrs {
    attrs: Vec<Attr>,
    by_id: FxHashMap<u64, usize>,
}

impl Attrs {
    /// Adds an event with its numbers, one for each CPU.
    pub(super) fn add(&mut self, attr: Attr, ids: &[u8], endian: Endian) {
        let at = self.attrs.len();
        self.by_id.extend(ids.chunks_exact(8).map(|id| (endian.number(id), at)));
        self.attrs.push(attr);
    }

    /// The event of a sample.
    pub(super) fn of(&self, body: &[u8], endian: Endian) -> Option<&Attr> {
        let first = self.attrs.first()?;
        if self.attrs.len() == 1 {
            return Some(first);
        }
        // All events have their number at the same place, or samples could not be told from each other.
        let at = first.id(body, endian).and_then(|id| self.by_id.get(&id));
        at.map_or(Some(first), |&at| self.attrs.get(at))
    }

    /// The event whose fields end records that are no samples.
    pub(super) fn first(&self) -> Option<&Attr> {
        self.attrs.first()
    }
}

/// What precedes the records.
#[derive(Debug)]
pub(super) struct Opened {
    pub endian: Endian,
    pub attrs: Attrs,
    /// Where records end, in bytes; `None` for pipe mode.
    pub end: Option<u64>,
    /// Formats and names of tasks; none yet in pipe mode.
    pub tracing: Option<Tracing>,
}

/// The tracing data.
#[derive(Debug)]
pub(super) struct Tracing {
    pub endian: Endian,
    pub formats: Vec<Format>,
    pub names: Names,
}

/// Reads the head and leaves `file` at the first record.
pub(super) fn open<R: Read + Seek>(file: &mut R) -> Result<Opened, TraceError> {
    let mut head = Head { from: file, endian: Endian::Little };
    let magic = head.bytes(8, "head")?;
    head.endian = match magic.first() {
        Some(b'2') => Endian::Big,
        _ => Endian::Little,
    };
    let endian = head.endian;
    if head.u64("size of the head")? == PIPE {
        return Ok(Opened { endian, attrs: Attrs::default(), end: None, tracing: None });
    }
    let attr_size = head.u64("size of an event")?;
    let events = (head.u64("place of events")?, head.u64("size of events")?);
    let data = (head.u64("place of records")?, head.u64("size of records")?);
    head.skip(PLACE, "place of types")?;
    let mut features = [0; 4];
    for word in &mut features {
        *word = head.u64("features")?;
    }
    // Until perf ends, the size is 0, and the features that the head promises are not there: the formats are one of them, and the
    // numbers of events in the records differ from kernel to kernel.
    if data.1 == 0 {
        return Err(without_formats("none: perf was killed before it wrote them"));
    }
    let attrs = attrs(&mut head, attr_size, events)?;
    let end = data.0.checked_add(data.1).ok_or_else(|| cut("records"))?;
    let tracing = match features[0] >> TRACING_DATA & 1 {
        0 => None,
        _ => Some(feature(&mut head, features[0], end)?),
    };
    head.from.seek(SeekFrom::Start(data.0)).map_err(TraceError::Input)?;
    Ok(Opened { endian, attrs, end: Some(end), tracing })
}

/// The error of a recording whose records nobody can read.
pub(super) fn without_formats(found: &str) -> TraceError {
    let expected = "a recording that ctrl-C or SIGTERM ended, or one of `perf record -o - >FILE`, which begins with them";
    wrong("formats of events", found, expected)
}

/// The section of events: each with the place of its numbers behind it.
fn attrs<R: Read + Seek>(
    head: &mut Head<&mut R>,
    size: u64,
    (at, all): (u64, u64),
) -> Result<Attrs, TraceError> {
    let (mut attrs, mut all_ids) = (Attrs::default(), 0u64);
    if size < PLACE + 48 || all / size > MOST_ATTRS {
        return Err(wrong("size of an event", format!("{size} of {all} bytes"), "64 or more"));
    }
    for number in 0..all / size {
        let mut go = |to: u64| head.from.seek(SeekFrom::Start(to)).map_err(TraceError::Input);
        go(at.checked_add(number * size).ok_or_else(|| cut("events"))?)?;
        let bytes = head.bytes(size, "event")?;
        let place = bytes.len() - PLACE as usize;
        let attr = Attr::parse(&bytes, head.endian);
        let ids = head.endian.u64(&bytes, place).zip(head.endian.u64(&bytes, place + 8));
        let (Some(attr), Some(ids)) = (attr, ids) else { return Err(cut("event")) };
        all_ids = all_ids.saturating_add(ids.1);
        if all_ids > MOST_IDS {
            return Err(wrong("numbers of events", format!("{all_ids} bytes"), "at most 64 MiB"));
        }
        head.from.seek(SeekFrom::Start(ids.0)).map_err(TraceError::Input)?;
        let ids = head.bytes(ids.1, "numbers of an event")?;
        attrs.add(attr, &ids, head.endian);
    }
    Ok(attrs)
}

/// The tracing data, which is the second feature at most. The places of features follow the records.
fn feature<R: Read + Seek>(
    head: &mut Head<&mut R>,
    features: u64,
    end: u64,
) -> Result<Tracing, TraceError> {
    let before = u64::from((features & ((1 << TRACING_DATA) - 1)).count_ones());
    let at = end.checked_add(PLACE * before).ok_or_else(|| cut("features"))?;
    head.from.seek(SeekFrom::Start(at)).map_err(TraceError::Input)?;
    let (at, size) = (head.u64("place of formats")?, head.u64("size of formats")?);
    head.from.seek(SeekFrom::Start(at)).map_err(TraceError::Input)?;
    let bytes = head.bytes(size, "formats of events")?;
    tracing(&bytes)
}

/// Reads tracing data, which begin like a trace.dat (`trace_report` of `tools/perf/util/trace-event-read.c`).
pub(super) fn tracing(bytes: &[u8]) -> Result<Tracing, TraceError> {
    let beginning = beginning(bytes)?;
    let (mut head, page_size) = (beginning.head, beginning.page_size);
    page_layout(&mut head, page_size)?;
    let mut formats = Vec::new();
    ftrace_formats(&mut head, &mut formats)?;
    event_formats(&mut head, &mut formats)?;
    skip_section(&mut head, "kallsyms")?;
    skip_section(&mut head, "formats of trace_printk")?;
    // From version 0.6 on.
    let names = match beginning.version.as_str() {
        "0.5" => Names::default(),
        _ => Names::saved(&head.sized("names of tasks")?),
    };
    Ok(Tracing { endian: head.endian, formats, names })
}
