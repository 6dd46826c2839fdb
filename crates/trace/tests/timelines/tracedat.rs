//! trace.dat: read back by its own description of its records, as trace-cmd does.

use crate::runs;
use std::collections::BTreeMap;
use std::io::Cursor;
use trace::{Comm, Context, Event, Kind, Sink, Task, TaskState, TraceDat};

const PAGE: usize = 4096;

fn tracedat(events: &[Event]) -> Vec<u8> {
    let mut out = Vec::new();
    let spool = Cursor::new(Vec::new());
    let mut writer = TraceDat::new(&mut out, spool, &runs::about(), true);
    events.iter().for_each(|e| writer.event(e).expect("memory"));
    writer.finish().expect("memory");
    drop(writer);
    out
}

/// A position in a file.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> &'a [u8] {
        self.at += n;
        &self.bytes[self.at - n..self.at]
    }

    fn number(&mut self, n: usize) -> u64 {
        little(self.take(n))
    }

    fn text(&mut self) -> &'a str {
        let n = self.bytes[self.at..].iter().position(|&b| b == 0).expect("an end");
        let text = str::from_utf8(self.take(n)).expect("UTF-8");
        self.at += 1;
        text
    }

    fn sized(&mut self) -> &'a str {
        let n = self.number(8) as usize;
        str::from_utf8(self.take(n)).expect("UTF-8")
    }
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

/// By name: offset and size.
type Fields = BTreeMap<String, (usize, usize)>;

/// An event's name, its number and its fields.
fn format(text: &str) -> (u64, String, Fields) {
    let line = |key: &str| text.lines().find_map(|l| l.strip_prefix(key)).expect(key).to_string();
    let mut fields = Fields::new();
    for field in text.lines().filter_map(|l| l.strip_prefix("\tfield:")) {
        let parts: Vec<&str> = field.split(";\t").map(|p| p.trim_end_matches(';')).collect();
        let name = parts[0].rsplit(' ').next().expect("a name").split('[').next();
        let number = |part: usize| parts[part].split(':').nth(1).expect("a value").parse();
        let place = (number(1).expect("an offset"), number(2).expect("a size"));
        fields.insert(name.expect("a name").to_string(), place);
    }
    (line("ID: ").parse().expect("a number"), line("name: "), fields)
}

struct Decoded {
    formats: BTreeMap<u64, (String, Fields)>,
    cmdlines: String,
    /// By CPU.
    events: Vec<Vec<Event>>,
}

fn decode(bytes: &[u8]) -> Decoded {
    let mut r = Reader { bytes, at: 0 };
    assert_eq!(r.take(10), b"\x17\x08\x44tracing");
    assert_eq!((r.text(), r.take(2), r.number(4)), ("6", &[0, 8][..], PAGE as u64));
    assert_eq!(r.text(), "header_page");
    assert!(r.sized().contains("commit;\toffset:8;\tsize:8;"));
    assert_eq!(r.text(), "header_event");
    assert!(r.sized().contains("time_extend : type == 30"));
    assert_eq!(r.number(4), 0, "formats of ftrace's own");
    let mut formats = BTreeMap::new();
    for _ in 0..r.number(4) {
        assert!(["sched", "power"].contains(&r.text()));
        for _ in 0..r.number(4) {
            let (id, name, fields) = format(r.sized());
            formats.insert(id, (name, fields));
        }
    }
    assert_eq!((r.number(4), r.number(4)), (0, 0), "kallsyms, printk");
    let cmdlines = r.sized().to_string();
    let cpus = r.number(4);
    assert_eq!(r.text(), "options  ");
    loop {
        if r.number(2) == 0 {
            break;
        }
        let n = r.number(4) as usize;
        r.take(n);
    }
    assert_eq!(r.text(), "flyrecord");
    let places: Vec<_> = (0..cpus).map(|_| (r.number(8) as usize, r.number(8) as usize)).collect();
    let end = places.last().map(|&(at, n)| at + n).expect("CPUs");
    assert_eq!((places[0].0 % PAGE, end), (0, bytes.len()));
    let mut events = Vec::new();
    for (cpu, (at, n)) in places.into_iter().enumerate() {
        let pages = bytes[at..at + n].chunks(PAGE);
        events.push(pages.flat_map(|p| records(p, cpu as u32, &formats)).collect());
    }
    Decoded { formats, cmdlines, events }
}

fn records(page: &[u8], cpu: u32, formats: &BTreeMap<u64, (String, Fields)>) -> Vec<Event> {
    let mut at_ns = little(&page[..8]);
    let data = &page[16..16 + little(&page[8..16]) as usize];
    let mut r = Reader { bytes: data, at: 0 };
    let mut events = Vec::new();
    while r.at < data.len() {
        let head = r.number(4);
        at_ns += head >> 5;
        match head & 31 {
            30 => at_ns += r.number(4) << 27,
            words => events.push(event(r.take(4 * words as usize), at_ns, cpu, formats)),
        }
    }
    events
}

fn event(record: &[u8], at_ns: u64, cpu: u32, formats: &BTreeMap<u64, (String, Fields)>) -> Event {
    let (name, fields) = &formats[&little(&record[..2])];
    let bytes = |field: &str| {
        let (at, n) = fields[field];
        &record[at..at + n]
    };
    let number = |field: &str| little(bytes(field));
    let comm = |field: &str| {
        let text = str::from_utf8(bytes(field)).expect("UTF-8");
        Comm::new(text.trim_end_matches('\0'))
    };
    let of = |before: &str| Task {
        comm: comm(&format!("{before}comm")),
        pid: number(&format!("{before}pid")) as u32,
        prio: number(&format!("{before}prio")) as i32,
    };
    let cpu_in = |field: &str| number(field) as u32;
    let kind = match name.as_str() {
        "sched_switch" => Kind::Switch {
            prev: of("prev_"),
            prev_state: TaskState(number("prev_state") as u16),
            next: of("next_"),
        },
        "sched_waking" => Kind::Waking { task: of(""), target: cpu_in("target_cpu") },
        "sched_wakeup" => Kind::Wakeup { task: of(""), target: cpu_in("target_cpu") },
        "sched_wakeup_new" => Kind::WakeupNew { task: of(""), target: cpu_in("target_cpu") },
        "sched_migrate_task" => {
            Kind::Migrate { task: of(""), from: cpu_in("orig_cpu"), to: cpu_in("dest_cpu") }
        }
        "cpu_frequency" => Kind::Frequency { cpu: cpu_in("cpu_id"), khz: cpu_in("state") },
        "cpu_idle" => {
            let state = Some(cpu_in("state")).filter(|&s| s != u32::MAX);
            Kind::Idle { cpu: cpu_in("cpu_id"), state }
        }
        other => panic!("{other}"),
    };
    let context = Context {
        flags: number("common_flags") as u8,
        preempt_count: number("common_preempt_count") as u8,
    };
    // The name of the current task is not in the record.
    Event { at_ns, cpu, current: (Comm::default(), number("common_pid") as u32), context, kind }
}

/// What a trace.dat can hold of `events`, by CPU.
fn expected(events: &[Event], cpus: usize) -> Vec<Vec<Event>> {
    let mut by_cpu = vec![Vec::new(); cpus];
    for event in events.iter().filter(|e| e.kind.is_tracepoint()) {
        let current = (Comm::default(), event.current.1);
        // 0 is no time to KernelShark.
        let at_ns = event.at_ns.max(1);
        by_cpu[event.cpu as usize].push(Event { current, at_ns, ..*event });
    }
    by_cpu
}

#[test]
fn records_come_back_by_their_own_formats() {
    for scenario in [runs::hackbench(), runs::hotplug(), runs::governed()] {
        let events = runs::recorded(&scenario, 7).1;
        let decoded = decode(&tracedat(&events));
        let expected = expected(&events, decoded.events.len());
        assert!(decoded.events == expected, "{} CPUs", expected.len());
        assert_eq!(decoded.formats.len(), 7);
    }
}

#[test]
fn tasks_are_named() {
    let events = runs::recorded(&runs::hackbench(), 7).1;
    let decoded = decode(&tracedat(&events));
    for event in &events {
        if let Kind::Switch { next, .. } = &event.kind
            && next.pid != 0
        {
            let name = str::from_utf8(next.comm.as_bytes()).expect("UTF-8");
            let line = format!("{} {name}\n", next.pid);
            assert!(decoded.cmdlines.contains(&line), "{line}");
        }
    }
}

#[test]
fn times_far_apart_are_kept() {
    let idle = Task::idle(3);
    let times = [5, 5, (1 << 27) + 4, (1 << 27) + 5, 1 << 40, (1 << 62) + 1, u64::MAX];
    let events: Vec<Event> = (times.into_iter())
        .map(|at_ns| Event {
            at_ns,
            cpu: 3,
            current: (idle.comm, 0),
            context: Context::default(),
            kind: Kind::Idle { cpu: 3, state: Some(1) },
        })
        .collect();
    let decoded = decode(&tracedat(&events));
    assert!(decoded.events == expected(&events, decoded.events.len()));
    assert_eq!(decoded.cmdlines, "");
}
