use super::*;
use proptest::prelude::*;
use workload::rtapp::Suspend;
use workload::{Benchmark, Target};

const EXPERIMENT: &str = include_str!("../../../../../experiments/rt-app.json");
/// A file with every event that rt-app 1.0 has, with comments and repeated keys.
const ALL: &str = r#"{
    /* comment */
    "global": { "duration": 3, "calibration": 40, "pi_enabled": true, "cumulative_slack": true },
    "tasks": {
        "a": {
            "instance": 2, "delay": 5, "loop": 3, "policy": "SCHED_FIFO", "priority": 10, "cpus": [0, 1],
            "phases": {
                "one": {
                    "loop": 2, "cpus": [1], "run": 10, "sleep": 20, "run": 30, "runtime": 40,
                    "lock": "m", "wait": { "ref": "c", "mutex": "m" }, "unlock": "m", "signal": "c",
                    "broad": "c", "sync": { "ref": "c", "mutex": "m" }, "barrier": "b", "resume": "a",
                    "suspend": "x", "mem": 1000, "iorun": 10, "yield": "",
                    "timer": { "ref": "unique", "period": 1000, "mode": "absolute" },
                },
                "two": { "run": 1 },
            },
        },
        "a": { "run": 5, "policy": "SCHED_DEADLINE", "dl-runtime": 10, "dl-period": 20 },
    },
}"#;

fn params() -> Params {
    Params { file: "f.json".to_owned(), ..Params::default() }
}

fn program(text: &str, params: &Params) -> Result<Program, Untranslated> {
    translate(params, &|_| Ok(text.to_owned()))
}

fn json(program: &Program) -> String {
    match &program.files[0].1 {
        FileSource::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// What the guest's rt-app reads is what the experiment's file says.
#[test]
fn the_guests_file_says_the_same() {
    for (text, suspend) in
        [(ALL, Suspend::OwnName), (ALL, Suspend::Named), (EXPERIMENT, Suspend::OwnName)]
    {
        let params = Params { suspend, ..params() };
        let json = json(&program(text, &params).unwrap());
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
        let options = Options { unknown_keys: params.unknown_keys, duplicates: params.duplicates };
        let theirs = read(text, "f.json", options).unwrap();
        let ours = read(&json, "f.json", options).unwrap();
        assert_eq!(ours.global.duration_s, theirs.global.duration_s);
        assert_eq!(ours.global.calibration, theirs.global.calibration);
        assert_eq!(ours.global.pi_enabled, theirs.global.pi_enabled);
        assert_eq!(ours.tasks.len(), theirs.tasks.len());
        for (our, their) in ours.tasks.iter().zip(&theirs.tasks) {
            same(our, their, suspend);
        }
    }
}

fn same(our: &Task, their: &Task, suspend: Suspend) {
    assert_eq!(
        (our.instances, our.delay_us, our.loops),
        (their.instances, their.delay_us, their.loops)
    );
    let (mut a, mut b) = (our.attributes.clone(), their.attributes.clone());
    // A deadline is always said.
    (a.dl_deadline_us, b.dl_deadline_us) = (None, None);
    assert_eq!(a, b);
    assert_eq!(our.phases.len(), their.phases.len());
    for (x, y) in our.phases.iter().zip(&their.phases) {
        assert_eq!(x.loops, y.loops);
        let actions =
            |phase: &Phase| phase.events.iter().map(|e| e.action.clone()).collect::<Vec<_>>();
        let mut expected = actions(y);
        for action in &mut expected {
            if let Action::Suspend { name } = action
                && suspend == Suspend::OwnName
            {
                *name = Some(their.name.clone());
            }
        }
        assert_eq!(actions(x), expected);
    }
}

#[test]
fn repeated_names_are_told_apart() {
    let json = json(&program(ALL, &params()).unwrap());
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let tasks: Vec<&String> = value["tasks"].as_object().unwrap().keys().collect();
    assert_eq!(tasks, ["a", "a#2"]);
    assert_eq!(value["tasks"]["a#2"]["dl-deadline"], 20);
}

#[test]
fn a_time_of_the_experiment_goes_before_the_files() {
    let params = Params { duration_s: Some(1.5), ..params() };
    let program = program(EXPERIMENT, &params).unwrap();
    assert!(json(&program).contains("\"duration\": 2,"));
    assert_eq!(program.notes, ["run for 2 s, as rt-app takes whole seconds"]);
}

#[test]
fn what_rt_app_1_0_does_not_know_is_refused_by_name() {
    let task = |inner: &str| format!(r#"{{ "tasks": {{ "t": {{ "loop": 1, {inner} }} }} }}"#);
    for (inner, path, found) in [
        (r#""run": 1, "policy": "SCHED_IDLE""#, "tasks.t.policy", "SCHED_IDLE"),
        (r#""run": 1, "dl-runtime": 100"#, "tasks.t.dl-runtime", "a slice"),
        (r#""run": 1, "util_min": 100"#, "tasks.t", "util_min or util_max"),
        (r#""run": 1, "taskgroup": "/a""#, "tasks.t.taskgroup", "taskgroup"),
        (r#""sem_post": "s""#, "tasks.t.sem_post", "a semaphore"),
        (
            r#""phases": { "p": { "run": 1, "priority": 3 } }"#,
            "tasks.t.phases.p",
            "a policy or priority of a phase",
        ),
    ] {
        let error = program(&task(inner), &params()).unwrap_err();
        let expected = format!("f.json: {path}: found {found}, expected what rt-app 1.0 knows");
        assert_eq!(error.to_string(), expected);
    }
    let allowed = Params { ignore: vec![Feature::Taskgroup], ..params() };
    let program = program(&task(r#""run": 1, "taskgroup": "/a""#), &allowed).unwrap();
    assert_eq!(program.notes, ["left out: taskgroup (tasks.t.taskgroup)"]);
}

#[test]
fn a_file_that_is_none_is_an_error() {
    let missing = translate(&params(), &|_| Err(io::Error::other("gone"))).unwrap_err();
    assert_eq!(missing.to_string(), "f.json: gone");
    assert!(matches!(program("{", &params()), Err(Untranslated::RtApp(_))));
}

#[test]
fn results_have_the_names_of_the_workloads_metrics() {
    let machine = machine::catalog::load("kunpeng920-1node").unwrap();
    let read = |_: &str| Ok(EXPERIMENT.to_owned());
    let target = Target {
        constants: &machine.constants,
        online: machine.online,
        deadlines: false,
        read: &read,
        replay: &workload::no_traces,
    };
    let built = Benchmark::RtApp(params()).build(&target).unwrap();
    let names: Vec<String> = built.workload.metrics.into_iter().map(|m| m.name).collect();
    let mut logs = String::new();
    (0..34).for_each(|thread| logs += &format!("thread {thread}\n0 10000 8000 10000 50\n"));
    let values = program(EXPERIMENT, &params()).unwrap().values(&logs).unwrap();
    assert_eq!(values.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
}

/// Three lines of a real run: two missed timers and one that was waited for.
#[test]
fn metrics_of_logs() {
    let text = r#"{ "global": { "duration": 2 },
        "tasks": { "t": { "run": 10, "timer": { "ref": "unique", "period": 10000 } } } }"#;
    let logs = "thread 0\n60695328095 60695328646 -30501 10000 0\n\
                60695328649 60695349194 9442 10000 10548\n\
                60695349197 60695349745 -1099 10000 0\n";
    let values = program(text, &params()).unwrap().values(logs).unwrap();
    let value = |name: &str| values.iter().find(|(n, _)| n == name).unwrap().1;
    assert_eq!(value("t_loops_per_s"), 1.5);
    assert_eq!(value("t_wakeup_p50_us"), 10548.0);
    assert_eq!(value("t_wakeup_p100_us"), 30501.0, "a missed timer's lateness is its slack");
    assert_eq!(value("t_response_p50_us"), 11099.0);
    assert_eq!(value("t_response_mean_us"), (40501.0 + 558.0 + 11099.0) / 3.0);
}

#[test]
fn without_a_duration_the_lines_say_it() {
    let text = r#"{ "tasks": { "t": { "loop": 2, "run": 10 } } }"#;
    let program = program(text, &params()).unwrap();
    let values = program.values("thread 0\n1000000 1400000 0 0 0\n1400000 1500000 0 0 0\n");
    assert_eq!(values.unwrap(), [("t_loops_per_s".to_owned(), 4.0)]);
    assert!(program.values("thread 0\n").unwrap_err().starts_with("found no time"));
}

#[test]
fn what_logs_cannot_say_is_left_out_by_name() {
    let timer = |name: &str| format!(r#""timer_{name}": {{ "ref": "{name}", "period": 10 }}"#);
    let (a, b) = (timer("a"), timer("b"));
    let text = format!(
        r#"{{ "global": {{ "duration": 1 }},
            "tasks": {{ "two": {{ {a}, {b} }}, "slept": {{ "sleep": 1, {a} }} }} }}"#
    );
    let program = program(&text, &params()).unwrap();
    assert_eq!(program.notes.len(), 2);
    assert!(program.notes[0].starts_with("no two_wakeup and no two_response: "));
    assert!(program.notes[1].starts_with("no slept_response: "));
    let line = "0 1 5 10 2\n";
    let values = program.values(&format!("thread 0\n{line}thread 1\n{line}")).unwrap();
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[..3], ["two_loops_per_s", "slept_loops_per_s", "slept_wakeup_mean_us"]);
    assert_eq!(names.len(), 6);
}

#[test]
fn logs_that_are_not_all_there_are_errors() {
    let text = r#"{ "global": { "duration": 1 }, "tasks": { "t": { "instance": 2, "run": 1 } } }"#;
    let program = program(text, &params()).unwrap();
    let error = |logs: &str| program.values(logs).unwrap_err();
    assert_eq!(error("thread 0\n"), "found no log of thread 1");
    assert_eq!(error("thread 2\n"), "found \"thread 2\", expected a thread below 2");
    assert_eq!(error("thread 0\nthread 0\n"), "found \"thread 0\" twice, expected it once");
    let expected = "expected start, end, slack, period and wu_lat";
    assert_eq!(error("1 2 3 4 5\n"), format!("found \"1 2 3 4 5\", {expected}"));
    assert_eq!(error("thread 0\n1 2 3 4\n"), format!("found \"1 2 3 4\", {expected}"));
}

proptest! {
    #[test]
    fn any_logs_are_read_or_refused(lines in prop::collection::vec("(thread [0-3]|[-0-9e. ]{0,20})", 0..20)) {
        let text = r#"{ "tasks": { "t": { "instance": 2, "loop": 1, "run": 1, "timer": { "ref": "u", "period": 9 } } } }"#;
        if let Ok(values) = program(text, &params()).unwrap().values(&lines.join("\n")) {
            prop_assert!(values.iter().all(|(_, value)| value.is_finite()));
        }
    }
}
