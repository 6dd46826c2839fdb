//! Reader of trace.dat, versions 6 and 7, as trace-cmd writes it.
//!
//! A file keeps each CPU's ring buffer as the kernel had it in memory. The CPUs' records are merged by time, and memory holds a few
//! pages of each.

mod clock;
mod codec;
pub(super) mod head;
mod options;
mod ring;
mod seven;
mod six;
mod stream;

use super::bytes::{Endian, wrong};
use super::decode::{Decoded, Decoder, Names};
use super::format::Format;
use super::tally::{Read, Tally};
use crate::TraceError;
use crate::event::{Event, Kind, Sink};
use clock::Clock;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::{Seek, SeekFrom};
use stream::{Part, Stream};

/// What a file has beside its pages.
struct Contents {
    endian: Endian,
    formats: Vec<Format>,
    names: Names,
    parts: Vec<Part>,
    clock: Clock,
    /// Records that statistics count as lost.
    lost: u64,
}

/// Reads a whole file.
pub(super) fn read<R: std::io::Read + Seek>(
    mut file: R,
    sink: &mut impl Sink,
) -> Result<Read, TraceError> {
    let length = file.seek(SeekFrom::End(0)).map_err(TraceError::Input)?;
    file.rewind().map_err(TraceError::Input)?;
    let beginning = head::beginning(&mut file)?;
    let contents = match beginning.version.as_str() {
        "6" => six::contents(beginning)?,
        "7" => seven::contents(beginning)?,
        other => return Err(wrong("version", other, "6 or 7")),
    };
    if let Some(clock) = contents.clock.not_ns() {
        return Err(wrong("clock", clock, "one that counts ns, as local, global or mono"));
    }
    merge(&mut file, length, contents, sink)
}

/// Reads the CPUs' records in the order of their times. Of the same time, that of the lower CPU comes first, as in trace-cmd.
fn merge<R: std::io::Read + Seek>(
    file: &mut R,
    length: u64,
    contents: Contents,
    sink: &mut impl Sink,
) -> Result<Read, TraceError> {
    let Contents { endian, formats, mut names, parts, clock, lost } = contents;
    let mut decoder = Decoder::new(endian, &formats);
    let mut tally = Tally::new(sink);
    let mut streams: Vec<Stream> =
        parts.into_iter().map(|part| Stream::new(part, endian, length)).collect();
    let mut heap = BinaryHeap::with_capacity(streams.len());
    for (at, stream) in streams.iter_mut().enumerate() {
        if let Some(time) = stream.next(file)? {
            heap.push(Reverse((time, at)));
        }
    }
    while let Some(mut first) = heap.peek_mut() {
        let Reverse((time, at)) = *first;
        let Some(stream) = streams.get_mut(at) else { break };
        let cpu = stream.part.cpu;
        match decoder.decode(stream.record(), cpu) {
            Decoded::Event(kind, context, pid) => {
                learn(&mut names, &kind);
                let current = (names.of(pid, cpu), pid);
                tally.pass(Event { at_ns: clock.ns(time), cpu, current, context, kind })?;
            }
            Decoded::Other => tally.read.others += 1,
            Decoded::Damaged => tally.read.damaged += 1,
        }
        match stream.next(file)? {
            Some(next) => *first = Reverse((next, at)),
            None => {
                PeekMut::pop(first);
            }
        }
    }
    for flaws in streams.iter().map(|s| &s.flaws) {
        tally.read.lost = tally.read.lost.saturating_add(flaws.lost);
        tally.read.gaps += flaws.gaps;
        tally.read.damaged += flaws.damaged;
        tally.read.cut |= flaws.cut;
    }
    // Pages tell of records that are missing before them; statistics also of those behind the last page.
    tally.read.lost = tally.read.lost.max(lost);
    tally.read.skipped = decoder.skipped();
    tally.finish()
}

/// Learns names from records: the file's own list lacks tasks of which the kernel kept none.
pub(super) fn learn(names: &mut Names, kind: &Kind) {
    if let Kind::Switch { prev, next, .. } = kind {
        for task in [prev, next].into_iter().filter(|t| t.pid != 0) {
            names.learn(task);
        }
    }
}
