//! Host time for one simulated run-sleep cycle by release and machine size, for two replicas one after the other and at
//! once, and for one round of `perf bench sched pipe`.

#[path = "../tests/model/machines.rs"]
mod machines;
#[path = "shared/run_sleep.rs"]
mod run_sleep;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use kernel::{Kernel, Version};
use machine::Machine;
use run_sleep::run_sleep;
use sim::Scenario;
use std::time::{Duration, Instant};
use workload::Workload;
use workload::sched_pipe::{self, Costs, Params};

/// Rounds of the pipe benchmark in one run.
const ROUNDS: u32 = 20_000;
/// Cycles in one run, about.
const CYCLES: f64 = 50_000.0;

/// Releases whose fair classes differ most: balancing by load, balancing by group classes, EEVDF.
const RELEASES: [Version; 3] = [Version::new(4, 18), Version::new(5, 11), Version::new(6, 12)];

fn scenario(machine: &Machine, version: Version, workload: Workload) -> Scenario {
    let kernel = Kernel::new(version);
    Scenario::new(machine, &kernel, workload).expect("a runnable scenario")
}

/// Measures runs that each do many units of work, as the time of one unit.
fn per_unit(
    group: &mut BenchmarkGroup<WallTime>,
    id: BenchmarkId,
    scenario: &Scenario,
    units: impl Fn(&sim::RunResult) -> u64,
) {
    group.bench_function(id, |b| {
        b.iter_custom(|iterations| {
            let (mut done, mut spent, mut seed) = (0, Duration::ZERO, 0);
            while done < iterations {
                let start = Instant::now();
                let result = scenario.run(seed).expect("a run");
                spent += start.elapsed();
                done += units(&result);
                seed += 1;
            }
            spent.mul_f64(iterations as f64 / done as f64)
        });
    });
}

fn short(group: &mut BenchmarkGroup<WallTime>) {
    group.sample_size(20);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
}

fn cycles(c: &mut Criterion) {
    let mut group = c.benchmark_group("run_sleep_cycle");
    short(&mut group);
    for version in RELEASES {
        for cpus in [4, 64, 256] {
            let machine = machines::smt(cpus / 4, 4);
            let scenario = scenario(&machine, version, run_sleep(&machine, CYCLES));
            let id = BenchmarkId::new(version.to_string(), cpus);
            per_unit(&mut group, id, &scenario, |r| r.counters.wakeups);
        }
    }
    group.finish();
}

/// Replicas share their scenario and nothing else, so two threads should take half the time of one.
fn replicas(c: &mut Criterion) {
    let mut group = c.benchmark_group("two_replicas");
    short(&mut group);
    let machine = machines::smt(16, 4);
    let scenario = scenario(&machine, Version::new(4, 18), run_sleep(&machine, CYCLES));
    let run = |seed| scenario.run(seed).expect("a run");
    group.bench_function("one_after_the_other", |b| b.iter(|| (run(1), run(2))));
    group.bench_function("at_once", |b| {
        b.iter(|| {
            std::thread::scope(|threads| {
                let other = threads.spawn(|| run(2));
                (run(1), other.join().expect("a run"))
            })
        });
    });
    group.finish();
}

fn pipe(c: &mut Criterion) {
    let mut group = c.benchmark_group("pipe_round_trip");
    short(&mut group);
    let machine = machines::power9();
    let user_cycles = machine.constants.value("pipe_user_cycles").expect("a cost");
    let params = Params { loops: ROUNDS, loops_run: ROUNDS, cpus: None };
    let workload = sched_pipe::build(&params, &Costs { user_cycles }).expect("a workload");
    let scenario = scenario(&machine, Version::new(4, 18), workload);
    per_unit(&mut group, BenchmarkId::from_parameter(machine.cpus.len()), &scenario, |_| {
        u64::from(ROUNDS)
    });
    group.finish();
}

criterion_group!(benches, cycles, replicas, pipe);
criterion_main!(benches);
