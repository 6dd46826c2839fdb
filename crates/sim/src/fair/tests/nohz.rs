//! Balancing for idle CPUs (`_nohz_idle_balance`, `nohz_newidle_balance`).

use crate::class::Class;
use crate::fair::testing::{averages, machine, running, scenario, waiting, world};
use crate::scenario::Scenario;
use crate::world::NohzKick;

fn four_cpus(release: &str) -> Scenario {
    scenario(&machine("kunpeng920-1node", 4), release, &[("sched-cluster", false)])
}

/// `_nohz_idle_balance` (5.12): CPU 2, which balances for the idle ones, begins behind itself; before, with the first.
/// Whoever is first gets the task that waits on CPU 1.
#[test]
fn the_balancing_cpu_begins_behind_itself_from_5_12_on() {
    for (release, first) in [("5.11", 0), ("5.12", 3), ("6.12", 3)] {
        let s = four_cpus(release);
        let (mut w, mut fair) = world(&s);
        running(&mut w, &mut fair, 1);
        let task = waiting(&mut w, &mut fair, 1);
        averages(&mut fair, 1, 2048, 1024, 2048);
        for idle in [0, 2, 3] {
            fair.idle(&mut w, idle, true);
        }
        fair.nohz_idle_balance(&mut w, 2, NohzKick::Balance, true);
        assert_eq!(w.tasks[task.index()].cpu, first, "{release}");
    }
}

/// `_nohz_idle_balance` ends with the balancing CPU itself.
#[test]
fn the_balancing_cpu_takes_what_the_others_left() {
    let s = four_cpus("6.12");
    let (mut w, mut fair) = world(&s);
    running(&mut w, &mut fair, 1);
    let task = waiting(&mut w, &mut fair, 1);
    w.tasks[task.index()].allowed = "1-2".parse().unwrap();
    averages(&mut fair, 1, 2048, 1024, 2048);
    for idle in [0, 2, 3] {
        fair.idle(&mut w, idle, true);
    }
    fair.nohz_idle_balance(&mut w, 2, NohzKick::Balance, true);
    assert_eq!(w.tasks[task.index()].cpu, 2);
}

/// `newidle_balance` (5.12): blocked load of idle CPUs is brought up to date after balancing that found nothing;
/// before, only where balancing did not pay.
#[test]
fn blocked_load_ages_after_newly_idle_balancing_from_5_12_on() {
    for (release, pays, after) in [
        ("5.11", true, 1024),
        ("5.11", false, 0),
        ("5.12", true, 0),
        ("5.12", false, 0),
        ("6.12", true, 0),
    ] {
        let s = four_cpus(release);
        let (mut w, mut fair) = world(&s);
        fair.update_blocked_averages(&w, 3);
        averages(&mut fair, 3, 1024, 1024, 1024);
        fair.idle(&mut w, 3, true);
        w.advance(w.now_ns + 3_000_000_000);
        fair.overload = pays;
        fair.newidle_balance(&mut w, 0);
        assert_eq!(fair.queues[3].avg.load_avg, after, "{release}, {pays}");
    }
}
