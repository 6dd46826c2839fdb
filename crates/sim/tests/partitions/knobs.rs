//! Every constant that partitions need, and every parameter of theirs, changes an output.

use crate::rig::*;
use machine::Machine;
use setting::{Prefetch, Rate};
use workload::kvm::{Params, PartitionProgram};

/// Constants that the hypervisor alone reads, with a factor that leaves each possible.
const CONSTANTS: [(&str, f64); 25] = [
    ("l1i_ways", 0.125),
    ("l1d_ways", 0.5),
    ("l2_ways", 0.5),
    ("l3_ways", 0.5),
    ("l2_latency_cycles", 1.3),
    ("l3_latency_ns", 1.3),
    ("memory_latency_ns", 1.3),
    ("memory_core_gb_per_s", 1.3),
    ("memory_package_gb_per_s", 0.3),
    ("stream_ramp_lines", 3.0),
    ("guest_entry_ns", 1.3),
    ("guest_exit_ns", 1.3),
    ("host_lines_per_us", 1.3),
    ("host_footprint_kib", 1.3),
    ("prefetch_log_cycles", 1.3),
    ("prefetch_log_l2_kib", 0.5),
    ("prefetch_log_l2_l3_kib", 0.5),
    ("prefetch_restore_fastest_cycles", 3.0),
    ("prefetch_restore_8_cycles", 1.3),
    ("prefetch_restore_16_cycles", 1.3),
    ("prefetch_restore_24_cycles", 1.3),
    ("prefetch_restore_32_cycles", 1.3),
    ("smt_share_2", 0.9),
    ("smt_share_8", 0.9),
    // It only limits what may be asked for: see the refusals.
    ("most_subcores_per_core", 0.5),
];

/// One of each program on a host of two cores, beside a vcore of eight vcpus.
fn mixed() -> Params {
    let mut p = params(vec![
        partition(1, 2, apache()),
        partition(1, 1, stream(4.0)),
        partition(1, 1, chase(300.0)),
        partition(1, 1, sysbench()),
        partition(1, 1, idle()),
    ]);
    (p.warmup_s, p.seconds) = (0.03, 0.1);
    p
}

/// Cases of [`output`].
const CASES: usize = 3 + Rate::ALL.len();

fn output(machine: &Machine, case: usize) -> Result<Vec<f64>, String> {
    let machine = cores(machine, 2);
    let run = |p: &Params, logs, prefetch| {
        let h = hypervisor(&machine, p, logs, prefetch)?;
        h.run(1).map(|r| r.metrics).map_err(|e| e.to_string())
    };
    match case {
        0 => {
            let fast = Prefetch { rate: Rate::Fastest, log_cycles: Some(0.2) };
            run(&mixed(), Logs::L2AndL3, fast)
        }
        1 => {
            let partitions = vec![partition(1, 8, chase(16.0)), partition(1, 2, stream(4.0))];
            let smt = Params { threads_per_vcore: 8, ..params(partitions) };
            run(&smt, Logs::Nothing, Prefetch::default())
        }
        2 => {
            let partitions = vec![partition(1, 8, chase(100.0))];
            let split = Params { subcores_per_core: 4, ..params(partitions) };
            run(&split, Logs::Nothing, Prefetch::default())
        }
        _ => run(&mixed(), Logs::L2, Prefetch { rate: Rate::ALL[case - 3], log_cycles: None }),
    }
}

#[test]
fn every_constant_changes_an_output() {
    let machine = power8();
    let before: Vec<_> = (0..CASES).map(|case| output(&machine, case)).collect();
    assert!(before.iter().all(Result::is_ok), "{before:?}");
    let dead: Vec<&str> = CONSTANTS
        .iter()
        .filter(|(name, factor)| {
            let constants = machine.constants.scaled(name, *factor);
            assert_ne!(constants, machine.constants, "{name} is a constant");
            let scaled = Machine { constants, ..machine.clone() };
            before.iter().enumerate().all(|(case, b)| output(&scaled, case) == *b)
        })
        .map(|(name, _)| *name)
        .collect();
    assert!(dead.is_empty(), "constants without an effect: {dead:?}");
}

type Change = (&'static str, fn(&mut Params));

fn program(p: &mut Params, at: usize) -> &mut PartitionProgram {
    &mut p.partitions[at].program
}

macro_rules! of {
    ($kind:ident, $at:literal, $p:ident, $do:expr) => {
        |p| {
            if let PartitionProgram::$kind($p) = program(p, $at) {
                $do;
            }
        }
    };
}

const CHANGES: &[Change] = &[
    ("warmup_s", |p| p.warmup_s *= 1.5),
    ("seconds", |p| p.seconds *= 1.5),
    ("one_set_in", |p| p.one_set_in = 16),
    ("subcores_per_core", |p| p.subcores_per_core = 2),
    ("threads_per_vcore", |p| p.threads_per_vcore = 2),
    ("guest.count", |p| p.partitions[3].count = 2),
    ("guest.vcpus", |p| p.partitions[2].vcpus = 2),
    ("connections", of!(ApacheBench, 0, a, a.connections = 20)),
    ("request.code_kib", of!(ApacheBench, 0, a, a.request.code_kib *= 2.0)),
    ("request.data_kib", of!(ApacheBench, 0, a, a.request.data_kib *= 2.0)),
    ("request.cycles", of!(ApacheBench, 0, a, a.request.cycles *= 1.1)),
    ("client.code_kib", of!(ApacheBench, 0, a, a.client.code_kib *= 2.0)),
    ("client.data_kib", of!(ApacheBench, 0, a, a.client.data_kib *= 2.0)),
    ("client.cycles", of!(ApacheBench, 0, a, a.client.cycles *= 1.1)),
    ("connection_kib", of!(ApacheBench, 0, a, a.connection_kib *= 2.0)),
    ("page_kib", of!(ApacheBench, 0, a, a.page_kib *= 2.0)),
    ("array_mib", of!(Stream, 1, s, s.array_mib *= 1.5)),
    ("passes", of!(Stream, 1, s, s.passes = 4)),
    ("element_cycles", of!(Stream, 1, s, s.element_cycles *= 2.0)),
    ("working_set_kib", of!(Chase, 2, c, c.working_set_kib *= 2.0)),
    ("load_cycles", of!(Chase, 2, c, c.load_cycles *= 2.0)),
    ("block_kib", of!(SysbenchMemory, 3, s, s.block_kib *= 4.0)),
    ("total_mib", of!(SysbenchMemory, 3, s, s.total_mib *= 0.5)),
    ("word_cycles", of!(SysbenchMemory, 3, s, s.word_cycles *= 2.0)),
    ("event.code_kib", of!(SysbenchMemory, 3, s, s.event.code_kib *= 8.0)),
    ("event.data_kib", of!(SysbenchMemory, 3, s, s.event.data_kib *= 8.0)),
    ("event.cycles", of!(SysbenchMemory, 3, s, s.event.cycles *= 2.0)),
    ("period_ms", of!(Idle, 4, i, i.period_ms *= 0.5)),
    ("work.code_kib", of!(Idle, 4, i, i.work.code_kib *= 2.0)),
    ("work.data_kib", of!(Idle, 4, i, i.work.data_kib *= 2.0)),
    ("work.cycles", of!(Idle, 4, i, i.work.cycles *= 2.0)),
];

#[test]
fn every_parameter_changes_an_output() {
    let machine = cores(&power8(), 2);
    let outputs = |p: &Params| run(&machine, p, Logs::L2).metrics;
    let p = mixed();
    let before = outputs(&p);
    let dead: Vec<&str> = CHANGES
        .iter()
        .filter(|(_, change)| {
            let mut changed = p.clone();
            change(&mut changed);
            assert_ne!(changed, p);
            outputs(&changed) == before
        })
        .map(|c| c.0)
        .collect();
    assert!(dead.is_empty(), "parameters without an effect: {dead:?}");
}
