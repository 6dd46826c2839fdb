//! Every constant of a machine changes a result; one that does not is either useless or not wired up.

use crate::machines;
use crate::sync::locked_pair;
use crate::workloads::{bound_pair, ebizzy, hackbench, kernel, netperf, pipe, with_background};
use machine::Machine;
use sim::Scenario;
use workload::Workload;

const FACTOR: f64 = 1.3;

fn metric(machine: &Machine, workload: Workload, seed: u64) -> f64 {
    let scenario = Scenario::new(machine, &kernel(false), workload).expect("a scenario");
    scenario.run(seed).expect("a run").metrics[0]
}

/// Two ebizzy runs, two pipe runs and, as wake-ups keep to one LLC, a pair bound to two big cores; amid background.
fn metrics(machine: &Machine) -> Vec<f64> {
    let workloads = [
        ebizzy(machine, 2, 0.2, Some("0-7")),
        ebizzy(machine, 8, 0.2, Some("0-7")),
        pipe(machine, 2_000, None),
        pipe(machine, 2_000, Some("0-7")),
        bound_pair(0, 8, 2_000),
        hackbench(machine, 1, 4, 20, false),
        netperf(machine, 2, None),
        locked_pair(machine),
    ];
    let run = |w: Workload| {
        let w = with_background(machine, w);
        (0..2).map(|seed| metric(machine, w.clone(), seed)).collect::<Vec<_>>()
    };
    workloads.into_iter().flat_map(run).collect()
}

fn scaled(machine: &Machine, constant: &str) -> Machine {
    Machine { constants: machine.constants.scaled(constant, FACTOR), ..machine.clone() }
}

#[test]
fn every_constant_changes_a_metric() {
    let machine = machines::power9();
    let before = metrics(&machine);
    let mut dead: Vec<&str> = Vec::new();
    for (name, _) in machine.constants.iter() {
        if metrics(&scaled(&machine, name)) == before {
            dead.push(name);
        }
    }
    assert!(dead.is_empty(), "constants without an effect: {dead:?}");
}

/// With one CPU nothing is left to chance, and each cost of a hop makes the benchmark slower by its part.
#[test]
fn costs_of_a_hop_add_to_the_pipe_benchmark() {
    let machine = machines::smt(1, 1);
    let scenario = Scenario::new(&machine, &kernel(false), pipe(&machine, 2_000, None));
    let result = scenario.and_then(|s| s.run(1)).expect("a run");
    let (before, wakeups) = (result.metrics[0], result.counters.wakeups as f64);
    let ghz = machine.constants.value("nominal_khz").expect("a clock") / 1e6;
    for (name, times, to_ns) in [
        ("pipe_ns", 2.0, 1.0),
        ("wakeup_ns", wakeups / 4_000.0, 1.0),
        ("context_switch_ns", 1.0, 1.0),
        ("pipe_user_cycles", 1.0, 1.0 / ghz),
    ] {
        let changed = scaled(&machine, name);
        let after = metric(&changed, pipe(&changed, 2_000, None), 1);
        let value = machine.constants.value(name).expect("a cost");
        let expected_s = 4_000.0 * times * value * (FACTOR - 1.0) * to_ns / 1e9;
        let found_s = after - before;
        assert!(
            (found_s - expected_s).abs() < 0.02 * expected_s + 20e-6,
            "{name}: {found_s} s, expected {expected_s} s"
        );
    }
}
