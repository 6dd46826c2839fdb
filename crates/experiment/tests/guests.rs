//! Guests in an experiment: variants of the engine, results that no number of threads changes, errors in one line.

use definition::{ExperimentFile, Plan};
use experiment::{SimEngine, sweep};
use results::Results;
use results::prefetch_sweep::{Grid, Scene};

const TEXT: &str = r#"
name = "guests"
title = "two guests on POWER8"
machine = "power8-16core"
seed = 1

[background]
kthread_period_ms = 100
kthread_burst_us = 40
daemons = 4
daemon_period_ms = 50
daemon_burst_us = 150

[[variant]]
name = "off"
title = "without the engine"
kernel = "4.18"

[[variant]]
name = "l2"
title = "with it"
kernel = "4.18"
mechanisms = { l2-prefetch-engine = true }
prefetch = { rate_cycles = 16, log_cycles = 2 }

[[workload]]
name = "w"
title = "w"
runs = 3

[workload.kvm]
warmup_s = 0.02
seconds = 0.03
one_set_in = 16
subcores_per_core = 1
threads_per_vcore = 1

[[workload.kvm.guest]]
count = 3
vcpus = 8
sysbench_memory = { block_kib = 1, total_mib = 20, word_cycles = 2, event = { code_kib = 6, data_kib = 4, cycles = 1500 } }
"#;

fn run(text: &str, threads: usize) -> Result<Results, String> {
    let file = ExperimentFile::parse(text, "x.toml").map_err(|e| e.to_string())?;
    let plan = Plan::new(file, "x.toml").map_err(|e| e.to_string())?;
    experiment::run(&plan, &SimEngine, threads, &|_| ()).map_err(|e| e.to_string())
}

#[test]
fn threads_change_nothing_and_the_engine_works_where_it_is_on() {
    let results = run(TEXT, 1).expect("results");
    assert_eq!(results, run(TEXT, 3).expect("results"));
    let at = results.counter("mpp_logs").expect("a counter");
    let logs =
        |variant| results::counters::mean(results.workloads[0].variant(variant).expect("it"), at);
    assert_eq!(logs("off"), Some(0.0));
    assert!(logs("l2") > Some(100.0), "{:?}", logs("l2"));
}

#[test]
fn a_file_is_written_as_it_was_read() {
    let file = ExperimentFile::parse(TEXT, "x.toml").expect("a good file");
    let again = definition::toml_of(&file).expect("text");
    assert_eq!(ExperimentFile::parse(&again, "x.toml").expect("a good file"), file);
}

#[test]
fn what_cannot_be_is_one_line() {
    for (from, to, wanted) in [
        ("rate_cycles = 16", "rate_cycles = 7", "prefetch: rate_cycles: found 7, expected 8, 16"),
        (
            "{ l2-prefetch-engine = true }",
            "{ l2-prefetch-engine = false }",
            "variant `l2`: partitions: prefetch: found it without the engine",
        ),
        ("one_set_in = 16", "one_set_in = 7", "kvm: one_set_in: found 7, expected 1, 2, 4"),
        ("sysbench_memory = {", "idle = {", "unknown field `block_kib`"),
        (
            "count = 3",
            "count = 3\nidle = { period_ms = 1, work = { code_kib = 1, data_kib = 1, cycles = 1e3 } }",
            "found 2 of them, expected exactly one of `sysbench_memory`",
        ),
        ("\"power8-16core\"", "\"power9-big-core\"", "constant `l1i_ways` is missing"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let message = run(&TEXT.replacen(from, to, 1), 1).expect_err("an error");
        assert!(message.starts_with("x.toml: ") && message.contains(wanted), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

#[test]
fn a_sweep_depends_on_no_threads_and_has_every_point_once() {
    let grid = Grid {
        working_sets_kib: vec![128.0, 512.0],
        slices_us: vec![200.0, 1000.0],
        scenes: vec![
            Scene { chase: true, neighbour_kib: 65536.0 },
            Scene { chase: false, neighbour_kib: 65536.0 },
        ],
        l3: false,
    };
    let machine = machine::catalog::load("power8-16core").expect("a machine");
    let one = sweep(&machine, grid.clone(), 1).expect("a sweep");
    assert_eq!(one, sweep(&machine, grid, 3).expect("a sweep"));
    assert_eq!(one.points.len(), 2 * 5 * 2 * 2);
    let (best, worst) = one.extremes().expect("points");
    assert!(best.percent > 5.0 && best.scene.chase, "{best:?}");
    assert!(worst.percent < 0.0, "{worst:?}");
    for p in &one.points {
        let percent = (p.loads_on / p.loads_off - 1.0) * 100.0;
        assert!((percent - p.percent).abs() < 1e-9 && p.lines_useful <= p.lines_restored, "{p:?}");
    }
}
