//! What the class remembers: histories of load, estimates of utilisation, slices, success rates.

use crate::fair::MIGRATION_COST_NS;
use crate::fair::balance::env::CpuIdle;
use crate::fair::testing::{averages, machine, running, scenario, waiting, world};
use crate::scenario::Scenario;

fn two_cpus(release: &str) -> Scenario {
    scenario(&machine("kunpeng920-1node", 2), release, &[("sched-cluster", false)])
}

/// `source_load` with `sd->busy_idx` (up to 5.2): load that has just come does not count yet for a busy CPU.
#[test]
fn balancing_goes_by_load_of_the_past_up_to_5_2() {
    for (release, balanced) in [("5.2", 1), ("5.3", 0)] {
        let s = two_cpus(release);
        let (mut w, mut fair) = world(&s);
        running(&mut w, &mut fair, 0);
        running(&mut w, &mut fair, 1);
        waiting(&mut w, &mut fair, 1);
        averages(&mut fair, 0, 1024, 1024, 1024);
        averages(&mut fair, 1, 4096, 1024, 4096);
        assert!(s.setup.topo.domains[0][0].busy_idx > 0, "{release}");
        fair.load_balance(&mut w, 0, 0, CpuIdle::Busy, &mut true);
        assert_eq!(w.counters.lb_not_idle.nobusyg, balanced, "{release}");
    }
}

/// The estimate after activations that used `utils`, the last of them with `runnable` tasks on the CPU; `fresh` tells
/// whether load tracking touched the task in between.
fn estimate(release: &str, utils: &[u64], runnable: u64, fresh: bool) -> u64 {
    let s = two_cpus(release);
    let (mut w, mut fair) = world(&s);
    let task = running(&mut w, &mut fair, 0);
    for &util in utils {
        let entity = &mut fair.entities[task.index()];
        (entity.avg.util_avg, entity.avg.runnable_avg) = (util, runnable * util);
        if fresh {
            entity.util_est.util_changed();
        }
        fair.util_est_update(&w, task);
    }
    fair.entities[task.index()].avg.util_avg = 0;
    fair.task_util_est(task)
}

/// `util_est_update` (`UTIL_EST_FASTUP`, 5.5): the average follows growth at once; it always falls by a quarter of the
/// difference.
#[test]
fn estimates_grow_at_once_from_5_5_on() {
    // From 0 to 400, then to 200: up to 5.4 the last, as 100 and (300 + 200) / 4 are less; since 400 and (1200 + 200) / 4.
    for (release, expected) in [("5.4", 200), ("5.5", 350), ("6.7", 350), ("6.12", 350)] {
        assert_eq!(estimate(release, &[400, 200], 1, true), expected, "{release}");
    }
}

/// `util_est_update`, 6.8: a task that waited for its CPU keeps its estimate.
#[test]
fn a_task_that_waited_keeps_its_estimate_from_6_8_on() {
    for (release, expected) in [("6.7", 350), ("6.8", 400), ("6.12", 400)] {
        assert_eq!(estimate(release, &[400, 200], 2, true), expected, "{release}");
    }
}

/// `UTIL_AVG_UNCHANGED`: an activation that load tracking did not see is none.
#[test]
fn an_activation_that_nobody_saw_leaves_the_estimate() {
    for release in ["5.5", "6.1", "6.12"] {
        assert_eq!(estimate(release, &[400, 200], 1, false), 400, "{release}");
    }
}

/// `util_est_update` of a task that used more than its CPU has notes nothing.
#[test]
fn more_than_the_cpu_has_is_not_noted() {
    for (release, expected) in [("6.1", 400), ("6.12", 400)] {
        assert_eq!(
            estimate(release, &[400, 1100], 1, true).min(1100),
            1100,
            "{release}: growth counts"
        );
        assert_eq!(estimate(release, &[2000, 1100], 1, true), 2000, "{release}");
        assert_eq!(
            estimate(release, &[400, 395], 1, true),
            expected,
            "{release}: below the margin"
        );
    }
}

/// `sched_slice` (`BASE_SLICE`, 5.13): however light, a task runs for the minimal granularity (1.5 ms with two CPUs).
#[test]
fn a_light_task_has_a_base_slice_from_5_13_on() {
    for (release, used_up) in [("5.12", true), ("5.13", false), ("6.5", false)] {
        let s = two_cpus(release);
        let (mut w, mut fair) = world(&s);
        let light = running(&mut w, &mut fair, 0);
        fair.reweight_task(&w, light, 19);
        let heavy = waiting(&mut w, &mut fair, 0);
        fair.reweight_task(&w, heavy, -20);
        w.advance(w.now_ns + 1_400_000);
        assert_eq!(fair.task_tick(&w, 0), used_up, "{release}");
        w.advance(w.now_ns + 200_000);
        assert!(fair.task_tick(&w, 0), "{release}");
    }
}

/// `NI_RANDOM` (6.19): newly idle balancing that never finds anything becomes rare.
#[test]
fn vain_newly_idle_balancing_becomes_rare_from_6_19_on() {
    for (release, rare) in [("6.12", false), ("6.18", false), ("6.19", true)] {
        let s = two_cpus(release);
        let (mut w, mut fair) = world(&s);
        running(&mut w, &mut fair, 1);
        let bound = waiting(&mut w, &mut fair, 1);
        w.tasks[bound.index()].allowed = "1".parse().unwrap();
        fair.rqs[0].avg_idle_ns = 100 * MIGRATION_COST_NS;
        let times = 10_000;
        for _ in 0..times {
            fair.overload = true;
            fair.newidle_balance(&mut w, 0);
        }
        let count = w.counters.lb_newly_idle.count;
        assert_eq!(count < times / 10, rare, "{release}: {count}");
        assert_eq!(count == times, !rare, "{release}: {count}");
    }
}
