//! A trace in Perfetto's form, decoded with the published schema.

use perfetto_protos::ftrace_event::ftrace_event::Event as Data;
use perfetto_protos::trace::Trace;
use protobuf::Message;
use std::collections::BTreeMap;

/// A decoded `sched_switch`.
#[derive(Debug, Clone, PartialEq)]
pub struct Switch {
    pub at_ns: u64,
    pub prev_state: i64,
    pub next_pid: i32,
    pub next_comm: String,
}

/// What a trace holds, by CPU where that matters.
#[derive(Debug, Default)]
pub struct Decoded {
    pub switches: BTreeMap<u32, Vec<Switch>>,
    /// Time, task, target.
    pub wakings: Vec<(u64, i32, i32)>,
    pub wakeups: usize,
    pub new: usize,
    pub migrations: usize,
    /// By CPU: time and whether it goes idle.
    pub idle: BTreeMap<u32, Vec<(u64, bool)>>,
    /// By CPU: time and kHz.
    pub frequencies: BTreeMap<u32, Vec<(u64, u32)>>,
    pub track_names: BTreeMap<u64, String>,
    /// By track.
    pub counters: BTreeMap<u64, Vec<(u64, i64)>>,
    pub event_names: BTreeMap<u64, String>,
    /// By arrow: when and on which track it begins, with the event's name.
    pub begins: BTreeMap<u64, (u64, u64, String)>,
    pub ends: BTreeMap<u64, (u64, u64, String)>,
    pub release: String,
}

pub fn decode(bytes: &[u8]) -> Decoded {
    let trace = Trace::parse_from_bytes(bytes).expect("a trace of the schema");
    let mut out = Decoded::default();
    for packet in &trace.packet {
        assert!(packet.unknown_fields().iter().next().is_none(), "{packet}");
        for name in &packet.interned_data.event_names {
            out.event_names.insert(name.iid(), name.name().to_string());
        }
        if packet.has_system_info() {
            out.release = packet.system_info().utsname.release().to_string();
        }
        if packet.has_track_descriptor() {
            let track = packet.track_descriptor();
            out.track_names.insert(track.uuid(), track.name().to_string());
        }
        if packet.has_track_event() {
            track_event(&mut out, packet);
        }
        if packet.has_ftrace_events() {
            bundle(&mut out, packet.ftrace_events());
        }
    }
    out.switches.values_mut().for_each(|all| assert!(all.is_sorted_by_key(|s| s.at_ns)));
    out
}

fn track_event(out: &mut Decoded, packet: &perfetto_protos::trace_packet::TracePacket) {
    let event = packet.track_event();
    assert!(event.unknown_fields().iter().next().is_none(), "{event}");
    let (at_ns, track) = (packet.timestamp(), event.track_uuid());
    if event.has_counter_value() {
        out.counters.entry(track).or_default().push((at_ns, event.counter_value()));
        return;
    }
    let place = (at_ns, track, out.event_names[&event.name_iid()].clone());
    let (ids, ends) = (&event.flow_ids, &event.terminating_flow_ids);
    assert_eq!(ids.len() + ends.len(), 1);
    ids.iter().for_each(|&id| assert!(out.begins.insert(id, place.clone()).is_none()));
    ends.iter().for_each(|&id| assert!(out.ends.insert(id, place.clone()).is_none()));
}

fn bundle(out: &mut Decoded, bundle: &perfetto_protos::ftrace_event_bundle::FtraceEventBundle) {
    let compact = &bundle.compact_sched;
    let name = |at: u32| compact.intern_table[at as usize].clone();
    let mut at_ns = 0;
    let switches = out.switches.entry(bundle.cpu()).or_default();
    for i in 0..compact.switch_timestamp.len() {
        at_ns += compact.switch_timestamp[i];
        switches.push(Switch {
            at_ns,
            prev_state: compact.switch_prev_state[i],
            next_pid: compact.switch_next_pid[i],
            next_comm: name(compact.switch_next_comm_index[i]),
        });
    }
    assert_eq!(compact.switch_next_prio.len(), compact.switch_timestamp.len());
    at_ns = 0;
    for i in 0..compact.waking_timestamp.len() {
        at_ns += compact.waking_timestamp[i];
        assert!(!name(compact.waking_comm_index[i]).is_empty());
        out.wakings.push((at_ns, compact.waking_pid[i], compact.waking_target_cpu[i]));
    }
    assert_eq!(compact.waking_common_flags.len(), compact.waking_timestamp.len());
    for event in &bundle.event {
        match event.event.as_ref().expect("a tracepoint") {
            Data::SchedWakeup(_) => out.wakeups += 1,
            Data::SchedWakeupNew(_) => out.new += 1,
            Data::SchedMigrateTask(m) => {
                assert_ne!(m.orig_cpu(), m.dest_cpu());
                out.migrations += 1;
            }
            Data::CpuIdle(idle) => {
                let sleeps = idle.state() != u32::MAX;
                out.idle.entry(idle.cpu_id()).or_default().push((event.timestamp(), sleeps));
            }
            Data::CpuFrequency(f) => {
                out.frequencies.entry(f.cpu_id()).or_default().push((event.timestamp(), f.state()));
            }
            other => panic!("{other:?}"),
        }
    }
}
