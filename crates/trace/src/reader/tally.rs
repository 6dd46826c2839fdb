//! What was read: counts for people.

use crate::TraceError;
use crate::event::{Event, Kind, Sink};
use std::collections::BTreeMap;

/// Most names of events that are counted apart. A kernel has some 2000.
const MOST_NAMES: usize = 10_000;

/// Counts of what a recording contained.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Read {
    /// Records of tracepoints that timelines show.
    pub events: u64,
    /// The same and those of probes, by name.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// The same by CPU.
    pub by_cpu: BTreeMap<u32, u64>,
    /// Records, or lines, of other events.
    pub others: u64,
    /// The same by name, where they have one.
    pub skipped: BTreeMap<String, u64>,
    /// Records that the kernel lost, according to the recording.
    pub lost: u64,
    /// Places where it lost records without counting them.
    pub gaps: u64,
    /// Records, or pages of them, that are none: left out.
    pub damaged: u64,
    /// Records with a time before that of their CPU's previous one. Those of binary files get that time.
    pub jumps: u64,
    /// Whether the file ends too early.
    pub cut: bool,
}

impl Read {
    /// What is missing or wrong, a line each; none of a whole recording.
    pub fn flaws(&self) -> Vec<String> {
        let counts = [
            (self.lost, "records lost by the kernel, which had no room for them"),
            (self.gaps, "gaps in which the kernel lost records without counting them"),
            (self.damaged, "damaged records or pages, left out"),
            (self.jumps, "records with a time before that of their CPU's previous one"),
        ];
        let counted = counts.iter().filter(|(n, _)| *n > 0);
        let mut flaws: Vec<String> = counted.map(|(n, what)| format!("{n} {what}")).collect();
        if self.cut {
            flaws.push("the file is cut, and its end is missing".to_string());
        }
        flaws
    }
}

/// Counts records on their way to a sink.
pub(super) struct Tally<'a, S> {
    pub read: Read,
    sink: &'a mut S,
    /// By CPU: records, and the time of the last one in ns.
    cpus: Vec<(u64, u64)>,
    kinds: [u64; Kind::NAMES.len()],
}

impl<'a, S: Sink> Tally<'a, S> {
    pub(super) fn new(sink: &'a mut S) -> Tally<'a, S> {
        Tally { read: Read::default(), sink, cpus: Vec::new(), kinds: [0; Kind::NAMES.len()] }
    }

    /// Counts a record; whether its time is before that of its CPU's previous one.
    fn count(&mut self, event: &Event) -> bool {
        let cpu = event.cpu as usize;
        if cpu >= self.cpus.len() {
            self.cpus.resize(cpu + 1, (0, 0));
        }
        let (records, last_ns) = &mut self.cpus[cpu];
        let jumps = event.at_ns < *last_ns;
        (*records, *last_ns) = (*records + 1, event.at_ns);
        self.kinds[event.kind.number()] += 1;
        self.read.events += u64::from(event.kind.is_tracepoint());
        self.read.jumps += u64::from(jumps);
        jumps
    }

    /// Counts a record of another event by its name.
    pub(super) fn skip(&mut self, name: &str) {
        if let Some(records) = self.read.skipped.get_mut(name) {
            *records += 1;
        } else if self.read.skipped.len() < MOST_NAMES {
            // Names of a text that is none have no end.
            self.read.skipped.insert(name.to_string(), 1);
        }
    }

    /// Passes a record on as it is.
    pub(super) fn pass_as_is(&mut self, event: &Event) -> Result<(), TraceError> {
        self.count(event);
        self.sink.event(event)
    }

    /// Passes a record on, not before the previous one of its CPU.
    pub(super) fn pass(&mut self, mut event: Event) -> Result<(), TraceError> {
        let last_ns = self.cpus.get(event.cpu as usize).map_or(0, |c| c.1);
        if self.count(&event) {
            event.at_ns = last_ns;
            self.cpus[event.cpu as usize].1 = last_ns;
        }
        self.sink.event(&event)
    }

    /// The counts, if there was any record.
    pub(super) fn finish(mut self) -> Result<Read, TraceError> {
        if self.read.events == 0 {
            return Err(TraceError::NoEvents);
        }
        let cpus = self.cpus.iter().enumerate().filter(|(_, (records, _))| *records > 0);
        self.read.by_cpu = cpus.map(|(cpu, (records, _))| (cpu as u32, *records)).collect();
        let kinds = Kind::NAMES.into_iter().zip(self.kinds).filter(|(_, records)| *records > 0);
        self.read.by_kind = kinds.collect();
        Ok(self.read)
    }
}
