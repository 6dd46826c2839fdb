//! Perfetto's protobuf: what `traced_probes` 56 wrote in a guest of Debian's 6.12, decoded with the published schema beside it,
//! and forms that other programs write.
//!
//! Each recording was cut to its first bundles. `plain` has every event as a message, `packed` two compressed packets, `lossy`
//! gaps, all but `plain` the columns of `CompactSched`, and `raw-clock` another clock.

use crate::{plain, read};
use flate2::Compression;
use perfetto_protos::ftrace_event::FtraceEvent;
use perfetto_protos::ftrace_event::ftrace_event::Event as Data;
use perfetto_protos::ftrace_event_bundle::FtraceEventBundle;
use perfetto_protos::ftrace_event_bundle::ftrace_event_bundle::CompactSched;
use perfetto_protos::sched::SchedWakeupNewFtraceEvent;
use perfetto_protos::trace::Trace;
use perfetto_protos::trace_packet::TracePacket;
use protobuf::Message;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use trace::{About, Comm, Event, FileKind, Kind, Perfetto, Recording, Sink, TaskState};

/// What `traced_probes` wrote.
pub fn recordings() -> Vec<Vec<u8>> {
    vec![
        plain(include_bytes!("perfetto-plain.pftrace.gz")),
        include_bytes!("perfetto-packed.pftrace").to_vec(),
        plain(include_bytes!("perfetto-lossy.pftrace.gz")),
        plain(include_bytes!("perfetto-raw-clock.pftrace.gz")),
    ]
}

/// All packets, decompressed.
fn packets(bytes: &[u8]) -> Vec<TracePacket> {
    let trace = Trace::parse_from_bytes(bytes).expect("a trace of the schema");
    let mut all = Vec::new();
    for packet in trace.packet {
        if packet.has_compressed_packets() {
            let mut plain = Vec::new();
            flate2::read::ZlibDecoder::new(packet.compressed_packets())
                .read_to_end(&mut plain)
                .expect("deflate");
            all.extend(packets(&plain));
        } else {
            all.push(packet);
        }
    }
    all
}

/// A record as the schema tells it: CPU, time in ns, event, and what else is in it.
type Told = (u32, u64, &'static str, Vec<i64>, String);

fn told(event: &FtraceEvent, cpu: u32, shift: i64) -> Option<Told> {
    let at = event.timestamp().saturating_add_signed(shift);
    Some(match event.event.as_ref()? {
        Data::SchedSwitch(e) => {
            let numbers = [e.prev_state(), e.next_pid().into(), e.next_prio().into()];
            (cpu, at, "sched_switch", numbers.into(), e.next_comm().to_string())
        }
        Data::SchedWaking(e) => {
            let numbers = [e.pid(), e.prio(), e.target_cpu()].map(i64::from);
            (cpu, at, "sched_waking", numbers.into(), e.comm().to_string())
        }
        Data::SchedWakeup(e) => {
            let numbers = [e.pid(), e.prio(), e.target_cpu()].map(i64::from);
            (cpu, at, "sched_wakeup", numbers.into(), e.comm().to_string())
        }
        Data::SchedWakeupNew(e) => {
            let numbers = [e.pid(), e.prio(), e.target_cpu()].map(i64::from);
            (cpu, at, "sched_wakeup_new", numbers.into(), e.comm().to_string())
        }
        Data::SchedMigrateTask(e) => {
            let numbers = [e.pid(), e.prio(), e.orig_cpu(), e.dest_cpu()].map(i64::from);
            (cpu, at, "sched_migrate_task", numbers.into(), e.comm().to_string())
        }
        Data::CpuIdle(e) => {
            (cpu, at, "cpu_idle", vec![e.cpu_id().into(), e.state().into()], String::new())
        }
        _ => return None,
    })
}

fn told_of_columns(bundle: &FtraceEventBundle, shift: i64) -> Vec<Told> {
    let compact = &bundle.compact_sched;
    let name = |at: u32| compact.intern_table[at as usize].clone();
    let mut all = Vec::new();
    let mut at: u64 = 0;
    for (i, since) in compact.switch_timestamp.iter().enumerate() {
        at += since;
        let numbers = [
            compact.switch_prev_state[i],
            compact.switch_next_pid[i].into(),
            compact.switch_next_prio[i].into(),
        ];
        let comm = name(compact.switch_next_comm_index[i]);
        all.push((
            bundle.cpu(),
            at.saturating_add_signed(shift),
            "sched_switch",
            numbers.into(),
            comm,
        ));
    }
    at = 0;
    for (i, since) in compact.waking_timestamp.iter().enumerate() {
        at += since;
        let numbers = [compact.waking_pid[i], compact.waking_prio[i], compact.waking_target_cpu[i]]
            .map(i64::from);
        let comm = name(compact.waking_comm_index[i]);
        all.push((
            bundle.cpu(),
            at.saturating_add_signed(shift),
            "sched_waking",
            numbers.into(),
            comm,
        ));
    }
    all
}

/// The records of a file by the schema, sorted.
fn by_schema(bytes: &[u8]) -> Vec<Told> {
    let (mut all, mut shift) = (Vec::new(), None);
    for packet in packets(bytes).iter().filter(|p| p.has_ftrace_events()) {
        let bundle = packet.ftrace_events();
        let pair = bundle.boot_timestamp() - bundle.ftrace_timestamp();
        let shift = *shift.get_or_insert(pair);
        all.extend(bundle.event.iter().filter_map(|event| told(event, bundle.cpu(), shift)));
        all.extend(told_of_columns(bundle, shift));
    }
    all.sort();
    all
}

/// The same by the reader.
fn as_told(event: &Event) -> Told {
    let name = |comm: Comm| String::from_utf8_lossy(comm.as_bytes()).into_owned();
    let woken = |event, task: trace::Task, target: u32| {
        (event, vec![task.pid.into(), task.prio.into(), target.into()], name(task.comm))
    };
    let (kind, numbers, comm) = match event.kind {
        Kind::Switch { prev_state, next, .. } => (
            "sched_switch",
            vec![prev_state.0.into(), next.pid.into(), next.prio.into()],
            name(next.comm),
        ),
        Kind::Waking { task, target } => woken("sched_waking", task, target),
        Kind::Wakeup { task, target } => woken("sched_wakeup", task, target),
        Kind::WakeupNew { task, target } => woken("sched_wakeup_new", task, target),
        Kind::Migrate { task, from, to } => {
            let numbers = vec![task.pid.into(), task.prio.into(), from.into(), to.into()];
            ("sched_migrate_task", numbers, name(task.comm))
        }
        Kind::Idle { cpu, state } => {
            ("cpu_idle", vec![cpu.into(), state.unwrap_or(u32::MAX).into()], String::new())
        }
        other => panic!("{other:?}"),
    };
    (event.cpu, event.at_ns, kind, numbers, comm)
}

#[test]
fn recordings_have_the_records_that_the_schema_tells() {
    for (bytes, gaps) in recordings().iter().zip([0, 0, 8, 0]) {
        let (events, counts) = read(bytes).expect("a recording");
        assert!(events.is_sorted_by_key(|e| e.at_ns), "merged by time");
        let mut ours: Vec<Told> = events.iter().map(as_told).collect();
        ours.sort();
        assert_eq!(ours, by_schema(bytes));
        assert_eq!((counts.damaged, counts.jumps, counts.cut, counts.gaps), (0, 0, false, gaps));
        assert!(counts.skipped.contains_key("sched_stat_runtime"), "{:?}", counts.skipped);
        assert_eq!(counts.skipped.values().sum::<u64>(), counts.others);
    }
}

#[test]
fn who_leaves_is_who_came() {
    // In messages, the kernel itself tells both.
    let bytes = &recordings()[0];
    let mut running = BTreeMap::new();
    for event in read(bytes).expect("a recording").0 {
        if let Kind::Switch { prev, next, .. } = event.kind {
            assert_eq!(event.current.1, prev.pid);
            assert_eq!(running.insert(event.cpu, next.pid).unwrap_or(prev.pid), prev.pid);
        } else if let Some(&pid) = running.get(&event.cpu) {
            assert_eq!(event.current.1, pid, "{event:?}");
        }
    }
}

fn written(events: &[Event]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Perfetto::new(&mut out, &About::default()).expect("memory");
    events.iter().for_each(|e| writer.event(e).expect("memory"));
    writer.finish().expect("memory");
    drop(writer);
    out
}

#[test]
fn what_the_writer_writes_comes_back() {
    let (events, counts) = read(crate::DATS[0].0).expect("a trace.dat");
    let bytes = written(&events);
    let (back, again) = read(&bytes).expect("our own file");
    assert_eq!(
        Recording::new(std::io::Cursor::new(&bytes)).expect("memory").kind(),
        FileKind::Perfetto
    );
    assert_eq!((again.by_kind, again.by_cpu), (counts.by_kind, counts.by_cpu));
    assert_eq!((again.others, again.damaged, again.jumps, again.cut), (0, 0, 0, false));
    // Columns have neither the depth of disabled preemption nor a switch's flags nor who leaves first.
    let mut first = BTreeMap::new();
    for (ours, theirs) in back.iter().zip(&events) {
        assert_eq!((ours.at_ns, ours.cpu), (theirs.at_ns, theirs.cpu));
        match (ours.kind, theirs.kind) {
            (
                Kind::Switch { next, prev_state, prev },
                Kind::Switch { next: n, prev_state: s, prev: p },
            ) => {
                assert_eq!((next, prev_state), (n, s));
                if first.insert(ours.cpu, ()).is_some() {
                    // Name and priority may change while a task runs.
                    assert_eq!(prev.pid, p.pid);
                }
            }
            (ours, theirs) => assert_eq!(ours, theirs),
        }
        if first.contains_key(&ours.cpu) {
            assert_eq!(ours.current.1, theirs.current.1);
        }
    }
    assert_eq!(back.len(), events.len());
}

/// A bundle of columns: each switch is a time, a state and a task; each wake-up a time, a task and a CPU.
fn bundle(cpu: u32, switches: &[(u64, i64, i32)], wakings: &[(u64, i32, i32)]) -> TracePacket {
    let mut compact = CompactSched::new();
    let name = |compact: &mut CompactSched, pid: i32| {
        compact.intern_table.push(if pid == 0 {
            format!("swapper/{cpu}")
        } else {
            format!("task{pid}")
        });
        compact.intern_table.len() as u32 - 1
    };
    let mut before = 0;
    for &(at, state, pid) in switches {
        let name = name(&mut compact, pid);
        compact.switch_timestamp.push(at - std::mem::replace(&mut before, at));
        compact.switch_prev_state.push(state);
        compact.switch_next_pid.push(pid);
        compact.switch_next_prio.push(120);
        compact.switch_next_comm_index.push(name);
    }
    before = 0;
    for &(at, pid, target) in wakings {
        let name = name(&mut compact, pid);
        compact.waking_timestamp.push(at - std::mem::replace(&mut before, at));
        compact.waking_pid.push(pid);
        compact.waking_target_cpu.push(target);
        compact.waking_prio.push(120);
        compact.waking_comm_index.push(name);
    }
    let mut bundle = FtraceEventBundle::new();
    bundle.set_cpu(cpu);
    bundle.compact_sched = Some(compact).into();
    let mut packet = TracePacket::new();
    packet.set_ftrace_events(bundle);
    packet
}

fn bytes(packets: Vec<TracePacket>) -> Vec<u8> {
    Trace { packet: packets, ..Trace::new() }.write_to_bytes().expect("memory")
}

/// Packets in one that is compressed.
fn packed(packets: Vec<TracePacket>) -> TracePacket {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&bytes(packets)).expect("memory");
    let mut packet = TracePacket::new();
    packet.set_compressed_packets(packer.finish().expect("memory"));
    packet
}

/// systing writes all of one CPU, then all of the next, then single events; wake-ups are on CPU 0, whoever wakes, without flags,
/// and a new task's event names that task as the running one.
pub fn systing() -> Vec<TracePacket> {
    let mut new = SchedWakeupNewFtraceEvent::new();
    (new.comm, new.pid, new.prio, new.target_cpu) =
        (Some("task9".to_string()), Some(9), Some(120), Some(1));
    let mut event = FtraceEvent::new();
    event.set_timestamp(30);
    event.set_pid(9);
    event.set_sched_wakeup_new(new);
    let mut last = FtraceEventBundle::new();
    last.set_cpu(1);
    last.event.push(event);
    let mut packet = TracePacket::new();
    packet.set_ftrace_events(last);
    let mut other = TracePacket::new();
    other.mut_track_event().set_name("a slice".to_string());
    vec![
        bundle(1, &[(20, 0, 7), (50, 1, 0), (70, 0, 9)], &[]),
        bundle(0, &[(10, 0, 8), (60, 2, 0)], &[(40, 7, 1), (45, 8, 0)]),
        other,
        packet,
    ]
}

#[test]
fn bundles_of_whole_cpus_are_merged() {
    for bytes in [bytes(systing()), bytes(vec![packed(systing())])] {
        let (events, counts) = read(&bytes).expect("a trace");
        let times: Vec<(u64, u32)> = events.iter().map(|e| (e.at_ns, e.cpu)).collect();
        assert_eq!(times, [(10, 0), (20, 1), (30, 1), (40, 0), (45, 0), (50, 1), (60, 0), (70, 1)]);
        assert_eq!((counts.damaged, counts.jumps, counts.cut), (0, 0, false));
        assert_eq!(events[2].current, (Comm::new("task7"), 7), "not the new task");
        assert_eq!(events[3].current, (Comm::new("task8"), 8));
        let Kind::Switch { prev, prev_state, .. } = events[0].kind else {
            panic!("{:?}", events[0])
        };
        assert_eq!((prev.comm, prev.pid, prev_state), (Comm::new("<...>"), 0, TaskState::RUNNING));
        let Kind::Switch { prev, prev_state, .. } = events[6].kind else {
            panic!("{:?}", events[6])
        };
        assert_eq!(
            (prev.comm, prev.pid, prev_state),
            (Comm::new("task8"), 8, TaskState::UNINTERRUPTIBLE)
        );
    }
}

#[test]
fn large_bundles_are_read_in_pieces() {
    let switches = |cpu: u64| -> Vec<(u64, i64, i32)> {
        (0..30_000).map(|n| (1_000 + 2 * n + cpu, 1, (n % 50) as i32)).collect()
    };
    let all = vec![bundle(0, &switches(0), &[]), bundle(1, &switches(1), &[])];
    let (events, counts) = read(&bytes(all)).expect("a trace");
    assert_eq!((events.len(), counts.damaged, counts.jumps), (60_000, 0, 0));
    assert!(
        events
            .iter()
            .enumerate()
            .all(|(n, e)| (e.at_ns, e.cpu) == (1_000 + n as u64, n as u32 % 2))
    );
}

#[test]
fn after_a_gap_nobody_is_known_to_run() {
    let mut behind = bundle(0, &[(30, 1, 6)], &[]);
    behind.mut_ftrace_events().set_lost_events(true);
    let (events, counts) =
        read(&bytes(vec![bundle(0, &[(10, 0, 5)], &[]), behind])).expect("a trace");
    let Kind::Switch { prev, .. } = events[1].kind else { panic!("{:?}", events[1]) };
    assert_eq!((counts.gaps, prev.pid), (1, 0));
}

#[test]
fn what_does_not_fit_together_is_counted() {
    let one = || bundle(0, &[(10, 0, 5), (20, 0, 6)], &[(15, 7, 0)]);
    let mut name = one();
    name.mut_ftrace_events().compact_sched.mut_or_insert_default().switch_next_comm_index[0] = 99;
    let mut column = one();
    column.mut_ftrace_events().compact_sched.mut_or_insert_default().switch_next_pid.pop();
    let mut pid = one();
    pid.mut_ftrace_events().compact_sched.mut_or_insert_default().waking_pid[0] = -1;
    let mut cpu = one();
    cpu.mut_ftrace_events().set_cpu(1 << 20);
    let mut block = packed(vec![one()]);
    block.mut_compressed_packets()[20] ^= 0xff;
    for (bad, left) in [(name, 2), (column, 2), (pid, 2), (cpu, 0), (block, 0)] {
        let (events, counts) = read(&bytes(vec![one(), bad])).expect("a trace");
        assert_eq!((events.len(), counts.damaged), (3 + left, 1));
    }
}

#[test]
fn clocks_without_a_name_and_gzip_say_so() {
    let message = |bytes: &[u8]| read(bytes).expect_err("no recording").to_string();
    let mut unknown = bundle(0, &[(10, 0, 5)], &[]);
    let clock = perfetto_protos::ftrace_event_bundle::FtraceClock::FTRACE_CLOCK_UNKNOWN;
    unknown.mut_ftrace_events().set_ftrace_clock(clock);
    assert_eq!(
        message(&bytes(vec![unknown])),
        "clock of the records: found one that has no name, expected CLOCK_BOOTTIME, global, local or mono_raw"
    );
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(&recordings()[0]).expect("memory");
    assert_eq!(
        message(&packer.finish().expect("memory")),
        "gzip: found no text, expected ftrace's text; other files unpacked"
    );
    assert!(message(&bytes(vec![TracePacket::new(), TracePacket::new()])).contains("record"));
}

#[test]
fn the_packets_before_a_cut_are_read() {
    let data = &recordings()[0];
    let (all, _) = read(data).expect("a recording");
    let mut kept = Vec::new();
    let cut = std::io::Cursor::new(&data[..data.len() - 10]);
    let counts = Recording::new(cut).expect("memory").read(&mut kept).expect("a recording");
    assert!(counts.cut && counts.damaged == 0 && kept.len() > all.len() / 2, "{counts:?}");
}
