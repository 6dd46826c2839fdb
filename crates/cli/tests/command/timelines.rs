//! `schedscape trace` as a user meets it.

use crate::shell::{refused_in as refused, small_big_core, stdout};
use std::path::Path;

const RECORDED: &[u8] = include_bytes!("../../../trace/tests/timelines/recorded.txt");

/// The shipped experiment with few and short runs, in a directory.
fn experiment() -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("small.toml");
    std::fs::write(&path, small_big_core(2, 0.02)).expect("a file");
    (dir, path.display().to_string())
}

fn read(dir: &Path, name: &str) -> Vec<u8> {
    std::fs::read(dir.join(name)).expect("a timeline")
}

#[test]
fn a_stored_runs_timeline_is_that_of_its_experiment_and_adds_up_to_its_counters() {
    let (dir, small) = experiment();
    let at = |name: &str| dir.path().join(name).display().to_string();
    stdout(&["run", &small, "--out", &at("out"), "--threads", "1"]);
    let which = ["--workload", "sched-pipe", "--variant", "big-core", "--run", "1"];
    let trace =
        |source: &str, to: &str| stdout(&[&["trace", source, "-o", &at(to)], &which[..]].concat());
    let said = trace(&small, "a.trace");
    assert!(
        said.contains(" records, workload `sched-pipe`, variant `big-core`, run 1, seed "),
        "{said}"
    );
    trace(&at("out"), "b.trace");
    trace(&small, "a.pftrace");
    trace(&at("out"), "b.perfetto-trace");
    let text = read(dir.path(), "a.trace");
    assert_eq!(text, read(dir.path(), "b.trace"));
    assert_eq!(read(dir.path(), "a.pftrace"), read(dir.path(), "b.perfetto-trace"));

    let results = results::store::read(&dir.path().join("out")).expect("the store");
    let pipe = results.workloads.iter().find(|w| w.name == "sched-pipe").expect("the workload");
    let runs = pipe.variants.iter().find(|v| v.name == "big-core").expect("the variant");
    let counted = |name: &str| {
        let at = results.counter(name).expect("the counter");
        runs.runs[1].counters[at] as usize
    };
    let text = String::from_utf8(text).expect("UTF-8");
    let count = |what: &str| text.lines().filter(|l| l.contains(what)).count();
    assert_eq!(count(": sched_waking: "), counted("ttwu_count"));
    assert_eq!(count(": sched_wakeup: "), counted("ttwu_count"));
    let to_stopper = count("next_comm=migration/");
    let stopper_to_idle =
        text.lines().filter(|l| l.contains("prev_comm=migration/") && l.contains("next_pid=0 "));
    let uncounted = to_stopper + stopper_to_idle.count();
    assert_eq!(count(": sched_switch: ") - uncounted, counted("context_switches"));

    let error = refused(dir.path(), &["trace", &at("out"), "-o", &at("c.trace"), "--seed", "7"]);
    assert!(error.contains("--seed: found one"), "{error}");
    let manifest = dir.path().join("out/manifest.json");
    let other = std::fs::read_to_string(&manifest).expect("a manifest");
    let other = other.replacen("\"seed\": 1,", "\"seed\": 2,", 1);
    std::fs::write(&manifest, other).expect("a file");
    let (out, to) = (at("out"), at("c.trace"));
    let error = refused(dir.path(), &[&["trace", &out, "-o", &to], &which[..]].concat());
    assert!(error.contains("where this build has"), "{error}");
}

#[test]
fn windows_cpus_and_tasks_leave_less() {
    let (dir, small) = experiment();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let which = ["--workload", "ebizzy", "--variant", "vanilla"];
    let trace = |to: &str, more: &[&str]| {
        stdout(&[&["trace", &small, "-o", &at(to)], &which[..], more].concat());
        String::from_utf8_lossy(&read(dir.path(), to)).into_owned()
    };
    let all = trace("all.txt", &[]);
    let seed = trace("seed.txt", &["--seed", "9"]);
    assert_ne!(all, seed);
    let window = trace("window.txt", &["--from-ms", "5", "--to-ms", "10.5"]);
    let times: Vec<f64> = (window.lines().filter(|l| !l.starts_with('#')))
        .map(|l| l[31..44].trim().parse().expect("a time"))
        .collect();
    assert!(!times.is_empty() && times.iter().all(|&s| (0.005..=0.0105).contains(&s)), "{window}");
    let task = trace("task.txt", &["--task", "ebizzy"]);
    let about = |l: &&str| l.contains(": sched_switch: ");
    assert!(task.lines().filter(about).count() < all.lines().filter(about).count());
    assert!(task.lines().filter(about).all(|l| l.contains("comm=ebizzy ")), "{task}");
    let cpus = trace("cpus.txt", &["--cpus", "3"]);
    assert!(cpus.lines().filter(about).all(|l| l.contains(" [003] ")), "{cpus}");
    assert!(cpus.contains(" [003] ") && cpus.len() < all.len());
}

#[test]
fn a_guests_trace_becomes_perfettos_and_comes_back() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(at("trace.txt"), RECORDED).expect("a file");
    let said = stdout(&["trace", &at("trace.txt"), "-o", &at("guest.pftrace")]);
    assert!(said.contains("14 records, 14 of"), "{said}");
    let bytes = read(dir.path(), "guest.pftrace");
    assert!(bytes.windows(11).any(|w| w == b"kworker/4:1"));
    stdout(&["trace", &at("trace.txt"), "-o", &at("again"), "--format", "ftrace"]);
    let body = |bytes: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(bytes).into_owned();
        text.lines().filter(|l| !l.starts_with('#')).map(str::to_string).collect()
    };
    assert_eq!(body(&read(dir.path(), "again")), body(RECORDED));
}

#[test]
fn what_cannot_be_written_is_refused() {
    let (dir, small) = experiment();
    let at = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(at("trace.txt"), RECORDED).expect("a file");
    std::fs::write(at("bad.txt"), "hello\n").expect("a file");
    let (o, t, d) = (&*at("x.trace"), &*at("trace.txt"), dir.path());
    let ebizzy = ["--workload", "ebizzy", "--variant", "vanilla"];
    let of = |more: &[&str]| refused(d, &[&["trace", &small, "-o", o], more].concat());
    for (said, error) in [
        ("--workload: found none, expected one of ebizzy, sched-pipe", of(&[])),
        ("--variant: found none, expected one of vanilla, big-core", of(&["--workload", "ebizzy"])),
        ("workload: found x, expected one of", of(&["--workload", "x", "--variant", "y"])),
        ("run: found 2, expected a run below 2", of(&[&ebizzy[..], &["--run", "2"]].concat())),
        ("found no record in that window", of(&[&ebizzy[..], &["--from-ms", "99999"]].concat())),
        ("--to-ms: found a time that", of(&["--from-ms", "2", "--to-ms", "2"])),
        ("--output: found", refused(d, &["trace", &small, "-o", &at("x")])),
        ("bad.txt: line 1: record: found", refused(d, &["trace", &at("bad.txt"), "-o", o])),
        ("none.txt: ", refused(d, &["trace", &at("none.txt"), "-o", o])),
        ("for --run, expected an experiment", refused(d, &["trace", t, "-o", o, "--run", "1"])),
        ("--engine vm: found", refused(d, &["trace", t, "-o", o, "--engine", "vm"])),
        ("--icount: found --engine sim, expected vm", of(&[&ebizzy[..], &["--icount"]].concat())),
        ("--seed: found --engine vm", of(&["--engine", "vm", "--seed", "1"])),
        ("--variant: found x, expected one of", of(&["--workload", "ebizzy", "--variant", "x"])),
        ("expected a file that can be written", refused(d, &["trace", t, "-o", &at("no/x.trace")])),
    ] {
        assert!(error.contains(said), "{said}: {error}");
    }
}

/// Files of trace-cmd and perf, by their first bytes: the names say nothing.
#[test]
fn recordings_of_other_programs_are_read_as_they_are() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("out.txt").display().to_string();
    let recordings = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/recordings");
    let said = stdout(&["trace", &format!("{recordings}/trace-7.2.dat"), "-o", &out]);
    assert!(said.contains("395 records, 395 of"), "{said}");
    assert!(said.contains("\n  CPUs: 0-3, most on CPU 0 with 119\n"), "{said}");
    let skipped =
        "left out: 30 records of other events: sched_process_fork 28, sched_process_exec 2";
    assert!(said.contains(skipped), "{said}");
    // The text's own reader takes it back, packed or not.
    let back = dir.path().join("back.dat").display().to_string();
    assert!(stdout(&["trace", &out, "-o", &back]).contains("395 records"));
    let text = format!("{recordings}/trace-7.2.txt.gz");
    assert!(stdout(&["trace", &text, "-o", &back]).contains("395 records"));
}
