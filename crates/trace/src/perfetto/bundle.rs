//! Buffer for one CPU's tracepoints until they fill a packet.

use super::names::Names;
use super::schema::{CompactSched, FtraceEvent, FtraceEventBundle, FtraceKind, TracePacket};
use crate::event::{Event, Task, TaskState};
use prost::Message;
use prost::bytes::Bytes;

/// Number of records after which a CPU's bundle is written.
pub(super) const FULL: usize = 1024;

/// The records of one CPU since its last packet.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    packet: TracePacket,
    records: usize,
    last_switch_ns: u64,
    last_waking_ns: u64,
    /// By number of a name: its index in the packet's table, and the packet for which that is valid.
    places: Vec<(u32, u32)>,
    /// Number of packets begun. Starts at 1, which makes all indices invalid at first.
    nth: u32,
}

impl Bundle {
    /// Creates an empty bundle for `cpu` in the packet sequence `sequence`.
    pub(super) fn new(cpu: u32, sequence: u32) -> Bundle {
        let message = FtraceEventBundle { cpu: Some(cpu), ..FtraceEventBundle::default() };
        let packet = TracePacket {
            trusted_packet_sequence_id: Some(sequence),
            ftrace_events: Some(message),
            ..TracePacket::default()
        };
        Bundle { packet, nth: 1, ..Bundle::default() }
    }

    /// Whether the bundle should be written.
    pub(super) fn is_full(&self) -> bool {
        self.records >= FULL
    }

    /// Passes the contents, if any, to `write` and empties the bundle.
    pub(super) fn take(&mut self, write: impl FnOnce(&TracePacket)) {
        if self.records == 0 {
            return;
        }
        write(&self.packet);
        let message = self.packet.ftrace_events.get_or_insert_default();
        message.event.clear();
        message.compact_sched.get_or_insert_default().clear();
        (self.records, self.last_switch_ns, self.last_waking_ns) = (0, 0, 0);
        self.nth = self.nth.wrapping_add(1);
    }

    /// Makes room for one more record in columns. Returns the index of its task's name.
    fn columns(&mut self, task: &Task, names: &mut Names) -> (&mut CompactSched, u32) {
        self.records += 1;
        let message = self.packet.ftrace_events.get_or_insert_default();
        let compact = message.compact_sched.get_or_insert_default();
        let table = &mut compact.intern_table;
        let place = Self::place(&mut self.places, self.nth, table, names, task);
        (compact, place)
    }

    /// Index of a name in the packet's table.
    fn place(
        places: &mut Vec<(u32, u32)>,
        nth: u32,
        table: &mut Vec<Bytes>,
        names: &mut Names,
        task: &Task,
    ) -> u32 {
        let number = names.number(task);
        if places.len() <= number {
            places.resize(number + 1, (0, 0));
        }
        let Some(place) = places.get_mut(number) else { return 0 };
        if place.1 != nth {
            *place = (table.len() as u32, nth);
            table.extend(names.bytes(number));
        }
        place.0
    }

    /// Adds a `sched_switch`.
    pub(super) fn switch(&mut self, at_ns: u64, state: TaskState, next: &Task, names: &mut Names) {
        let since_ns = at_ns.wrapping_sub(std::mem::replace(&mut self.last_switch_ns, at_ns));
        let (compact, place) = self.columns(next, names);
        compact.switch_timestamp.push(since_ns);
        compact.switch_prev_state.push(state.0.into());
        compact.switch_next_pid.push(next.pid as i32);
        compact.switch_next_prio.push(next.prio);
        compact.switch_next_comm_index.push(place);
    }

    /// Adds a `sched_waking`.
    pub(super) fn waking(&mut self, event: &Event, task: &Task, target: u32, names: &mut Names) {
        let before_ns = std::mem::replace(&mut self.last_waking_ns, event.at_ns);
        let (compact, place) = self.columns(task, names);
        compact.waking_timestamp.push(event.at_ns.wrapping_sub(before_ns));
        compact.waking_pid.push(task.pid as i32);
        compact.waking_target_cpu.push(target as i32);
        compact.waking_prio.push(task.prio);
        compact.waking_comm_index.push(place);
        compact.waking_common_flags.push(event.context.flags.into());
    }

    /// Adds any other tracepoint.
    pub(super) fn other(&mut self, event: &Event, kind: FtraceKind) {
        self.records += 1;
        self.packet.ftrace_events.get_or_insert_default().event.push(FtraceEvent {
            timestamp: Some(event.at_ns),
            pid: Some(event.current.1),
            common_flags: Some(event.context.flags.into()),
            event: Some(kind),
        });
    }
}
