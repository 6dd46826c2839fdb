//! The messages and fields of Perfetto's schema (`protos/perfetto/trace`) that timelines use.
//!
//! Field numbers are the schema's; tests decode with the published schema. The crate with the whole schema takes six minutes
//! of CPU time to compile with optimisation, too long for the twenty messages needed here.
//!
//! Names are `bytes` where the schema has `string`. The two are the same on the wire, and shared bytes need no copy.

use prost::bytes::Bytes;

/// `TracePacket`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "10")]
    pub trusted_packet_sequence_id: Option<u32>,
    #[prost(uint32, optional, tag = "13")]
    pub sequence_flags: Option<u32>,
    #[prost(message, optional, tag = "12")]
    pub interned_data: Option<InternedData>,
    #[prost(message, optional, tag = "11")]
    pub track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    pub track_descriptor: Option<TrackDescriptor>,
    #[prost(message, optional, tag = "1")]
    pub ftrace_events: Option<FtraceEventBundle>,
    #[prost(message, optional, tag = "45")]
    pub system_info: Option<SystemInfo>,
}

/// Numbers of `TracePacket`'s fields that the reader finds without decoding the packet.
pub(crate) mod packet {
    pub(crate) const FTRACE_EVENTS: u32 = 1;
    pub(crate) const PROCESS_TREE: u32 = 2;
    /// More packets, compressed by deflate.
    pub(crate) const COMPRESSED_PACKETS: u32 = 50;
    /// More packets, compressed by zstd.
    pub(crate) const ZSTD_COMPRESSED_PACKETS: u32 = 133;
}

/// `TracePacket.SequenceFlags.SEQ_INCREMENTAL_STATE_CLEARED`.
pub(crate) const INCREMENTAL_STATE_CLEARED: u32 = 1;
/// `TracePacket.SequenceFlags.SEQ_NEEDS_INCREMENTAL_STATE`.
pub(crate) const NEEDS_INCREMENTAL_STATE: u32 = 2;

/// `SystemInfo`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SystemInfo {
    #[prost(message, optional, tag = "1")]
    pub utsname: Option<Utsname>,
}

/// `Utsname`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Utsname {
    #[prost(string, optional, tag = "1")]
    pub sysname: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub version: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub release: Option<String>,
    #[prost(string, optional, tag = "4")]
    pub machine: Option<String>,
}

/// `InternedData`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct InternedData {
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<EventName>,
}

/// `EventName`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct EventName {
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub name: Option<Bytes>,
}

/// `TrackDescriptor`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TrackDescriptor {
    #[prost(uint64, optional, tag = "1")]
    pub uuid: Option<u64>,
    #[prost(string, optional, tag = "2")]
    pub name: Option<String>,
    #[prost(uint64, optional, tag = "5")]
    pub parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub counter: Option<CounterDescriptor>,
    #[prost(int32, optional, tag = "11")]
    pub child_ordering: Option<i32>,
    #[prost(int32, optional, tag = "12")]
    pub sibling_order_rank: Option<i32>,
}

/// `TrackDescriptor.ChildTracksOrdering.EXPLICIT`.
pub(crate) const ORDERED_BY_RANK: i32 = 3;

/// `CounterDescriptor`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CounterDescriptor {
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// `TrackEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TrackEvent {
    #[prost(int32, optional, tag = "9")]
    pub r#type: Option<i32>,
    #[prost(uint64, optional, tag = "10")]
    pub name_iid: Option<u64>,
    #[prost(uint64, optional, tag = "11")]
    pub track_uuid: Option<u64>,
    #[prost(int64, optional, tag = "30")]
    pub counter_value: Option<i64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub flow_ids: Vec<u64>,
    #[prost(fixed64, repeated, packed = "false", tag = "48")]
    pub terminating_flow_ids: Vec<u64>,
}

/// `TrackEvent.Type.TYPE_INSTANT`.
pub(crate) const INSTANT: i32 = 3;
/// `TrackEvent.Type.TYPE_COUNTER`.
pub(crate) const COUNTER: i32 = 4;

/// `FtraceEventBundle`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FtraceEventBundle {
    #[prost(uint32, optional, tag = "1")]
    pub cpu: Option<u32>,
    #[prost(message, repeated, tag = "2")]
    pub event: Vec<FtraceEvent>,
    #[prost(message, optional, tag = "4")]
    pub compact_sched: Option<CompactSched>,
}

/// Numbers of `FtraceEventBundle`'s fields that the reader finds without decoding the bundle.
pub(crate) mod bundle {
    pub(crate) const CPU: u32 = 1;
    pub(crate) const EVENT: u32 = 2;
    /// Whether the kernel lost records before those of the bundle.
    pub(crate) const LOST_EVENTS: u32 = 3;
    pub(crate) const COMPACT_SCHED: u32 = 4;
    /// `FtraceClock`; missing for `CLOCK_BOOTTIME`.
    pub(crate) const FTRACE_CLOCK: u32 = 5;
    /// One moment by the two clocks.
    pub(crate) const FTRACE_TIMESTAMP: u32 = 6;
    pub(crate) const BOOT_TIMESTAMP: u32 = 7;
    /// What the recorder could not read of the kernel's buffer.
    pub(crate) const ERROR: u32 = 8;
    /// Events of which only the traced kernel knows the fields.
    pub(crate) const GENERIC_EVENT_DESCRIPTORS: u32 = 11;
}

/// `FtraceEventBundle.GenericEventDescriptor`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct GenericEvent {
    #[prost(int32, optional, tag = "1")]
    pub field_id: Option<i32>,
    #[prost(message, optional, tag = "2")]
    pub event_descriptor: Option<Descriptor>,
}

/// `DescriptorProto` of `google/protobuf/descriptor.proto`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Descriptor {
    #[prost(string, optional, tag = "1")]
    pub name: Option<String>,
}

/// `FtraceEventBundle.CompactSched`: `sched_switch` and `sched_waking` in columns. Times are differences, the first to 0. The
/// previous task of a switch is the next task of the switch before.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CompactSched {
    #[prost(uint64, repeated, tag = "1")]
    pub switch_timestamp: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub switch_prev_state: Vec<i64>,
    #[prost(int32, repeated, tag = "3")]
    pub switch_next_pid: Vec<i32>,
    #[prost(int32, repeated, tag = "4")]
    pub switch_next_prio: Vec<i32>,
    #[prost(bytes = "bytes", repeated, tag = "5")]
    pub intern_table: Vec<Bytes>,
    #[prost(uint32, repeated, tag = "6")]
    pub switch_next_comm_index: Vec<u32>,
    #[prost(uint64, repeated, tag = "7")]
    pub waking_timestamp: Vec<u64>,
    #[prost(int32, repeated, tag = "8")]
    pub waking_pid: Vec<i32>,
    #[prost(int32, repeated, tag = "9")]
    pub waking_target_cpu: Vec<i32>,
    #[prost(int32, repeated, tag = "10")]
    pub waking_prio: Vec<i32>,
    #[prost(uint32, repeated, tag = "11")]
    pub waking_comm_index: Vec<u32>,
    #[prost(uint32, repeated, tag = "12")]
    pub waking_common_flags: Vec<u32>,
}

/// Numbers of `CompactSched`'s fields that the reader goes through record by record.
pub(crate) mod compact {
    /// The columns of a switch: time, state, and PID, priority and name of the next task.
    pub(crate) const SWITCH: [u32; 5] = [1, 2, 3, 4, 6];
    pub(crate) const INTERN_TABLE: u32 = 5;
    /// The columns of a wake-up: time, PID, target, priority, name, flags.
    pub(crate) const WAKING: [u32; 6] = [7, 8, 9, 10, 11, 12];
}

/// `FtraceEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FtraceEvent {
    #[prost(uint64, optional, tag = "1")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "2")]
    pub pid: Option<u32>,
    #[prost(uint32, optional, tag = "5")]
    pub common_flags: Option<u32>,
    #[prost(oneof = "FtraceKind", tags = "4, 11, 13, 17, 20, 114, 491")]
    pub event: Option<FtraceKind>,
}

/// The variants of `FtraceEvent.event` that timelines use.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum FtraceKind {
    #[prost(message, tag = "4")]
    SchedSwitch(Switch),
    #[prost(message, tag = "11")]
    CpuFrequency(Power),
    #[prost(message, tag = "13")]
    CpuIdle(Power),
    #[prost(message, tag = "17")]
    SchedWakeup(Wakeup),
    #[prost(message, tag = "20")]
    SchedWaking(Wakeup),
    #[prost(message, tag = "114")]
    SchedWakeupNew(Wakeup),
    #[prost(message, tag = "491")]
    SchedMigrateTask(Migrate),
}

/// `CpuFrequencyFtraceEvent`, `CpuIdleFtraceEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Power {
    #[prost(uint32, optional, tag = "1")]
    pub state: Option<u32>,
    #[prost(uint32, optional, tag = "2")]
    pub cpu_id: Option<u32>,
}

/// Numbers of `FtraceEvent`'s own fields; all others are events.
pub(crate) mod event {
    pub(crate) const TIMESTAMP: u32 = 1;
}

/// `SchedSwitchFtraceEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Switch {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub prev_comm: Option<Bytes>,
    #[prost(int32, optional, tag = "2")]
    pub prev_pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub prev_prio: Option<i32>,
    #[prost(int64, optional, tag = "4")]
    pub prev_state: Option<i64>,
    #[prost(bytes = "bytes", optional, tag = "5")]
    pub next_comm: Option<Bytes>,
    #[prost(int32, optional, tag = "6")]
    pub next_pid: Option<i32>,
    #[prost(int32, optional, tag = "7")]
    pub next_prio: Option<i32>,
}

/// `SchedWakeupFtraceEvent`, `SchedWakingFtraceEvent`, `SchedWakeupNewFtraceEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Wakeup {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub comm: Option<Bytes>,
    #[prost(int32, optional, tag = "2")]
    pub pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub prio: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub target_cpu: Option<i32>,
}

/// `SchedMigrateTaskFtraceEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Migrate {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub comm: Option<Bytes>,
    #[prost(int32, optional, tag = "2")]
    pub pid: Option<i32>,
    #[prost(int32, optional, tag = "3")]
    pub prio: Option<i32>,
    #[prost(int32, optional, tag = "4")]
    pub orig_cpu: Option<i32>,
    #[prost(int32, optional, tag = "5")]
    pub dest_cpu: Option<i32>,
}

/// `ProcessTree`, of which only names of threads matter.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ProcessTree {
    #[prost(message, repeated, tag = "2")]
    pub threads: Vec<Thread>,
}

/// `ProcessTree.Thread`.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Thread {
    #[prost(int32, optional, tag = "1")]
    pub tid: Option<i32>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub name: Option<Bytes>,
}
