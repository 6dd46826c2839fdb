//! CPUs that differ in capacity: where woken tasks go and which running ones are pulled.

use crate::class::Class;
use crate::fair::balance::env::CpuIdle;
use crate::fair::place::wakeup::WakeUp;
use crate::fair::testing::{asleep, averages, machine, running, scenario, waiting, world};
use crate::scenario::Scenario;
use crate::topology::Cpu;
use crate::world::{NohzKick, Request};
use kernel::SdFlags;
use machine::Machine;

/// Kunpeng 920 with four small CPUs, the last of them less small, before four big ones; the pattern repeats.
fn big_and_small(name: &str, cpus: usize) -> Machine {
    let mut machine = machine(name, cpus);
    for (cpu, at) in machine.cpus.iter_mut().zip((0..8).cycle()) {
        cpu.capacity = Some([512, 512, 512, 700, 1024, 1024, 1024, 1024][at]);
    }
    machine
}

/// The level of `sd_asym_cpucapacity`, where all capacities are in sight.
fn asym_level(scenario: &Scenario, cpu: Cpu) -> usize {
    let chain = &scenario.setup.topo.domains[cpu as usize];
    chain.iter().position(|d| d.flags.contains(SdFlags::ASYM_CPUCAPACITY)).unwrap()
}

/// What the balancer asks for when the idle `to` looks for a task of utilisation `util` that runs on `from`.
fn pulls(release: &str, from: Cpu, to: Cpu, util: u64) -> Vec<Request> {
    let s = scenario(&big_and_small("kunpeng920-1node", 8), release, &[("sched-cluster", true)]);
    let (mut w, mut fair) = world(&s);
    let task = running(&mut w, &mut fair, from);
    fair.entities[task.index()].avg.util_avg = util;
    fair.load_balance(&mut w, to, asym_level(&s, to), CpuIdle::Idle, &mut true);
    w.requests
}

/// `group_misfit_task` (5.5; `update_sd_pick_busiest`, `need_active_balance`): a running task that uses more than 80 %
/// of a small CPU is pushed to an idle big one at the first attempt, and nothing goes to CPUs that are no bigger.
#[test]
fn a_task_too_big_for_its_cpu_is_pulled_to_a_bigger_one() {
    for release in ["5.5", "6.1", "6.12"] {
        assert_eq!(pulls(release, 0, 4, 410), [Request::Push { from: 0, to: 4 }], "{release}");
        assert_eq!(pulls(release, 0, 4, 409), [], "{release}");
        assert_eq!(pulls(release, 4, 0, 1024), [], "{release}");
    }
}

/// `update_sd_pick_busiest`: a group whose misfit tasks the destination cannot help is left alone, though one of them
/// waits.
#[test]
fn a_smaller_cpu_takes_no_misfit_task() {
    for release in ["5.5", "6.1", "6.9"] {
        let s =
            scenario(&big_and_small("kunpeng920-1node", 8), release, &[("sched-cluster", true)]);
        let (mut w, mut fair) = world(&s);
        let tasks = [running(&mut w, &mut fair, 4), waiting(&mut w, &mut fair, 4)];
        tasks.iter().for_each(|t| fair.entities[t.index()].avg.util_avg = 1000);
        let moved = fair.load_balance(&mut w, 0, asym_level(&s, 0), CpuIdle::Idle, &mut true);
        assert_eq!(moved, 0, "{release}");
        assert_eq!(w.counters.lb_idle.nobusyg, 1, "{release}");
    }
}

/// `update_sd_pick_busiest`: nor does a group help that has nothing to spare (`group_has_spare`).
#[test]
fn a_full_group_takes_no_misfit_task() {
    for release in ["5.5", "6.1", "6.12"] {
        let s =
            scenario(&big_and_small("kunpeng920-1node", 8), release, &[("sched-cluster", true)]);
        let (mut w, mut fair) = world(&s);
        for cpu in [0, 4, 5, 6, 7] {
            let task = running(&mut w, &mut fair, cpu);
            fair.entities[task.index()].avg.util_avg = 500;
            averages(&mut fair, cpu, 1024, 1024, 1024);
        }
        fair.load_balance(&mut w, 4, asym_level(&s, 4), CpuIdle::Busy, &mut true);
        assert_eq!((w.requests, w.counters.lb_not_idle.nobusyg), (vec![], 1), "{release}");
    }
}

/// `update_sd_pick_busiest`: tasks that are not too many for the bigger CPUs of their group are left there.
#[test]
fn a_smaller_cpu_leaves_tasks_to_bigger_ones() {
    for release in ["5.5", "6.1", "6.12"] {
        let s =
            scenario(&big_and_small("kunpeng920-1node", 8), release, &[("sched-cluster", true)]);
        let (mut w, mut fair) = world(&s);
        for cpu in [4, 5, 6] {
            running(&mut w, &mut fair, cpu);
        }
        waiting(&mut w, &mut fair, 4);
        let moved = fair.load_balance(&mut w, 0, asym_level(&s, 0), CpuIdle::Idle, &mut true);
        assert_eq!((moved, w.counters.lb_idle.nobusyg), (0, 1), "{release}");
    }
}

/// `load_balance` (6.10): a misfit task counts neither as a failed attempt nor for the interval.
#[test]
fn misfit_tasks_leave_failures_alone_from_6_10_on() {
    let machine = big_and_small("kunpeng920-1node", 8);
    for (release, failures) in [("6.9", 1), ("6.10", 0)] {
        let s = scenario(&machine, release, &[]);
        let (mut w, mut fair) = world(&s);
        let task = running(&mut w, &mut fair, 0);
        fair.entities[task.index()].avg.util_avg = 500;
        let level = asym_level(&s, 4);
        fair.load_balance(&mut w, 4, level, CpuIdle::Idle, &mut true);
        assert_eq!(w.requests.len(), 1, "{release}");
        assert_eq!(fair.rqs[4].domains[level].nr_balance_failed, failures, "{release}");
    }
}

/// `update_misfit_status` (4.20 on) goes by `task_util_est`: a task that slept is as big as it was.
#[test]
fn misfit_goes_by_the_estimated_utilisation() {
    let s = scenario(&big_and_small("kunpeng920-1node", 8), "6.1", &[]);
    let (mut w, mut fair) = world(&s);
    let task = running(&mut w, &mut fair, 0);
    fair.entities[task.index()].avg.util_avg = 1000;
    fair.util_est_update(&w, task);
    fair.entities[task.index()].avg.util_avg = 10;
    assert!(!fair.task_fits_cpu(&w, task, 0));
    // `task_h_load` divides by the queue's load and one.
    assert_eq!(fair.misfit_task_load(&w, 0), 1023);
    w.tasks[task.index()].allowed = "0".parse().unwrap();
    assert_eq!(fair.misfit_task_load(&w, 0), 0);
}

/// Whether the tick of `cpu`, on which a task of utilisation `util` runs alone, makes idle CPUs balance.
fn kicks(release: &str, cpu: Cpu, util: u64) -> bool {
    let s = scenario(&big_and_small("kunpeng920-1node", 8), release, &[]);
    let (mut w, mut fair) = world(&s);
    for idle in (0..8).filter(|&c| c != cpu) {
        fair.idle(&mut w, idle, true);
    }
    let task = running(&mut w, &mut fair, cpu);
    fair.entities[task.index()].avg.util_avg = util;
    fair.nohz_balancer_kick(&mut w, cpu);
    w.requests.iter().any(|r| matches!(r, Request::Kick(_, NohzKick::Balance)))
}

/// `check_misfit_status` (4.20 on; 6.10 in `update_misfit_status`): an idle CPU is asked for help where there is
/// a bigger CPU, however big the task on the biggest.
#[test]
fn a_big_task_on_the_biggest_cpu_kicks_nobody() {
    for release in ["5.5", "6.1", "6.12"] {
        assert!(kicks(release, 0, 500), "{release}");
        assert!(!kicks(release, 0, 400), "{release}");
        assert!(!kicks(release, 4, 1000), "{release}");
    }
}

/// Where `select_idle_sibling` sends a task of utilisation `util` with `target`, the CPUs `busy` being taken.
fn woken_at(s: &Scenario, target: Cpu, util: u64, busy: impl IntoIterator<Item = Cpu>) -> Cpu {
    let (mut w, mut fair) = world(s);
    let task = asleep(&mut w, &mut fair, target);
    fair.entities[task.index()].avg.util_avg = util;
    busy.into_iter().for_each(|c| w.cpus[c as usize].nr_running = 1);
    fair.llcs[0].nr_idle_scan = 8;
    let wake = WakeUp { cpu: target, prev: target, sync: false, waker: None };
    fair.select_idle_sibling(&mut w, task, wake, target)
}

fn woken(s: &Scenario, util: u64, busy: impl IntoIterator<Item = Cpu>) -> Cpu {
    woken_at(s, 0, util, busy)
}

/// `asym_fits_cpu` and `select_idle_capacity` (6.1): the first idle CPU from the target on that the task fits, else
/// the idle one with most capacity, else the target.
#[test]
fn a_woken_task_goes_to_an_idle_cpu_that_it_fits() {
    for release in ["5.10", "6.1", "6.12"] {
        let s = scenario(&big_and_small("kunpeng920-1node", 8), release, &[]);
        assert_eq!(woken(&s, 400, []), 0, "{release}");
        assert_eq!(woken(&s, 450, []), 3, "{release}");
        assert_eq!(woken(&s, 600, [4]), 5, "{release}");
        assert_eq!(woken(&s, 600, 4..8), 3, "{release}");
        assert_eq!(woken(&s, 400, 0..8), 0, "{release}");
        assert_eq!(woken_at(&s, 6, 600, [6]), 7, "{release}");
        assert_eq!(woken_at(&s, 6, 600, [6, 7]), 4, "{release}");
    }
}

/// `select_idle_sibling` searches `sd_asym_cpucapacity`: the lowest domain with all capacities
/// (`SD_ASYM_CPUCAPACITY_FULL`, 5.14), here the node.
#[test]
fn the_search_for_capacity_ends_where_all_capacities_are_in_sight() {
    for release in ["5.10", "5.14", "6.12"] {
        let s = scenario(&big_and_small("kunpeng920-2node", 48), release, &[]);
        assert_eq!(woken(&s, 600, 0..20), 20, "{release}");
        assert_eq!(woken(&s, 600, 0..24), 0, "{release}");
    }
    // Where a node has one capacity the search goes on to the other.
    let mut machine = big_and_small("kunpeng920-2node", 48);
    machine.cpus[..24].iter_mut().for_each(|c| c.capacity = Some(512));
    machine.cpus[24..].iter_mut().for_each(|c| c.capacity = Some(1024));
    assert_eq!(woken(&scenario(&machine, "6.12", &[]), 600, []), 24);
}
