//! Mutexes, conditions, barriers, timers, nice values; runs that cannot go on.

use crate::machines;
use crate::watch::Watch;
use crate::workloads::{scenario, stop_at, tasks, with_background};
use machine::{CpuSet, Machine};
use proptest::prelude::*;
use sim::{RunResult, SimError};
use workload::{Better, Metric, Missed, Op, Reading, Spread, Work, Workload};

fn constant(machine: &Machine, name: &str) -> f64 {
    machine.constants.value(name).expect("a constant of the machine")
}

fn compute(cycles: f64) -> Op {
    Op::Compute(Work::fixed(cycles))
}

fn sleep_ns(mean_ns: f64) -> Op {
    Op::Sleep { mean_ns, spread: Spread::Fixed }
}

fn watched(machine: &Machine, w: Workload) -> (RunResult, Watch) {
    let mut watch = Watch::new(machine.cpus.len());
    let result = scenario(machine, w).run_traced(1, &mut watch).expect("a run that ends");
    watch.finish(result.end_ns);
    assert!(watch.wrong.is_empty(), "{:?}", &watch.wrong[..watch.wrong.len().min(5)]);
    (result, watch)
}

fn exited(watch: &Watch, program: &str) -> usize {
    watch.tasks.iter().filter(|t| t.program == program && t.exited).count()
}

/// Adds a metric: seconds between two marks, the first of which it returns with the last.
fn seconds(w: &mut Workload) -> (Op, Op) {
    let (from, to) = (w.mark(), w.mark());
    w.metrics.push(Metric {
        name: "seconds".to_string(),
        unit: "s".to_string(),
        better: Better::Lower,
        reading: Reading::Seconds { from, to, scale: 1.0 },
    });
    (Op::Mark(from), Op::Mark(to))
}

/// Two tasks on two big cores that take one mutex in turn; the metric is the time of the first.
pub fn locked_pair(_: &Machine) -> Workload {
    let mut w = Workload::default();
    let lock = w.lock();
    let (from, to) = seconds(&mut w);
    let body = [Op::Lock(lock), compute(3_000.0), Op::Unlock(lock), compute(10_000.0)];
    let mut first = vec![from];
    first.extend(body.clone());
    first.extend([Op::Loop { to: 1, times: 2_000 }, to, Op::Stop]);
    tasks(&mut w, "first", 1, &first, Some(CpuSet::single(0)));
    let mut second = body.to_vec();
    second.push(Op::Loop { to: 0, times: 0 });
    tasks(&mut w, "second", 1, &second, Some(CpuSet::single(8)));
    w
}

#[test]
fn a_free_mutex_costs_two_atomics() {
    let machine = machines::smt(1, 1);
    let mut w = Workload::default();
    let lock = w.lock();
    let (from, to) = seconds(&mut w);
    let times = 10_000;
    let ops = [
        from,
        Op::Lock(lock),
        compute(1_000.0),
        Op::Unlock(lock),
        Op::Loop { to: 1, times },
        to,
        Op::Stop,
    ];
    tasks(&mut w, "alone", 1, &ops, None);
    let ghz = constant(&machine, "nominal_khz") / 1e6;
    let round_ns = 2.0 * constant(&machine, "atomic_ns") + 1_000.0 / ghz;
    let expected = round_ns * f64::from(times) / 1e9;
    let found = scenario(&machine, w).run(1).expect("a run").metrics[0];
    // Ticks, and the whole ns at which steps end.
    assert!((found / expected - 1.0).abs() < 0.01, "{found}, expected {expected}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    /// The watch notes a second holder; and sections under a mutex add up.
    #[test]
    fn a_mutex_has_one_holder(tasks_nr in 1usize..12, inside in 1.0f64..100_000.0, outside in 1.0f64..100_000.0, seed in 0u64..100) {
        let machine = machines::smt(2, 4);
        let mut w = Workload::default();
        let lock = w.lock();
        let times = 50;
        let ops = [Op::Lock(lock), compute(inside), Op::Unlock(lock), compute(outside), Op::Loop { to: 0, times }];
        tasks(&mut w, "task", tasks_nr, &ops, None);
        stop_at(&mut w, 500_000_000);
        let mut watch = Watch::new(machine.cpus.len());
        let result = scenario(&machine, w).run_traced(seed, &mut watch).expect("a run");
        watch.finish(result.end_ns);
        prop_assert!(watch.wrong.is_empty(), "{:?}", watch.wrong);
        prop_assert_eq!(exited(&watch, "task"), tasks_nr);
    }
}

#[test]
fn a_signal_wakes_one_and_a_broadcast_all() {
    let machine = machines::smt(2, 2);
    for (how, expected) in [(Op::Signal as fn(_) -> Op, 1), (Op::Broadcast as fn(_) -> Op, 6)] {
        let mut w = Workload::default();
        let (lock, cond) = (w.lock(), w.cond());
        let waiter = [Op::Lock(lock), Op::Wait { cond, lock }, compute(1e5), Op::Unlock(lock)];
        tasks(&mut w, "waiter", 6, &waiter, None);
        tasks(&mut w, "waker", 1, &[sleep_ns(5e6), how(cond)], None);
        stop_at(&mut w, 20_000_000);
        let (_, watch) = watched(&machine, w);
        assert_eq!(exited(&watch, "waiter"), expected);
    }
}

#[test]
fn a_barrier_opens_when_the_last_has_come() {
    let machine = machines::smt(2, 2);
    for (stop_ns, expected) in [(9_000_000, 0), (12_000_000, 7)] {
        let mut w = Workload::default();
        let barrier = w.barrier(7);
        tasks(&mut w, "party", 6, &[compute(5_000.0), Op::Barrier(barrier)], None);
        tasks(&mut w, "party", 1, &[sleep_ns(10e6), Op::Barrier(barrier)], None);
        stop_at(&mut w, stop_ns);
        let (_, watch) = watched(&machine, w);
        assert_eq!(exited(&watch, "party"), expected, "at {stop_ns} ns");
    }
}

#[test]
fn a_barrier_serves_many_rounds() {
    let machine = machines::smt(2, 2);
    let mut w = Workload::default();
    let barrier = w.barrier(5);
    let work = Op::Compute(Work { cycles: 20_000.0, spread: Spread::Exponential });
    tasks(&mut w, "party", 5, &[work, Op::Barrier(barrier), Op::Loop { to: 0, times: 200 }], None);
    stop_at(&mut w, 200_000_000);
    let (_, watch) = watched(&machine, w);
    assert_eq!(exited(&watch, "party"), 5);
}

#[test]
fn periodic_timers_keep_or_restart_their_schedule() {
    let machine = machines::smt(1, 1);
    let late = constant(&machine, "nominal_khz") / 1e6 * 3.5e6;
    // The work takes 3.5 ms; then four periods of 1 ms, of which three are over, or all are to come.
    for (missed, expected_ms) in [(Missed::CatchUp, 4.0), (Missed::Restart, 6.5)] {
        let mut w = Workload::default();
        let timer = w.timer();
        let (from, to) = seconds(&mut w);
        let wait = Op::TimerWait { timer, period_ns: 1_000_000, spread: Spread::Fixed, missed };
        // The first wait starts the periods; the next comes 3.5 ms late, then two or three more.
        let ops = [
            wait.clone(),
            from,
            compute(late),
            wait.clone(),
            wait.clone(),
            wait.clone(),
            wait,
            to,
            Op::Stop,
        ];
        tasks(&mut w, "periodic", 1, &ops, None);
        let found_ms = scenario(&machine, w).run(1).expect("a run").metrics[0] * 1e3;
        assert!((found_ms - expected_ms).abs() < 0.05, "{missed:?}: {found_ms} ms");
    }
}

#[test]
fn time_goes_by_weight() {
    let machine = machines::smt(1, 1);
    for later in [false, true] {
        let mut w = Workload::default();
        let spin = [compute(1e5), Op::Loop { to: 0, times: 0 }];
        tasks(&mut w, "nice0", 1, &spin, None);
        if later {
            let ops = [Op::SetNice(5), compute(1e5), Op::Loop { to: 1, times: 0 }];
            tasks(&mut w, "nice5", 1, &ops, None);
        } else {
            tasks(&mut w, "nice5", 1, &spin, None);
            w.spawns[1].nice = 5;
        }
        stop_at(&mut w, 3_000_000_000);
        let (_, watch) = watched(&machine, w);
        let ran = |name: &str| {
            let task = watch.tasks.iter().find(|t| t.program == name).expect("a task");
            task.ran_ns as f64
        };
        // sched_prio_to_weight: 1024 and 335.
        let ratio = ran("nice0") / ran("nice5");
        assert!((ratio / (1024.0 / 335.0) - 1.0).abs() < 0.03, "{ratio}");
    }
}

#[test]
fn who_yields_lets_the_other_run() {
    let machine = machines::smt(1, 1);
    let mut w = Workload::default();
    let ops = [compute(1_000.0), Op::Yield, Op::Loop { to: 0, times: 1_000 }];
    tasks(&mut w, "polite", 2, &ops, None);
    stop_at(&mut w, 100_000_000);
    let (result, _) = watched(&machine, w);
    assert!(result.counters.switches > 1_800, "{} switches", result.counters.switches);
}

fn error(w: Workload) -> SimError {
    let machine = machines::smt(1, 2);
    scenario(&machine, with_background(&machine, w)).run(1).expect_err("a run that cannot go on")
}

#[test]
fn a_deadlock_is_named_though_daemons_run() {
    let mut w = Workload::default();
    let (a, b) = (w.lock(), w.lock());
    for (first, second) in [(a, b), (b, a)] {
        let ops = [Op::Lock(first), sleep_ns(1e6), Op::Lock(second)];
        tasks(&mut w, "philosopher", 1, &ops, None);
    }
    let message = error(w).to_string();
    let expected = "task 0 `philosopher` waits for mutex 1 held by task 1, \
                    task 1 `philosopher` waits for mutex 0 held by task 0";
    assert!(message.ends_with(expected), "{message}");
}

#[test]
fn a_loop_without_time_is_an_error() {
    let mut w = Workload::default();
    tasks(&mut w, "idler", 1, &[compute(10.0), Op::Stamp, Op::Loop { to: 1, times: 0 }], None);
    match error(w) {
        SimError::Endless { program, step } => {
            assert_eq!(program, "idler");
            assert!((1..=2).contains(&step), "{step}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn steps_that_a_task_may_not_do_are_errors() {
    for (op, expected) in [
        (Op::Unlock(workload::LockId(0)), "program `wrong`, step 0: found a mutex"),
        (Op::Reply, "program `wrong`, step 0: found a reply without a request"),
    ] {
        let mut w = Workload::default();
        w.lock();
        tasks(&mut w, "wrong", 1, &[op], None);
        let message = error(w).to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}

/// Seconds that a parent of `vfork` sleeps whose child does `child`.
fn until_loaded(child: Vec<Op>) -> f64 {
    let mut w = Workload::default();
    let (from, to) = seconds(&mut w);
    let child = w.program("child", child);
    let parent = [from, Op::Fork(child), Op::WaitExec, to, Op::WaitChildren, Op::Stop];
    tasks(&mut w, "parent", 1, &parent, None);
    let (result, watch) = watched(&machines::smt(2, 2), w);
    assert_eq!(exited(&watch, "child"), 1);
    result.metrics[0]
}

#[test]
fn a_parent_of_vfork_sleeps_until_its_child_has_loaded_or_is_gone() {
    let cycles_per_ms = constant(&machines::smt(2, 2), "nominal_khz");
    let ms = |n: f64| compute(n * cycles_per_ms);
    let loads = until_loaded(vec![ms(1.0), Op::Exec, ms(5.0)]);
    assert!((0.0009..0.002).contains(&loads), "{loads}");
    let gone = until_loaded(vec![ms(1.0), ms(5.0)]);
    assert!((0.0055..0.0075).contains(&gone), "{gone}");
}
