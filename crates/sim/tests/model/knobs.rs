//! Every constant of a machine changes an output; one that does not is either useless or not wired up.

use crate::counted::Counted;
use crate::frequency;
use crate::machines;
use crate::sync::locked_pair;
use crate::workloads::{
    bound_pair, ebizzy, false_sharing, hackbench, kernel, memory_tour, netperf, pipe, tbench_on,
    with_background,
};
use machine::Machine;
use sim::Scenario;
use workload::Workload;

const FACTOR: f64 = 1.3;

/// Machines with CPUs for each of their distances, and the constants that no part of the simulator reads.
const MACHINES: [(&str, &[usize], &[&str]); 4] = [
    ("power9-big-core", &[2, 1, 8], &[]),
    (
        "kunpeng920-2node",
        &[1, 4, 24],
        // It has one package, and no idle state that polls.
        &["handover_remote_ns", "memory_latency_remote_ns", "poll_ns"],
    ),
    ("power10-8core", &[2, 1, 8], &["handover_remote_ns", "memory_latency_remote_ns"]),
    (
        "epyc-7742-2s-nps1",
        &[128, 1, 4, 64],
        &[
            // Facts for people.
            "handover_node_far_home_ns",
            // One node a package.
            "handover_package_ns",
            "invariance_midpoint_khz",
            "l1_latency_cycles",
            "l3_latency_cycles",
            "memory_latency_package_ns",
        ],
    ),
];

/// ebizzy, pipes, tbench and, as wake-ups keep to one LLC, pairs bound over each distance; then memory of every kind, and a
/// contended line where the machine says what that costs; amid background.
fn workloads(machine: &Machine, others: &[usize]) -> Vec<Workload> {
    let mut all = vec![
        ebizzy(machine, 2, 0.1, Some("0-7")),
        ebizzy(machine, 12, 0.1, Some("0-7")),
        pipe(machine, 1_000, None),
        pipe(machine, 1_000, Some("0-7")),
        memory_tour(others),
        hackbench(machine, 1, 4, 20, false),
        hackbench(machine, 1, 4, 20, true),
        netperf(machine, 2, None),
        locked_pair(machine),
        tbench_on(machine, 2, 0.01, 0.2),
    ];
    all.extend(others.iter().map(|&cpu| bound_pair(0, cpu, 500)));
    if machine.constants.get("contend_transfers_per_round").is_some() {
        all.push(false_sharing(machine, 0, Some(others[0]), 1e5));
    }
    all.into_iter().map(|w| with_background(machine, w)).collect()
}

/// The metric, and how long the run took: what comes before the first mark shows in the second.
fn outputs(machine: &Machine, workload: Workload) -> (f64, u64) {
    let scenario = Scenario::new(machine, &kernel(false), workload).expect("a scenario");
    let result = scenario.run(1).expect("a run");
    (result.metrics[0], result.end_ns)
}

/// Whether the machine with `constant` scaled gives other outputs than `before` for a workload.
fn matters(machine: &Machine, others: &[usize], constant: &str, before: &[(f64, u64)]) -> bool {
    let machine = scaled(machine, constant);
    let run = |w| outputs(&machine, w);
    workloads(&machine, others).into_iter().zip(before).any(|(w, &b)| run(w) != b)
}

fn scaled(machine: &Machine, constant: &str) -> Machine {
    Machine { constants: machine.constants.scaled(constant, FACTOR), ..machine.clone() }
}

fn dead_constants(name: &str) {
    let (_, others, unread) = MACHINES.iter().find(|m| m.0 == name).expect("a line of the table");
    let machine = machine::catalog::load(name).expect("the catalog holds it");
    let all = workloads(&machine, others);
    let before: Vec<(f64, u64)> = all.into_iter().map(|w| outputs(&machine, w)).collect();
    // Machines of which the clocks are known.
    let clocks = machine.constants.get("boost_khz").map(|_| frequency::outputs(&machine));
    let moves_clocks = |constant: &str| {
        clocks.as_ref().is_some_and(|c| *c != frequency::outputs(&scaled(&machine, constant)))
    };
    let constants = machine.constants.iter().map(|(name, _)| name);
    let dead: Vec<&str> =
        constants.filter(|c| !matters(&machine, others, c, &before) && !moves_clocks(c)).collect();
    assert_eq!(dead, *unread, "{name}: constants without an effect");
}

#[test]
fn every_constant_of_power9_changes_an_output() {
    dead_constants("power9-big-core");
}

#[test]
fn every_constant_of_kunpeng_changes_an_output() {
    dead_constants("kunpeng920-2node");
}

#[test]
fn every_constant_of_power10_changes_an_output() {
    dead_constants("power10-8core");
}

#[test]
fn every_constant_of_epyc_changes_an_output() {
    dead_constants("epyc-7742-2s-nps1");
}

/// With one CPU nothing is left to chance, and each cost of a hop makes the benchmark slower by its part. How often a reader is
/// preempted before it sleeps, and so needs no wake-up, depends on the costs, too.
#[test]
fn costs_of_a_hop_add_to_the_pipe_benchmark() {
    let found_and_expected_s = |machine: &Machine| {
        let scenario = Scenario::new(machine, &kernel(false), pipe(machine, 2_000, None));
        let result = scenario.and_then(|s| s.run(1)).expect("a run");
        let constant = |name| machine.constants.value(name).expect("a constant");
        let user_ns = constant("pipe_user_cycles") / constant("nominal_khz") * 1e6;
        let counted = Counted::of(machine);
        let hop_ns = counted.message_ns("pipe") + counted.switch_ns(false) + user_ns;
        let wakeups_ns = result.counters.wakeups as f64 * counted.wakeup_ns("pipe");
        (result.metrics[0], (4_000.0 * hop_ns + wakeups_ns) / 1e9)
    };
    let machine = machines::smt(1, 1);
    let (before_s, expected_before_s) = found_and_expected_s(&machine);
    for name in ["kernel_cycles_per_instruction", "pipe_user_cycles"] {
        let (after_s, expected_after_s) = found_and_expected_s(&scaled(&machine, name));
        let (found_s, expected_s) = (after_s - before_s, expected_after_s - expected_before_s);
        assert!(
            (found_s - expected_s).abs() < 0.02 * expected_s + 20e-6,
            "{name}: {found_s} s, expected {expected_s} s"
        );
    }
}
