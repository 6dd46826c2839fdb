//! When a domain is due, and what follows attempts that move nothing.

use crate::fair::balance::env::CpuIdle;
use crate::fair::testing::{averages, machine, running, scenario, waiting, world};
use crate::scenario::Scenario;
use crate::world::Request;

fn two_cpus(release: &str) -> Scenario {
    scenario(&machine("kunpeng920-1node", 2), release, &[("sched-cluster", false)])
}

/// `get_sd_balance_interval` (5.10): a busy CPU's interval is a tick short of a multiple, so that levels do not
/// come due together. Here 16 x 2 ms before it was 32 x 2 ms, in ticks of 4 ms.
#[test]
fn busy_intervals_are_odd_from_5_10_on() {
    for (release, busy) in [("5.9", 16), ("5.10", 7), ("6.12", 7)] {
        let s = two_cpus(release);
        let (w, fair) = world(&s);
        assert_eq!(s.setup.topo.domains[0][0].min_interval_ms, 2);
        // At most a tenth of a second for each online CPU.
        assert_eq!(fair.next_due(&w, 0, 0, CpuIdle::Busy), busy, "{release}");
        assert_eq!(fair.next_due(&w, 0, 0, CpuIdle::Idle), 1, "{release}");
    }
}

/// `load_balance` (5.1): newly idle balancing that finds nothing does not lengthen the interval.
#[test]
fn newly_idle_balancing_keeps_the_interval_from_5_1_on() {
    for (release, newly_idle_ms) in [("5.0", 4), ("5.1", 2), ("6.12", 2)] {
        let s = two_cpus(release);
        let after = |idle| {
            let (mut w, mut fair) = world(&s);
            fair.load_balance(&mut w, 0, 0, idle, &mut true);
            fair.rqs[0].domains[0].balance_interval_ms
        };
        assert_eq!(after(CpuIdle::NewlyIdle), newly_idle_ms, "{release}");
        assert_eq!(after(CpuIdle::Idle), 4, "{release}");
    }
}

/// Pushes that a busy CPU 0 asks for after `failed` attempts, with one task there and, on CPU 1, a running one that
/// may move and a waiting one that may not.
fn pushes(release: &str, failed: u32) -> usize {
    let s = two_cpus(release);
    let (mut w, mut fair) = world(&s);
    running(&mut w, &mut fair, 0);
    running(&mut w, &mut fair, 1);
    let bound = waiting(&mut w, &mut fair, 1);
    w.tasks[bound.index()].allowed = "1".parse().unwrap();
    averages(&mut fair, 0, 1024, 1024, 1024);
    averages(&mut fair, 1, 3072, 1024, 2048);
    fair.rqs[0].domains[0].nr_balance_failed = failed;
    fair.load_balance(&mut w, 0, 0, CpuIdle::Busy, &mut true);
    assert_eq!(w.counters.lb_not_idle.failed, 1, "{release}");
    let push = Request::Push { from: 1, to: 0 };
    w.requests.iter().filter(|&&r| r == push).count()
}

/// `need_active_balance`: failures push the running task; from 5.13 on only where tasks are uneven, not load
/// (`imbalanced_active_balance`).
#[test]
fn an_imbalance_of_load_pushes_nothing_from_5_13_on() {
    assert_eq!(pushes("5.12", 10), 1);
    assert_eq!(pushes("5.12", 2), 0);
    assert_eq!(pushes("5.13", 10), 0);
    assert_eq!(pushes("6.12", 10), 0);
}
