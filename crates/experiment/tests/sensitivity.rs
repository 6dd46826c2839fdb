//! Runs with moved constants: which are moved, that threads and interruptions change nothing, and what is left out.

use definition::{ExperimentFile, Plan};
use experiment::journal::Identity;
use experiment::{Further, Journal, SimEngine, When, sensitivity};
use results::Results;
use results::sensitivity::{INSTRUCTIONS, LINES, Sensitivity};
use std::path::Path;
use std::sync::Mutex;

const EXPERIMENT: &str = include_str!("../../../experiments/power9-big-core.toml");

fn plan(change: impl Fn(String) -> String) -> Plan {
    let text = EXPERIMENT.replace("seconds = 10", "seconds = 0.01");
    let text = text.replace("loops_run = 25000", "loops_run = 20");
    let file = ExperimentFile::parse(&change(text), "x.toml").expect("a good experiment");
    Plan::new(file, "x.toml").expect("a plan")
}

fn stored(plan: &Plan) -> Results {
    experiment::run(plan, &SimEngine, 2, &|_| ()).expect("results")
}

fn moved(plan: &Plan, when: When, threads: usize) -> Sensitivity {
    sensitivity(plan, &stored(plan), when, Further::new(threads)).expect("runs")
}

#[test]
fn constants_that_a_workload_reads_are_moved_and_change_it() {
    let found = moved(&plan(|text| text), When::Cheap, 2);
    assert_eq!(found.left_out, []);
    let [ebizzy, pipe] = &found.workloads[..] else { panic!("two workloads") };
    let has = |of: &[String], name: &str| of.iter().any(|c| c == name);
    for (of, own, others) in [
        (&ebizzy.constants, "ebizzy_record_cycles", "pipe_user_cycles"),
        (&pipe.constants, "pipe_user_cycles", "ebizzy_record_cycles"),
    ] {
        let shared = ["nominal_khz", "smt_share_2", INSTRUCTIONS, own];
        assert!(shared.iter().all(|name| has(of, name)), "{of:?}");
        let unread = ["message_user_cycles", "memory_latency_ns", "smt_share_4", others];
        assert!(unread.iter().all(|name| !has(of, name)), "{of:?}");
    }
    assert!(has(&pipe.constants, LINES));
    // In no row do both directions give the same time.
    assert_eq!(pipe.rows.len(), 32);
    assert!(pipe.rows.iter().all(|row| row.row[0] != row.mirror[0]));
    assert_eq!((pipe.rows[0].row.len(), ebizzy.rows[0].row.len()), (3, 2));
}

/// On a machine whose boost is bounded by its other clocks, two constants cannot move by themselves.
#[test]
fn what_the_simulator_refuses_is_said_and_not_moved() {
    let text = r#"
name = "x"
title = "x"
machine = "epyc-7742-1s-nps1"
variant = [
    { name = "a", title = "a", kernel = "5.9", frequency = { governor = "performance" } },
    { name = "b", title = "b", kernel = "5.9", frequency = { governor = "ondemand" } },
]
[[workload]]
name = "pipe"
title = "pipe"
runs = 1
sched_pipe = { loops = 20, loops_run = 20 }
"#;
    let plan = Plan::new(ExperimentFile::parse(text, "x.toml").expect("an experiment"), "x.toml");
    let found = moved(&plan.expect("a plan"), When::Always, 2);
    let [pipe] = &found.workloads[..] else { panic!("one workload: {:?}", found.left_out) };
    assert_eq!(pipe.fixed, ["boost_all_cores_khz", "boost_khz"]);
    assert!(pipe.constants.iter().any(|c| c == "core_w"));
}

#[test]
fn few_runs_are_left_alone_unless_asked_for() {
    let few = plan(|text| text.replace("runs = 100", "runs = 63"));
    let found = moved(&few, When::Cheap, 1);
    assert_eq!(found.workloads, []);
    assert_eq!(found.left_out.len(), 2);
    assert!(found.left_out[0].reason.contains("--sensitivity always"));
    assert_eq!(moved(&few, When::Always, 1).workloads.len(), 2);
}

#[test]
fn threads_and_interruptions_change_nothing() {
    let plan = plan(|text| text);
    let whole = moved(&plan, When::Cheap, 1);
    assert_eq!(moved(&plan, When::Cheap, 3), whole);
    let temporary = tempfile::tempdir().expect("a temporary directory");
    let open = |dir: &Path| {
        let identity = Identity::of(&plan, results::Engine::Sim, "", b"program");
        Journal::open(dir, &identity.expect("an identity")).expect("a journal")
    };
    let dir = temporary.path().join("kept");
    let journal = open(&dir);
    let stored = stored(&plan);
    let further = Further { journal: Some(&journal), ..Further::new(1) };
    sensitivity(&plan, &stored, When::Cheap, further).expect("runs");
    drop(journal);
    // Half of the file is what an interruption may leave, the last line cut.
    let path = temporary.path().join("kept.partial");
    let text = std::fs::read(&path).expect("the journal");
    std::fs::write(&path, &text[..text.len() / 2]).expect("the journal");
    let journal = open(&dir);
    let seen = Mutex::new(Vec::new());
    let note = |done, all| seen.lock().expect("no panic").push((done, all));
    let further = Further { journal: Some(&journal), progress: &note, ..Further::new(2) };
    let resumed = sensitivity(&plan, &stored, When::Cheap, further).expect("runs");
    assert_eq!(resumed, whole);
    let runs = 2 * 32 * (2 + 3);
    assert_eq!(seen.into_inner().expect("no panic").last(), Some(&(runs, runs)));
    drop(journal);
    let after = std::fs::read_to_string(&path).expect("the journal");
    assert_eq!(after.lines().count(), String::from_utf8_lossy(&text).lines().count());
}
