//! A variant whose CPUs go away and come back: it runs, and steps that cannot be taken are one line.

use definition::{ExperimentFile, Plan};
use experiment::SimEngine;
use results::Results;

const HEAD: &str = r#"
name = "hotplug"
title = "eight CPUs, of which seven go away"
machine = "power9-big-core"
seed = 1

[background]
kthread_period_ms = 100
kthread_burst_us = 40
daemons = 4
daemon_period_ms = 50
daemon_burst_us = 150

[[variant]]
name = "all"
title = "all CPUs"
kernel = "6.12"

[[variant]]
name = "fewer"
title = "seven CPUs go away"
kernel = "6.12"
"#;

const WORKLOAD: &str = r#"
[[workload]]
name = "ebizzy"
title = "eight threads on eight CPUs"
runs = 2

[workload.ebizzy]
threads = 8
seconds = 0.4
chunk_bytes = 4096
chunks = 10
cpus = "0-7"
"#;

fn run(hotplug: &str) -> Result<Results, String> {
    let text = format!("{HEAD}hotplug = {hotplug}\n{WORKLOAD}");
    let file = ExperimentFile::parse(&text, "x.toml").map_err(|e| e.to_string())?;
    let plan = Plan::new(file, "x.toml").map_err(|e| e.to_string())?;
    experiment::run(&plan, &SimEngine, 1, &|_| ()).map_err(|e| e.to_string())
}

/// Samples under both variants, and the second's counters of its first run.
fn samples(results: &Results) -> (f64, f64, Vec<u64>) {
    let w = &results.workloads[0];
    let mean = |variant: &str| {
        let samples = w.samples(variant, 0);
        samples.iter().sum::<f64>() / samples.len() as f64
    };
    (mean("all"), mean("fewer"), w.variants[1].runs[0].counters.clone())
}

#[test]
fn fewer_cpus_do_less() {
    let count = |results: &Results, counters: &[u64], name: &str| {
        counters[results.counter(name).expect("a counter")]
    };
    // The benchmark starts after 0.3 s, so half of the run has one CPU of eight, on a core of its own.
    let list = r#"[{ at_s = 0.45, offline = "1-7" }, { at_s = 0.65, online = "1-7" }]"#;
    let results = run(list).expect("results");
    let (all, fewer, counters) = samples(&results);
    assert!((0.55..0.97).contains(&(fewer / all)), "{fewer} of {all} records");
    assert_eq!(count(&results, &counters, "hotplug_steps"), 14);
    assert!(count(&results, &counters, "hotplug_moved") >= 7, "{counters:?}");
    // Without steps the variants are one.
    let results = run("[]").expect("results");
    let (all, same, counters) = samples(&results);
    assert_eq!(all, same);
    assert_eq!(count(&results, &counters, "hotplug_steps"), 0);
}

#[test]
fn impossible_steps_name_file_and_variant() {
    for (hotplug, expected) in [
        (r#"[{ at_s = 0.1, offline = "1000" }]"#, "hotplug step 0: found CPU 1000, expected one"),
        (r#"[{ at_s = 0.1, online = "3" }]"#, "hotplug step 0: found CPU 3 online already"),
        (
            r#"[{ at_s = 0.2, offline = "3" }, { at_s = 0.1, offline = "4" }]"#,
            "hotplug step 1: found 100000000 ns after a step at 200000000 ns",
        ),
    ] {
        let message = run(hotplug).expect_err("an error");
        assert!(
            message.starts_with("x.toml: workload `ebizzy`, variant `fewer`: hotplug step"),
            "{message}"
        );
        assert!(message.contains(expected), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}
