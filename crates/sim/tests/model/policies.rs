//! Real-time policies beside the fair class under the model.

use crate::machines;
use crate::watch::{Seen, Watch};
use crate::workloads::release;
use machine::CpuSet;
use sim::Scenario;
use workload::{Op, Policy, Spawn, Spread, Work, Workload};

const RUN_NS: u64 = 4_000_000_000;

/// A task that takes `policy`, lets others take theirs, and then does `ops` for ever, on `cpu` if there is one.
fn task(w: &mut Workload, name: &str, policy: Policy, cpu: Option<usize>, ops: &[Op]) {
    let begins = Op::Sleep { mean_ns: 20e6, spread: Spread::Fixed };
    let mut all = vec![Op::SetPolicy(policy), begins];
    all.extend_from_slice(ops);
    all.push(Op::Loop { to: 2, times: 0 });
    let program = w.program(name, all);
    w.spawns.push(Spawn { affinity: cpu.map(CpuSet::single), ..Spawn::new(program) });
}

fn compute() -> Op {
    Op::Compute(Work::fixed(1e6))
}

/// What the tasks did, and how long the run was.
fn run(cpus: u32, version: &str, mut w: Workload) -> (Vec<Seen>, u64) {
    let machine = machines::smt(cpus, 1);
    // Who ends the run waits for nobody.
    let until = Op::Sleep { mean_ns: RUN_NS as f64, spread: Spread::Fixed };
    let ops = vec![Op::SetPolicy(Policy::Fifo { priority: 99 }), until, Op::Stop];
    let stop = w.program("stop", ops);
    w.spawns.push(Spawn::new(stop));
    let scenario = Scenario::new(&machine, &release(version), w).expect("a scenario");
    let mut watch = Watch::new(machine.cpus.len());
    let result = scenario.run_traced(3, &mut watch).expect("a run");
    watch.finish(result.end_ns);
    assert!(watch.wrong.is_empty(), "{:?}", &watch.wrong[..watch.wrong.len().min(5)]);
    (watch.tasks, result.end_ns)
}

fn share((seen, end_ns): &(Vec<Seen>, u64), name: &str) -> f64 {
    let ran = seen.iter().filter(|t| t.program == name).map(|t| t.ran_ns);
    ran.sum::<u64>() as f64 / *end_ns as f64
}

fn near(found: f64, expected: f64, by: f64, what: &str) {
    assert!((found - expected).abs() <= by, "{what}: {found}, expected {expected}");
}

/// `sched_rt_runtime_us`: fair tasks get a twentieth; an idle CPU keeps it for nobody up to 6.11, and lets the task run from
/// 6.12 on.
#[test]
fn fifo_leaves_a_twentieth() {
    for (version, alone) in [("6.1", 0.95), ("6.12", 1.0)] {
        let mut w = Workload::default();
        task(&mut w, "fifo", Policy::Fifo { priority: 10 }, Some(0), &[compute()]);
        near(share(&run(1, version, w.clone()), "fifo"), alone, 0.01, version);
        task(&mut w, "fair", Policy::Other, Some(0), &[compute()]);
        let seen = run(1, version, w);
        near(share(&seen, "fair"), 0.05, 0.006, version);
        near(share(&seen, "fifo"), 0.95, 0.006, version);
    }
}

/// Round-robin tasks of one priority share, and a less urgent one waits for both; it has what is never theirs.
#[test]
fn equals_take_turns_and_the_less_urgent_waits() {
    let mut w = Workload::default();
    for name in ["one", "two"] {
        task(&mut w, name, Policy::RoundRobin { priority: 20 }, Some(0), &[compute()]);
    }
    task(&mut w, "three", Policy::Fifo { priority: 10 }, Some(0), &[compute()]);
    let seen = run(1, "6.12", w);
    near(share(&seen, "one"), 0.5, 0.03, "one");
    near(share(&seen, "two"), 0.5, 0.03, "two");
    near(share(&seen, "three"), 0.0, 0.01, "three");
}

/// A woken real-time task runs at once, whatever runs there; a fair one waits for its turn.
#[test]
fn a_woken_real_time_task_preempts() {
    let waits = |policy: Policy| {
        let mut w = Workload::default();
        for _ in 0..3 {
            task(&mut w, "hog", Policy::Other, Some(0), &[compute()]);
        }
        let nap = Op::Sleep { mean_ns: 2e6, spread: Spread::Fixed };
        task(&mut w, "quick", policy, Some(0), &[compute(), nap]);
        let seen = run(1, "6.12", w);
        let quick = seen.0.iter().find(|t| t.program == "quick").expect("it ran");
        quick.waited_ns / u64::from(quick.switches)
    };
    let (fifo, fair) = (waits(Policy::Fifo { priority: 1 }), waits(Policy::Other));
    assert!(fifo < 10_000 && fair > 20 * fifo, "{fifo} and {fair} ns");
}

/// Two that are bound nowhere do not stay on one CPU, and fair tasks leave theirs: `find_lowest_rq`, `pull_rt_task`.
#[test]
fn real_time_tasks_spread_and_fair_ones_make_room() {
    let mut w = Workload::default();
    for _ in 0..2 {
        task(&mut w, "fifo", Policy::Fifo { priority: 10 }, None, &[compute()]);
    }
    for _ in 0..2 {
        task(&mut w, "fair", Policy::Other, None, &[compute()]);
    }
    let seen = run(4, "6.12", w);
    near(share(&seen, "fifo"), 2.0, 0.02, "fifo");
    near(share(&seen, "fair"), 2.0, 0.1, "fair");
}

/// A task may come back to the fair class.
#[test]
fn a_policy_is_for_as_long_as_it_is_asked_for() {
    let mut w = Workload::default();
    let half = Op::Compute(Work::fixed(1e8));
    let ops = [
        half.clone(),
        Op::SetPolicy(Policy::Other),
        half,
        Op::SetPolicy(Policy::Fifo { priority: 5 }),
    ];
    task(&mut w, "both", Policy::Fifo { priority: 5 }, Some(0), &ops);
    task(&mut w, "fair", Policy::Other, Some(0), &[compute()]);
    let seen = run(1, "6.1", w);
    // Half of its work alone, and half beside the other: a third of the time is the other's.
    near(share(&seen, "fair"), 1.0 / 3.0, 0.04, "fair");
}
