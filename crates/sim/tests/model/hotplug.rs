//! CPUs that go offline and come online in the middle of a run.

use crate::conservation::{END_NS, any_machine, any_mixes, any_queue, build};
use crate::machines;
use crate::watch::Watch;
use crate::workloads::{
    RELEASES, hackbench, memory_tour, netperf, release, stop_at, tasks, with_background,
};
use kernel::{Kernel, Version};
use machine::{CpuSet, Machine, Node};
use proptest::prelude::*;
use setting::HotplugStep;
use sim::topology::Cpu;
use sim::{RunResult, Scenario};
use workload::{Op, Spawn, Spread, Work, Workload};

const MS: u64 = 1_000_000;

fn step(at_ms: u64, cpu: usize, online: bool) -> HotplugStep {
    HotplugStep { at_ns: at_ms * MS, cpu, online }
}

/// The CPUs of `cpus` one after the other at one time.
fn steps(at_ms: u64, cpus: std::ops::Range<usize>, online: bool) -> Vec<HotplugStep> {
    cpus.map(|cpu| step(at_ms, cpu, online)).collect()
}

/// When which CPU is offline, up to `end_ns`; all are online at the start.
fn absences(steps: &[HotplugStep], end_ns: u64) -> Vec<(Cpu, u64, u64)> {
    let mut out: Vec<(Cpu, u64, u64)> = Vec::new();
    for s in steps.iter().filter(|s| s.at_ns < end_ns) {
        let cpu = s.cpu as Cpu;
        if s.online {
            let last = out.iter_mut().rev().find(|a| a.0 == cpu).expect("it went before");
            last.2 = s.at_ns;
        } else {
            out.push((cpu, s.at_ns, end_ns));
        }
    }
    out
}

/// The cores from `machine`'s middle on are a second node of another package.
fn two_nodes(mut machine: Machine) -> Machine {
    let half = machine.cores().len() / 2 * machine.core_cpus(0).len();
    for (number, cpu) in machine.cpus.iter_mut().enumerate() {
        let node = u32::from(number >= half);
        (cpu.node, cpu.package, cpu.die) = (node, node, node);
    }
    let node = |id, cpus: std::ops::Range<usize>, distances| Node {
        id,
        cpus: cpus.collect(),
        memory_kib: None,
        distances,
    };
    let far = machine.constants.get("handover_smt_ns").expect("a cost").clone();
    machine.constants.set("handover_remote_ns", far);
    let all = machine.cpus.len();
    machine.nodes = vec![node(0, 0..half, vec![10, 20]), node(1, half..all, vec![20, 10])];
    machine
}

/// A run that nothing is wrong with, and what was seen.
fn watched(scenario: &Scenario, steps: &[HotplugStep], seed: u64) -> (RunResult, Watch) {
    let mut watch = Watch::new(scenario.topology().nr_cpus);
    watch.offline = absences(steps, u64::MAX);
    let result = scenario.run_traced(seed, &mut watch).expect("a run that ends");
    watch.finish(result.end_ns);
    assert!(watch.wrong.is_empty(), "{:?}", &watch.wrong[..watch.wrong.len().min(5)]);
    let c = &result.counters;
    let ran_ns: u64 = c.run_ns_by_busy.iter().sum();
    assert_eq!(ran_ns, watch.tasks.iter().map(|t| t.ran_ns).sum::<u64>());
    let away = absences(steps, result.end_ns);
    let away_ns: u64 = away.iter().map(|&(_, from_ns, to_ns)| to_ns - from_ns).sum();
    let online_ns = scenario.topology().online.len() as u64 * result.end_ns - away_ns;
    assert_eq!(ran_ns + c.idle_ns + c.waking_ns, online_ns);
    let taken = steps.iter().filter(|s| s.at_ns < result.end_ns).count() as u64;
    let at_end = steps.iter().filter(|s| s.at_ns == result.end_ns).count() as u64;
    assert!((taken..=taken + at_end).contains(&c.hotplug_steps), "{} steps", c.hotplug_steps);
    // Watching changes nothing.
    assert_eq!(scenario.run(seed).expect("the same run"), result);
    (result, watch)
}

/// Steps that switch CPUs, by numbers that wrap around, on where they are off; the last online one stays.
fn schedule(machine: &Machine, toggles: &[(u64, usize)]) -> Vec<HotplugStep> {
    let (mut online, mut at_ns, mut out) = (machine.online.clone(), 0, Vec::new());
    for &(after_ns, cpu) in toggles {
        let cpu = cpu % machine.cpus.len();
        at_ns += after_ns;
        let up = !online.contains(cpu);
        if !up && online.len() == 1 {
            continue;
        }
        if up {
            online.insert(cpu)
        } else {
            online.remove(cpu)
        }
        out.push(HotplugStep { at_ns, cpu, online: up });
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost(
        machine in any_machine(),
        nodes in any::<bool>(),
        mixes in any_mixes(),
        pairs in 0u32..4,
        endless in 0usize..5,
        queue in any_queue(),
        toggles in prop::collection::vec((prop_oneof![Just(0u64), 1u64..15_000_000], 0usize..64), 1..40),
        seed in any::<u64>(),
        version in prop::sample::select(vec![(4, 18), (5, 5), (5, 11), (6, 1), (6, 6), (6, 12), (6, 19)]),
    ) {
        let machine = if nodes && machine.cores().len() > 1 {
            two_nodes(machine)
        } else {
            machine
        };
        let steps = schedule(&machine, &toggles);
        let kernel = Kernel::new(Version::new(version.0, version.1));
        let workload = build(&machine, &mixes, pairs, endless, queue);
        let scenario =
            Scenario::with_hotplug(&machine, &kernel, workload, &steps).expect("a scenario");
        let (result, watch) = watched(&scenario, &steps, seed);
        prop_assert!(result.end_ns >= END_NS);
        for task in &watch.tasks {
            let ends = task.program != "daemon" && task.program != "stop";
            prop_assert_eq!(task.exited, ends, "{}", &task.program);
        }
        prop_assert_eq!(watch.sent, watch.received);
    }
}

/// Memory, bandwidth, lines, sockets: with what slows running tasks beyond their core, too, all is accounted for.
#[test]
fn paced_workloads_survive() {
    for name in ["power9-big-core", "kunpeng920-2node"] {
        let machine = machine::catalog::load(name).expect("the catalog holds it");
        let mut steps: Vec<HotplugStep> = steps(1, 1..9, false);
        steps.extend([step(2, 0, false), step(3, 8, true), step(3, 0, true), step(4, 8, false)]);
        steps.extend(self::steps(4, 1..9, true).into_iter().filter(|s| s.cpu != 8));
        for version in RELEASES {
            for workload in [
                memory_tour(&[1, 8]),
                hackbench(&machine, 1, 4, 20, false),
                netperf(&machine, 2, None),
            ] {
                let workload = with_background(&machine, workload);
                let kernel = release(version);
                let scenario = Scenario::with_hotplug(&machine, &kernel, workload, &steps);
                watched(&scenario.expect("a scenario"), &steps, 3);
            }
        }
    }
}

/// Two tasks a CPU until the run is stopped.
fn spinning(tasks_: usize, affinity: Option<CpuSet>, end_ms: u64) -> Workload {
    let mut w = Workload::default();
    let ms = Op::Compute(Work::fixed(4e6));
    tasks(&mut w, "spin", tasks_, &[ms, Op::Loop { to: 0, times: 0 }], affinity);
    stop_at(&mut w, end_ms * MS);
    w
}

/// Idle time of a run, in ms of a CPU.
fn idle_ms(machine: &Machine, kernel: &Kernel, w: Workload, steps: &[HotplugStep]) -> u64 {
    let scenario = Scenario::with_hotplug(machine, kernel, w, steps).expect("a scenario");
    let (result, _) = watched(&scenario, steps, 9);
    (result.counters.idle_ns + result.counters.waking_ns) / MS
}

/// As many tasks as CPUs are crowded while half of the CPUs are away, and fill all of them once these are back.
#[test]
fn work_spreads_again() {
    let machine = machines::smt(4, 2);
    for version in RELEASES {
        let mut steps = steps(100, 4..8, false);
        steps.extend(self::steps(400, 4..8, true));
        let idle_ms = idle_ms(&machine, &release(version), spinning(8, None, 1_000), &steps);
        // Never balanced, the four would idle for 600 ms each.
        assert!(idle_ms < 500, "{version}: {idle_ms} ms idle");
    }
}

/// The same from a machine that starts with CPUs offline.
#[test]
fn cpus_offline_at_the_start_come_online() {
    let machine = machines::smt(4, 2).with_online(CpuSet::first_n(2)).expect("two CPUs");
    let steps = steps(100, 2..8, true);
    for version in RELEASES {
        let kernel = release(version);
        let scenario = Scenario::with_hotplug(&machine, &kernel, spinning(8, None, 1_000), &steps);
        let result = scenario.and_then(|s| s.run(2)).expect("a run");
        let idle_ms = (result.counters.idle_ns + result.counters.waking_ns) / MS;
        assert!(idle_ms < 500, "{version}: {idle_ms} ms idle");
    }
}

/// Tasks bound to CPUs that go may run everywhere afterwards, also when these are back (`cpuset_cpus_allowed_fallback`).
#[test]
fn a_task_bound_to_a_dying_cpu_gets_all_cpus() {
    let machine = machines::smt(4, 1);
    let bound = Some(CpuSet::single(3));
    for version in RELEASES {
        let steps = [step(50, 3, false), step(150, 3, true)];
        let workload = spinning(2, bound.clone(), 300);
        let scenario =
            Scenario::with_hotplug(&machine, &release(version), workload, &steps).expect("one");
        let (result, watch) = watched(&scenario, &steps, 1);
        assert_eq!(result.counters.affinities_broken, 2, "{version}");
        assert_eq!(result.counters.hotplug_moved, 2, "{version}");
        for task in watch.tasks.iter().filter(|t| t.program == "spin") {
            assert_eq!(task.allowed, machine.possible(), "{version}");
            // Half of CPU 3, then a CPU of its own once balanced.
            assert!(task.ran_ns > 200 * MS, "{version}: {} ns", task.ran_ns);
        }
    }
}

/// One that sleeps all the while keeps its affinity; one that wakes meanwhile does not.
#[test]
fn an_affinity_is_lost_only_when_it_is_needed() {
    let machine = machines::smt(4, 1);
    let nap = |ms: u64| Op::Sleep { mean_ns: (ms * MS) as f64, spread: Spread::Fixed };
    let work = Op::Compute(Work::fixed(1e6));
    let run = |sleep_ms: u64| {
        let mut w = Workload::default();
        tasks(
            &mut w,
            "sleeper",
            1,
            &[work.clone(), nap(sleep_ms), work.clone()],
            Some(CpuSet::single(2)),
        );
        stop_at(&mut w, 200 * MS);
        let steps = [step(10, 2, false), step(50, 2, true)];
        let kernel = release("6.12");
        let scenario = Scenario::with_hotplug(&machine, &kernel, w, &steps).expect("one");
        let (result, watch) = watched(&scenario, &steps, 1);
        assert!(watch.tasks[0].exited);
        (result.counters.affinities_broken, watch.tasks[0].allowed.clone())
    };
    assert_eq!(run(100), (0, CpuSet::single(2)));
    // It exits while CPU 2 is away.
    assert_eq!(run(30), (1, [0, 1, 3].into_iter().collect()));
}

/// Up to 6.1 `sched_setaffinity` forgets CPUs that are offline; later they are used once they are online. With none
/// online it fails.
#[test]
fn setting_an_affinity_with_cpus_offline() {
    let machine = machines::smt(4, 1);
    let ms = Op::Compute(Work::fixed(4e6));
    let ops = [
        ms.clone(),
        Op::SetAffinity([1, 3].into_iter().collect()),
        Op::SetAffinity(CpuSet::single(3)),
        ms,
        Op::Loop { to: 3, times: 200 },
    ];
    for (version, expected) in [("6.1", vec![1]), ("6.6", vec![1, 3])] {
        let mut w = Workload::default();
        tasks(&mut w, "binds", 1, &ops, None);
        stop_at(&mut w, 150 * MS);
        let steps = [step(0, 3, false), step(100, 3, true)];
        let scenario = Scenario::with_hotplug(&machine, &release(version), w, &steps).expect("one");
        let (result, watch) = watched(&scenario, &steps, 1);
        assert_eq!(result.counters.affinities_refused, 1);
        assert_eq!(watch.tasks[0].allowed, expected.into_iter().collect(), "{version}");
    }
}

/// What goes off a CPU goes to the first CPU of its node, or of all where none of the node is left.
#[test]
fn tasks_stay_on_their_node() {
    let machine = two_nodes(machines::smt(8, 1));
    for (steps, expected) in [
        (vec![step(50, 6, false)], 4),
        (vec![step(10, 4, false), step(10, 5, false), step(10, 7, false), step(50, 6, false)], 0),
    ] {
        let mut w = Workload::default();
        let second = Op::RunFor(1_000 * MS);
        tasks(
            &mut w,
            "bound",
            1,
            std::slice::from_ref(&second),
            Some([0, 4, 6].into_iter().collect()),
        );
        let program = w.program("keeps", vec![second]);
        // The other two CPUs are taken, so that it is on CPU 6.
        for cpu in [0, 4] {
            w.spawns
                .insert(0, Spawn { affinity: Some(CpuSet::single(cpu)), ..Spawn::new(program) });
        }
        w.spawns[2].first_wake_ns = 5 * MS;
        stop_at(&mut w, 51 * MS);
        let mut last = LastMove::default();
        let kernel = release("6.12");
        let scenario = Scenario::with_hotplug(&machine, &kernel, w, &steps).expect("one");
        scenario.run_traced(1, &mut last).expect("a run");
        assert_eq!(last.0, Some((50 * MS, 6, expected)));
    }
}

/// The move at 50 ms.
#[derive(Default)]
struct LastMove(Option<(u64, Cpu, Cpu)>);

impl sim::Trace for LastMove {
    fn migrate(&mut self, at_ns: u64, _: sim::world::TaskId, from: Cpu, to: Cpu) {
        if at_ns == 50 * MS && self.0.is_none() {
            self.0 = Some((at_ns, from, to));
        }
    }
}

/// The domains of each step are the kernel's for it; back at the start's CPUs they are the start's. From 6.10 on a CPU that goes still
/// counts in the intervals of those that stay (up to 7.0).
#[test]
fn domains_follow() {
    let machine = machines::power9();
    let steps = [step(1, 9, false), step(2, 9, true)];
    for version in ["4.18", "6.1", "6.9", "6.12", "7.1"] {
        let kernel = release(version);
        let scenario =
            Scenario::with_hotplug(&machine, &kernel, Workload::default(), &steps).expect("one");
        let text = |t: &sim::topology::Topology| format!("{t:?}");
        let (start, down) = (scenario.topology(), scenario.topology_after(0).expect("a step"));
        let up = scenario.topology_after(1).expect("a step");
        assert_eq!(text(up), text(start), "{version}");
        assert!(scenario.topology_after(2).is_none());
        assert!(!down.online_set.contains(9) && down.domains[9].is_empty());
        let interval = down.domains[11][0].min_interval_ms;
        let counted = if version == "6.12" { 0 } else { 1 };
        assert_eq!(interval, start.domains[11][0].min_interval_ms - counted, "{version}");
        let booted = machine.with_online(down.online_set.clone()).expect("CPUs");
        let booted = Scenario::new(&booted, &kernel, Workload::default()).expect("one");
        let same = text(down) == text(booted.topology());
        assert_eq!(same, version != "6.12", "{version}");
    }
}

#[test]
fn a_seed_gives_one_result_and_steps_matter() {
    let machine = machines::smt(4, 2);
    let kernel = release("6.12");
    let run = |steps: &[HotplugStep], seed| {
        let workload = hackbench(&machine, 1, 4, 50, true);
        let workload = with_background(&machine, workload);
        let scenario = Scenario::with_hotplug(&machine, &kernel, workload, steps).expect("one");
        scenario.run(seed).expect("a run")
    };
    let steps = [step(1, 5, false), step(2, 6, false), step(3, 5, true)];
    assert_eq!(run(&steps, 5), run(&steps, 5));
    assert_ne!(run(&steps, 5), run(&steps, 6));
    let without = run(&[], 5);
    assert_ne!(run(&steps, 5), without);
    // A step that the run does not live to see changes nothing.
    assert_eq!(run(&[step(3_600_000, 5, false)], 5), without);
}

#[test]
fn impossible_steps_are_named() {
    let machine = machines::smt(2, 1);
    let refused = |steps: &[HotplugStep]| {
        let kernel = release("6.12");
        let scenario = Scenario::with_hotplug(&machine, &kernel, Workload::default(), steps);
        scenario.expect_err("an error").to_string()
    };
    for (steps, expected) in [
        (vec![step(1, 7, false)], "hotplug step 0: found CPU 7, expected one of the CPUs 0-1"),
        (vec![step(1, 5_000, false)], "hotplug step 0: found CPU 5000, expected one of the CPUs"),
        (vec![step(1, 1, true)], "hotplug step 0: found CPU 1 online already"),
        (vec![step(1, 1, false), step(2, 1, false)], "step 1: found CPU 1 offline already"),
        (vec![step(1, 1, false), step(2, 0, false)], "step 1: found the last online CPU 0"),
        (vec![step(2, 1, false), step(1, 1, true)], "step 1: found 1000000 ns after a step at"),
    ] {
        let message = refused(&steps);
        assert!(message.contains(expected), "{message}");
    }
}
