//! Fork-join loops: makespans, what imbalance costs at barriers, and who sleeps there.

use super::{Run, assert_near};
use crate::machines;
use workload::Benchmark;
use workload::parallel::{Bind, Params};

const THREADS: u16 = 4;
const LOOPS: u32 = 50;
const ITERATIONS: u32 = 400;
const ITERATION_US: f64 = 10.0;
/// Work of a loop by all threads, in us.
const LOOP_US: f64 = ITERATIONS as f64 * ITERATION_US;

fn params(schedule: &str, imbalance: f64) -> Params {
    Params {
        threads: THREADS,
        loops: LOOPS,
        iterations: ITERATIONS,
        iteration_us: ITERATION_US,
        imbalance,
        schedule: schedule.parse().expect("a schedule"),
        serial_us: 0.0,
        spin_count: None,
        bind: Some(Bind::Close),
        memory: None,
        cpus: Some("0-3".parse().expect("a CPU list")),
    }
}

fn run(params: Params) -> Run {
    Run::of(&machines::smt(8, 1), Benchmark::Parallel(params), 1)
}

/// A quarter of the loop each; the last quarter of an even slope has 1 + 3/4 of the imbalance.
#[test]
fn a_static_loop_takes_as_long_as_its_longest_part() {
    for imbalance in [0.0, 0.5, 1.0] {
        let run = run(params("static", imbalance));
        let longest_us = LOOP_US / 4.0 * (1.0 + 0.75 * imbalance);
        assert_near(run.metric("loop_mean_us"), longest_us, 0.01, "mean of a loop");
        assert_near(run.metric("seconds"), longest_us * 50.0 / 1e6, 0.01, "seconds");
        // All parts together are the loop; the rest of four times the longest is waiting.
        let waiting = 100.0 * (1.0 - LOOP_US / 4.0 / longest_us);
        let found = run.metric("barrier_percent");
        assert!((found - waiting).abs() < 1.0, "{found} % at barriers, expected {waiting}");
    }
}

/// Chunks that are taken level what the slope makes uneven, to within one of them.
#[test]
fn chunks_that_are_taken_level_a_slope() {
    let of = |schedule| run(params(schedule, 1.0)).metric("loop_mean_us");
    let (fixed, dynamic, guided) = (of("static"), of("dynamic,5"), of("guided,5"));
    let chunk_us = 5.0 * 2.0 * ITERATION_US;
    for (found, name) in [(dynamic, "dynamic"), (guided, "guided")] {
        assert!(found > LOOP_US / 4.0, "{name}: {found}");
        assert!(found < LOOP_US / 4.0 + 2.0 * chunk_us, "{name}: {found}");
    }
    assert!(fixed > 1.6 * dynamic, "static {fixed}, dynamic {dynamic}");
    let interleaved = of("static,1");
    assert_near(interleaved, LOOP_US / 4.0, 0.02, "static,1");
}

#[test]
fn serial_work_keeps_all_others_waiting() {
    let run = run(Params { serial_us: LOOP_US / 4.0, ..params("static", 0.0) });
    assert_near(run.metric("seconds"), 50.0 * LOOP_US / 2.0 / 1e6, 0.01, "Amdahl");
    // Three of four threads wait half of the time.
    assert!((run.metric("barrier_percent") - 37.5).abs() < 1.0);
}

/// Turns that outlast a wait spare the wake-up, none at all take one for each thread and barrier.
#[test]
fn who_looks_for_long_enough_does_not_sleep() {
    let wakeups =
        |spin_count| run(Params { spin_count, ..params("static", 0.5) }).result.counters.wakeups;
    let (looking, sleeping) = (wakeups(None), wakeups(Some(0)));
    assert!(looking < 40, "{looking} wake-ups by threads that look for 3 ms");
    let barriers = u64::from(2 * LOOPS * (u32::from(THREADS) - 1));
    // Who comes to a barrier just as the last one does may see it without sleeping.
    assert!(sleeping > barriers * 9 / 10 && sleeping < barriers + 40, "{sleeping} of {barriers}");
}

/// Twice the threads on the same CPUs: libgomp looks for 100 turns, so nobody burns what others need.
#[test]
fn more_threads_than_cpus_share_them() {
    let shared = Params {
        threads: 8,
        bind: None,
        cpus: Some("0-3".parse().expect("a CPU list")),
        ..params("dynamic,5", 0.0)
    };
    let throttled = run(shared.clone());
    let seconds = throttled.metric("seconds");
    assert!(seconds < 1.15 * 50.0 * LOOP_US / 4.0 / 1e6, "{seconds} s");
    assert!(throttled.result.counters.wakeups > 100);
}
