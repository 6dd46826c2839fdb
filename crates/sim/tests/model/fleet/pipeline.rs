//! Pipelines: the slowest stage sets the pace, whatever the others do.

use super::{Run, assert_near};
use crate::machines;
use workload::pipeline::{Params, Stage};
use workload::{Benchmark, Distribution};

fn stage(threads: u16, work_us: f64, distribution: Distribution, ordered: bool) -> Stage {
    Stage { name: None, threads, work_us, distribution, ordered, memory: None }
}

fn run(stages: Vec<Stage>, queue: u32, per_s: Option<f64>) -> Run {
    let params = Params { stages, queue, per_s, warmup_s: 0.2, seconds: 1.0, cpus: None };
    Run::of(&machines::smt(8, 1), Benchmark::Pipeline(params), 3)
}

fn three(distribution: Distribution, ordered: bool) -> Vec<Stage> {
    let constant = Distribution::Constant;
    vec![
        stage(1, 20.0, constant, false),
        stage(4, 400.0, distribution, ordered),
        stage(1, 30.0, constant, false),
    ]
}

/// Four threads of 400 us each let 10,000 items a second through; all places before them are taken meanwhile.
#[test]
fn the_slowest_stage_sets_the_pace() {
    for ordered in [false, true] {
        let run = run(three(Distribution::Constant, ordered), 8, None);
        let rate = run.metric("items_per_s");
        assert!((9_500.0..10_000.0).contains(&rate), "{rate} items a second");
        // Little's law: an item in each thread but the last's, 8 in the first queue, few in the second.
        let inside = rate * run.metric("item_mean_us") / 1e6;
        assert!((12.5..15.0).contains(&inside), "{inside} items under way");
    }
}

/// At a rate that all stages can keep, an item takes their work and what wake-ups cost.
#[test]
fn below_saturation_an_item_takes_its_work() {
    let run = run(three(Distribution::Constant, false), 8, Some(1000.0));
    assert_near(run.metric("items_per_s"), 1000.0, 0.01, "the source's rate");
    let item_us = run.metric("item_p50_us");
    assert!((450.0..480.0).contains(&item_us), "{item_us} us");
}

/// Items that differ overtake each other, which output in order does not let them: they wait for those before, and longer.
#[test]
fn order_costs_time_and_loses_nothing() {
    let differing = Distribution::Lognormal { cv: 1.5 };
    let (free, ordered) =
        (run(three(differing, false), 8, None), run(three(differing, true), 8, None));
    let rates = (free.metric("items_per_s"), ordered.metric("items_per_s"));
    assert!(rates.0 > 9_000.0, "{rates:?}");
    assert!(rates.1 < rates.0 && rates.1 > 0.5 * rates.0, "{rates:?}");
    assert!(ordered.metric("item_p99_us") > free.metric("item_p50_us"));
}
