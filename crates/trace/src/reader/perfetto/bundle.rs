//! The records of one bundle in the order of their times: its list of events and the columns of `CompactSched`, merged.

use super::columns::Columns;
use super::event::{Found, Others, found};
use super::index::Place;
use super::window::{Input, Window};
use crate::event::{Kind, MAX_PID};
use crate::perfetto::schema::{FtraceEvent, FtraceKind, bundle, compact};
use crate::{Comm, Task, TaskState, TraceError};
use machine::MAX_CPUS;
use prost::Message;
use std::io::{Read, Seek};

/// Most names of a bundle's table. More than a bundle has records are not needed.
const MOST_NAMES: usize = 1 << 20;
/// Longest event, in bytes: `print` and the like hold texts.
const LONGEST_EVENT: u64 = 1 << 20;

/// Where the next record comes from. Of the same time, a wake-up comes first, then what follows from it, then the switch; a CPU
/// goes idle when it has switched to the idle task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Waking,
    Event,
    Switch,
    GoesIdle,
}

/// An open bundle.
#[derive(Debug)]
pub(super) struct Bundle {
    pub cpu: u32,
    /// Added to every time, in ns.
    shift: i64,
    table: Vec<Comm>,
    switches: Columns<5>,
    wakings: Columns<6>,
    events: Window,
    event: Option<(u64, FtraceEvent)>,
}

/// What a bundle says of a record.
#[derive(Debug)]
pub(super) enum Record {
    /// A switch from whoever ran to this task.
    Switch(TaskState, Task),
    /// A wake-up by whoever runs, with `common_flags`.
    Waking(Task, u32, u8),
    /// An event, `common_flags`, and the task that ran, if it is told.
    Event(Kind, u8, Option<u32>),
    /// Values that no record has.
    Damaged,
}

impl Bundle {
    /// Opens the bundle that `from` holds and goes to its first record.
    pub(super) fn open<R: Read + Seek>(
        place: &Place,
        shift: i64,
        mut from: Window,
        others: &mut Others,
        input: &mut Input<R>,
    ) -> Result<Bundle, TraceError> {
        let mut this = Bundle {
            cpu: place.cpu.into(),
            shift,
            table: Vec::new(),
            switches: Columns::new(5),
            // Old versions have no flags.
            wakings: Columns::new(5),
            events: from.clone(),
            event: None,
        };
        let mut has_events = false;
        while let Some(key) = from.key(input)? {
            if key.number == bundle::COMPACT_SCHED {
                if let Some(columns) = from.part(key, input)? {
                    this.columns(columns, input)?;
                }
            } else {
                has_events |= key.number == bundle::EVENT;
                from.skip(key, input)?;
            }
        }
        if !has_events {
            this.events.close();
        }
        this.switches.next(input)?;
        this.wakings.next(input)?;
        this.next_event(others, input)?;
        Ok(this)
    }

    fn columns<R: Read + Seek>(
        &mut self,
        mut from: Window,
        input: &mut Input<R>,
    ) -> Result<(), TraceError> {
        while let Some(key) = from.key(input)? {
            let column = |columns: &[u32]| columns.iter().position(|&number| number == key.number);
            if let Some(column) = column(&compact::SWITCH) {
                self.switches.set(column, from.part(key, input)?.unwrap_or_default());
            } else if let Some(column) = column(&compact::WAKING) {
                self.wakings.set(column, from.part(key, input)?.unwrap_or_default());
            } else if key.number == compact::INTERN_TABLE && self.table.len() < MOST_NAMES {
                let name = match from.part(key, input)? {
                    Some(name) => name.whole(LONGEST_EVENT, input)?.unwrap_or_default(),
                    None => continue,
                };
                self.table.push(Comm::from_bytes(&name));
            } else {
                from.skip(key, input)?;
            }
        }
        Ok(())
    }

    /// Goes to the next event that timelines show, over others.
    fn next_event<R: Read + Seek>(
        &mut self,
        others: &mut Others,
        input: &mut Input<R>,
    ) -> Result<(), TraceError> {
        self.event = None;
        while let Some(key) = self.events.key(input)? {
            if key.number != bundle::EVENT {
                self.events.skip(key, input)?;
                continue;
            }
            let Some(event) = self.events.part(key, input)? else { continue };
            let Some(bytes) = event.whole(LONGEST_EVENT, input)? else {
                others.damaged += 1;
                continue;
            };
            match FtraceEvent::decode(bytes.clone()) {
                Ok(event @ FtraceEvent { timestamp: Some(time), event: Some(_), .. }) => {
                    self.event = Some((time, event));
                    return Ok(());
                }
                Ok(FtraceEvent { timestamp: Some(_), event: None, .. }) => {
                    others.count(Window::of_bytes(bytes), input)?;
                }
                _ => others.damaged += 1,
            }
        }
        Ok(())
    }

    fn ns(&self, time: u64) -> u64 {
        time.saturating_add_signed(self.shift)
    }

    /// Time of the next record in ns, and where it comes from; `None` behind the last.
    pub(super) fn key(&self) -> Option<(u64, Source)> {
        let waking = self.wakings.row.map(|row| (row[0], Source::Waking));
        let switch = self.switches.row.map(|row| (row[0], Source::Switch));
        let event = self.event.as_ref().map(|(time, event)| match &event.event {
            Some(FtraceKind::CpuIdle(idle)) if idle.state != Some(crate::event::IDLE_EXIT) => {
                (*time, Source::GoesIdle)
            }
            _ => (*time, Source::Event),
        });
        let (time, source) = waking.into_iter().chain(switch).chain(event).min()?;
        Some((self.ns(time), source))
    }

    /// Takes the next record, which comes from `source`.
    pub(super) fn take<R: Read + Seek>(
        &mut self,
        source: Source,
        others: &mut Others,
        input: &mut Input<R>,
    ) -> Result<Record, TraceError> {
        Ok(match source {
            Source::Switch => {
                let record = self.switches.row.and_then(|row| self.switch(row));
                self.switches.next(input)?;
                record.unwrap_or(Record::Damaged)
            }
            Source::Waking => {
                let record = self.wakings.row.and_then(|row| self.waking(row));
                self.wakings.next(input)?;
                record.unwrap_or(Record::Damaged)
            }
            Source::Event | Source::GoesIdle => {
                let event = self.event.take();
                self.next_event(others, input)?;
                match event.and_then(|(_, event)| found(&event)) {
                    Some(Found { kind, flags, pid }) => Record::Event(kind, flags, pid),
                    None => Record::Damaged,
                }
            }
        })
    }

    fn task(&self, pid: u64, prio: u64, name: u64) -> Option<Task> {
        let pid = u32::try_from(pid).ok().filter(|&pid| pid <= MAX_PID)?;
        let comm = *self.table.get(usize::try_from(name).ok()?)?;
        Some(Task { comm, pid, prio: prio as i32 })
    }

    fn switch(&self, [_, state, pid, prio, name]: [u64; 5]) -> Option<Record> {
        Some(Record::Switch(TaskState(state as u16), self.task(pid, prio, name)?))
    }

    fn waking(&self, [_, pid, target, prio, name, flags]: [u64; 6]) -> Option<Record> {
        let target = u32::try_from(target).ok().filter(|&cpu| (cpu as usize) < MAX_CPUS)?;
        Some(Record::Waking(self.task(pid, prio, name)?, target, flags as u8))
    }

    /// Places where its columns do not fit together.
    pub(super) fn damaged(&self) -> u64 {
        u64::from(self.switches.damaged) + u64::from(self.wakings.damaged)
    }
}
