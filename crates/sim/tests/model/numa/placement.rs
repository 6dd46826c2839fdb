//! Pages on nodes: what they cost in latency and give in bandwidth.

use crate::memory::{CYCLES, Timed, assert_near, compute, constant, ghz, streams, uses};
use machine::{CpuSet, Machine};
use sim::{Scenario, SimError};
use workload::{MemoryUse, Nodes, Op, Placement, Workload};

fn kunpeng() -> Machine {
    machine::catalog::load("kunpeng920-2node").expect("the catalog holds it")
}

/// Misses one at a time.
fn misses(placement: Placement) -> MemoryUse {
    MemoryUse { working_set_bytes: 1e11, overlap: 1.0, placement, ..uses(1.0) }
}

/// Seconds of so many cycles on CPU 0 after a warm-up.
fn seconds(machine: &Machine, used: MemoryUse) -> f64 {
    let mut t = Timed::new();
    t.spawn_timed(used, &[compute(CYCLES)], CYCLES);
    t.seconds(machine)
}

/// A miss on the other node takes its latency, and of an interleaved set each node has its part.
#[test]
fn latency_goes_by_the_nodes_of_the_pages() {
    let machine = kunpeng();
    let extra_ns =
        constant(&machine, "memory_latency_package_ns") - constant(&machine, "memory_latency_ns");
    let touches = misses(Placement::Default).touches_per_kcycle / 1000.0 * CYCLES;
    let local = seconds(&machine, misses(Placement::Default));
    for (placement, remote) in [
        (Placement::Bind(Nodes::single(0)), 0.0),
        (Placement::Bind(Nodes::single(1)), 1.0),
        (Placement::Interleave(Nodes::ALL), 0.5),
        (Placement::Interleave(Nodes::single(1)), 1.0),
    ] {
        let found = seconds(&machine, misses(placement));
        assert_near(found, local + remote * touches * extra_ns / 1e9);
    }
}

/// GB/s that streams on these CPUs get together.
fn streamed(machine: &Machine, cpus: &[usize], placement: Placement) -> f64 {
    let bytes_per_kcycle = 8_000.0;
    let mut t = Timed::new();
    let used = MemoryUse { placement, ..streams(bytes_per_kcycle) };
    for &cpu in cpus {
        let cycles = CYCLES / 4.0;
        let mut ops = vec![Op::Memory(used), compute(cycles)];
        if cpu == cpus[0] {
            ops.extend([Op::Mark(t.from), compute(cycles), Op::Mark(t.to), Op::Stop]);
        }
        ops.extend([compute(cycles), Op::Loop { to: 1, times: 0 }]);
        t.spawn(cpu, 0, ops);
    }
    let each = CYCLES / 4.0 * bytes_per_kcycle / 1000.0 / t.seconds(machine) / 1e9;
    each * cpus.len() as f64
}

/// Threads of one node get the bandwidth of all nodes over which their memory is interleaved, and that of one where it is not.
#[test]
fn interleaved_bandwidth_is_the_sum_of_the_nodes() {
    let machine = kunpeng();
    let of_node = constant(&machine, "memory_package_gb_per_s") / 2.0;
    let node: Vec<usize> = (0..24).collect();
    let gb_per_s = |placement| streamed(&machine, &node, placement);
    assert_near(gb_per_s(Placement::Default), of_node);
    assert_near(gb_per_s(Placement::Bind(Nodes::single(1))), of_node);
    assert_near(gb_per_s(Placement::Interleave(Nodes::ALL)), 2.0 * of_node);
    // One thread alone is held back by neither node.
    assert_near(streamed(&machine, &[0], Placement::Interleave(Nodes::ALL)), 8.0 * ghz(&machine));
}

/// A buffer whose first half was written on one node and the second on the other gives both nodes' bandwidth.
#[test]
fn what_is_touched_while_a_task_moves_is_split() {
    let machine = kunpeng();
    let used = MemoryUse { stream_set_bytes: CYCLES * 8.0 / 2.0, ..streams(8_000.0) };
    let mut t = Timed::new();
    for cpu in 0..24_usize {
        let half = compute(CYCLES / 4.0);
        let mut ops = vec![
            Op::Memory(used),
            half.clone(),
            Op::SetAffinity(CpuSet::single(cpu + 24)),
            half.clone(),
            half.clone(),
        ];
        if cpu == 0 {
            ops.extend([Op::Mark(t.from), half.clone(), Op::Mark(t.to), Op::Stop]);
        }
        ops.extend([half.clone(), Op::Loop { to: 4, times: 0 }]);
        t.spawn(cpu, 0, ops);
    }
    let of_node = constant(&machine, "memory_package_gb_per_s") / 2.0;
    let gb_per_s = 24.0 * CYCLES / 4.0 * 8.0 / t.seconds(&machine) / 1e9;
    assert_near(gb_per_s, 2.0 * of_node);
}

#[test]
fn nodes_that_a_machine_does_not_have_are_refused() {
    let mut w = Workload::default();
    w.program("p", vec![Op::Memory(misses(Placement::Bind(Nodes::single(7))))]);
    let error =
        Scenario::new(&kunpeng(), &crate::workloads::kernel(false), w).expect_err("no scenario");
    assert!(matches!(error, SimError::Step { .. }));
    assert_eq!(
        error.to_string(),
        "program `p`: memory: placement: found bind 7, expected nodes that the machine has"
    );
}
