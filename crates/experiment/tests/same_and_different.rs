//! The comparison as a whole: no difference where there is none, one where there is one.

use definition::{ExperimentFile, Plan};
use experiment::SimEngine;
use results::Results;
use stats::{Better, Confidence, Resampling, Verdict, compare};

/// Repetitions of the A/A comparison, and how many of them may claim a difference.
const REPETITIONS: usize = 100;
const CLAIMS_ALLOWED: usize = 5;
/// Runs of each side of a comparison.
const RUNS: usize = 30;

fn run(text: &str) -> Results {
    let file = ExperimentFile::parse(text, "test.toml").expect("a good experiment");
    let plan = Plan::new(file, "test.toml").expect("a plan");
    experiment::run(&plan, &SimEngine, 0, &|_| {}).expect("results")
}

/// ebizzy for a short time under `first` and `second`, which are the rest of a variant's entry.
fn ebizzy(runs: usize, first: &str, second: &str) -> String {
    format!(
        r#"
name = "test"
title = "test"
machine = "power9-big-core"
seed = 5
[background]
kthread_period_ms = 100
kthread_burst_us = 40
daemons = 8
daemon_period_ms = 50
daemon_burst_us = 150
[[variant]]
name = "a"
title = "a"
kernel = "4.18"
{first}
[[variant]]
name = "b"
title = "b"
kernel = "4.18"
{second}
[[workload]]
name = "w"
title = "w"
runs = {runs}
[workload.ebizzy]
threads = 2
seconds = 0.05
chunk_bytes = 4096
chunks = 10
cpus = "0-7"
"#
    )
}

fn verdict(a: &[f64], b: &[f64]) -> Verdict {
    let resampling = Resampling::new(2000, 1, Confidence::P95).expect("settings");
    compare(a, b, Better::Higher, &resampling).expect("comparable samples").verdict
}

#[test]
fn the_same_variant_under_other_seeds_shows_no_difference() {
    let results = run(&ebizzy(REPETITIONS * RUNS, "", "seed = 77"));
    let (a, b) = (results.workloads[0].samples("a", 0), results.workloads[0].samples("b", 0));
    assert_ne!(a, b, "other seeds give other runs");
    let spread =
        a.iter().copied().fold(f64::MIN, f64::max) / a.iter().copied().fold(f64::MAX, f64::min);
    assert!(spread > 1.3, "both of ebizzy's modes occur: {spread}");
    let claims = (0..REPETITIONS)
        .filter(|i| {
            let part = i * RUNS..(i + 1) * RUNS;
            verdict(&a[part.clone()], &b[part]) != Verdict::NoDifference
        })
        .count();
    assert!(claims <= CLAIMS_ALLOWED, "{claims} of {REPETITIONS} claim a difference");
}

#[test]
fn small_core_domains_show_a_difference() {
    let big_core = "mechanisms = { small-core-smt = true, big-core-cache = true }";
    let results = run(&ebizzy(100, "", big_core));
    let (a, b) = (results.workloads[0].samples("a", 0), results.workloads[0].samples("b", 0));
    assert_eq!(verdict(&a, &b), Verdict::Better);
    assert_eq!(verdict(&b, &a), Verdict::Worse);
}

#[test]
fn results_do_not_depend_on_threads() {
    let file =
        ExperimentFile::parse(&ebizzy(8, "", "smt = 4"), "test.toml").expect("a good experiment");
    let plan = Plan::new(file, "test.toml").expect("a plan");
    let one = experiment::run(&plan, &SimEngine, 1, &|_| {}).expect("results");
    let three = experiment::run(&plan, &SimEngine, 3, &|_| {}).expect("results");
    assert_eq!(one, three);
}
