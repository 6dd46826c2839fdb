//! When newly idle balancing pays (`newidle_balance`).

use crate::class::Class;
use crate::fair::testing::{machine, running, scenario, waiting, world};
use crate::fair::{Fair, MIGRATION_COST_NS};
use crate::world::World;

/// Attempts of CPU 0, whose idle times average `avg_idle_ns`, with a task waiting on CPU 1.
fn attempts(release: &str, avg_idle_ns: u64, setup: impl Fn(&mut World, &mut Fair)) -> u64 {
    let s = scenario(&machine("kunpeng920-1node", 2), release, &[("sched-cluster", false)]);
    let (mut w, mut fair) = world(&s);
    running(&mut w, &mut fair, 1);
    waiting(&mut w, &mut fair, 1);
    fair.rqs[0].avg_idle_ns = avg_idle_ns;
    setup(&mut w, &mut fair);
    fair.newidle_balance(&mut w, 0);
    w.counters.lb_newly_idle.count
}

/// `newidle_balance` (5.16): idle times have to cover what the lowest domain costs, not the fixed migration cost.
#[test]
fn short_idle_times_are_used_from_5_16_on() {
    let nothing = |_: &mut World, _: &mut Fair| {};
    let dear =
        |_: &mut World, fair: &mut Fair| fair.rqs[0].domains[0].max_newidle_cost_ns = 100_000;
    assert_eq!(attempts("5.15", MIGRATION_COST_NS - 1, nothing), 0);
    assert_eq!(attempts("5.15", MIGRATION_COST_NS, nothing), 1);
    for release in ["5.16", "6.1", "6.12"] {
        assert_eq!(attempts(release, 100_000, dear), 1, "{release}");
        assert_eq!(attempts(release, 99_999, dear), 0, "{release}");
    }
}

/// `rd->overload`: without a CPU that has two tasks nobody looks.
#[test]
fn nobody_looks_where_no_cpu_has_two_tasks() {
    let calm = |_: &mut World, fair: &mut Fair| fair.overload = false;
    assert_eq!(attempts("6.12", 10 * MIGRATION_COST_NS, calm), 0);
}

/// `add_nr_running` of the stopper's class: where it takes a running task off, its CPU has two tasks for that moment.
#[test]
fn a_stopper_beside_a_task_makes_newly_idle_cpus_look() {
    let stopped = |at| {
        move |w: &mut World, fair: &mut Fair| {
            fair.overload = false;
            fair.stopper_wakes(w, at);
        }
    };
    assert_eq!(attempts("6.12", 10 * MIGRATION_COST_NS, stopped(1)), 1);
    assert_eq!(attempts("6.12", 10 * MIGRATION_COST_NS, stopped(0)), 0);
}

/// `update_newidle_cost` (5.16): a cost that rose stays for a second before it decays; before, it decayed by its own
/// clock.
#[test]
fn a_cost_that_rose_stays_for_a_second_from_5_16_on() {
    for (release, at_once) in [("5.15", true), ("5.16", false), ("6.12", false)] {
        let s = scenario(&machine("kunpeng920-1node", 2), release, &[("sched-cluster", false)]);
        let (mut w, mut fair) = world(&s);
        running(&mut w, &mut fair, 1);
        waiting(&mut w, &mut fair, 1);
        fair.rqs[0].avg_idle_ns = MIGRATION_COST_NS;
        fair.newidle_balance(&mut w, 0);
        let cost = |f: &Fair| f.rqs[0].domains[0].max_newidle_cost_ns;
        let before = cost(&fair);
        assert!(before > 0, "{release}");
        assert_eq!(fair.decay_newidle_cost(&w, 0, 0), at_once, "{release}");
        w.advance(w.now_ns + 1_004_000_000);
        assert!(fair.decay_newidle_cost(&w, 0, 0), "{release}");
        assert!(cost(&fair) < before, "{release}");
    }
}
