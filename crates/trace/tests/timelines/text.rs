//! ftrace's text: its lines, its way back, and what a real kernel printed.

use crate::runs;
use proptest::prelude::*;
use trace::{Comm, Context, Event, FtraceText, Kind, Sink, Task, TaskState, TraceError};

/// Lines of a guest's kernel 6.12, which `vm capture --trace` kept; one of each kind and state.
const RECORDED: &str = include_str!("recorded.txt");

fn read(text: &[u8]) -> Result<Vec<Event>, TraceError> {
    let mut kept = Vec::new();
    trace::read(text, &mut kept)?;
    Ok(kept)
}

fn body(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().filter(|l| !l.starts_with('#')).map(|l| format!("{l}\n")).collect()
}

#[test]
fn lines_are_those_of_the_kernel() {
    let messages = Task { comm: Comm::new("messages"), pid: 1234, prio: 120 };
    let idle = Task::idle(17);
    let at = |at_ns, current: &Task, interrupt, kind| Event {
        at_ns,
        cpu: 17,
        current: (current.comm, current.pid),
        context: Context::locked(interrupt),
        kind,
    };
    let events = [
        at(1_000_499, &idle, true, Kind::Waking { task: messages, target: 3 }),
        at(1_000_500, &idle, true, Kind::Migrate { task: messages, from: 3, to: 17 }),
        at(1_001_000, &idle, true, Kind::Wakeup { task: messages, target: 17 }),
        at(1_001_000, &idle, false, Kind::Idle { cpu: 17, state: None }),
        at(
            12_345_001_002_000,
            &idle,
            false,
            Kind::Switch { prev: idle, prev_state: TaskState::RUNNING, next: messages },
        ),
        at(12_345_001_003_000, &messages, false, Kind::WakeupNew { task: messages, target: 5 }),
        at(12_345_001_004_000, &messages, false, Kind::Frequency { cpu: 17, khz: 3_400_000 }),
        at(
            12_345_001_005_000,
            &messages,
            false,
            Kind::Switch { prev: messages, prev_state: TaskState::UNINTERRUPTIBLE, next: idle },
        ),
        at(12_345_001_006_000, &idle, false, Kind::Idle { cpu: 17, state: Some(2) }),
        at(12_345_001_007_000, &idle, false, Kind::Runnable { tasks: 1 }),
    ];
    let expected = "          <idle>-0       [017] d.h2.     0.001000: sched_waking: comm=messages pid=1234 prio=120 target_cpu=003
          <idle>-0       [017] d.h2.     0.001001: sched_migrate_task: comm=messages pid=1234 prio=120 orig_cpu=3 dest_cpu=17
          <idle>-0       [017] d.h2.     0.001001: sched_wakeup: comm=messages pid=1234 prio=120 target_cpu=017
          <idle>-0       [017] d..2.     0.001001: cpu_idle: state=4294967295 cpu_id=17
          <idle>-0       [017] d..2. 12345.001002: sched_switch: prev_comm=swapper/17 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=messages next_pid=1234 next_prio=120
        messages-1234    [017] d..2. 12345.001003: sched_wakeup_new: comm=messages pid=1234 prio=120 target_cpu=005
        messages-1234    [017] d..2. 12345.001004: cpu_frequency: state=3400000 cpu_id=17
        messages-1234    [017] d..2. 12345.001005: sched_switch: prev_comm=messages prev_pid=1234 prev_prio=120 prev_state=D ==> next_comm=swapper/17 next_pid=0 next_prio=120
          <idle>-0       [017] d..2. 12345.001006: cpu_idle: state=2 cpu_id=17
";
    let text = runs::ftrace(&events);
    assert!(text.starts_with(b"# tracer: nop\n#\n# a test\n#\n"));
    assert_eq!(body(&text), expected);

    let mut plain = Vec::new();
    let mut writer = FtraceText::new(&mut plain, &[], false);
    events.iter().for_each(|e| writer.event(e).expect("memory"));
    writer.finish().expect("memory");
    drop(writer);
    let header = "# tracer: nop
#
#
#           TASK-PID     CPU#     TIMESTAMP  FUNCTION
#              | |         |         |         |
";
    let expected = expected.replace(" d.h2.", " ").replace(" d..2.", " ");
    assert_eq!(String::from_utf8_lossy(&plain), format!("{header}{expected}"));
    assert_eq!(read(&plain).expect("our own text").len(), 9);
}

#[test]
fn a_kernels_lines_come_back_letter_for_letter() {
    let events = read(RECORDED.as_bytes()).expect("a kernel's text");
    assert_eq!(body(&runs::ftrace(&events)), body(RECORDED.as_bytes()));
}

#[test]
fn a_runs_text_comes_back_as_its_records_in_microseconds() {
    let (_, events) = runs::recorded(&runs::hackbench(), 1);
    let back = read(&runs::ftrace(&events)).expect("our own text");
    let kernels = events.iter().filter(|e| e.kind.is_tracepoint());
    let mut count = 0;
    for (event, back) in kernels.zip(&back) {
        let current = if event.current.1 == 0 { (Comm::new("<idle>"), 0) } else { event.current };
        assert_eq!(*back, Event { at_ns: (event.at_ns + 500) / 1000 * 1000, current, ..*event });
        count += 1;
    }
    assert_eq!(count, back.len());
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_a_timeline_changes_no_run() {
    let scenario = runs::hackbench();
    let (one, events) = runs::recorded(&scenario, 5);
    let (_, again) = runs::recorded(&scenario, 5);
    assert_eq!(runs::perfetto(&events), runs::perfetto(&again));
    assert_eq!(runs::ftrace(&events), runs::ftrace(&again));
    assert_ne!(runs::ftrace(&events), runs::ftrace(&runs::recorded(&scenario, 6).1));
    let plain = scenario.run(5).expect("a run");
    assert_eq!(
        (plain.end_ns, plain.metrics, plain.counters),
        (one.end_ns, one.metrics, one.counters)
    );
}

#[test]
fn what_is_wrong_with_a_line_is_said() {
    let line = |rest: &str| format!("          <idle>-0       [001] d..2.     1.000000: {rest}");
    for (text, said) in [
        ("hello".to_string(), "line 1: record: found \"hello\", expected TASK-PID [CPU]"),
        (line("sched_wakeup: comm=x pid=1 prio=120"), "line 1: fields: found"),
        (
            line("sched_waking: comm=x pid=99999999 prio=1 target_cpu=000"),
            "line 1: pid: found \"99999999\"",
        ),
        (line("sched_waking: comm=x pid=1 prio=1 target_cpu=8192"), "line 1: CPU: found \"8192\""),
        (line("cpu_idle: state=x cpu_id=1"), "line 1: state: found \"x\", expected a number"),
        (line("sched_wakeup: comm=").replace("1.000000", "1.0"), "line 1: time: found \"1.0\""),
        (line("irq_handler_entry: irq=1"), "trace: found none of sched_switch"),
        (String::new(), "trace: found none of sched_switch"),
        (format!("#\n{}", "x".repeat(20_000)), "line 2: line: found"),
    ] {
        let error = read(text.as_bytes()).expect_err(&text).to_string();
        assert!(error.starts_with(said), "{error}");
    }
}

#[test]
fn names_may_hold_what_else_separates() {
    let text = "a-b [7] ==> c:-42      [001] d..2.     1.000000: sched_switch: prev_comm=a pid=3 b prev_pid=42 prev_prio=120 prev_state=D|S+ ==> next_comm=x y next_pid=7 next_prio=-1\n";
    let events = read(text.as_bytes());
    // Brackets in a task's name are taken for the CPU's: the line is refused, not misread.
    assert!(events.is_err());
    let events = read(text.replace("[7] ", "").as_bytes()).expect("a line");
    let Kind::Switch { prev, prev_state, next } = events[0].kind else { panic!("{events:?}") };
    assert_eq!((prev.comm.as_bytes(), prev.pid), (&b"a pid=3 b"[..], 42));
    assert_eq!((next.comm.as_bytes(), next.prio, prev_state.0), (&b"x y"[..], -1, 0x103));
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
    }

    #[test]
    fn no_damage_makes_the_reader_panic(at in 0..RECORDED.len(), with in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = RECORDED.as_bytes().to_vec();
        if cut { bytes.truncate(at) } else { bytes[at] = with }
        if let Ok(events) = read(&bytes) {
            let _ = runs::perfetto(&events);
            let _ = runs::ftrace(&events);
        }
    }
}

#[test]
fn lost_records_are_counted() {
    let counted = |counts: &str| {
        let text = format!("# entries-in-buffer/entries-written: {counts}\n{RECORDED}");
        trace::read(text.as_bytes(), &mut Vec::new()).expect("a kernel's text").lost
    };
    assert_eq!(counted("1745/2000   #P:8"), 255);
    assert_eq!(counted("14/14   #P:8"), 0);
    assert_eq!(counted("rubbish"), 0);
}

/// The stacks that a trigger (`stacktrace`) leaves behind its events are other lines, and the events count.
#[test]
fn stacks_are_left_out() {
    let text = b"\
      dbench-294     [001] d...    26.779268: sched_switch: prev_comm=dbench prev_pid=294 prev_prio=120 prev_state=D ==> next_comm=swapper/1 next_pid=0 next_prio=120
      dbench-294     [001] d...    26.779275: <stack trace>
 => __schedule
 => io_schedule
";
    let mut kept = Vec::new();
    let read = trace::read(&text[..], &mut kept).expect("a trace");
    assert_eq!((kept.len(), read.others), (1, 3));
}
