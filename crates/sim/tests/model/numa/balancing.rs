//! NUMA balancing: what moves, when, and what does not.

use crate::memory::{Timed, compute, uses};
use crate::workloads::release;
use machine::{CpuSet, Machine};
use setting::Setting;
use sim::counters::NumaBalancing;
use sim::{RunResult, Scenario};
use workload::{MemoryUse, Op, Placement, Spawn, Spread, Workload};

const MIB: f64 = 1024.0 * 1024.0;
/// Pages of 4 KiB in a scan.
const SCAN_PAGES: u64 = 65_536;

fn kunpeng() -> Machine {
    machine::catalog::load("kunpeng920-2node").expect("the catalog holds it")
}

fn run(w: Workload, version: &str, numa_balancing: bool) -> RunResult {
    let setting = Setting { numa_balancing, ..Setting::default() };
    let scenario = Scenario::in_setting(&kunpeng(), &release(version), w, &setting);
    scenario.expect("a scenario").run(1).expect("a run")
}

fn set(mib: f64, placement: Placement) -> MemoryUse {
    MemoryUse { working_set_bytes: mib * MIB, touches_per_kcycle: 1.0, placement, ..uses(1.0) }
}

fn sleep(seconds: f64) -> Op {
    Op::Sleep { mean_ns: seconds * 1e9, spread: Spread::Fixed }
}

/// A task that touches 1 GiB on node 0, and then goes on with it on node 1 for so many seconds.
fn moved(seconds: f64, placement: Placement) -> Workload {
    let mut t = Timed::new();
    let used = set(1024.0, placement);
    // Half a million touches of 512 huge pages.
    let settle = compute(5e8);
    let ops = vec![
        Op::Memory(used),
        settle,
        Op::SetAffinity(CpuSet::single(24)),
        compute(1e6),
        Op::Loop { to: 3, times: 0 },
    ];
    t.spawn(0, 0, ops);
    t.spawn(47, 0, vec![Op::Mark(t.from), sleep(seconds), Op::Mark(t.to), Op::Stop]);
    t.w
}

/// A process with one thread is scanned for the first time after a second of work, then every 250 ms, as it has four
/// times what a scan takes. What is scanned is touched at once and follows.
#[test]
fn memory_follows_a_moved_task_scan_by_scan() {
    for (seconds, scans) in [(0.9, 0), (1.2, 1), (1.45, 2), (1.7, 3), (3.0, 4)] {
        let numa = run(moved(seconds, Placement::Default), "6.12", true).counters.numa;
        let pages = scans * SCAN_PAGES;
        let expected = NumaBalancing {
            pte_updates: pages,
            // Huge pages: one fault for 512.
            hint_faults: pages / 512,
            pages_migrated: pages,
            ..NumaBalancing::default()
        };
        assert_eq!(numa, expected, "after {seconds} s");
    }
}

#[test]
fn without_balancing_nothing_moves() {
    let off = run(moved(3.0, Placement::Default), "6.12", false);
    assert_eq!(off.counters.numa, NumaBalancing::default());
    let placed = Placement::Bind(workload::Nodes::single(0));
    let bound = run(moved(3.0, placed), "6.12", true);
    assert_eq!(bound.counters.numa, NumaBalancing::default());
}

/// Up to 4.19 a node takes 128 MiB in 100 ms, so that not all of a scan follows at once.
#[test]
fn old_releases_limit_what_moves() {
    let numa = run(moved(1.15, Placement::Default), "4.18", true).counters.numa;
    assert!(numa.pages_migrated > 0 && numa.pages_migrated < SCAN_PAGES, "{numa:?}");
}

/// Two threads of a process each, of which one has 64 MiB and runs on node `at` for 20 s, then on the other node by force, and then
/// where it likes. The kernel scans local memory, too, where a process has several threads.
fn exiled(w: &mut Workload, at: usize, other: usize, memory: MemoryUse) {
    let sleeper = w.program("sleeper", vec![sleep(1000.0)]);
    let seconds = |s: f64| compute(s * 2.6e9);
    let ops = vec![
        Op::Clone(sleeper),
        Op::SetAffinity(CpuSet::single(at)),
        Op::Memory(memory),
        seconds(20.0),
        Op::SetAffinity(CpuSet::single(other)),
        seconds(0.001),
        Op::SetAffinity(CpuSet::first_n(48)),
        compute(1e6),
        Op::Loop { to: 7, times: 0 },
    ];
    let program = w.program("exile", ops);
    let affinity = Some(CpuSet::single(at));
    w.spawns.push(Spawn { affinity, ..Spawn::new(program) });
}

fn until(t: &mut Timed, seconds: f64) {
    let (from, to) = (t.from, t.to);
    let program =
        t.w.program("watch", vec![Op::Mark(from), sleep(seconds), Op::Mark(to), Op::Stop]);
    t.w.spawns.push(Spawn::new(program));
}

/// A task that knows where its memory is goes back there when a CPU is idle.
#[test]
fn a_task_returns_to_its_memory() {
    for version in ["5.5", "5.10", "6.1", "6.12", "7.2"] {
        let mut t = Timed::new();
        exiled(&mut t.w, 0, 24, set(64.0, Placement::Default));
        until(&mut t, 60.0);
        let numa = run(t.w, version, true).counters.numa;
        assert!(numa.tasks_migrated >= 1, "{version}: {numa:?}");
        assert!(numa.hint_faults_local > numa.hint_faults / 2, "{version}: {numa:?}");
    }
}

/// Where no CPU is idle, two tasks on each other's node change places.
#[test]
fn tasks_on_each_others_node_change_places() {
    for version in ["5.10", "6.12"] {
        let mut t = Timed::new();
        exiled(&mut t.w, 0, 24, set(64.0, Placement::Default));
        exiled(&mut t.w, 24, 0, set(64.0, Placement::Default));
        for cpu in (0..48).filter(|cpu| cpu % 24 != 0) {
            t.spawn(cpu, 0, vec![compute(1e9), Op::Loop { to: 0, times: 0 }]);
        }
        until(&mut t, 70.0);
        let numa = run(t.w, version, true).counters.numa;
        assert!(numa.tasks_swapped >= 1, "{version}: {numa:?}");
    }
}

#[test]
fn a_seed_gives_the_same_run() {
    let once = || run(moved(3.0, Placement::Default), "6.12", true);
    let (a, b) = (once(), once());
    assert_eq!((a.metrics, a.counters), (b.metrics, b.counters));
}
