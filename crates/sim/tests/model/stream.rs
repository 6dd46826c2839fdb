//! STREAM's figures with pencil and paper.

use crate::workloads::{benchmark, build, scenario};
use machine::{CpuSet, Machine};
use workload::stream::{KERNELS, Params};
use workload::{Benchmark, Placement};

/// Ticks take less than this, and barriers, where one thread wakes all others.
const SMALL: f64 = 2e-2;
const ELEMENT_CYCLES: f64 = 4.0;

fn kunpeng() -> Machine {
    machine::catalog::load("kunpeng920-2node").expect("the catalog holds it")
}

fn constant(machine: &Machine, name: &str) -> f64 {
    machine.constants.value(name).expect("a constant of the machine")
}

fn params(cpus: &[usize]) -> Params {
    let cpus: CpuSet = cpus.iter().copied().collect();
    Params {
        array_mib: 256,
        passes: 3,
        element_cycles: ELEMENT_CYCLES,
        threads: None,
        placement: Placement::Default,
        cpus: Some(cpus),
    }
}

/// The four figures, in GB/s.
fn gb_per_s(machine: &Machine, cpus: &[usize]) -> Vec<f64> {
    let workload = benchmark(machine, Benchmark::Stream(params(cpus)));
    let metrics = scenario(machine, workload).run(1).expect("a run").metrics;
    metrics.into_iter().map(|mb| mb / 1e3).collect()
}

fn assert_near(found: &[f64], expected: impl Fn(f64) -> f64) {
    assert_eq!(found.len(), KERNELS.len());
    for (&found, (kernel, bytes)) in found.iter().zip(KERNELS) {
        let expected = expected(bytes);
        let off = (found / expected - 1.0).abs();
        assert!(off < SMALL, "{kernel}: {found} GB/s, expected {expected}");
    }
}

#[test]
fn one_thread_gets_what_it_asks_for() {
    let machine = kunpeng();
    let ghz = constant(&machine, "nominal_khz") / 1e6;
    assert_near(&gb_per_s(&machine, &[5]), |bytes| bytes / ELEMENT_CYCLES * ghz);
}

#[test]
fn a_saturated_node_gives_its_bandwidth_and_two_give_twice_as_much() {
    let machine = kunpeng();
    let of_node = constant(&machine, "memory_package_gb_per_s") / 2.0;
    let node: Vec<usize> = (0..24).collect();
    assert_near(&gb_per_s(&machine, &node), |_| of_node);
    let both: Vec<usize> = (0..48).collect();
    assert_near(&gb_per_s(&machine, &both), |_| 2.0 * of_node);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let machine = kunpeng();
    let refused = |params: Params| {
        build(&machine, &Benchmark::Stream(params)).expect_err("refused").to_string()
    };
    let good = params(&[0]);
    assert_eq!(
        refused(Params { passes: 1, ..good.clone() }),
        "stream: passes: found 1, expected 2 to 10000"
    );
    assert!(refused(Params { element_cycles: f64::NAN, ..good.clone() }).contains("found NaN"));
    assert!(refused(Params { cpus: Some(CpuSet::default()), ..good }).contains("cpus: found 0"));
}
