//! Reader of Perfetto's protobuf (`perfetto.protos.Trace`): the ftrace bundles that `traced_probes`, systing or our own writer make.
//!
//! A bundle has records of one CPU in the order of their times. Bundles come in any order: `traced_probes` reads one CPU's buffer
//! after the other, systing writes all that a CPU did before all that the next one did, and a CPU that does little fills its bundle
//! last. Therefore the file is read twice: first for the places of bundles and their first times, 32 bytes each, then bundle by
//! bundle, each from its first time on. Memory holds the bundles that overlap, as a rule one a CPU, and of a large one pieces only.

mod block;
mod bundle;
mod columns;
mod event;
mod index;
mod window;

use super::decode::Names;
use super::tally::{Read, Tally};
use crate::event::{Context, Event, Kind, Sink};
use crate::{Comm, Task, TraceError};
use bundle::{Bundle, Record, Source};
use event::Others;
use index::{Index, Place};
use kernel::priority::DEFAULT_PRIO;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io::Seek;
use window::{Input, Window};

/// Bytes of a bundle up to which memory holds all of it.
const LOADED: u64 = 1 << 16;
/// Most bundles that are open at the same time. What overlaps more comes late.
const MOST_OPEN: usize = 1 << 14;
/// Bytes by which the kind of a file is told.
pub(super) const HEAD: usize = 64;

/// Whether a file that begins with these bytes is a `Trace`: a packet, which is a field of number 1 that has a length. A text may
/// begin with the same byte, the end of an empty line, but has no control characters behind it.
pub(super) fn begins(first: &[u8]) -> bool {
    let control = |b: &u8| b.is_ascii_control() && !b"\n\r\t".contains(b);
    first.first() == Some(&crate::perfetto::PACKET) && first.iter().any(control)
}

/// Reads a whole file.
pub(super) fn read<R: std::io::Read + Seek>(
    file: R,
    sink: &mut impl Sink,
) -> Result<Read, TraceError> {
    let mut input = Input::new(file)?;
    let mut index = Index::of(&mut input)?;
    let names = std::mem::take(&mut index.names);
    let reader = Reader { running: Vec::new(), names, tally: Tally::new(sink) };
    let mut merge = Merge {
        input,
        open: Vec::new(),
        free: Vec::new(),
        heap: BinaryHeap::new(),
        blocks: block::Kept::default(),
        others: Others::default(),
        reader,
    };
    merge.all(&index)?;
    let Merge { others, reader: Reader { mut tally, .. }, .. } = merge;
    tally.read.others += others.records;
    tally.read.damaged += others.damaged + index.damaged;
    tally.read.gaps = index.gaps;
    tally.read.cut = index.cut;
    tally.read.skipped = others.by_name(&index.generic);
    tally.finish()
}

/// The next record of an open bundle: time in ns, CPU, source, and the bundle's slot.
type Next = (u64, u32, Source, usize);

struct Merge<'a, R, S> {
    input: Input<R>,
    open: Vec<Option<Bundle>>,
    free: Vec<usize>,
    heap: BinaryHeap<Reverse<Next>>,
    blocks: block::Kept,
    others: Others,
    reader: Reader<'a, S>,
}

impl<R: std::io::Read + Seek, S: Sink> Merge<'_, R, S> {
    /// Passes on the records of all bundles. Of the same time, that of the lower CPU comes first, as in other files.
    fn all(&mut self, index: &Index) -> Result<(), TraceError> {
        let mut places = index.places.iter().peekable();
        loop {
            let until = self.heap.peek().map_or(u64::MAX, |first| first.0.0);
            let room = self.heap.len() < MOST_OPEN;
            if let Some(place) = places.next_if(|place| place.first_ns <= until && room) {
                self.begin(place, index)?;
            } else if !self.step()? {
                return Ok(());
            }
        }
    }

    /// Opens a bundle.
    fn begin(&mut self, place: &Place, index: &Index) -> Result<(), TraceError> {
        let size = place.size.into();
        let from = match place.block.checked_sub(1).map(|at| index.blocks.get(at as usize)) {
            None => Window::loaded(place.at, size, LOADED, &mut self.input)?,
            Some(block) => {
                let plain = match block {
                    Some(block) => self.blocks.get(block, &mut self.input)?,
                    None => None,
                };
                let bytes = plain.and_then(|plain| {
                    // A copy, so that no bundle keeps a whole block.
                    Some(plain.get(place.at as usize..)?.get(..place.size as usize)?.to_vec())
                });
                Window::of_bytes(bytes.unwrap_or_default().into())
            }
        };
        if place.lost {
            self.reader.forget(place.cpu.into());
        }
        let shift = index.shifts.get(usize::from(place.clock)).copied().flatten().unwrap_or(0);
        let bundle = Bundle::open(place, shift, from, &mut self.others, &mut self.input)?;
        let Some((time, source)) = bundle.key() else {
            self.others.damaged += bundle.damaged();
            return Ok(());
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.open.push(None);
            self.open.len() - 1
        });
        self.heap.push(Reverse((time, bundle.cpu, source, slot)));
        self.open[slot] = Some(bundle);
        Ok(())
    }

    /// Passes on the next record; `false` behind the last.
    fn step(&mut self) -> Result<bool, TraceError> {
        let Some(mut first) = self.heap.peek_mut() else { return Ok(false) };
        let Reverse((time, cpu, source, slot)) = *first;
        let Some(Some(bundle)) = self.open.get_mut(slot) else {
            PeekMut::pop(first);
            return Ok(true);
        };
        let record = bundle.take(source, &mut self.others, &mut self.input)?;
        match bundle.key() {
            Some((time, source)) => *first = Reverse((time, cpu, source, slot)),
            None => {
                self.others.damaged += bundle.damaged();
                PeekMut::pop(first);
                self.open[slot] = None;
                self.free.push(slot);
            }
        }
        self.reader.pass(time, cpu, record)?;
        Ok(true)
    }
}

/// Puts the running task into records, which a bundle leaves out.
struct Reader<'a, S> {
    /// By CPU: who runs there, once a record tells.
    running: Vec<Option<Task>>,
    names: Names,
    tally: Tally<'a, S>,
}

impl<S: Sink> Reader<'_, S> {
    /// What ran on `cpu` is not known after a gap.
    fn forget(&mut self, cpu: u32) {
        if let Some(running) = self.running.get_mut(cpu as usize) {
            *running = None;
        }
    }

    fn running(&mut self, cpu: u32) -> &mut Option<Task> {
        let cpu = cpu as usize;
        if cpu >= self.running.len() {
            self.running.resize(cpu + 1, None);
        }
        &mut self.running[cpu]
    }

    /// Passes a record on.
    fn pass(&mut self, at_ns: u64, cpu: u32, record: Record) -> Result<(), TraceError> {
        let (kind, flags, told) = match record {
            Record::Damaged => {
                self.tally.read.damaged += 1;
                return Ok(());
            }
            Record::Switch(prev_state, next) => {
                // Perfetto tells who comes, not who goes: before the first switch that is unknown.
                let prev = self.running(cpu).unwrap_or_else(nobody);
                (Kind::Switch { prev, prev_state, next }, 0, None)
            }
            Record::Waking(task, target, flags) => (Kind::Waking { task, target }, flags, None),
            Record::Event(kind, flags, told) => (kind, flags, told),
        };
        let current = self.current(cpu, &kind, told);
        if let Kind::Switch { next, .. } = &kind {
            self.names.follow(next);
            *self.running(cpu) = Some(*next);
        }
        let context = Context { flags, preempt_count: 0 };
        self.tally.pass(Event { at_ns, cpu, current, context, kind })
    }

    /// Name and number of the task that ran, of which an event may tell the number.
    fn current(&mut self, cpu: u32, kind: &Kind, told: Option<u32>) -> (Comm, u32) {
        let running = match kind {
            Kind::Switch { prev, .. } => Some(*prev),
            _ => *self.running(cpu),
        };
        let pid = told.or(running.map(|task| task.pid));
        match (running, pid) {
            (_, None) => (nobody().comm, 0),
            (Some(task), Some(pid)) if task.pid == pid && pid != 0 => (task.comm, pid),
            (running, Some(pid)) => {
                let comm = self.names.of(pid, cpu);
                if running.is_none() {
                    let task = Task { comm, pid, prio: DEFAULT_PRIO };
                    *self.running(cpu) = Some(if pid == 0 { Task::idle(cpu) } else { task });
                }
                (comm, pid)
            }
        }
    }
}

/// Stands for a task that is not known, with the name that the kernel has for such.
fn nobody() -> Task {
    Task { comm: Comm::new("<...>"), pid: 0, prio: DEFAULT_PRIO }
}
