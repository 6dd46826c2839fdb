//! The messages and fields of Perfetto's schema (`protos/perfetto/trace`) that timelines use.
//!
//! Field numbers are the schema's; tests decode with the published schema. The crate with the whole schema takes six minutes
//! of CPU time to compile with optimisation, too long for the twenty messages needed here.
//!
//! Names are `bytes` where the schema has `string`. The two are the same on the wire, and shared bytes need no copy.

use prost::bytes::Bytes;

/// `TracePacket`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TracePacket {
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

/// `TracePacket.SequenceFlags.SEQ_INCREMENTAL_STATE_CLEARED`.
pub(super) const INCREMENTAL_STATE_CLEARED: u32 = 1;
/// `TracePacket.SequenceFlags.SEQ_NEEDS_INCREMENTAL_STATE`.
pub(super) const NEEDS_INCREMENTAL_STATE: u32 = 2;

/// `SystemInfo`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct SystemInfo {
    #[prost(message, optional, tag = "1")]
    pub utsname: Option<Utsname>,
}

/// `Utsname`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Utsname {
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
pub(super) struct InternedData {
    #[prost(message, repeated, tag = "2")]
    pub event_names: Vec<EventName>,
}

/// `EventName`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct EventName {
    #[prost(uint64, optional, tag = "1")]
    pub iid: Option<u64>,
    #[prost(bytes = "bytes", optional, tag = "2")]
    pub name: Option<Bytes>,
}

/// `TrackDescriptor`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TrackDescriptor {
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
pub(super) const ORDERED_BY_RANK: i32 = 3;

/// `CounterDescriptor`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CounterDescriptor {
    #[prost(string, optional, tag = "6")]
    pub unit_name: Option<String>,
}

/// `TrackEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct TrackEvent {
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
pub(super) const INSTANT: i32 = 3;
/// `TrackEvent.Type.TYPE_COUNTER`.
pub(super) const COUNTER: i32 = 4;

/// `FtraceEventBundle`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FtraceEventBundle {
    #[prost(uint32, optional, tag = "1")]
    pub cpu: Option<u32>,
    #[prost(message, repeated, tag = "2")]
    pub event: Vec<FtraceEvent>,
    #[prost(message, optional, tag = "4")]
    pub compact_sched: Option<CompactSched>,
}

/// `FtraceEventBundle.CompactSched`: `sched_switch` and `sched_waking` in columns. Times are differences, the first to 0. The
/// previous task of a switch is the next task of the switch before.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct CompactSched {
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

/// `FtraceEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct FtraceEvent {
    #[prost(uint64, optional, tag = "1")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "2")]
    pub pid: Option<u32>,
    #[prost(uint32, optional, tag = "5")]
    pub common_flags: Option<u32>,
    #[prost(oneof = "FtraceKind", tags = "11, 13, 17, 114, 491")]
    pub event: Option<FtraceKind>,
}

/// The variants of `FtraceEvent.event` that timelines use.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum FtraceKind {
    #[prost(message, tag = "11")]
    CpuFrequency(Power),
    #[prost(message, tag = "13")]
    CpuIdle(Power),
    #[prost(message, tag = "17")]
    SchedWakeup(Wakeup),
    #[prost(message, tag = "114")]
    SchedWakeupNew(Wakeup),
    #[prost(message, tag = "491")]
    SchedMigrateTask(Migrate),
}

/// `CpuFrequencyFtraceEvent`, `CpuIdleFtraceEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Power {
    #[prost(uint32, optional, tag = "1")]
    pub state: Option<u32>,
    #[prost(uint32, optional, tag = "2")]
    pub cpu_id: Option<u32>,
}

/// `SchedWakeupFtraceEvent`, `SchedWakeupNewFtraceEvent`.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Wakeup {
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
pub(super) struct Migrate {
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
