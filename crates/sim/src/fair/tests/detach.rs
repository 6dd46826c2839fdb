//! Which waiting tasks move (`detach_tasks`, `can_migrate_task`).

use crate::fair::balance::env::{CpuIdle, Env, Migration};
use crate::fair::testing::{machine, running, scenario, waiting, world};
use crate::fair::{Fair, MIGRATION_COST_NS};
use crate::world::{TaskId, World};
use kernel::SdFlags;

/// Tasks that an idle CPU 0 takes from CPU 1, where one runs and one waits, at the level that shares the LLC, within
/// `imbalance` of `migration` after so many failed attempts.
fn taken(
    release: &str,
    migration: Migration,
    imbalance: i64,
    failed: u32,
    setup: impl Fn(&World, &mut Fair, TaskId),
) -> u32 {
    let s = scenario(&machine("kunpeng920-1node", 2), release, &[("sched-cluster", false)]);
    let (mut w, mut fair) = world(&s);
    running(&mut w, &mut fair, 1);
    let task = waiting(&mut w, &mut fair, 1);
    setup(&w, &mut fair, task);
    fair.rqs[0].domains[0].nr_balance_failed = failed;
    let mut env = Env::new(&s.setup.topo.domains[0][0], 0, 0, CpuIdle::Idle);
    assert!(env.domain.flags.contains(SdFlags::SHARE_LLC));
    (env.migration_type, env.imbalance) = (migration, imbalance);
    fair.detach_tasks(&mut w, &mut env, 1)
}

fn nothing(_: &World, _: &mut Fair, _: TaskId) {}

/// `detach_tasks`: up to 5.9 a task of more than twice the imbalance moves once attempts have failed as often as the
/// domain tolerates (`cache_nice_tries`, 1); from 5.10 on each failure halves what it counts.
#[test]
fn failed_attempts_make_loads_smaller_from_5_10_on() {
    let moves = |release, failed| taken(release, Migration::Load, 100, failed, nothing) == 1;
    assert!(!moves("5.9", 1) && moves("5.9", 2));
    // A task of 1024 counts 1023 (`task_h_load`): 1023 >> 3 is more than 100, 1023 >> 4 is not.
    assert!(!moves("5.10", 3) && moves("5.10", 4));
    assert!(!moves("6.12", 3) && moves("6.12", 4));
    // Without a failure: half of it up to 5.9, all of it since.
    let whole = |release, imbalance| taken(release, Migration::Load, imbalance, 0, nothing);
    assert_eq!((whole("5.9", 510), whole("5.9", 511)), (0, 1));
    assert_eq!((whole("5.10", 1022), whole("5.10", 1023)), (0, 1));
}

/// `detach_tasks` counts utilisation as `task_util_est` (5.5).
#[test]
fn utilisation_that_moves_is_the_estimated_one() {
    let remembered = |w: &World, fair: &mut Fair, task: TaskId| {
        fair.entities[task.index()].avg.util_avg = 600;
        fair.util_est_update(w, task);
        fair.entities[task.index()].avg.util_avg = 10;
    };
    for release in ["5.5", "5.10", "6.1", "6.12"] {
        assert_eq!(taken(release, Migration::Util, 599, 0, remembered), 0, "{release}");
        assert_eq!(taken(release, Migration::Util, 600, 0, remembered), 1, "{release}");
    }
}

/// `detach_task`, `attach_task`: a task's estimate goes with it.
#[test]
fn the_estimate_leaves_with_its_task() {
    let s = scenario(&machine("kunpeng920-1node", 2), "6.12", &[("sched-cluster", false)]);
    let (mut w, mut fair) = world(&s);
    running(&mut w, &mut fair, 1);
    let task = waiting(&mut w, &mut fair, 1);
    fair.util_est_dequeue(1, task);
    fair.entities[task.index()].avg.util_avg = 600;
    fair.util_est_update(&w, task);
    fair.util_est_enqueue(1, task);
    assert_eq!((fair.queues[0].util_est, fair.queues[1].util_est), (0, 600));
    let mut env = Env::new(&s.setup.topo.domains[0][0], 0, 0, CpuIdle::Idle);
    (env.migration_type, env.imbalance) = (Migration::Task, 1);
    fair.rqs[0].domains[0].nr_balance_failed = 9;
    assert_eq!(fair.detach_tasks(&mut w, &mut env, 1), 1);
    assert_eq!((fair.queues[0].util_est, fair.queues[1].util_est), (600, 0));
}

/// `task_hot`: what ran within the migration cost stays until attempts have failed often enough.
#[test]
fn a_cache_hot_task_stays_until_attempts_have_failed() {
    let ran = |ago_ns: u64| {
        move |w: &World, fair: &mut Fair, task: TaskId| {
            fair.entities[task.index()].exec_start_ns = w.now_ns - ago_ns;
        }
    };
    let moves = |failed, ago_ns| taken("6.1", Migration::Task, 1, failed, ran(ago_ns)) == 1;
    assert!(!moves(1, MIGRATION_COST_NS - 1));
    assert!(moves(1, MIGRATION_COST_NS));
    assert!(moves(2, MIGRATION_COST_NS - 1));
}

/// `task_hot` (5.10): siblings share their caches, so nothing is hot between them.
#[test]
fn nothing_is_hot_between_siblings_from_5_10_on() {
    for (release, moved) in [("5.9", 0), ("5.10", 1), ("6.12", 1)] {
        let s = scenario(&machine("power9-big-core", 8), release, &[("small-core-smt", true)]);
        let (mut w, mut fair) = world(&s);
        running(&mut w, &mut fair, 2);
        let task = waiting(&mut w, &mut fair, 2);
        fair.entities[task.index()].exec_start_ns = w.now_ns;
        let mut env = Env::new(&s.setup.topo.domains[0][0], 0, 0, CpuIdle::Idle);
        assert!(env.domain.flags.contains(SdFlags::SHARE_CPUCAPACITY), "{release}");
        (env.migration_type, env.imbalance) = (Migration::Task, 1);
        assert_eq!(fair.detach_tasks(&mut w, &mut env, 2), moved, "{release}");
    }
}

/// `task_hot` (`CACHE_HOT_BUDDY`): what is to run next stays, but goes to an idle CPU.
#[test]
fn a_task_that_is_to_run_next_goes_to_idle_cpus_only() {
    let moves = |on: bool, busy: bool| {
        let s = scenario(&machine("power9-big-core", 8), "6.1", &[("cache-hot-buddy", on)]);
        let (mut w, mut fair) = world(&s);
        running(&mut w, &mut fair, 4);
        let task = waiting(&mut w, &mut fair, 4);
        fair.queues[4].next = Some(task.into());
        if busy {
            running(&mut w, &mut fair, 0);
        }
        let mut env = Env::new(&s.setup.topo.domains[0][1], 1, 0, CpuIdle::Idle);
        (env.migration_type, env.imbalance) = (Migration::Task, 1);
        fair.detach_tasks(&mut w, &mut env, 4) == 1
    };
    assert!(moves(true, false) && !moves(true, true) && moves(false, true));
}

/// `detach_tasks` with `migrate_misfit`: tasks that fit where they are stay.
#[test]
fn only_misfit_tasks_leave_as_such() {
    let of = |util: u64| {
        move |_: &World, fair: &mut Fair, task: TaskId| {
            fair.entities[task.index()].avg.util_avg = util;
        }
    };
    assert_eq!(taken("6.1", Migration::Misfit, 1, 0, of(819)), 0);
    assert_eq!(taken("6.1", Migration::Misfit, 1, 0, of(820)), 1);
}

/// `can_migrate_task`: a task that sleeps but has not left its queue moves like others in 6.12, and only as load from 6.14 on.
#[test]
fn a_delayed_task_moves_as_load() {
    let delayed = |_: &World, fair: &mut Fair, task: TaskId| {
        fair.entities[task.index()].delayed = true;
        fair.queues[1].h_nr_delayed += 1;
        fair.util_est_dequeue(1, task);
    };
    assert_eq!(taken("6.12", Migration::Task, 1, 9, delayed), 1);
    assert_eq!(taken("6.14", Migration::Task, 1, 9, delayed), 0);
    assert_eq!(taken("6.14", Migration::Load, 2048, 9, delayed), 1);
}
