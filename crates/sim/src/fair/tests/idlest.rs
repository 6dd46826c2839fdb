//! Where new tasks go: by load up to 5.4, by classes of groups since (`find_idlest_group`).

use crate::fair::Fair;
use crate::fair::testing::{asleep, averages, machine, running, scenario, world};
use crate::topology::Cpu;
use crate::world::Phase;
use kernel::SdFlags;

/// The cluster of Kunpeng 920 (of CPUs 0-3, 4-7 and 8-11) to which a fork on CPU 0 goes, the first being full of tasks
/// and the others having tasks on `busy`.
fn cluster(release: &str, busy: &[Cpu], setup: impl Fn(&mut Fair)) -> Cpu {
    let s = scenario(&machine("kunpeng920-1node", 12), release, &[("sched-cluster", true)]);
    let (mut w, mut fair) = world(&s);
    for &cpu in [0, 1, 2, 3].iter().chain(busy) {
        running(&mut w, &mut fair, cpu);
        averages(&mut fair, cpu, 1024, 1024, 1024);
    }
    setup(&mut fair);
    let online = s.setup.topo.online_set.clone();
    w.tasks.push(crate::world::Task::new(workload::ProgramId(0), 0, online));
    let task = crate::world::TaskId(w.tasks.len() as u32 - 1);
    fair.task_fork(&mut w, task, Some(crate::world::TaskId(0)));
    let level = s.setup.topo.domains[0].len() - 1;
    assert_eq!(s.setup.topo.domains[0][level].groups.len(), 3, "{release}");
    fair.find_idlest_cpu(&mut w, task, 0, level, SdFlags::BALANCE_FORK) / 4
}

/// `find_idlest_group` (5.5): the group with most idle CPUs; before, the one with the least load.
#[test]
fn forks_go_by_idle_cpus_from_5_5_on() {
    // Two CPUs with hardly any load against one with a heavy task.
    let light_and_heavy = |fair: &mut Fair| {
        averages(fair, 4, 15, 1, 15);
        averages(fair, 5, 15, 1, 15);
        averages(fair, 8, 4096, 1024, 4096);
    };
    for (release, chosen) in [("4.18", 1), ("5.4", 1), ("5.5", 2), ("5.7", 2), ("6.12", 2)] {
        assert_eq!(cluster(release, &[4, 5, 8], light_and_heavy), chosen, "{release}");
    }
}

/// `update_pick_idlest` (5.9): of groups with as many idle CPUs the less utilised; before, the first.
#[test]
fn of_groups_with_as_many_idle_cpus_the_less_used_is_taken() {
    let used = |a: u64, b: u64| {
        move |fair: &mut Fair| {
            averages(fair, 4, 100, a, 100);
            averages(fair, 8, 100, b, 100);
        }
    };
    for (release, second) in [("5.5", 1), ("5.8", 1), ("5.9", 2), ("6.1", 2), ("6.12", 2)] {
        assert_eq!(cluster(release, &[4, 8], used(600, 500)), second, "{release}");
        assert_eq!(cluster(release, &[4, 8], used(500, 600)), 1, "{release}");
    }
}

/// `update_pick_idlest`: a group with room comes before a full one, whatever their loads; of full ones the one with less
/// load is taken, if that is less than here.
#[test]
fn classes_come_before_loads() {
    let all: Vec<Cpu> = (4..12).collect();
    let loads = |first: u64, second: u64| {
        move |fair: &mut Fair| {
            (4..8).for_each(|c| averages(fair, c, first, 1024, 1024));
            (8..12).for_each(|c| averages(fair, c, second, 1024, 1024));
            (0..4).for_each(|c| averages(fair, c, 4096, 1024, 1024));
        }
    };
    for release in ["5.7", "6.1", "6.12"] {
        assert_eq!(cluster(release, &all[1..], loads(9000, 1)), 1, "{release}");
        assert_eq!(cluster(release, &all, loads(900, 500)), 2, "{release}");
        assert_eq!(cluster(release, &all, loads(500, 900)), 1, "{release}");
        assert_eq!(cluster(release, &all, loads(4096, 4096)), 0, "{release}");
    }
}

/// `find_idlest_group_cpu`: of CPUs in the same idle state the one that ran something last (`rq->idle_stamp`), whether or not
/// a tick had another choose its state anew since.
#[test]
fn of_idle_cpus_the_last_to_run_something_is_taken() {
    let s = scenario(&machine("kunpeng920-1node", 8), "6.12", &[("sched-cluster", true)]);
    let (mut w, mut fair) = world(&s);
    (0..4).for_each(|cpu| {
        running(&mut w, &mut fair, cpu);
    });
    for (cpu, idle_since_ns) in [(4, 70), (5, 80), (6, 90), (7, 60)] {
        fair.rqs[cpu].idle_since_ns = Some(idle_since_ns);
    }
    w.cpus[5].phase = Phase::Idle { since_ns: 95, state: 0 };
    let task = asleep(&mut w, &mut fair, 0);
    let level = s.setup.topo.domains[0].len() - 1;
    assert_eq!(fair.find_idlest_cpu(&mut w, task, 0, level, SdFlags::BALANCE_FORK), 6);
    w.cpus[7].phase = Phase::Idle { since_ns: 60, state: 0 };
    for cpu in 4..7 {
        w.cpus[cpu].phase = Phase::Idle { since_ns: 0, state: 1 };
    }
    assert_eq!(fair.find_idlest_cpu(&mut w, task, 0, level, SdFlags::BALANCE_FORK), 7);
}
