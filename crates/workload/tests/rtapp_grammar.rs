//! The grammar of rt-app's files, element by element.

use workload::rtapp::ast::{
    Access, Action, Attributes, Calibration, Ftrace, Global, LogSize, Loops, MemRun, Policy, RtApp,
    Timer,
};
use workload::rtapp::{Duplicates, Options, RtAppError, UnknownKeys, read};

fn good(text: &str) -> RtApp {
    read(text, "x.json", Options::default()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refused(text: &str) -> String {
    match read(text, "x.json", Options::default()) {
        Ok(app) => panic!("{text}: {app:?}"),
        Err(e) => e.to_string(),
    }
}

/// What the events of a task of these are.
fn actions(events: &str) -> Vec<Action> {
    let mut app = good(&format!("{{\"tasks\": {{\"t\": {{{events}}}}}}}"));
    app.tasks.remove(0).phases.remove(0).events.into_iter().map(|e| e.action).collect()
}

fn global(properties: &str) -> Global {
    good(&format!("{{\"tasks\": {{}}, \"global\": {{{properties}}}}}")).global
}

/// What these properties are in a task, and in a phase.
fn attributes(properties: &str) -> Attributes {
    let task = good(&format!("{{\"tasks\": {{\"t\": {{{properties}, \"run\": 1}}}}}}"));
    let phase = good(&format!(
        "{{\"tasks\": {{\"t\": {{\"phases\": {{\"p\": {{{properties}, \"run\": 1}}}}}}}}}}"
    ));
    assert_eq!(task.tasks[0].attributes, phase.tasks[0].phases[0].attributes, "{properties}");
    assert_eq!(task.tasks[0].phases[0].attributes, Attributes::default());
    task.tasks[0].attributes.clone()
}

#[test]
fn events() {
    let s = |text: &str| text.to_string();
    for (text, expected) in [
        (r#""run": 10"#, Action::Run { us: 10 }),
        (r#""run1": 0"#, Action::Run { us: 0 }),
        (r#""runtime": 20"#, Action::Runtime { us: 20 }),
        (r#""runtime_b": 20"#, Action::Runtime { us: 20 }),
        (r#""sleep": 3"#, Action::Sleep { us: 3 }),
        (r#""mem": 1000"#, Action::Mem { bytes: 1000 }),
        (r#""iorun3": 7"#, Action::IoRun { bytes: 7 }),
        (r#""lock": "m""#, Action::Lock { mutex: s("m") }),
        (r#""unlock2": "m""#, Action::Unlock { mutex: s("m") }),
        (
            r#""wait": {"ref": "q", "mutex": "m"}"#,
            Action::Wait { condition: s("q"), mutex: s("m") },
        ),
        (
            r#""sync": {"mutex": "m", "ref": "q"}"#,
            Action::Sync { condition: s("q"), mutex: s("m") },
        ),
        (r#""sync": {}"#, Action::Sync { condition: s("unknown"), mutex: s("unknown") }),
        (r#""signal": "q""#, Action::Signal { condition: s("q") }),
        (r#""broad": "q""#, Action::Broadcast { condition: s("q") }),
        (r#""broadcast": "q""#, Action::Broadcast { condition: s("q") }),
        (r#""barrier": "B""#, Action::Barrier { name: s("B") }),
        (r#""suspend": "t""#, Action::Suspend { name: Some(s("t")) }),
        (r#""suspend": 3"#, Action::Suspend { name: None }),
        (r#""suspend""#, Action::Suspend { name: None }),
        (r#""suspend" /* none */ ,"#, Action::Suspend { name: None }),
        (r#""resume": "t""#, Action::Resume { name: s("t") }),
        (r#""sem_post": "s""#, Action::SemPost { name: s("s") }),
        (r#""sem_wait": "s""#, Action::SemWait { name: s("s") }),
        (r#""yield": """#, Action::Yield),
        (r#""yield""#, Action::Yield),
        (r#""fork": "t""#, Action::Fork { task: s("t") }),
    ] {
        assert_eq!(actions(text), [expected], "{text}");
    }
}

#[test]
fn timers() {
    for (text, name, period_us, absolute) in [
        (r#"{"ref": "unique", "period": 100}"#, "unique", 100, false),
        (r#"{"ref": "a", "period": 5, "mode": "relative"}"#, "a", 5, false),
        (r#"{"ref": "a", "period": 5, "mode": "absolute",}"#, "a", 5, true),
        (r#"{"ref": null}"#, "unknown", 0, false),
    ] {
        let timer = Timer { name: name.to_string(), period_us, absolute };
        assert_eq!(actions(&format!("\"timer\": {text}")), [Action::Timer(timer)], "{text}");
    }
}

#[test]
fn memory() {
    for (text, access, shared) in [
        (r#""type": "read", "size": 64, "count": 9"#, Access::Read, None),
        (r#""type": "write", "size": 64, "count": 9, "ref": "b""#, Access::Write, Some("b")),
        (
            r#""type": "chase", "size": 64, "count": 9"#,
            Access::Chase { stride: 64, random: true },
            None,
        ),
        (
            r#""type": "chase", "size": 64, "count": 9, "stride": 8, "pattern": "sequential""#,
            Access::Chase { stride: 8, random: false },
            None,
        ),
    ] {
        let shared = shared.map(str::to_string);
        let memrun = MemRun { size: 64, count: 9, access, shared };
        assert_eq!(actions(&format!("\"memrun_a\": {{{text}}}")), [Action::MemRun(memrun)]);
    }
}

#[test]
fn properties_of_tasks_and_phases() {
    let none = Attributes::default;
    let s = |text: &str| Some(text.to_string());
    for (text, expected) in [
        (r#""policy": "SCHED_BATCH""#, Attributes { policy: Some(Policy::Batch), ..none() }),
        (r#""priority": -19"#, Attributes { priority: Some(-19), ..none() }),
        (r#""dl-runtime": 5"#, Attributes { dl_runtime_us: Some(5), ..none() }),
        (r#""dl-period": 6"#, Attributes { dl_period_us: Some(6), ..none() }),
        (r#""dl-deadline": 7"#, Attributes { dl_deadline_us: Some(7), ..none() }),
        (r#""cpus": [0, 2, 3]"#, Attributes { cpus: Some(vec![0, 2, 3]), ..none() }),
        (r#""cpus": []"#, Attributes { cpus: Some(vec![]), ..none() }),
        (r#""nodes_membind": [1]"#, Attributes { nodes_membind: Some(vec![1]), ..none() }),
        (r#""taskgroup": "/a/b""#, Attributes { taskgroup: s("/a/b"), ..none() }),
        (r#""taskgroup": """#, none()),
        (r#""util_min": 1024"#, Attributes { util_min: Some(1024), ..none() }),
        (r#""util_max": -1"#, none()),
        (r#""policy": null"#, none()),
    ] {
        assert_eq!(attributes(text), expected, "{text}");
    }
    for (name, policy) in Policy::NAMES {
        assert_eq!(attributes(&format!("\"policy\": \"{name}\"")).policy, Some(policy));
        assert_eq!(policy.name(), name);
    }
}

#[test]
fn older_names_of_deadline_parameters() {
    let task = |text: &str| good(&format!("{{\"tasks\": {{\"t\": {{{text}}}}}}}")).tasks.remove(0);
    let t = task(r#""period": 3, "deadline": 2, "run": 1"#);
    assert_eq!((t.attributes.dl_period_us, t.attributes.dl_deadline_us), (Some(3), Some(2)));
    let t = task(r#""runtime": 9, "phases": {"p": {"run": 1}}"#);
    assert_eq!(t.attributes.dl_runtime_us, Some(9));
    let t = task(r#""runtime": 9"#);
    assert_eq!(t.attributes.dl_runtime_us, Some(9));
    assert_eq!(t.phases[0].events[0].action, Action::Runtime { us: 9 });
    let t = task(r#""dl-runtime": 4, "runtime": 9"#);
    assert_eq!(t.attributes.dl_runtime_us, Some(4));
}

#[test]
fn global_properties() {
    assert_eq!(global(""), Global::default());
    assert_eq!(good(r#"{"tasks": {}}"#).global, Global::default());
    let d = Global::default;
    for (text, expected) in [
        (r#""duration": 6"#, Global { duration_s: Some(6), ..d() }),
        (r#""duration": -1"#, d()),
        (r#""calibration": "CPU3""#, Global { calibration: Calibration::Cpu(3), ..d() }),
        (r#""calibration": 128"#, Global { calibration: Calibration::NsPerLoop(128), ..d() }),
        (r#""default_policy": "SCHED_FIFO""#, Global { default_policy: Policy::Fifo, ..d() }),
        (r#""pi_enabled": true"#, Global { pi_enabled: true, ..d() }),
        (r#""lock_pages": false"#, Global { lock_pages: false, ..d() }),
        (r#""logdir": "/tmp""#, Global { logdir: "/tmp".to_string(), ..d() }),
        (r#""log_basename": "a""#, Global { log_basename: "a".to_string(), ..d() }),
        (r#""log_size": 2"#, Global { log_size: LogSize::Megabytes(2), ..d() }),
        (r#""log_size": "file""#, Global { log_size: LogSize::File, ..d() }),
        (r#""log_size": "Disable""#, Global { log_size: LogSize::Disable, ..d() }),
        (r#""log_size": "auto""#, Global { log_size: LogSize::Auto, ..d() }),
        (r#""gnuplot": true"#, Global { gnuplot: true, ..d() }),
        (r#""io_device": "/dev/x""#, Global { io_device: "/dev/x".to_string(), ..d() }),
        (r#""mem_buffer_size": 4096"#, Global { mem_buffer_size: 4096, ..d() }),
        (r#""cumulative_slack": true"#, Global { cumulative_slack: true, ..d() }),
        (r#""frag": 1"#, Global { frag: Some(1), ..d() }),
        (
            r#""ftrace": "main,stats,main""#,
            Global { ftrace: vec![Ftrace::Main, Ftrace::Stats], ..d() },
        ),
        (r#""ftrace": "main,none""#, d()),
        (r#""ftrace": false"#, d()),
    ] {
        assert_eq!(global(text), expected, "{text}");
    }
    assert_eq!(global(r#""ftrace": true"#).ftrace.len(), 5);
}

#[test]
fn tasks_and_their_loops() {
    let app = good(
        r#"{"tasks": {
            "a": {"instance": 3, "delay": 50, "loop": 2, "run": 1},
            "b": {"phases": {"p": {"loop": -1, "run": 1}, "q": {"sleep": 1}}},
            "c": {"instance": 0, "loop": -1, "run": 1}}}"#,
    );
    let [a, b, c] = &app.tasks[..] else { panic!("{app:?}") };
    assert_eq!((a.instances, a.delay_us, a.loops), (3, 50, Loops::Times(2)));
    assert_eq!((a.phases[0].name.as_deref(), a.phases[0].loops), (None, Loops::Times(1)));
    assert_eq!((b.instances, b.delay_us, b.loops), (1, 0, Loops::Forever));
    let phases: Vec<_> = b.phases.iter().map(|p| (p.name.as_deref(), p.loops)).collect();
    assert_eq!(phases, [(Some("p"), Loops::Forever), (Some("q"), Loops::Times(1))]);
    assert_eq!((c.instances, c.loops), (0, Loops::Forever));
}

#[test]
fn resources() {
    let app = good(
        r#"{"tasks": {}, "resources": {"m": {"type": "mutex"},
            "t": {"type": "signal", "target": "w"}}}"#,
    );
    assert_eq!(app.resources[0].name, "m");
    assert_eq!(app.resources[1].target.as_deref(), Some("w"));
}

const REPEATED: &str = r#"{"tasks": {"t": {"loop": 1,
    "run": 1, "sleep": 2, "run": 3, "suspend", "suspend": "x"}}}"#;

#[test]
fn repeated_keys_are_kept_in_order_or_as_json_c_has_them() {
    let keys = |duplicates| {
        let options = Options { duplicates, ..Options::default() };
        let app = read(REPEATED, "x", options).unwrap();
        let events = &app.tasks[0].phases[0].events;
        events.iter().map(|e| format!("{}{:?}", e.key, e.action)).collect::<Vec<_>>()
    };
    let all = keys(Duplicates::InOrder);
    assert_eq!(all.len(), 5);
    assert_eq!(all[2], "runRun { us: 3 }");
    assert_eq!(all[3], "suspendSuspend { name: None }");
    // The place of the first, the value of the last.
    let last = keys(Duplicates::LastWins);
    assert_eq!(last, [&all[2], &all[1], &all[4]].map(String::clone));
}

#[test]
fn a_repeated_property_is_one_too_many_unless_the_last_wins() {
    let text = r#"{"tasks": {"t": {"loop": 1, "loop": 2, "run": 1}}}"#;
    let message = refused(text);
    assert!(message.contains("line 1, column 29: tasks.t.loop: found a second one"), "{message}");
    let options = Options { duplicates: Duplicates::LastWins, ..Options::default() };
    assert_eq!(read(text, "x", options).unwrap().tasks[0].loops, Loops::Times(2));
}

#[test]
fn unknown_keys_are_errors_unless_ignored() {
    let text = r#"{"tasks": {"t": {"exec": 5, "run": 1}}}"#;
    let message = refused(text);
    assert!(message.contains("tasks.t.exec: found unknown key `exec`"), "{message}");
    let options = Options { unknown_keys: UnknownKeys::Ignore, ..Options::default() };
    assert_eq!(read(text, "x", options).unwrap().tasks[0].phases[0].events.len(), 1);
}

#[test]
fn comments_and_trailing_commas() {
    let text = "// first\n{ /* a */ \"tasks\" : { \"t\" : { \"run\" : 1, // two\n }, },\n}\n";
    assert_eq!(good(text).tasks[0].phases[0].events[0].line, 2);
}

#[test]
fn places_are_those_of_the_file_after_keys_without_a_value() {
    let text = "{\"tasks\": {\"t\": {\"suspend\", \"suspend\", \"ö\": 1}}}";
    let message = refused(text);
    assert!(message.starts_with("x.json: line 1, column 40: tasks.t.ö:"), "{message}");
    let text = "{\"tasks\": {\"t\": {\"suspend\",\n \"run\": 1} 7}}";
    let message = refused(text);
    assert!(message.starts_with("x.json: line 2, column 11:"), "{message}");
}

#[test]
fn refusals_say_the_place_what_was_found_and_what_was_expected() {
    let task = |inside: &str| format!("{{\"tasks\": {{\"t\": {{{inside}}}}}}}");
    for (text, expected) in [
        ("".to_string(), "line 1, column 1: found nothing"),
        ("[]".to_string(), "the file: found an array, expected an object with `tasks`"),
        ("{}".to_string(), "the file: found no `tasks`"),
        (r#"{"tasks": null}"#.to_string(), "the file: found no `tasks`"),
        (r#"{"tasks": 3}"#.to_string(), "tasks: found 3, expected an object"),
        (r#"{"tasks": {}, "x": 1}"#.to_string(), "x: found unknown key `x`, expected `global`"),
        (r#"{"tasks": {} "global": {}}"#.to_string(), "line 1, column 13: Expected comma"),
        (r#"{"tasks": {}} {}"#.to_string(), "more than one JSON value"),
        (r#"{tasks: {}}"#.to_string(), "line 1, column 2:"),
        (task(""), "tasks.t: found no events"),
        (task(r#""loop": 1"#), "tasks.t: found no events"),
        (task(r#""phases": {}"#), "tasks.t.phases: found no phases"),
        (task(r#""phases": {"p": {"loop": 1}}"#), "tasks.t.phases.p: found no events"),
        (
            task(r#""phases": {"p": {"run": "x"}}"#),
            "tasks.t.phases.p.run: found \"x\", expected µs",
        ),
        (task(r#""phases": {"p": {"run": 1}}, "run": 1"#), "tasks.t.run: found unknown key"),
        (task(r#""phases": {"p": {"loop": 0, "run": 1}}"#), "found 0, expected -1 for no end"),
        (task(r#""run": 1.5"#), "tasks.t.run: found 1.5, expected µs"),
        (task(r#""run": -1"#), "tasks.t.run: found -1"),
        (task(r#""run": 2147483648"#), "tasks.t.run: found 2147483648"),
        (task(r#""run""#), "tasks.t.run: found no value, expected µs"),
        (task(r#""run": 1, "loop""#), "tasks.t.loop: found no value"),
        (task(r#""run": null"#), "tasks.t.run: found null"),
        (task(r#""lock_order": ["a"]"#), "tasks.t.lock_order: found an array"),
        (task(r#""timer": 7"#), "tasks.t.timer: found 7, expected an object with `ref`"),
        (task(r#""timer": {"ref": "a", "mode": "x"}"#), "tasks.t.timer.mode: found \"x\""),
        (task(r#""timer": {"ref": "a", "x": 1}"#), "tasks.t.timer.x: found unknown key"),
        (task(r#""memrun": {"type": "read", "size": 1}"#), "tasks.t.memrun: found no `count`"),
        (
            task(r#""memrun": {"type": "read", "size": 1, "count": 1, "stride": 8}"#),
            "tasks.t.memrun.stride: found unknown key",
        ),
        (
            task(
                r#""memrun1": {"type": "read", "size": 1, "count": 1, "ref": "b"},
                   "memrun2": {"type": "read", "size": 2, "count": 1, "ref": "b"}"#,
            ),
            "line 2, column 1: tasks.t.memrun2: found another size",
        ),
        (task(r#""run": 1, "policy": "FIFO""#), "expected SCHED_OTHER, SCHED_BATCH"),
        (task(r#""run": 1, "util_min": 1025"#), "found 1025, expected 0 to 1024"),
        (task(r#""run": 1, "taskgroup": "a""#), "found \"a\", expected a path"),
        (task(r#""run": 1, "cpus": 0"#), "tasks.t.cpus: found 0, expected an array of CPUs"),
        (task(r#""run": 1, "cpus": [0, -1]"#), "tasks.t.cpus: found -1"),
        (
            task(r#""run": 1, "taskgroup": "/a", "policy": "SCHED_RR""#),
            "found SCHED_RR in the task group /a",
        ),
        (
            r#"{"tasks": {}, "global": {"calibration": "GPU"}}"#.to_string(),
            "global.calibration: found \"GPU\"",
        ),
        (
            r#"{"tasks": {}, "global": {"ftrace": "main,x"}}"#.to_string(),
            "global.ftrace: found \"main,x\"",
        ),
        (
            r#"{"tasks": {}, "resources": {"m": {"type": "barrier"}}}"#.to_string(),
            "resources.m.type: found \"barrier\", expected mutex",
        ),
        (r#"{"tasks": {}, "resources": {"m": {}}}"#.to_string(), "resources.m: found no `type`"),
    ] {
        let message = refused(&text);
        assert!(message.starts_with("x.json: "), "{message}");
        assert!(message.contains(expected), "{text}: {message}");
    }
}

#[test]
fn depth_has_an_end() {
    let text = format!("{{\"tasks\": {}", "[".repeat(100_000));
    match read(&text, "x", Options::default()) {
        Err(RtAppError::Syntax { message, .. }) => assert!(message.contains("32 levels")),
        other => panic!("{other:?}"),
    }
}
