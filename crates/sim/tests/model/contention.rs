//! One thread loads and another stores on one line: the clusters study's loop.

use crate::workloads::{false_sharing, scenario};
use machine::Machine;

/// Rounds of the study.
const ROUNDS: f64 = 268_435_455.0;

fn kunpeng() -> Machine {
    machine::catalog::load("kunpeng920-1node").expect("the catalog holds it")
}

fn seconds(machine: &Machine, reader: usize, writer: Option<usize>, rounds: f64) -> f64 {
    let workload = false_sharing(machine, reader, writer, rounds);
    scenario(machine, workload).run(1).expect("a run").metrics[0]
}

/// The two figures on which the constants are calibrated; ticks cost 0.02 %.
#[test]
fn the_loop_takes_the_study_s_times() {
    let machine = kunpeng();
    for (writer, wanted) in [(1, 0.832), (4, 1.133)] {
        let found = seconds(&machine, 0, Some(writer), ROUNDS);
        assert!((found - wanted).abs() < 1e-3, "CPU {writer}: {found} s, published {wanted} s");
    }
}

#[test]
fn alone_only_core_cycles_count() {
    let machine = kunpeng();
    let value = |name: &str| machine.constants.value(name).expect("a constant");
    let wanted = ROUNDS * value("contend_round_cycles") / value("nominal_khz") / 1e3;
    let found = seconds(&machine, 0, None, ROUNDS);
    assert!((found / wanted - 1.0).abs() < 1e-3, "{found} s, expected {wanted} s");
}

/// Both loops start together; the writer makes a quarter of the reader's rounds, which then goes on alone.
#[test]
fn a_rival_that_ends_ends_the_contention() {
    let machine = kunpeng();
    let rounds = 4e7;
    let (alone, both) = (seconds(&machine, 0, None, rounds), seconds(&machine, 0, Some(4), rounds));
    let workload = {
        let mut w = false_sharing(&machine, 0, Some(4), rounds);
        let writer = &mut w.programs[1].ops;
        for op in writer {
            if let workload::Op::Contend { rounds, .. } = op {
                *rounds /= 4.0;
            }
        }
        w
    };
    let found = scenario(&machine, workload).run(1).expect("a run").metrics[0];
    let wanted = both / 4.0 + alone * 3.0 / 4.0;
    assert!((found / wanted - 1.0).abs() < 2e-3, "{found} s, expected {wanted} s");
}

#[test]
fn two_readers_do_not_contend() {
    let machine = kunpeng();
    let mut w = false_sharing(&machine, 0, Some(4), 4e7);
    for op in w.programs.iter_mut().flat_map(|p| &mut p.ops) {
        if let workload::Op::Contend { write, .. } = op {
            *write = false;
        }
    }
    let found = scenario(&machine, w).run(1).expect("a run").metrics[0];
    let alone = seconds(&machine, 0, None, 4e7);
    assert!((found / alone - 1.0).abs() < 1e-3, "{found} s, alone {alone} s");
}
