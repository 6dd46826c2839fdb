//! Services as queues: M/M/c, M/G/1, closed loops, a lock, a second tier.

use super::{Run, assert_near};
use crate::machines;
use workload::service::{FanOut, Load, Params};
use workload::{Benchmark, Distribution, Footprint, Placement};

const WORK_US: f64 = 1000.0;

fn open(per_s: f64) -> Load {
    Load::Open { per_s, generators: 1 }
}

fn params(load: Load, workers: u16, distribution: Distribution) -> Params {
    Params {
        load,
        workers,
        work_us: WORK_US,
        distribution,
        lock_share: 0.0,
        fan_out: None,
        deadline_ms: None,
        memory: None,
        warmup_s: 1.0,
        seconds: 60.0,
        cpus: None,
        irq_cpus: None,
    }
}

fn run(params: Params) -> Run {
    Run::of(&machines::smt(16, 1), Benchmark::Service(params), 7)
}

/// Erlang's C: the chance that a request finds all of `c` workers busy, each of which is so for `rho` of the time.
fn erlang_c(c: u32, rho: f64) -> f64 {
    let offered = f64::from(c) * rho;
    let blocked = (1..=c).fold(1.0, |b, n| offered * b / (f64::from(n) + offered * b));
    blocked / (1.0 - rho * (1.0 - blocked))
}

#[test]
fn waiting_is_erlangs() {
    for (workers, rho) in [(1, 0.5), (4, 0.8), (8, 0.7)] {
        for irq_cpus in [None, Some("15".parse().expect("a CPU list"))] {
            let per_s = f64::from(workers) * rho * 1e6 / WORK_US;
            let load = open(per_s);
            let run = run(Params { irq_cpus, ..params(load, workers, Distribution::Exponential) });
            let wait_us =
                erlang_c(workers.into(), rho) * WORK_US / (f64::from(workers) * (1.0 - rho));
            assert_near(run.metric("requests_per_s"), per_s, 0.02, "arrivals");
            // A request costs some us of the kernel beside, which rho feels.
            let found = run.metric("latency_mean_us");
            assert_near(found, WORK_US + wait_us, 0.06, &format!("{workers} workers, {rho} busy"));
        }
    }
}

/// Pollaczek and Khinchine: with one worker, waiting goes by the square of the coefficient of variation.
#[test]
fn waiting_goes_by_how_service_times_differ() {
    let bimodal = Distribution::Bimodal { share: 0.1, factor: 11.0 };
    // Nine of 500 us and one of 5500.
    let cv2_of_bimodal = (0.9 * 0.25 + 0.1 * 30.25) - 1.0;
    for (distribution, cv2) in [
        (Distribution::Constant, 0.0),
        (Distribution::Lognormal { cv: 1.0 }, 1.0),
        (bimodal, cv2_of_bimodal),
    ] {
        let run = run(params(open(600.0), 1, distribution));
        let wait_us = WORK_US * 0.6 / 0.4 * (1.0 + cv2) / 2.0;
        let found = run.metric("latency_mean_us");
        assert_near(found, WORK_US + wait_us, 0.07, &format!("{distribution}"));
    }
}

/// One worker of exponential times: latency is exponential as well.
#[test]
fn goodput_is_what_the_deadline_leaves() {
    let run =
        run(Params { deadline_ms: Some(3.0), ..params(open(500.0), 1, Distribution::Exponential) });
    let timely = 500.0 * (1.0 - f64::exp(-(1000.0 - 500.0) * 3e-3));
    assert_near(run.metric("goodput_per_s"), timely, 0.03, "in time");
    assert_near(run.metric("latency_p99_us"), 2000.0 * f64::ln(100.0), 0.07, "the tail");
}

/// However many workers there are, a lock that they hold for all of their work lets one go on at a time.
#[test]
fn a_lock_makes_one_worker_of_many() {
    let of = |workers, lock_share| {
        let params = params(open(600.0), workers, Distribution::Exponential);
        run(Params { lock_share, ..params }).metric("latency_mean_us")
    };
    assert_near(of(8, 1.0), of(1, 0.0), 0.05, "all work under the lock");
    assert!(of(8, 0.1) < 1.1 * WORK_US);
}

#[test]
fn users_wait_and_think() {
    for irq_cpus in [None, Some("15".parse().expect("a CPU list"))] {
        let load = Load::Closed { users: 6, think_ms: 4.0 };
        let seconds = 20.0;
        let run = run(Params { irq_cpus, seconds, ..params(load, 2, Distribution::Exponential) });
        let users = run.metric("requests_per_s") * (run.metric("latency_mean_us") / 1e6 + 4e-3);
        assert_near(users, 6.0, 0.02, "N = X (R + Z)");
    }
}

/// A request waits for the slowest of its four: the mean of the largest of four exponential times is 1 + 1/2 + 1/3 + 1/4 of theirs.
#[test]
fn the_slowest_of_the_second_tier_counts() {
    let fan_out = FanOut {
        requests: 4,
        workers: 12,
        work_us: WORK_US,
        distribution: Distribution::Exponential,
        memory: None,
    };
    let rare = params(open(20.0), 2, Distribution::Constant);
    let run = run(Params { fan_out: Some(fan_out), work_us: 200.0, ..rare });
    let expected = 200.0 + WORK_US * (1.0 + 1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0);
    assert_near(run.metric("latency_mean_us"), expected, 0.06, "the slowest of four");
}

/// Memory slows work down, and nothing else does.
#[test]
fn memory_of_workers_takes_time() {
    let machine = machine::catalog::load("kunpeng920-2node").expect("the catalog holds it");
    let of = |memory| {
        let params = params(open(100.0), 4, Distribution::Constant);
        let params = Params { memory, seconds: 2.0, ..params };
        Run::of(&machine, Benchmark::Service(params), 1).metric("latency_p50_us")
    };
    let large = Footprint {
        working_set_kib: 512.0 * 1024.0,
        touches_per_us: 20.0,
        overlap: 2.0,
        gb_per_s: 0.0,
        placement: Placement::Default,
    };
    assert!(of(Some(large)) > 1.3 * of(None));
}
