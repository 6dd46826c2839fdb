//! Several workloads at once in one run: each has its own end and its own figures.

use crate::machines;
use crate::watch::Watch;
use crate::workloads::{benchmark, ebizzy, hackbench, pipe, scenario};
use machine::{Machine, catalog};
use workload::together::{Part, together};
use workload::{
    Benchmark, Better, Metric, Op, Program, Reading, Spawn, Spread, Workload, false_sharing,
    gitsource, kernbench, schbench,
};

fn part(name: &str, measured: bool, workload: Workload) -> Part {
    Part { name: name.to_string(), group: None, measured, workload }
}

/// A part that sleeps for so long and ends; its figure is the time.
fn clock(seconds: f64) -> Workload {
    let mut w = Workload::default();
    let (from, to) = (w.mark(), w.mark());
    let sleep = Op::Sleep { mean_ns: seconds * 1e9, spread: Spread::Fixed };
    let ops = vec![Op::Mark(from), sleep, Op::Mark(to), Op::Stop];
    let clock = w.program("clock", ops);
    w.spawns.push(Spawn::new(clock));
    w.metrics.push(Metric {
        name: "seconds".to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds { from, to, scale: 1.0 },
    });
    w
}

fn service(machine: &Machine, seconds: f64) -> Workload {
    let params = schbench::Params {
        message_threads: 1,
        workers: 3,
        sleep_us: 50.0,
        work_us: 500.0,
        warmup_s: 0.05,
        seconds,
        cpus: None,
    };
    benchmark(machine, Benchmark::Schbench(params))
}

fn build(machine: &Machine) -> Workload {
    let params = kernbench::Params { jobs: 4, objects: 1000, objects_run: 8, cpus: None };
    benchmark(machine, Benchmark::Kernbench(params))
}

/// Tasks of `workload`'s own that have exited in a run, when it ended, and its metrics.
fn exits(machine: &Machine, workload: Workload, name: &str) -> (usize, f64, Vec<f64>) {
    let mut watch = Watch::new(machine.cpus.len());
    let result = scenario(machine, workload).run_traced(3, &mut watch).expect("a run");
    assert!(watch.wrong.is_empty(), "{:?}", &watch.wrong[..watch.wrong.len().min(5)]);
    let exited = watch.tasks.iter().filter(|t| t.program == name && t.exited).count();
    (exited, result.end_ns as f64 / 1e9, result.metrics)
}

/// Jobs leave nothing behind that changes the next time: each takes as long as the first.
#[test]
fn jobs_begin_again_as_they_began() {
    let machine = catalog::load("kunpeng920-1node-12").expect("a machine of the catalog");
    let shared = false_sharing::Params { rounds: 200_000, cpus: None };
    let tests = gitsource::Params { cases: 40, cases_run: 40, cpus: None };
    let jobs = [
        ("hackbench", hackbench(&machine, 1, 4, 2_000, true)),
        ("sched-pipe", pipe(&machine, 20_000, None)),
        ("ebizzy", ebizzy(&machine, 3, 0.1, None)),
        ("false-sharing", benchmark(&machine, Benchmark::FalseSharing(shared))),
        ("make", benchmark(&machine, Benchmark::Gitsource(tests))),
        ("make", build(&machine)),
    ];
    for (name, mut job) in jobs {
        job.spawns.iter_mut().for_each(|spawn| spawn.within_ns = 0);
        let (once, end_s, _) = exits(&machine, job.clone(), name);
        // Who ends the run does not exit.
        let once = once + usize::from(stops_itself(&job, name));
        let alone_s = end_s - 0.3;
        let clock_s = 8.0 * alone_s + 0.3;
        let parts = [part("clock", true, clock(clock_s)), part("job", false, job)];
        let all = together(&parts).expect("parts");
        let (exited, _, metrics) = exits(&machine, all, name);
        let passes = exited as f64 / once as f64;
        assert!((6.5..=9.5).contains(&passes), "{name}: {passes} times in 8 times {alone_s} s");
        assert!((metrics[0] - clock_s).abs() < 1e-3, "{name}: {metrics:?}");
    }
}

fn stops_itself(w: &Workload, name: &str) -> bool {
    let stops = |p: &Program| p.name == name && p.ops.contains(&Op::Stop);
    w.programs.iter().any(stops)
}

/// On CPUs of their own, parts have the figures that they have alone, whichever ends first.
#[test]
fn parts_that_do_not_meet_have_the_figures_that_they_have_alone() {
    let machine = machines::power9();
    let bound = |cpus: &str, mut w: Workload| {
        let set = cpus.parse().expect("a CPU list");
        w.spawns.iter_mut().for_each(|spawn| spawn.affinity = Some(machine::CpuSet::clone(&set)));
        w
    };
    let (front, farm) = (bound("0-7", service(&machine, 0.5)), bound("8-15", build(&machine)));
    let alone = |w: &Workload| scenario(&machine, w.clone()).run(5).expect("a run").metrics;
    let (front_alone, farm_alone) = (alone(&front), alone(&farm));
    let parts = [part("front", true, front), part("farm", true, farm)];
    let all = together(&parts).expect("parts");
    let names: Vec<String> = all.metrics.iter().map(|m| m.name.clone()).collect();
    let found = scenario(&machine, all).run(5).expect("a run").metrics;
    let rate = names.iter().position(|n| n == "front: requests_per_s").expect("a metric");
    let near = |a: f64, b: f64, by: f64| assert!((a / b - 1.0).abs() < by, "{a} and {b}");
    near(found[rate], front_alone[rate], 0.02);
    near(*found.last().expect("metrics"), farm_alone[0], 0.15);
}

/// Who shares CPUs pays, and the neighbour's load is there until the last measured part has ended.
#[test]
fn a_neighbour_takes_cpus_until_the_end() {
    let machine = machines::smt(2, 1);
    let alone = scenario(&machine, service(&machine, 1.0)).run(5).expect("a run").metrics;
    let small = hackbench(&machine, 1, 4, 200, true);
    let parts = [part("front", true, service(&machine, 1.0)), part("noise", false, small)];
    let all = together(&parts).expect("parts");
    let (exited, _, beside) = exits(&machine, all, "hackbench");
    let p99 = 3;
    assert!(beside[p99] > 1.2 * alone[p99], "{} and {}", beside[p99], alone[p99]);
    assert!(exited > 10 * 9, "{exited}");
}
