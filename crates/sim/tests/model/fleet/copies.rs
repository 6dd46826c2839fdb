//! Copies of a program that share bandwidth or CPUs, builds, and neighbours.

use super::{Run, assert_near};
use crate::machines;
use machine::Machine;
use workload::{Benchmark, Distribution, Footprint, Placement, build, copies, noisy};

fn kunpeng() -> Machine {
    machine::catalog::load("kunpeng920-2node").expect("the catalog holds it")
}

fn constant(machine: &Machine, name: &str) -> f64 {
    machine.constants.value(name).expect("a constant of the machine")
}

/// What memory of one node gives, in GB/s.
fn node_gb_per_s(machine: &Machine) -> f64 {
    constant(machine, "memory_package_gb_per_s") / 2.0
}

fn streaming(gb_per_s: f64) -> Option<Footprint> {
    Some(Footprint {
        working_set_kib: 64.0,
        touches_per_us: 0.0,
        overlap: 1.0,
        gb_per_s,
        placement: Placement::Default,
    })
}

/// Eight copies that want twice what their node has take twice as long as one alone.
#[test]
fn copies_share_the_bandwidth_of_a_node() {
    let machine = kunpeng();
    for (wanted, longer) in [(0.5, 1.0), (2.0, 2.0)] {
        let params = copies::Params {
            copies: 8,
            work_s: 0.05,
            bound: true,
            memory: streaming(wanted * node_gb_per_s(&machine) / 8.0),
            cpus: Some("0-7".parse().expect("a CPU list")),
        };
        let run = Run::of(&machine, Benchmark::Copies(params), 1);
        assert_near(run.metric("copy_ms"), 50.0 * longer, 0.03, "time of a copy");
        assert_near(run.metric("copies_per_s"), 8.0 / (0.05 * longer), 0.03, "rates");
        let seconds = run.metric("seconds");
        assert!(seconds > 0.05 * longer && seconds < 0.06 * longer + 0.01, "{seconds} s");
    }
}

/// Sixteen copies on four CPUs, a thread each, take turns.
#[test]
fn copies_take_turns() {
    let params = copies::Params {
        copies: 16,
        work_s: 0.05,
        bound: false,
        memory: None,
        cpus: Some("0-3".parse().expect("a CPU list")),
    };
    let run = Run::of(&machines::smt(8, 1), Benchmark::Copies(params), 1);
    assert_near(run.metric("seconds"), 0.2, 0.05, "four for each CPU");
}

/// Objects by jobs, the head before them and the link behind.
#[test]
fn a_build_takes_head_objects_and_link() {
    let params = build::Params {
        jobs: 4,
        objects: 40,
        compile_ms: 20.0,
        distribution: Distribution::Constant,
        head_ms: 30.0,
        link_ms: 50.0,
        memory: None,
        cpus: None,
    };
    let run = Run::of(&machines::smt(8, 1), Benchmark::Build(params), 1);
    // Loading takes each of two processes of an object, and the linker, half a ms and more.
    let seconds = run.metric("seconds");
    let least = 0.03 + 40.0 * 0.02 / 4.0 + 0.05;
    assert!(seconds > least && seconds < least + 0.035, "{seconds} s, at least {least}");
}

fn noisy(kind: noisy::Kind, threads: u16) -> Run {
    let params = noisy::Params {
        kind,
        threads,
        warmup_s: 0.05,
        seconds: 0.5,
        placement: Placement::Default,
        cpus: Some("0-7".parse().expect("a CPU list")),
    };
    Run::of(&kunpeng(), Benchmark::Noisy(params), 1)
}

#[test]
fn neighbours_take_what_they_are_said_to() {
    let cpu = noisy(noisy::Kind::Cpu { share: 0.3, period_ms: 5.0 }, 2);
    assert_near(cpu.metric("work_ms_per_s"), 600.0, 0.02, "two times 0.3 of a CPU");
    let whole = noisy(noisy::Kind::Cpu { share: 1.0, period_ms: 5.0 }, 2);
    assert_near(whole.metric("work_ms_per_s"), 2000.0, 0.02, "two CPUs");

    let supply = node_gb_per_s(&kunpeng());
    let greedy = noisy(noisy::Kind::Bandwidth { gb_per_s: supply }, 4);
    assert_near(greedy.metric("mb_per_s"), supply * 1e3, 0.03, "all that the node has");

    for pipe in [false, true] {
        let woken = noisy(noisy::Kind::Wakeups { per_s: 2000.0, work_us: 20.0, pipe }, 3);
        assert_near(woken.metric("wakeups_per_s"), 6000.0, 0.02, "three times 2000");
        assert!(woken.metric("late_p50_us") < 50.0);
    }

    // What fits is touched as fast as it is worked on, what does not waits for memory.
    let cache = |working_set_kib| {
        let kind = noisy::Kind::Cache { working_set_kib, touches_per_us: 50.0 };
        noisy(kind, 1).metric("touches_per_us")
    };
    assert_near(cache(16.0), 50.0, 0.05, "a working set that fits");
    assert!(cache(1e6) < 40.0);
}
