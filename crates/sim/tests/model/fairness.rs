//! Who gets how much of a CPU: shares by nice level, lag of EEVDF, latency of those who sleep, yields.

use crate::machines;
use crate::watch::{Seen, Watch};
use crate::workloads::{RELEASES, release};
use machine::CpuSet;
use proptest::prelude::*;
use sim::Scenario;
use workload::{Op, Spawn, Spread, Work, Workload};

/// Simulated time of a run.
const RUN_NS: u64 = 2_000_000_000;

/// `ops` for ever on CPU 0, at `nice`.
fn endless(w: &mut Workload, name: &str, nice: i8, mut ops: Vec<Op>) {
    ops.push(Op::Loop { to: 0, times: 0 });
    let program = w.program(name, ops);
    let affinity = Some(CpuSet::single(0));
    w.spawns.push(Spawn { affinity, nice, ..Spawn::new(program) });
}

fn compute() -> Op {
    Op::Compute(Work::fixed(1e6))
}

/// What each task but the one that ends the run did on one CPU of a machine without SMT.
fn run(version: &str, mut w: Workload) -> Vec<Seen> {
    let machine = machines::smt(1, 1);
    let stop = w.program("stop", vec![Op::Stop]);
    w.spawns.push(Spawn { first_wake_ns: RUN_NS, ..Spawn::new(stop) });
    let scenario = Scenario::new(&machine, &release(version), w).expect("a scenario");
    let mut watch = Watch::new(machine.cpus.len());
    let result = scenario.run_traced(3, &mut watch).expect("a run");
    watch.finish(result.end_ns);
    assert!(watch.wrong.is_empty(), "{:?}", watch.wrong);
    watch.tasks.into_iter().filter(|t| t.program != "stop").collect()
}

fn share(seen: &Seen) -> f64 {
    seen.ran_ns as f64 / RUN_NS as f64
}

/// Weights of nice 0, 5 and -5 are 1024, 335 and 3121.
#[test]
fn shares_follow_the_weights_of_nice_levels() {
    for version in RELEASES {
        let mut w = Workload::default();
        for (name, nice) in [("normal", 0), ("nice", 5), ("first", -5)] {
            endless(&mut w, name, nice, vec![compute()]);
        }
        let seen = run(version, w);
        for (task, weight) in seen.iter().zip([1024.0, 335.0, 3121.0]) {
            let expected = weight / (1024.0 + 335.0 + 3121.0);
            let found = share(task);
            assert!((found - expected).abs() < 0.02, "{version} {}: {found}", task.program);
        }
    }
}

/// A nice level that changes on the way: half the time at 0 against 0, half at 10 (weight 110) against 0.
#[test]
fn a_new_nice_level_counts_from_then_on() {
    for version in ["5.11", "6.12"] {
        let mut w = Workload::default();
        endless(&mut w, "other", 0, vec![compute()]);
        let half = Op::Compute(Work::fixed(1.9e9));
        let program =
            w.program("changes", vec![half, Op::SetNice(10), Op::Compute(Work::fixed(1e12))]);
        w.spawns.push(Spawn { affinity: Some(CpuSet::single(0)), ..Spawn::new(program) });
        let seen = run(version, w);
        // 1.9e9 cycles take half a second alone and one beside another; then 110 of 1134 for another second.
        let expected = 0.25 + 0.5 * 110.0 / 1134.0;
        let found = share(&seen[1]);
        assert!((found - expected).abs() < 0.02, "{version}: {found}");
    }
}

/// One that sleeps most of the time runs soon after it wakes: beside three endless tasks it loses little against
/// being alone.
#[test]
fn a_sleeper_gets_its_turn() {
    for version in RELEASES {
        let mut w = Workload::default();
        (0..3).for_each(|_| endless(&mut w, "hog", 0, vec![compute()]));
        let nap = Op::Sleep { mean_ns: 9e6, spread: Spread::Fixed };
        endless(&mut w, "sleeper", 0, vec![compute(), nap]);
        let seen = run(version, w);
        let found = share(&seen[3]);
        // 0.26 ms in 9.3 ms alone; a wait of up to a slice of 0.75 ms and a tick each time is fair.
        assert!(found > 0.012, "{version}: {found}");
    }
}

/// Two tasks that yield after every quarter of a millisecond take turns, where two that do not run from tick to tick.
#[test]
fn yielding_gives_way() {
    let stint_ms = |version: &str, ops: &[Op]| {
        let mut w = Workload::default();
        (0..2).for_each(|_| endless(&mut w, "turns", 0, ops.to_vec()));
        let seen = run(version, w);
        seen[0].ran_ns as f64 / f64::from(seen[0].switches) / 1e6
    };
    for version in RELEASES {
        let hog = stint_ms(version, &[compute()]);
        let yields = stint_ms(version, &[compute(), Op::Yield]);
        assert!(yields < 0.3 * hog, "{version}: {yields} ms at a time, {hog} without yields");
    }
}

/// Under EEVDF a short slice of its own makes a task wait less, at the same share (6.12).
#[test]
fn a_short_slice_is_served_sooner() {
    let waits = |slice_ns: u64| {
        let mut w = Workload::default();
        (0..4).for_each(|_| endless(&mut w, "hog", 0, vec![compute()]));
        let nap = Op::Sleep { mean_ns: 4e6, spread: Spread::Exponential };
        let mut ops = vec![Op::Compute(Work::fixed(4e5)), nap, Op::Loop { to: 1, times: 0 }];
        ops.insert(0, Op::SetSlice(slice_ns));
        let program = w.program("short", ops);
        w.spawns.push(Spawn { affinity: Some(CpuSet::single(0)), ..Spawn::new(program) });
        let seen = run("6.12", w);
        let short = &seen[4];
        short.waited_ns as f64 / f64::from(short.switches)
    };
    let (short, default) = (waits(100_000), waits(0));
    assert!(short < 0.9 * default, "{short} ns with a short slice, {default} with the default");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// No endless task is ahead of or behind its share by more than the kernel's own bounds: a slice and a tick for
    /// EEVDF, a period and a tick for CFS.
    #[test]
    fn service_stays_near_the_ideal(
        nices in prop::collection::vec(-6i8..7, 2..7),
        version in prop::sample::select(RELEASES.to_vec()),
    ) {
        let mut w = Workload::default();
        for &nice in &nices {
            endless(&mut w, "hog", nice, vec![compute()]);
        }
        let seen = run(version, w);
        let weights: Vec<f64> = nices.iter().map(|&n| 1024.0 / 1.25f64.powi(i32::from(n))).collect();
        let total: f64 = weights.iter().sum();
        for (task, weight) in seen.iter().zip(&weights) {
            let ideal_ns = RUN_NS as f64 * weight / total;
            let off_ms = (task.ran_ns as f64 - ideal_ns).abs() / 1e6;
            // Weights are rounded to integers, which makes up to 0.3 %; ticks of 4 ms are the finest turn.
            let bound_ms = 0.004 * ideal_ns / 1e6 + 4.0 * (nices.len() as f64 + 1.0);
            prop_assert!(off_ms < bound_ms, "{version}: off by {off_ms} ms, bound {bound_ms}");
        }
    }
}
