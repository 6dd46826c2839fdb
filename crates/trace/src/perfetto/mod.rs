//! Writer of Perfetto's protobuf (`perfetto.protos.Trace`), packet by packet.
//!
//! Tracepoints go into ftrace bundles, from which Perfetto draws CPUs, thread states, frequencies and idle states. In
//! addition, each CPU has a track that is named after its place in the machine, with counters below it and an arrow from each
//! wake-up to where the woken task runs.

mod bundle;
mod names;
pub(crate) mod schema;

use crate::TraceError;
use crate::event::{Event, IDLE_EXIT, Kind, Sink, Task};
use bundle::Bundle;
use names::Names;
use prost::Message;
use prost::bytes::Bytes;
use schema::{
    COUNTER, CounterDescriptor, EventName, FtraceKind, INCREMENTAL_STATE_CLEARED, INSTANT,
    InternedData, Migrate, NEEDS_INCREMENTAL_STATE, ORDERED_BY_RANK, Power, SystemInfo,
    TracePacket, TrackDescriptor, TrackEvent, Utsname, Wakeup,
};
use std::io::Write;

/// Bytes after which the buffer is written out.
const FULL: usize = 1 << 16;
/// Tag of `Trace.packet`: field 1, length-delimited.
pub(crate) const PACKET: u8 = 1 << 3 | 2;
/// ID of the only packet sequence.
const SEQUENCE: u32 = 1;

/// Where a timeline comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The kernel's release, such as 6.12.
    pub release: String,
    /// Its source, in one line.
    pub source: String,
    /// The machine's name or architecture.
    pub machine: String,
    /// By CPU: the name of its track, from [`crate::cpu_names`]. CPUs without a name get their number.
    pub cpu_names: Vec<String>,
}

/// Tracks of a CPU.
#[derive(Debug, Clone, Copy)]
enum Track {
    Cpu = 1,
    Runnable,
    Clock,
}

impl Track {
    fn uuid(self, cpu: u32) -> u64 {
        u64::from(cpu) * 4 + self as u64
    }
}

/// Writes records as Perfetto's protobuf.
#[derive(Debug)]
pub struct Perfetto<W> {
    out: W,
    buffer: Vec<u8>,
    names: Names,
    cpu_names: Vec<String>,
    /// By CPU.
    bundles: Vec<Bundle>,
    /// By number of a name: whether its two track-event names have been written.
    announced: Vec<bool>,
    /// By PID: the arrow from the last wake-up; 0 if the task has run since.
    arrows: Vec<u64>,
    last_arrow: u64,
    packet: TracePacket,
}

impl<W: Write> Perfetto<W> {
    /// Creates a writer to `out` and describes the tracks of all CPUs.
    ///
    /// # Errors
    /// Output that cannot be written.
    pub fn new(out: W, about: &About) -> Result<Perfetto<W>, TraceError> {
        let packet = TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
            track_event: Some(TrackEvent::default()),
            ..TracePacket::default()
        };
        let mut this = Perfetto {
            out,
            buffer: Vec::with_capacity(2 * FULL),
            names: Names::default(),
            cpu_names: about.cpu_names.clone(),
            bundles: Vec::new(),
            announced: Vec::new(),
            arrows: Vec::new(),
            last_arrow: 0,
            packet,
        };
        this.preamble(about)?;
        if let Some(last) = about.cpu_names.len().checked_sub(1) {
            this.meet(last as u32)?;
        }
        Ok(this)
    }

    fn preamble(&mut self, about: &About) -> Result<(), TraceError> {
        let utsname = Utsname {
            sysname: Some("Linux".to_string()),
            version: Some(about.source.clone()),
            release: Some(about.release.clone()),
            machine: Some(about.machine.clone()),
        };
        self.write(&TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(INCREMENTAL_STATE_CLEARED),
            system_info: Some(SystemInfo { utsname: Some(utsname) }),
            ..TracePacket::default()
        })
    }

    /// Describes a CPU's tracks.
    fn tracks(&mut self, cpu: u32, name: &str) -> Result<(), TraceError> {
        let parent = TrackDescriptor {
            uuid: Some(Track::Cpu.uuid(cpu)),
            name: Some(name.to_string()),
            sibling_order_rank: Some(cpu as i32),
            child_ordering: Some(ORDERED_BY_RANK),
            ..TrackDescriptor::default()
        };
        let counter = |track: Track, what: &str, unit: &str| TrackDescriptor {
            uuid: Some(track.uuid(cpu)),
            parent_uuid: Some(Track::Cpu.uuid(cpu)),
            name: Some(format!("CPU {cpu} {what}")),
            counter: Some(CounterDescriptor { unit_name: Some(unit.to_string()) }),
            sibling_order_rank: Some(track as i32),
            ..TrackDescriptor::default()
        };
        let runnable = counter(Track::Runnable, "runqueue length", "tasks");
        let clock = counter(Track::Clock, "clock", "kHz");
        for descriptor in [parent, runnable, clock] {
            self.write(&TracePacket {
                trusted_packet_sequence_id: Some(SEQUENCE),
                track_descriptor: Some(descriptor),
                ..TracePacket::default()
            })?;
        }
        Ok(())
    }

    fn write(&mut self, packet: &TracePacket) -> Result<(), TraceError> {
        append(&mut self.buffer, packet);
        if self.buffer.len() >= FULL {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Makes room for a CPU and all lower ones.
    fn meet(&mut self, cpu: u32) -> Result<(), TraceError> {
        while self.bundles.len() <= cpu as usize {
            let new = self.bundles.len() as u32;
            self.bundles.push(Bundle::new(new, SEQUENCE));
            let name = self.cpu_names.get(new as usize).cloned();
            self.tracks(new, &name.unwrap_or_else(|| format!("CPU {new}")))?;
        }
        Ok(())
    }

    /// Writes a CPU's bundle if it is full, or unconditionally.
    fn write_bundle(&mut self, cpu: usize, whole: bool) -> Result<(), TraceError> {
        let Some(bundle) = self.bundles.get_mut(cpu) else { return Ok(()) };
        if !bundle.is_full() && !whole {
            return Ok(());
        }
        let buffer = &mut self.buffer;
        bundle.take(|packet| append(buffer, packet));
        if self.buffer.len() >= FULL {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Writes an event on a track; `fill` sets the fields of its type.
    fn track_event(
        &mut self,
        at_ns: u64,
        track_uuid: u64,
        fill: impl FnOnce(&mut TrackEvent),
    ) -> Result<(), TraceError> {
        let mut packet = std::mem::take(&mut self.packet);
        packet.timestamp = Some(at_ns);
        let event = packet.track_event.get_or_insert_default();
        event.clear();
        event.track_uuid = Some(track_uuid);
        fill(event);
        let written = self.write(&packet);
        self.packet = packet;
        written
    }

    fn counter(&mut self, event: &Event, track: Track, value: i64) -> Result<(), TraceError> {
        self.track_event(event.at_ns, track.uuid(event.cpu), |e| {
            (e.r#type, e.counter_value) = (Some(COUNTER), Some(value));
        })
    }

    /// Number of the event name for a wake-up of `task`; the next number is the name for its running. Writes both if new.
    fn announced(&mut self, task: &Task) -> Result<u64, TraceError> {
        let number = self.names.number(task);
        let iid = 2 * number as u64 + 1;
        if self.announced.len() <= number {
            self.announced.resize(number + 1, false);
        }
        if std::mem::replace(&mut self.announced[number], true) {
            return Ok(iid);
        }
        let name = |iid, before: &str, after: &str| {
            let text = [before.as_bytes(), task.comm.as_bytes(), after.as_bytes()].concat();
            EventName { iid: Some(iid), name: Some(Bytes::from(text)) }
        };
        let event_names = vec![name(iid, "wakes ", ""), name(iid + 1, "", " runs")];
        self.write(&TracePacket {
            trusted_packet_sequence_id: Some(SEQUENCE),
            sequence_flags: Some(NEEDS_INCREMENTAL_STATE),
            interned_data: Some(InternedData { event_names }),
            ..TracePacket::default()
        })?;
        Ok(iid)
    }

    fn arrow(&mut self, pid: u32) -> &mut u64 {
        let at = pid as usize;
        if self.arrows.len() <= at {
            self.arrows.resize(at + 1, 0);
        }
        &mut self.arrows[at]
    }

    /// Starts an arrow where `task` is woken.
    fn arrow_from(&mut self, event: &Event, task: &Task) -> Result<(), TraceError> {
        self.last_arrow += 1;
        let id = self.last_arrow;
        *self.arrow(task.pid) = id;
        let iid = self.announced(task)?;
        self.track_event(event.at_ns, Track::Cpu.uuid(event.cpu), |e| {
            (e.r#type, e.name_iid) = (Some(INSTANT), Some(iid));
            e.flow_ids.push(id);
        })
    }

    /// Ends the arrow where the task first runs.
    fn arrow_to(&mut self, event: &Event, next: &Task) -> Result<(), TraceError> {
        let id = std::mem::take(self.arrow(next.pid));
        if id == 0 {
            return Ok(());
        }
        let iid = self.announced(next)? + 1;
        self.track_event(event.at_ns, Track::Cpu.uuid(event.cpu), |e| {
            (e.r#type, e.name_iid) = (Some(INSTANT), Some(iid));
            e.terminating_flow_ids.push(id);
        })
    }

    fn wakeup(&mut self, task: &Task, target: u32) -> Wakeup {
        let number = self.names.number(task);
        Wakeup {
            comm: self.names.bytes(number),
            pid: Some(task.pid as i32),
            prio: Some(task.prio),
            target_cpu: Some(target as i32),
        }
    }

    /// Converts a tracepoint without columns of its own to a message.
    fn tracepoint(&mut self, kind: &Kind) -> Option<FtraceKind> {
        Some(match *kind {
            Kind::Wakeup { task, target } => FtraceKind::SchedWakeup(self.wakeup(&task, target)),
            Kind::WakeupNew { task, target } => {
                FtraceKind::SchedWakeupNew(self.wakeup(&task, target))
            }
            Kind::Migrate { task, from, to } => {
                let Wakeup { comm, pid, prio, .. } = self.wakeup(&task, to);
                let (orig_cpu, dest_cpu) = (Some(from as i32), Some(to as i32));
                FtraceKind::SchedMigrateTask(Migrate { comm, pid, prio, orig_cpu, dest_cpu })
            }
            Kind::Frequency { cpu, khz } => {
                FtraceKind::CpuFrequency(Power { state: Some(khz), cpu_id: Some(cpu) })
            }
            Kind::Idle { cpu, state } => FtraceKind::CpuIdle(Power {
                state: Some(state.unwrap_or(IDLE_EXIT)),
                cpu_id: Some(cpu),
            }),
            Kind::Switch { .. } | Kind::Waking { .. } => return None,
            Kind::Runnable { .. }
            | Kind::Clock { .. }
            | Kind::PlaceAsked { .. }
            | Kind::PlaceAnswered { .. } => return None,
        })
    }
}

impl<W: Write> Sink for Perfetto<W> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        self.meet(event.cpu)?;
        let at = event.cpu as usize;
        match &event.kind {
            Kind::Switch { prev_state, next, .. } => {
                self.bundles[at].switch(event.at_ns, *prev_state, next, &mut self.names);
                self.arrow_to(event, next)?;
            }
            Kind::Waking { task, target } => {
                self.bundles[at].waking(event, task, *target, &mut self.names);
                self.arrow_from(event, task)?;
            }
            Kind::Runnable { tasks } => {
                return self.counter(event, Track::Runnable, i64::from(*tasks));
            }
            Kind::Clock { khz } => return self.counter(event, Track::Clock, i64::from(*khz)),
            kind => {
                if let Kind::WakeupNew { task, .. } = kind {
                    self.arrow_from(event, task)?;
                }
                if let Some(kind) = self.tracepoint(kind) {
                    self.bundles[at].other(event, kind);
                }
            }
        }
        self.write_bundle(at, false)
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        for cpu in 0..self.bundles.len() {
            self.write_bundle(cpu, true)?;
        }
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()?;
        Ok(())
    }
}

/// Appends a packet to `buffer`.
fn append(buffer: &mut Vec<u8>, packet: &TracePacket) {
    buffer.push(PACKET);
    let before = buffer.len();
    packet.encode_length_delimited(buffer).unwrap_or_else(|_| buffer.truncate(before));
}
