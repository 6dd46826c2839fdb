//! What is kept of one CPU's tracepoints until it is worth a packet.

use super::names::Names;
use super::schema::{CompactSched, FtraceEvent, FtraceEventBundle, FtraceKind};
use crate::event::{Comm, Event, Task, TaskState};
use prost::bytes::Bytes;

/// Records after which a CPU's bundle is written.
pub const FULL: usize = 1024;

/// The records of one CPU since its last packet.
#[derive(Debug, Default)]
pub struct Bundle {
    message: FtraceEventBundle,
    records: usize,
    last_switch_ns: u64,
    last_waking_ns: u64,
    /// By number of a name: its place in the bundle's table and the packet for which it holds.
    places: Vec<(u32, u32)>,
    packet: u32,
}

impl Bundle {
    /// An empty bundle of `cpu`.
    pub fn new(cpu: u32) -> Bundle {
        let compact_sched = Some(CompactSched::default());
        let message = FtraceEventBundle { cpu: Some(cpu), event: Vec::new(), compact_sched };
        Bundle { message, packet: 1, ..Bundle::default() }
    }

    /// Whether it is time to write it.
    pub fn is_full(&self) -> bool {
        self.records >= FULL
    }

    /// Hands out what is in it, if anything, and forgets it.
    pub fn take(&mut self, write: impl FnOnce(FtraceEventBundle) -> FtraceEventBundle) {
        if self.records == 0 {
            return;
        }
        let mut message = write(std::mem::take(&mut self.message));
        message.event.clear();
        if let Some(compact) = &mut message.compact_sched {
            prost::Message::clear(compact);
        }
        self.message = message;
        (self.records, self.last_switch_ns, self.last_waking_ns) = (0, 0, 0);
        self.packet = self.packet.wrapping_add(1);
    }

    /// The place of a name in the packet's table.
    fn place(
        places: &mut Vec<(u32, u32)>,
        packet: u32,
        table: &mut Vec<Bytes>,
        names: &mut Names,
        comm: Comm,
    ) -> u32 {
        let number = names.number(comm);
        if places.len() <= number {
            places.resize(number + 1, (0, 0));
        }
        let Some(place) = places.get_mut(number) else { return 0 };
        if place.1 != packet {
            *place = (table.len() as u32, packet);
            table.extend(names.bytes(number));
        }
        place.0
    }

    /// Takes a `sched_switch`.
    pub fn switch(&mut self, at_ns: u64, state: TaskState, next: &Task, names: &mut Names) {
        self.records += 1;
        let compact = self.message.compact_sched.get_or_insert_default();
        let place =
            Self::place(&mut self.places, self.packet, &mut compact.intern_table, names, next.comm);
        compact.switch_timestamp.push(at_ns.wrapping_sub(self.last_switch_ns));
        self.last_switch_ns = at_ns;
        compact.switch_prev_state.push(state.0.into());
        compact.switch_next_pid.push(next.pid as i32);
        compact.switch_next_prio.push(next.prio);
        compact.switch_next_comm_index.push(place);
    }

    /// Takes a `sched_waking`.
    pub fn waking(&mut self, event: &Event, task: &Task, target: u32, names: &mut Names) {
        self.records += 1;
        let compact = self.message.compact_sched.get_or_insert_default();
        let place =
            Self::place(&mut self.places, self.packet, &mut compact.intern_table, names, task.comm);
        compact.waking_timestamp.push(event.at_ns.wrapping_sub(self.last_waking_ns));
        self.last_waking_ns = event.at_ns;
        compact.waking_pid.push(task.pid as i32);
        compact.waking_target_cpu.push(target as i32);
        compact.waking_prio.push(task.prio);
        compact.waking_comm_index.push(place);
        compact.waking_common_flags.push(event.context.flags.into());
    }

    /// Takes any other tracepoint.
    pub fn other(&mut self, event: &Event, kind: FtraceKind) {
        self.records += 1;
        self.message.event.push(FtraceEvent {
            timestamp: Some(event.at_ns),
            pid: Some(event.current.1),
            common_flags: Some(event.context.flags.into()),
            event: Some(kind),
        });
    }
}
