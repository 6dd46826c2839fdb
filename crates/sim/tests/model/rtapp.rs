//! Files of rt-app in the simulator.

use crate::machines;
use crate::watch::Watch;
use crate::workloads::scenario;
use machine::Machine;
use sim::RunResult;
use std::fs;
use std::path::{Path, PathBuf};
use workload::rtapp::ast::RtApp;
use workload::rtapp::{Built, Costs, Feature, Options, Params, Suspend, build, read};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/rt-app/examples");

fn built(machine: &Machine, app: &RtApp, params: &Params) -> Built {
    let nominal_khz = machine.constants.value("nominal_khz").expect("a constant of the machine");
    build(app, params, &Costs { nominal_khz, online: machine.online.clone(), deadlines: false })
        .expect("a workload")
}

/// What a run of `tasks` gives: metrics by name, and who ran how long.
struct Ran {
    metrics: Vec<(String, f64)>,
    result: RunResult,
    watch: Watch,
}

impl Ran {
    fn metric(&self, name: &str) -> f64 {
        self.metrics.iter().find(|(of, _)| of == name).expect("a metric of that name").1
    }

    fn ran_ns(&self, task: &str) -> u64 {
        self.watch.tasks.iter().filter(|t| t.program == task).map(|t| t.ran_ns).sum()
    }
}

fn run(machine: &Machine, tasks: &str, duration_s: Option<f64>) -> Ran {
    let text = format!("{{\"tasks\": {{{tasks}}}}}");
    let app = read(&text, "x.json", Options::default()).expect("a good file");
    let params = Params { duration_s, ..Params::default() };
    let workload = built(machine, &app, &params).workload;
    let names: Vec<String> = workload.metrics.iter().map(|m| m.name.clone()).collect();
    let mut watch = Watch::new(machine.cpus.len());
    let result = scenario(machine, workload).run_traced(3, &mut watch).expect("a run");
    watch.finish(result.end_ns);
    let metrics = names.into_iter().zip(result.metrics.iter().copied()).collect();
    Ran { metrics, result, watch }
}

fn assert_between(found: f64, low: f64, high: f64) {
    assert!((low..=high).contains(&found), "found {found}, expected {low} to {high}");
}

#[test]
fn ten_ms_of_work_take_ten_ms_alone() {
    let ran = run(&machines::smt(2, 1), r#""t": {"loop": 100, "run": 10000, "sleep": 1000}"#, None);
    // The run lasts from the first thread's start to the end: 100 times 11 ms, and what the kernel takes.
    assert_between(ran.metric("t_loops_per_s"), 90.0, 1e3 / 11.0);
    assert_between(ran.ran_ns("t") as f64, 1.0e9, 1.01e9);
}

#[test]
fn runtime_is_time_and_run_is_work() {
    // Two tasks on one CPU: each has it half of the time.
    for (event, least_s, most_s) in [("runtime", 0.1, 0.115), ("run", 0.2, 0.21)] {
        let tasks = format!(
            "\"a\": {{\"loop\": 1, \"{event}\": 100000}},
             \"b\": {{\"loop\": 1, \"{event}\": 100000}}"
        );
        let ran = run(&machines::smt(1, 1), &tasks, None);
        let first_ns = ran.watch.tasks.iter().filter(|t| t.program == "rt-app").map(|t| t.ran_ns);
        assert!(first_ns.sum::<u64>() > 0);
        // The main thread starts within 10 ms.
        assert_between(ran.result.end_ns as f64 / 1e9, least_s, most_s + 0.01);
    }
}

#[test]
fn a_timers_period_is_kept() {
    let tasks = r#""t": {"run": 3000, "timer": {"ref": "unique", "period": 10000}}"#;
    let ran = run(&machines::smt(2, 1), tasks, Some(2.0));
    assert_between(ran.metric("t_loops_per_s"), 99.0, 100.5);
    // Slack is the period less the response: 7 ms.
    assert_between(ran.metric("t_response_mean_us"), 3_000.0, 3_050.0);
    assert_between(ran.metric("t_wakeup_p50_us"), 0.1, 20.0);
}

#[test]
fn a_missed_timer_restarts_or_is_caught_up() {
    // One loop in ten misses its period by far.
    let loops = |mode: &str| {
        let tasks = format!(
            "\"t\": {{\"loop\": 20, \"phases\": {{
                \"short\": {{\"loop\": 9, \"run\": 1000, \"timer\":
                    {{\"ref\": \"unique\", \"period\": 10000, \"mode\": \"{mode}\"}}}},
                \"long\": {{\"run\": 35000, \"timer\":
                    {{\"ref\": \"unique\", \"period\": 10000, \"mode\": \"{mode}\"}}}}}}}}"
        );
        run(&machines::smt(2, 1), &tasks, None).metric("t_loops_per_s")
    };
    // 200 loops: in 2 s and what the last is late, 25 ms; or in 20 times 9 periods and 35 ms.
    assert_between(loops("absolute"), 98.6, 200.0 / 2.025);
    assert_between(loops("relative"), 79.8, 80.0);
}

#[test]
fn barriers_keep_tasks_together() {
    let tasks = r#""a": {"run": 1000, "barrier": "B"}, "b": {"run": 9000, "barrier": "B"}"#;
    let ran = run(&machines::smt(2, 1), tasks, Some(1.0));
    let (a, b) = (ran.metric("a_loops_per_s"), ran.metric("b_loops_per_s"));
    assert_between(a, 108.0, 111.2);
    assert_between((a - b).abs(), 0.0, 1.5);
}

#[test]
fn semaphores_remember_and_resumes_do_not() {
    // The first posts ten times before the second looks.
    let posts = r#""a": {"loop": 10, "sem_post": "s", "run": 100},
        "b": {"loop": 10, "delay": 50000, "sem_wait": "s", "run": 100}"#;
    run(&machines::smt(2, 1), posts, None);
    let resumes = r#""a": {"loop": 10, "resume": "b", "run": 100},
        "b": {"delay": 50000, "suspend", "run": 100}"#;
    let ran = run(&machines::smt(2, 1), resumes, Some(0.5));
    assert_eq!(ran.metric("b_loops_per_s"), 0.0);
}

#[test]
fn nice_values_weigh() {
    let tasks = r#""a": {"priority": 0, "run": 100000}, "b": {"priority": 5, "run": 100000}"#;
    let ran = run(&machines::smt(1, 1), tasks, Some(4.0));
    // Weights 1024 and 335.
    assert_between(ran.ran_ns("a") as f64 / ran.ran_ns("b") as f64, 2.9, 3.2);
}

#[test]
fn forked_threads_run_and_are_waited_for() {
    let tasks = r#""t": {"loop": 3, "fork": "u", "run": 1000},
        "u": {"instance": 0, "loop": 1, "run": 20000}"#;
    let ran = run(&machines::smt(4, 1), tasks, None);
    assert_between(ran.ran_ns("u") as f64, 60e6, 61e6);
    assert_eq!(ran.watch.tasks.iter().filter(|t| t.program == "u").count(), 3);
}

#[test]
fn affinities_of_phases_hold() {
    let tasks = r#""t": {"cpus": [2], "loop": 5, "phases": {
        "p": {"cpus": [0], "run": 1500}, "q": {"cpus": [1], "run": 1500}, "r": {"run": 1500}}}"#;
    let ran = run(&machines::smt(3, 1), tasks, None);
    // Fourteen changes of CPU, and one at the start unless the thread happened to be there.
    assert!(ran.result.counters.placements_by_distance.iter().sum::<u64>() >= 14);
}

/// Microseconds that a `memrun` of one kind takes once its buffer is as warm as it gets, on POWER9.
fn memrun_us(kind: &str, kib: u32, count: u32) -> f64 {
    let size = kib * 1024;
    let tasks = format!(
        "\"t\": {{\"loop\": 400, \"memrun\":
            {{\"type\": \"{kind}\", \"size\": {size}, \"count\": {count}}}, \"run\": 100}}"
    );
    let ran = run(&machines::power9(), &tasks, None);
    // The first loops warm the buffer, and weigh little.
    1e6 / ran.metric("t_loops_per_s") - 100.0
}

/// 32 KiB of L1, 512 KiB of L2 and 10 MiB of L3; the work between keeps what they hold.
#[test]
fn chases_take_the_latency_of_what_holds_the_buffer() {
    let machine = machines::power9();
    let constant = |name: &str| machine.constants.value(name).expect("a constant");
    let ghz = constant("nominal_khz") / 1e6;
    let (core_ns, l2_ns) = (4.0 / ghz, constant("l2_latency_cycles") / ghz);
    let beyond_ns = (1.0 / 8.0 - 1.0 / 128.0) * l2_ns + 7.0 / 8.0 * constant("l3_latency_ns");
    for (kib, hop_ns) in [(16, core_ns), (4096, core_ns + beyond_ns)] {
        let expected_us = hop_ns * 100.0;
        assert_between(memrun_us("chase", kib, 100_000) / expected_us, 0.99, 1.03);
    }
}

#[test]
fn what_a_prefetcher_follows_is_faster() {
    let (read, chase) = (memrun_us("read", 4096, 4 << 20), memrun_us("chase", 4096, 65_536));
    assert!(read > 0.0 && chase > 0.0);
    // As many lines: their latency by eight, but 64 core cycles a line instead of 4.
    let machine = machines::power9();
    let khz = machine.constants.value("nominal_khz").expect("a constant");
    let core = |cycles: f64| 65_536.0 * cycles / khz * 1e3;
    assert_between((read - core(64.0)) * 8.0 / (chase - core(4.0)), 0.9, 1.1);
}

/// What an example needs left out, and how long it is run where it has no end of its own.
fn params_of(name: &str) -> Params {
    let ignore = match name {
        "calibration.json" | "dvfs.json" => vec![Feature::SchedFifo],
        "custom-slice.json" => vec![Feature::SchedDeadline],
        "example6.json" => vec![Feature::Mem, Feature::Iorun],
        "example10.json" | "example11.json" => vec![Feature::Taskgroup],
        _ => Vec::new(),
    };
    let duration_s = match name {
        "example4.json" => Some(2.0),
        "example8.json" | "example9.json" => None,
        _ if name.ends_with("-long.json") || name == "spreading-tasks.json" => Some(6.0),
        _ => None,
    };
    let named = ["browser", "video"].iter().any(|start| name.starts_with(start));
    let suspend = if named { Suspend::Named } else { Suspend::OwnName };
    Params { duration_s, suspend, ignore, ..Params::default() }
}

fn examples() -> Option<Vec<PathBuf>> {
    if !Path::new(EXAMPLES).is_dir() {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no examples in {EXAMPLES}");
        println!("skipped: no ../shared");
        return None;
    }
    let mut files = Vec::new();
    for dir in ["", "tutorial", "cpufreq_governor_efficiency"] {
        let entries = fs::read_dir(Path::new(EXAMPLES).join(dir)).expect("a directory");
        files.extend(entries.map(|e| e.expect("an entry").path()).filter(|p| p.is_file()));
    }
    files.sort();
    Some(files)
}

#[test]
fn all_examples_run() {
    let Some(files) = examples() else { return };
    assert_eq!(files.len(), 22);
    let machine = machines::smt(4, 1);
    for file in files {
        let name = file.file_name().and_then(|n| n.to_str()).expect("a name");
        let text = fs::read_to_string(&file).expect("a file");
        let app = read(&text, name, Options::default()).unwrap_or_else(|e| panic!("{e}"));
        let params = params_of(name);
        let built = built(&machine, &app, &params);
        // Each feature is named because the file has it.
        for feature in &params.ignore {
            assert!(built.ignored.iter().any(|i| i.feature == *feature), "{name}: {feature:?}");
        }
        let threads = app.tasks.iter().map(|t| t.instances as usize).sum::<usize>();
        let mut watch = Watch::new(machine.cpus.len());
        let result = scenario(&machine, built.workload).run_traced(1, &mut watch);
        let result = result.unwrap_or_else(|e| panic!("{name}: {e}"));
        watch.finish(result.end_ns);
        assert!(watch.tasks.len() > threads, "{name}");
        // Every task of the example does something.
        for task in app.tasks.iter().filter(|t| t.instances > 0) {
            let ran = watch.tasks.iter().filter(|t| t.program == task.name).map(|t| t.ran_ns);
            let ran_ns = ran.sum::<u64>();
            assert!(ran_ns > 0, "{name}: {} never ran", task.name);
            println!("{name}: {} ran {} us", task.name, ran_ns / 1000);
        }
    }
}
