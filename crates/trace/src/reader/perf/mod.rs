//! Reader of perf.data, as `perf record` and `perf sched record` write it to a file or into a pipe.
//!
//! The crate linux-perf-data reads such files, too. It is not used: it takes the tracing data of pipe mode for records, refuses a
//! file that is cut, and makes room for as many bytes as a file claims to have.

mod attr;
mod head;
mod rounds;

use super::bytes::{Endian, Head, wrong};
use super::dat::learn;
use super::decode::{Decoded, Decoder, Names};
use super::tally::{Read, Tally};
use crate::event::{Event, Sink};
use crate::{Comm, TraceError};
use attr::Attr;
use head::{Attrs, Tracing};
use rounds::Rounds;
use std::io::Seek;
use zstd::stream::raw::{Decoder as Zstd, Operation};

/// The first bytes, in the orders of bytes of the traced machine.
pub(super) const MAGICS: [&[u8; 8]; 2] = [b"PERFILE2", b"2ELIFREP"];

/// `PERF_RECORD_*` of the kernel (`include/uapi/linux/perf_event.h`).
const LOST: u32 = 2;
const COMM: u32 = 3;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const LOST_SAMPLES: u32 = 13;
/// Those of perf (`tools/lib/perf/include/perf/event.h`).
const HEADER_ATTR: u32 = 64;
const HEADER_TRACING_DATA: u32 = 66;
const FINISHED_ROUND: u32 = 68;
const AUXTRACE: u32 = 71;
const COMPRESSED: u32 = 81;
const COMPRESSED2: u32 = 83;

/// Bytes of a record's header: type, flags, size.
const HEADER: usize = 8;
/// Bytes that are decompressed at once.
const BLOCK: usize = 1 << 16;

/// What waits for its turn.
#[derive(Debug)]
enum Item {
    /// Without the name of the current task.
    Event(Event),
    Named(u32, Comm),
    /// A thread and its parent.
    Forked(u32, u32),
}

/// Reads a whole file.
pub(super) fn read<R: std::io::Read + Seek>(
    mut file: R,
    sink: &mut impl Sink,
) -> Result<Read, TraceError> {
    let opened = head::open(&mut file)?;
    let at = file.stream_position().map_err(TraceError::Input)?;
    let length = file.seek(std::io::SeekFrom::End(0)).map_err(TraceError::Input)?;
    file.seek(std::io::SeekFrom::Start(at)).map_err(TraceError::Input)?;
    let end = opened.end.unwrap_or(length);
    let mut reader = Reader {
        endian: opened.endian,
        attrs: opened.attrs,
        decoder: None,
        names: Names::default(),
        rounds: Rounds::default(),
        tally: Tally::new(sink),
        zstd: None,
        lost: 0,
        lost_samples: 0,
        plain: Vec::new(),
    };
    reader.tally.read.cut = end > length;
    if let Some(tracing) = opened.tracing {
        reader.knows(tracing);
    }
    let from = std::io::Read::take(file, end.saturating_sub(at));
    reader.records(Head { from, endian: opened.endian })?;
    let Reader { mut rounds, mut names, mut tally, decoder, lost, lost_samples, .. } = reader;
    tally.read.lost = lost.max(lost_samples);
    pass(rounds.rest(), &mut names, &mut tally)?;
    if let Some(decoder) = decoder {
        tally.read.skipped.extend(decoder.skipped());
    }
    tally.finish()
}

struct Reader<'a, S> {
    endian: Endian,
    attrs: Attrs,
    decoder: Option<Decoder>,
    names: Names,
    rounds: Rounds<Item>,
    tally: Tally<'a, S>,
    zstd: Option<Zstd<'static>>,
    /// Records that the kernel counts as lost where it goes on, and those that perf counts at the end: often the same ones.
    lost: u64,
    lost_samples: u64,
    /// Decompressed records, of which the last may not be complete.
    plain: Vec<u8>,
}

/// Passes records on whose turn it is.
fn pass<S: Sink>(
    items: impl Iterator<Item = (u64, Item)>,
    names: &mut Names,
    tally: &mut Tally<'_, S>,
) -> Result<(), TraceError> {
    for (_, item) in items {
        match item {
            Item::Event(mut event) => {
                learn(names, &event.kind);
                event.current.0 = names.of(event.current.1, event.cpu);
                tally.pass(event)?;
            }
            Item::Named(pid, comm) => names.set(pid, comm),
            Item::Forked(pid, parent) => names.inherit(pid, parent),
        }
    }
    Ok(())
}

impl<S: Sink> Reader<'_, S> {
    fn knows(&mut self, tracing: Tracing) {
        self.decoder = Some(Decoder::new(tracing.endian, &tracing.formats));
        self.names = tracing.names;
    }

    /// Reads the file's own records up to its end.
    fn records<R: std::io::Read>(&mut self, mut from: Head<R>) -> Result<(), TraceError> {
        let mut body = Vec::new();
        loop {
            let Some(kind) = self.next(&mut from, &mut body)? else { return Ok(()) };
            match kind {
                HEADER_TRACING_DATA => {
                    let n = self.endian.u32(&body, 0).unwrap_or(0);
                    let bytes =
                        from.bytes(u64::from(n).next_multiple_of(8), "formats of events")?;
                    self.knows(head::tracing(&bytes)?);
                }
                AUXTRACE => from.skip(self.endian.u64(&body, 0).unwrap_or(0), "AUXTRACE")?,
                COMPRESSED => self.compressed(&body)?,
                COMPRESSED2 => {
                    let n = self.endian.u64(&body, 0).map_or(0, |n| n as usize);
                    let packed = body.get(8..).and_then(|rest| rest.get(..n));
                    self.compressed(packed.unwrap_or(&[]))?;
                }
                kind => self.record(kind, &body)?,
            }
        }
    }

    /// Reads a record, of which `body` gets all but the header, and gives its type; `None` at the end, be it too early.
    fn next<R: std::io::Read>(
        &mut self,
        from: &mut Head<R>,
        body: &mut Vec<u8>,
    ) -> Result<Option<u32>, TraceError> {
        fill(body, &mut from.from, HEADER)?;
        if body.len() < HEADER {
            self.tally.read.cut |= !body.is_empty();
            return Ok(None);
        }
        let Some((kind, size)) = parse_header(body, self.endian) else {
            // Without a size, nobody knows where the next record begins.
            self.tally.read.damaged += 1;
            self.tally.read.cut = true;
            return Ok(None);
        };
        fill(body, &mut from.from, size - HEADER)?;
        if body.len() < size - HEADER {
            self.tally.read.cut = true;
            return Ok(None);
        }
        Ok(Some(kind))
    }

    /// Decompresses a part of the one stream that all compressed records are, and reads the records in it.
    fn compressed(&mut self, packed: &[u8]) -> Result<(), TraceError> {
        let mut zstd = match self.zstd.take() {
            Some(zstd) => zstd,
            None => Zstd::new().map_err(TraceError::Input)?,
        };
        let mut from = 0;
        loop {
            let filled = self.plain.len();
            self.plain.resize(filled + BLOCK, 0);
            let (Some(packed), Some(plain)) = (packed.get(from..), self.plain.get_mut(filled..))
            else {
                return Ok(());
            };
            let Ok(status) = zstd.run_on_buffers(packed, plain) else {
                // What follows cannot be read without what precedes it, which is lost.
                self.plain.truncate(filled);
                self.tally.read.damaged += 1;
                return Ok(());
            };
            from += status.bytes_read;
            self.plain.truncate(filled + status.bytes_written);
            self.decompressed()?;
            let stuck = status.bytes_read == 0 && status.bytes_written == 0;
            if stuck || (status.bytes_written < BLOCK && status.bytes_read == packed.len()) {
                self.zstd = Some(zstd);
                return Ok(());
            }
        }
    }

    /// Reads the records that are complete.
    fn decompressed(&mut self) -> Result<(), TraceError> {
        let plain = std::mem::take(&mut self.plain);
        let mut rest = plain.as_slice();
        while rest.len() >= HEADER {
            let Some((kind, size)) = parse_header(rest, self.endian) else {
                self.tally.read.damaged += 1;
                rest = &[];
                break;
            };
            let Some((record, behind)) = rest.split_at_checked(size) else { break };
            self.record(kind, record.get(HEADER..).unwrap_or(&[]))?;
            rest = behind;
        }
        let (n, mut plain) = (plain.len() - rest.len(), plain);
        plain.drain(..n);
        self.plain = plain;
        Ok(())
    }

    /// Reads a record that is complete in itself.
    fn record(&mut self, kind: u32, body: &[u8]) -> Result<(), TraceError> {
        let endian = self.endian;
        let time_ns = || self.attrs.first().map_or(0, |attr| attr.time_of_other(body, endian));
        match kind {
            SAMPLE => self.sample(body)?,
            LOST => add(&mut self.lost, endian.u64(body, 8)),
            LOST_SAMPLES => add(&mut self.lost_samples, endian.u64(body, 0)),
            COMM => {
                let name = body.get(8..).unwrap_or(&[]);
                let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
                if let (Some(pid), Some(name)) = (endian.u32(body, 4), name.get(..end)) {
                    self.rounds.push(time_ns(), Item::Named(pid, Comm::from_bytes(name)));
                }
            }
            FORK => {
                if let (Some(pid), Some(parent)) = (endian.u32(body, 8), endian.u32(body, 12)) {
                    self.rounds.push(time_ns(), Item::Forked(pid, parent));
                }
            }
            HEADER_ATTR => self.attr(body),
            FINISHED_ROUND => pass(self.rounds.round(), &mut self.names, &mut self.tally)?,
            _ => {}
        }
        if self.rounds.is_full() {
            pass(self.rounds.half(), &mut self.names, &mut self.tally)?;
        }
        Ok(())
    }

    /// An event of pipe mode: its size is in it, and its numbers follow.
    fn attr(&mut self, body: &[u8]) {
        let size = self.endian.u32(body, 4).map_or(0, |size| size as usize);
        match Attr::parse(body, self.endian).zip(body.get(size..)) {
            Some((attr, ids)) => self.attrs.add(attr, ids, self.endian),
            None => self.tally.read.damaged += 1,
        }
    }

    fn sample(&mut self, body: &[u8]) -> Result<(), TraceError> {
        let attr = self.attrs.of(body, self.endian).filter(|attr| attr.is_tracepoint());
        let Some(attr) = attr else {
            self.tally.read.others += 1;
            self.tally.skip("samples of no tracepoint");
            return Ok(());
        };
        if let Some(found) = attr.lacks() {
            return Err(wrong("samples", found, "those of `perf record -a`"));
        }
        let Some(decoder) = &mut self.decoder else {
            return Err(head::without_formats("none"));
        };
        let sample = attr.sample(body, self.endian);
        let Some(sample) = sample.filter(|s| (s.cpu as usize) < machine::MAX_CPUS) else {
            self.tally.read.damaged += 1;
            return Ok(());
        };
        match decoder.decode(sample.raw, sample.cpu) {
            Decoded::Event(kind, context, pid) => {
                let current = (Comm::default(), pid);
                let event =
                    Event { at_ns: sample.time_ns, cpu: sample.cpu, current, context, kind };
                self.rounds.push(sample.time_ns, Item::Event(event));
            }
            Decoded::Other => self.tally.read.others += 1,
            Decoded::Damaged => self.tally.read.damaged += 1,
        }
        Ok(())
    }
}

fn add(to: &mut u64, records: Option<u64>) {
    *to = to.saturating_add(records.unwrap_or(0));
}

/// Type and size of a record; `None` if it is too small.
fn parse_header(bytes: &[u8], endian: Endian) -> Option<(u32, usize)> {
    let size = endian.at(bytes, 6, 2)? as usize;
    Some((endian.u32(bytes, 0)?, size)).filter(|_| size >= HEADER)
}

/// Reads `n` bytes, 64 KiB at most, or what is left of them.
fn fill(to: &mut Vec<u8>, mut from: impl std::io::Read, n: usize) -> Result<(), TraceError> {
    to.resize(n, 0);
    let mut at = 0;
    while at < n {
        match from.read(&mut to[at..]) {
            Ok(0) => break,
            Ok(more) => at += more,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(TraceError::Input(e)),
        }
    }
    to.truncate(at);
    Ok(())
}
