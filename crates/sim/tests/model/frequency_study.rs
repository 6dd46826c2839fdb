//! The workloads of the frequency-invariance study do what the real ones do.

use crate::machines;
use crate::watch::Watch;
use crate::workloads::{benchmark, release, with_background};
use machine::Machine;
use sim::{RunResult, Scenario};
use workload::{Benchmark, Workload, dbench, gitsource, kernbench, tbench};

fn constant(machine: &Machine, name: &str) -> f64 {
    machine.constants.value(name).expect("a constant of the machine")
}

fn tbench_on(machine: &Machine, clients: u16, warmup_s: f64, seconds: f64) -> Workload {
    let params = tbench::Params { clients, warmup_s, seconds, cpus: None };
    benchmark(machine, Benchmark::Tbench(params))
}

fn dbench_on(machine: &Machine, clients: u16, parts_run: u16, seconds: f64) -> Workload {
    let params = dbench::Params { clients, parts_run, warmup_s: 0.2, seconds, cpus: None };
    benchmark(machine, Benchmark::Dbench(params))
}

fn kernbench_on(machine: &Machine, jobs: u32, objects_run: u32) -> Workload {
    let params = kernbench::Params { jobs, objects: 2_500, objects_run, cpus: None };
    benchmark(machine, Benchmark::Kernbench(params))
}

fn gitsource_on(machine: &Machine, cases_run: u32) -> Workload {
    let params = gitsource::Params { cases: 25_000, cases_run, cpus: None };
    benchmark(machine, Benchmark::Gitsource(params))
}

/// Caches and costs of the catalog's POWER9, one big core of it.
fn small() -> Machine {
    machines::power9()
}

fn epyc() -> Machine {
    machine::catalog::load("epyc-7742-2s-nps1").expect("the catalog holds it")
}

fn run(machine: &Machine, w: Workload) -> RunResult {
    let scenario = Scenario::new(machine, &release("5.11"), w).expect("a scenario");
    scenario.run(1).expect("a run")
}

#[test]
#[ignore]
fn speed() {
    let machine = epyc();
    let mut all: Vec<(String, Workload)> = Vec::new();
    for n in [1, 64, 256, 1024] {
        all.push((format!("tbench {n}"), tbench_on(&machine, n, 0.05, 0.05)));
    }
    for n in [1, 32, 256, 2048] {
        all.push((format!("dbench {n}"), dbench_on(&machine, n, 2, 1.0)));
    }
    for n in [2, 64, 512] {
        all.push((format!("kernbench {n}"), kernbench_on(&machine, n, 1250)));
    }
    all.push(("gitsource".to_string(), gitsource_on(&machine, 100)));
    for (name, w) in all {
        let from = std::time::Instant::now();
        let r = run(&machine, with_background(&machine, w));
        println!(
            "{name}: {:?} end {} ms, {} events, wall {:.2} s",
            r.metrics,
            r.end_ns / 1_000_000,
            r.counters.events,
            from.elapsed().as_secs_f64()
        );
    }
}
