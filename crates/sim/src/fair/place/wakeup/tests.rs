use super::WakeUp;
use crate::fair::{Fair, testing};
use crate::scenario::Scenario;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

/// The even and the odd threads of a big core.
fn interleaved(cpu: usize) -> usize {
    cpu % 2
}

/// Four threads after four.
fn adjacent(cpu: usize) -> usize {
    cpu / 4
}

/// The catalog's POWER9 with the big-core study's domains: an LLC of CPUs 0-7, of which `core` makes two cores
/// (`cpu_smt_mask` of 4.18 has the big core as one).
fn scenario(core: fn(usize) -> usize) -> Scenario {
    let machine = machine::catalog::load("power9-big-core").unwrap();
    let switches = [("small-core-smt", true), ("big-core-cache", true)];
    let mut scenario = testing::scenario(&machine, "4.18", &switches);
    for cpu in 0..8 {
        let threads = (0..8).filter(|&c| core(c as usize) == core(cpu));
        scenario.setup.topo.smt[cpu] = threads.collect();
    }
    scenario
}

/// All CPUs idle, and one task that sleeps.
fn world(scenario: &Scenario) -> (World<'_>, Fair) {
    let (mut w, mut fair) = testing::world(scenario);
    testing::asleep(&mut w, &mut fair, 0);
    (w, fair)
}

/// Where task 0 goes with target 0 and previous CPU 2, the CPUs `busy` being taken.
fn choose(
    core: fn(usize) -> usize,
    busy: &[Cpu],
    setup: impl Fn(&mut World, &mut Fair),
) -> (Cpu, f64) {
    let scenario = scenario(core);
    let (mut w, mut fair) = world(&scenario);
    busy.iter().for_each(|&c| w.cpus[c as usize].nr_running = 1);
    fair.entities[0].recent_used_cpu = 4;
    fair.llcs[scenario.setup.topo.llc_of[0] as usize].has_idle_cores = true;
    setup(&mut w, &mut fair);
    let wake = WakeUp { cpu: 8, prev: 2, sync: false, waker: None };
    let chosen = fair.select_idle_sibling(&mut w, TaskId(0), wake, 0);
    (chosen, w.cpus[8].debt)
}

fn nothing(_: &mut World, _: &mut Fair) {}

#[test]
fn an_idle_target_comes_before_the_previous_and_the_recent_cpu() {
    assert_eq!(choose(interleaved, &[], nothing), (0, 0.0));
    assert_eq!(choose(interleaved, &[0], nothing), (2, 0.0));
    assert_eq!(choose(interleaved, &[0, 2], nothing), (4, 0.0));
}

#[test]
fn an_idle_core_comes_before_an_idle_thread_and_its_search_costs_the_waking_cpu() {
    let near = |_: &mut World, fair: &mut Fair| fair.entities[0].recent_used_cpu = 1;
    let (cpu, debt) = choose(adjacent, &[0, 1, 2], near);
    assert_eq!(cpu, 4);
    assert!(debt > 0.0);
    assert_eq!(choose(adjacent, &[0, 1, 2, 5], near).0, 3);
}

#[test]
fn without_time_to_search_an_idle_thread_of_the_core_is_taken() {
    let hurried = |_: &mut World, fair: &mut Fair| fair.rqs[8].avg_idle_ns = 0;
    assert_eq!(choose(interleaved, &[0, 1, 2, 3, 4], nothing).0, 5);
    assert_eq!(choose(interleaved, &[0, 1, 2, 3, 4], hurried).0, 6);
    assert_eq!(choose(interleaved, &[0, 1, 2, 3, 4, 5, 6, 7], hurried).0, 0);
}

#[test]
fn a_recent_cpu_that_is_not_allowed_is_passed_over() {
    let bound = |w: &mut World, _: &mut Fair| w.tasks[0].allowed = "0-3".parse().unwrap();
    assert_eq!(choose(interleaved, &[0, 2], bound).0, 1);
}

#[test]
fn wake_wide_needs_many_partners_on_both_sides() {
    let scenario = scenario(interleaved);
    let (mut w, mut fair) = world(&scenario);
    fair.task_fork(&mut w, TaskId(0), None);
    let wake = WakeUp { cpu: 0, prev: 0, sync: false, waker: Some(TaskId(1)) };
    let mut wide = |waker, wakee| {
        fair.entities[1].wakee_flips = waker;
        fair.entities[0].wakee_flips = wakee;
        fair.wake_wide(&w, TaskId(0), wake)
    };
    // The LLC has 8 CPUs.
    assert!(wide(64, 8) && wide(8, 64));
    assert!(!wide(63, 8) && !wide(1000, 7));
}

/// An idle core counts though the task may not use its first thread: with four threads after four and CPUs 0 to 2
/// taken, thread 4 is forbidden and 5 stands for the second core.
#[test]
fn an_idle_core_is_found_through_its_first_usable_thread() {
    let bound = |w: &mut World, fair: &mut Fair| {
        w.tasks[0].allowed = "0-3,5-7".parse().unwrap();
        fair.entities[0].recent_used_cpu = 1;
    };
    assert_eq!(choose(adjacent, &[0, 1, 2], bound).0, 5);
}

mod versions;
