//! Other forms of trace.dat: version 6, and version 7 with zlib and without compression.

use crate::{DATS, read, told};
use std::io::{Cursor, Write};
use trace::{About, Event, Kind, Sink, TraceDat};

/// Compresses a chunk.
type Pack = fn(&[u8]) -> Vec<u8>;

/// The events as our own writer keeps them in version 6.
fn six(events: &[Event]) -> Vec<u8> {
    let mut out = Vec::new();
    let about = About { cpu_names: vec![String::new(); 4], ..About::default() };
    let mut writer = TraceDat::new(&mut out, Cursor::new(Vec::new()), &about, true);
    events.iter().for_each(|e| writer.event(e).expect("memory"));
    writer.finish().expect("memory");
    drop(writer);
    out
}

#[test]
fn version_6_comes_back_as_it_was_written() {
    let (events, _) = read(DATS[0].0).expect("a trace.dat");
    let (back, counts) = read(&six(&events)).expect("our own trace.dat");
    // The file names tasks once, by the last name seen.
    let nameless = |e: &Event| Event { current: (Default::default(), e.current.1), ..*e };
    assert!(back.iter().map(nameless).eq(events.iter().map(nameless)));
    assert_eq!((counts.others, counts.cut, counts.jumps), (0, false, 0));
}

#[test]
fn version_6_is_read_up_to_its_cut() {
    let (events, _) = read(DATS[0].0).expect("a trace.dat");
    let whole = six(&events);
    let (some, counts) = read(&whole[..whole.len() - 6000]).expect("a cut trace.dat");
    assert!(counts.cut && counts.events < events.len() as u64, "{counts:?}");
    let cpus = |of: &[Event], cpu| of.iter().filter(|e| e.cpu == cpu).count();
    assert_eq!(cpus(&some, 0), cpus(&events, 0), "the first CPU's pages come first");
}

/// A trace.dat of version 7 out of one of version 6: the pages as chunks, all else as in version 6's sections.
struct Seven {
    out: Vec<u8>,
    pack: Option<Pack>,
    options: Vec<u8>,
}

impl Seven {
    fn section(&mut self, id: u16, bytes: &[u8]) -> u64 {
        let at = self.out.len() as u64;
        let body = match self.pack {
            Some(pack) => chunk(pack, bytes),
            None => bytes.to_vec(),
        };
        self.head(id, body.len());
        self.out.extend(body);
        at
    }

    fn head(&mut self, id: u16, size: usize) {
        self.out.extend(id.to_le_bytes());
        self.out.extend(u16::from(self.pack.is_some()).to_le_bytes());
        self.out.extend([0; 4]);
        self.out.extend((size as u64).to_le_bytes());
    }

    fn option(&mut self, id: u16, bytes: &[u8]) {
        self.options.extend(id.to_le_bytes());
        self.options.extend((bytes.len() as u32).to_le_bytes());
        self.options.extend(bytes);
    }
}

fn chunk(pack: Pack, bytes: &[u8]) -> Vec<u8> {
    let packed = pack(bytes);
    let mut chunk = (packed.len() as u32).to_le_bytes().to_vec();
    chunk.extend((bytes.len() as u32).to_le_bytes());
    chunk.extend(packed);
    chunk
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).expect("memory");
    packer.finish().expect("memory")
}

/// Where `what` begins in `bytes`.
fn find(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).position(|w| w == what).expect("it is there")
}

fn number(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize
}

fn seven(six: &[u8], name: &str, pack: Option<Pack>) -> Vec<u8> {
    let mut to =
        Seven { out: b"\x17\x08\x44tracing7\0\0\x08\0\x10\0\0".to_vec(), pack, options: vec![] };
    to.out.extend(format!("{name}\0\x31\0").bytes());
    let place = to.out.len();
    to.out.extend([0; 8]);
    let headers = find(six, b"header_page\0");
    let event = find(six, b"header_event\0") + 13;
    let formats = event + 8 + number(six, event);
    // Our own files have no kernel symbols and no formats of trace_printk: eight bytes before the names.
    let end = find(six, b"options  \0") - 4;
    let names = (formats..end).find(|&at| at + 8 + number(six, at) == end).expect("names");
    for (id, part) in [(16, headers..formats), (18, formats + 4..names - 8), (21, names..end)] {
        let at = to.section(id, &six[part]);
        to.option(id, &at.to_le_bytes());
    }
    let places = find(six, b"flyrecord\0") + 10;
    let at = to.out.len() as u64;
    to.head(3, 0);
    let mut buffer = at.to_le_bytes().to_vec();
    buffer.extend(b"\0local\0");
    buffer.extend(4096u32.to_le_bytes());
    buffer.extend(4u32.to_le_bytes());
    for cpu in 0..4 {
        let (from, size) = (number(six, places + 16 * cpu), number(six, places + 16 * cpu + 8));
        let pages = &six[from..from + size];
        let at = to.out.len() as u64;
        match pack {
            Some(pack) => {
                to.out.extend((size.div_ceil(8192) as u32).to_le_bytes());
                pages.chunks(8192).for_each(|pages| to.out.extend(chunk(pack, pages)));
            }
            None => to.out.extend(pages),
        }
        buffer.extend((cpu as u32).to_le_bytes());
        buffer.extend(at.to_le_bytes());
        buffer.extend((to.out.len() as u64 - at).to_le_bytes());
    }
    to.option(3, &buffer);
    // In two sections, of which the second shifts all times by a second.
    let second = to.out.len() as u64;
    let first = std::mem::take(&mut to.options);
    to.option(7, b"1000000000\0");
    to.option(0, &[0; 8]);
    let options = std::mem::replace(&mut to.options, first);
    to.section(0, &options);
    to.option(0, &second.to_le_bytes());
    let options = std::mem::take(&mut to.options);
    let at = to.section(0, &options);
    to.out[place..place + 8].copy_from_slice(&at.to_le_bytes());
    to.out
}

#[test]
fn version_7_is_read_in_every_packing() {
    let (events, _) = read(DATS[0].0).expect("a trace.dat");
    let six = six(&events);
    let expected = read(&six).expect("our own trace.dat").0;
    for (name, pack) in [("none", None), ("zlib", Some(zlib as Pack))] {
        let (back, counts) = read(&seven(&six, name, pack)).expect(name);
        let shifted = |e: &Event| Event { at_ns: e.at_ns + 1_000_000_000, ..*e };
        assert!(back.iter().eq(expected.iter().map(shifted).collect::<Vec<_>>().iter()), "{name}");
        assert_eq!((counts.damaged, counts.cut), (0, false));
    }
    assert!(matches!(told(&expected[0]).kind, Kind::Waking { .. }));
}

#[test]
fn a_block_that_is_none_ends_its_cpu_only() {
    let (events, _) = read(DATS[0].0).expect("a trace.dat");
    let mut bad = seven(&six(&events), "zlib", Some(zlib));
    // Behind the section's head: the number of chunks and the sizes of the first.
    let section = find(&bad, b"\x03\0\x01\0\0\0\0\0");
    bad[section + 16 + 12..section + 16 + 20].fill(0xff);
    let (some, counts) = read(&bad).expect("a trace.dat");
    assert_eq!(counts.damaged, 1);
    assert!(some.len() < events.len() && some.iter().any(|e| e.cpu == 3));
}
