//! Rules of single releases and studies: clusters, idler LLC, limits of the search.

use super::world;
use crate::fair::place::wakeup::WakeUp;
use crate::fair::{Fair, testing};
use crate::scenario::Scenario;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

fn scenario(machine: &str, release: &str, switches: &[(&str, bool)]) -> Scenario {
    testing::scenario(&machine::catalog::load(machine).unwrap(), release, switches)
}

/// Where `select_idle_sibling` sends task 0, with the CPUs `busy` taken and those of the LLC worth searching.
fn sibling(
    scenario: &Scenario,
    busy: &[Cpu],
    (prev, target, recent): (Cpu, Cpu, Cpu),
    setup: impl Fn(&mut World, &mut Fair),
) -> Cpu {
    let (mut w, mut fair) = world(scenario);
    busy.iter().for_each(|&c| w.cpus[c as usize].nr_running = 1);
    fair.entities[0].recent_used_cpu = recent;
    fair.llcs[0].nr_idle_scan = scenario.setup.topo.llcs[0].cpus.len() as u64;
    setup(&mut w, &mut fair);
    let wake = WakeUp { cpu: target, prev, sync: false, waker: None };
    fair.select_idle_sibling(&mut w, TaskId(0), wake, target)
}

fn nothing(_: &mut World, _: &mut Fair) {}

/// Kunpeng 920: clusters of four CPUs, an LLC of 24. The target is CPU 6 with CPU 7 idle beside it.
#[test]
fn the_cluster_is_searched_first_as_merged() {
    let new = scenario("kunpeng920-1node", "6.12", &[("sched-cluster", true)]);
    let off = scenario("kunpeng920-1node", "6.12", &[("cluster-scan", false)]);
    let everything_but = |idle: &[Cpu]| (0..24).filter(|c| !idle.contains(c)).collect::<Vec<_>>();
    let busy = everything_but(&[4, 12]);
    // Without the scan the search goes on behind the target; with it, round the cluster.
    assert_eq!(sibling(&off, &busy, (6, 6, 6), nothing), 12);
    assert_eq!(sibling(&new, &busy, (6, 6, 6), nothing), 4);
    // With the cluster taken, any idle CPU of the LLC.
    assert_eq!(sibling(&new, &everything_but(&[12]), (6, 6, 6), nothing), 12);
    // An idle previous CPU of another cluster waits until nothing else is idle.
    let busy = everything_but(&[4, 20]);
    assert_eq!(sibling(&off, &busy, (20, 6, 6), nothing), 20);
    assert_eq!(sibling(&new, &busy, (20, 6, 6), nothing), 4);
    assert_eq!(sibling(&new, &everything_but(&[20]), (20, 6, 6), nothing), 20);
    assert_eq!(sibling(&new, &everything_but(&[20]), (6, 6, 20), nothing), 20);
}

/// The RFC keeps the shortcuts and searches the cluster between them and the LLC, whatever the limit.
#[test]
fn the_rfc_searches_the_cluster_after_the_shortcuts() {
    let on = [("sched-cluster", true), ("cluster-scan-rfc", true)];
    let rfc = scenario("kunpeng920-1node", "5.10", &on);
    let domain = scenario("kunpeng920-1node", "5.10", &on[..1]);
    let hurried = |_: &mut World, fair: &mut Fair| fair.rqs[6].avg_idle_ns = 0;
    let busy = |idle: &[Cpu]| (0..24).filter(|c| !idle.contains(c)).collect::<Vec<_>>();
    assert_eq!(sibling(&rfc, &busy(&[5, 8]), (6, 6, 6), nothing), 5);
    assert_eq!(sibling(&domain, &busy(&[5, 8]), (6, 6, 6), nothing), 8);
    assert_eq!(sibling(&rfc, &busy(&[5, 20]), (20, 6, 6), nothing), 20);
    assert_eq!(sibling(&rfc, &busy(&[5]), (6, 6, 6), hurried), 5);
    assert_eq!(sibling(&domain, &busy(&[5]), (6, 6, 6), hurried), 6);
    // With the cluster taken, any idle CPU of the LLC.
    assert_eq!(sibling(&rfc, &busy(&[12]), (6, 6, 6), nothing), 12);
}

#[test]
fn a_busy_llc_is_not_searched_from_6_0_on() {
    let s = scenario("kunpeng920-1node", "6.1", &[("sched-cluster", false)]);
    let busy: Vec<Cpu> = (0..24).filter(|&c| c != 12).collect();
    let scan = |nr| move |_: &mut World, fair: &mut Fair| fair.llcs[0].nr_idle_scan = nr;
    assert_eq!(sibling(&s, &busy, (6, 6, 6), scan(6)), 12);
    assert_eq!(sibling(&s, &busy, (6, 6, 6), scan(5)), 6);
    assert_eq!(sibling(&s, &busy, (6, 6, 6), scan(0)), 6);
    let prop =
        scenario("kunpeng920-1node", "6.1", &[("sched-cluster", false), ("sis-util", false)]);
    assert_eq!(sibling(&prop, &busy, (6, 6, 6), scan(0)), 12);
}

/// POWER10's LLCs of four threads, 0,2,4,6 and 1,3,5,7 of a core: the waker on CPU 8, the previous CPU 1.
fn affine(switches: &[(&str, bool)], busy: (u32, u32), sync: bool) -> (Cpu, u64) {
    let s = scenario("power10-8core", "5.11", switches);
    let (mut w, mut fair) = world(&s);
    w.tasks[0].cpu = 1;
    for cpu in [8, 1] {
        w.cpus[cpu].nr_running = 2;
    }
    let llc = |cpu: usize| s.setup.topo.llc_of[cpu] as usize;
    (fair.llcs[llc(8)].nr_busy_cpus, fair.llcs[llc(1)].nr_busy_cpus) = busy;
    let wake = WakeUp { cpu: 8, prev: 1, sync, waker: None };
    let domain = s.setup.topo.domains[8].iter().find(|d| d.span.contains(1)).unwrap();
    // The load of the waker's CPU alone would keep the task away.
    fair.queues[8].avg.load_avg = 2048;
    (fair.wake_affine(&mut w, domain, TaskId(0), wake), w.counters.affine_moves)
}

#[test]
fn the_idler_llc_wins_over_load() {
    let patch: &[(&str, bool)] = &[("wa-idler-llc", true)];
    assert_eq!(affine(&[], (1, 4), false), (1, 0));
    assert_eq!(affine(patch, (1, 4), false), (8, 1));
    // A choice of the previous CPU is no affine move under the patch.
    assert_eq!(affine(patch, (4, 1), false), (1, 0));
    // Both full, or equally busy: the load decides.
    assert_eq!(affine(patch, (4, 4), false), (1, 0));
    assert_eq!(affine(patch, (2, 2), false), (1, 0));
    // A waker that is about to sleep leaves a CPU idle.
    assert_eq!(affine(patch, (2, 2), true), (8, 1));
    let waker: &[(&str, bool)] = &[("wa-idler-llc", true), ("wa-waker", true)];
    assert_eq!(affine(waker, (3, 1), false), (8, 1));
    assert_eq!(affine(waker, (4, 1), false), (1, 0));
}
