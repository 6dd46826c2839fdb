//! The first reading of a file: where its bundles are, and when they begin.

use super::block;
use super::window::{Flaw, Input, Window};
use crate::perfetto::schema::{GenericEvent, ProcessTree, bundle, compact, event, packet};
use crate::reader::bytes::wrong;
use crate::reader::decode::Names;
use crate::{Comm, Task, TraceError};
use kernel::priority::DEFAULT_PRIO;
use machine::MAX_CPUS;
use prost::Message;
use std::collections::BTreeMap;
use std::io::{Read, Seek};

/// Number of `Trace.packet`.
const PACKET: u32 = 1;
/// Most bytes of a list of threads.
const LONGEST_TREE: u64 = 16 << 20;
/// Most bytes of what describes an event, and most of such events.
const LONGEST_DESCRIPTOR: u64 = 1 << 16;
const MOST_GENERIC: usize = 10_000;
/// `FtraceClock` of a clock that Perfetto does not name, and the number of clocks.
const UNKNOWN_CLOCK: u64 = 1;
const CLOCKS: usize = 5;

/// A bundle of records in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// When it begins, in ns.
    pub first_ns: u64,
    /// Where it is: in the file, or in the decompressed block.
    pub at: u64,
    pub size: u32,
    /// The block's number and 1; 0 for none.
    pub block: u32,
    pub cpu: u16,
    pub clock: u8,
    /// Whether the kernel lost records before it.
    pub lost: bool,
}

/// Compressed packets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub at: u64,
    pub size: u64,
    pub codec: block::Codec,
}

/// What is known of a file before its records are read.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// In the order of their beginning.
    pub places: Vec<Place>,
    pub blocks: Vec<Block>,
    /// By `FtraceClock`: what makes its times those of `CLOCK_BOOTTIME`, in ns.
    pub shifts: [Option<i64>; CLOCKS],
    pub names: Names,
    /// By number of their field: names of events that only the traced kernel knows.
    pub generic: BTreeMap<u32, String>,
    pub gaps: u64,
    pub damaged: u64,
    pub cut: bool,
}

impl Index {
    /// Reads a file over.
    pub(super) fn of<R: Read + Seek>(input: &mut Input<R>) -> Result<Index, TraceError> {
        let mut index = Index::default();
        let mut file = Window::of_file(0, input.length);
        // Without a length, nobody knows where the next packet begins.
        match index.packets(&mut file, 0, input)? {
            None => {}
            Some(Flaw::Cut) => index.cut = true,
            Some(Flaw::Damaged) => (index.cut, index.damaged) = (true, index.damaged + 1),
        }
        for place in &mut index.places {
            let shift = index.shifts.get(usize::from(place.clock)).copied().flatten();
            place.first_ns = place.first_ns.saturating_add_signed(shift.unwrap_or(0));
        }
        index.places.sort_unstable_by_key(|place| (place.first_ns, place.block, place.at));
        Ok(index)
    }

    /// All packets of the file, or of a block.
    fn packets<R: Read + Seek>(
        &mut self,
        from: &mut Window,
        block: u32,
        input: &mut Input<R>,
    ) -> Result<Option<Flaw>, TraceError> {
        while let Some(key) = from.key(input)? {
            match key.number {
                PACKET => match from.part(key, input)? {
                    Some(packet) => self.packet(packet, block, input)?,
                    None => continue,
                },
                _ => from.skip(key, input)?,
            }
        }
        Ok(from.flaw())
    }

    fn packet<R: Read + Seek>(
        &mut self,
        mut from: Window,
        block: u32,
        input: &mut Input<R>,
    ) -> Result<(), TraceError> {
        while let Some(key) = from.key(input)? {
            let codec = match key.number {
                packet::FTRACE_EVENTS => {
                    if let Some(bundle) = from.part(key, input)? {
                        self.bundle(bundle, block, input)?;
                    }
                    continue;
                }
                packet::PROCESS_TREE => {
                    if let Some(tree) = from.part(key, input)? {
                        self.threads(tree, input)?;
                    }
                    continue;
                }
                packet::COMPRESSED_PACKETS => block::Codec::Zlib,
                packet::ZSTD_COMPRESSED_PACKETS => block::Codec::Zstd,
                _ => {
                    from.skip(key, input)?;
                    continue;
                }
            };
            match from.part(key, input)? {
                Some(packed) if block == 0 => self.block(&packed, codec, input)?,
                _ => self.damaged += 1,
            }
        }
        self.damaged += u64::from(from.flaw().is_some());
        Ok(())
    }

    fn block<R: Read + Seek>(
        &mut self,
        packed: &Window,
        codec: block::Codec,
        input: &mut Input<R>,
    ) -> Result<(), TraceError> {
        let block = Block { at: packed.position(), size: packed.len(), codec };
        let Some(plain) = block::unpack(&block, input)? else {
            self.damaged += 1;
            return Ok(());
        };
        self.blocks.push(block);
        let flaw = self.packets(&mut Window::of_bytes(plain), self.blocks.len() as u32, input)?;
        self.damaged += u64::from(flaw.is_some());
        Ok(())
    }

    /// Learns the names that a list of threads has.
    fn threads<R: Read + Seek>(
        &mut self,
        tree: Window,
        input: &mut Input<R>,
    ) -> Result<(), TraceError> {
        let tree = tree.whole(LONGEST_TREE, input)?.and_then(|tree| ProcessTree::decode(tree).ok());
        let Some(tree) = tree else {
            self.damaged += 1;
            return Ok(());
        };
        for thread in tree.threads {
            if let (Some(tid), Some(name)) = (thread.tid, thread.name)
                && tid > 0
                && !name.is_empty()
            {
                let comm = Comm::from_bytes(&name);
                self.names.learn(&Task { comm, pid: tid as u32, prio: DEFAULT_PRIO });
            }
        }
        Ok(())
    }

    /// Learns the name of an event.
    fn generic<R: Read + Seek>(
        &mut self,
        event: Window,
        input: &mut Input<R>,
    ) -> Result<(), TraceError> {
        let event = event.whole(LONGEST_DESCRIPTOR, input)?;
        match event.and_then(|event| GenericEvent::decode(event).ok()) {
            Some(GenericEvent { field_id: Some(field), event_descriptor: Some(told) }) => {
                if self.generic.len() < MOST_GENERIC {
                    self.generic.insert(field as u32, told.name.unwrap_or_default());
                }
            }
            _ => self.damaged += 1,
        }
        Ok(())
    }

    /// Notes a bundle, if it has records.
    fn bundle<R: Read + Seek>(
        &mut self,
        mut from: Window,
        block: u32,
        input: &mut Input<R>,
    ) -> Result<(), TraceError> {
        let (at, size) = (from.position(), from.len());
        let (mut cpu, mut lost, mut clock, mut first) = (None, false, 0, None::<u64>);
        let (mut ftrace_ns, mut boot_ns) = (None, None);
        let mut has_event = false;
        while let Some(key) = from.key(input)? {
            let time = match key.number {
                bundle::EVENT if !has_event => {
                    has_event = true;
                    from.part(key, input)?.map_or(Ok(None), |event| time_of(event, input))?
                }
                bundle::COMPACT_SCHED => {
                    from.part(key, input)?.map_or(Ok(None), |compact| first_of(compact, input))?
                }
                bundle::CPU => {
                    cpu = from.value(key, input)?;
                    None
                }
                bundle::LOST_EVENTS => {
                    lost = from.value(key, input)? == Some(1);
                    None
                }
                bundle::FTRACE_CLOCK => {
                    clock = from.value(key, input)?.unwrap_or(0);
                    None
                }
                bundle::FTRACE_TIMESTAMP => {
                    ftrace_ns = from.value(key, input)?;
                    None
                }
                bundle::BOOT_TIMESTAMP => {
                    boot_ns = from.value(key, input)?;
                    None
                }
                bundle::GENERIC_EVENT_DESCRIPTORS => {
                    if let Some(event) = from.part(key, input)? {
                        self.generic(event, input)?;
                    }
                    None
                }
                number => {
                    self.damaged += u64::from(number == bundle::ERROR);
                    from.skip(key, input)?;
                    None
                }
            };
            first = first.into_iter().chain(time).min();
        }
        self.damaged += u64::from(from.flaw().is_some());
        self.gaps += u64::from(lost);
        if clock == UNKNOWN_CLOCK || clock >= CLOCKS as u64 {
            let expected = "CLOCK_BOOTTIME, global, local or mono_raw";
            return Err(wrong("clock of the records", "one that has no name", expected));
        }
        if let (Some(ftrace), Some(boot), shift @ None) =
            (ftrace_ns, boot_ns, &mut self.shifts[clock as usize])
            && clock != 0
        {
            // The first pair serves for the whole file, so that no later one makes times go back.
            *shift = Some((boot as i64).wrapping_sub(ftrace as i64));
        }
        let Some(first_ns) = first else { return Ok(()) };
        let cpu = cpu.filter(|&cpu| cpu < MAX_CPUS as u64);
        match cpu.zip(u32::try_from(size).ok()) {
            Some((cpu, size)) => {
                let (cpu, clock) = (cpu as u16, clock as u8);
                self.places.push(Place { first_ns, at, size, block, cpu, clock, lost });
            }
            None => self.damaged += 1,
        }
        Ok(())
    }
}

/// The time of an event.
fn time_of<R: Read + Seek>(
    mut from: Window,
    input: &mut Input<R>,
) -> Result<Option<u64>, TraceError> {
    while let Some(key) = from.key(input)? {
        if key.number == event::TIMESTAMP {
            return from.value(key, input);
        }
        from.skip(key, input)?;
    }
    Ok(None)
}

/// The first time of columns.
fn first_of<R: Read + Seek>(
    mut from: Window,
    input: &mut Input<R>,
) -> Result<Option<u64>, TraceError> {
    let mut first = None::<u64>;
    while let Some(key) = from.key(input)? {
        if key.number == compact::SWITCH[0] || key.number == compact::WAKING[0] {
            if let Some(mut times) = from.part(key, input)? {
                times.fill(input)?;
                first = first.into_iter().chain(times.number()).min();
            }
        } else {
            from.skip(key, input)?;
        }
    }
    Ok(first)
}
