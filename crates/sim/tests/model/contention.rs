//! Lines that many write: the clusters study's loop, in which one thread loads and another stores, and the count of a route's references.

use crate::workloads::{false_sharing, release, scenario};
use machine::{CpuSet, Machine};
use sim::Scenario;
use workload::{Better, Metric, Op, Queue, QueueKind, Reading, Since, Spawn, Spread, Workload};

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

/// A client on each of 32 CPUs that asks a server on its own CPU over loopback; each makes its connection on the CPU that `made_on` says.
/// Questions a second.
fn questions_per_s(machine: &Machine, version: &str, made_on: impl Fn(usize) -> usize) -> f64 {
    let only = |cpu: usize| Op::SetAffinity(CpuSet::single(cpu));
    let mut w = Workload::default();
    let answered = w.histogram(None);
    let (from, to) = (w.mark(), w.mark());
    for cpu in 0..32 {
        let connection = w.connection();
        let queue = Queue { connection: Some(connection), ..Queue::unbounded(QueueKind::Loopback) };
        let (there, back) = (w.queue(queue), w.queue(queue));
        let first = [only(made_on(cpu)), Op::Connect(connection), only(cpu)];
        let ask = [
            Op::Stamp,
            Op::Send(there),
            Op::Receive(back),
            Op::Record { histogram: answered, since: Since::Stamp },
            Op::Loop { to: 3, times: 0 },
        ];
        let client = w.program("client", [&first[..], &ask].concat());
        let answer = [Op::Receive(there), Op::Send(back), Op::Loop { to: 1, times: 0 }];
        let server = w.program("server", [&[only(cpu)][..], &answer].concat());
        w.spawns.extend([client, server].map(Spawn::new));
    }
    let window = |ms: f64| Op::Sleep { mean_ns: ms * 1e6, spread: Spread::Fixed };
    let main = vec![window(5.0), Op::Mark(from), window(10.0), Op::Mark(to), Op::Stop];
    let main = w.program("main", main);
    w.spawns.push(Spawn::new(main));
    w.metrics.push(Metric {
        name: "questions".to_string(),
        unit: "1/s".to_string(),
        better: Better::Higher,
        reading: Reading::RecordsPerSecond { histogram: answered, units: 1.0, from, to },
    });
    Scenario::new(machine, &release(version), w).expect("a scenario").run(1).expect("a run").metrics
        [0]
}

/// Connections of one CPU share a line wherever they are used. It is handed on three times a message, or, up to 6.3, six times.
#[test]
fn connections_that_were_made_on_one_cpu_share_a_limit() {
    let machine = machine::catalog::load("epyc-7742-2s-nps1").expect("the catalog holds it");
    let value = |name: &str| machine.constants.value(name).expect("a constant");
    let questions =
        |version, made_on: fn(usize) -> usize| questions_per_s(&machine, version, made_on);
    let apart = questions("6.3", |cpu| cpu);
    let (old, new) = (questions("6.3", |_| 0), questions("6.4", |_| 0));
    assert!(new > 1.5 * old && apart > 1.5 * new, "{apart}, {new}, {old} a second");
    // All CPUs are of one package, in eight core complexes.
    let line_ns = 1e9 / (2.0 * 6.0 * old);
    let possible = value("handover_llc_ns")..value("handover_node_ns");
    assert!(possible.contains(&line_ns), "{line_ns} ns a hand-over");
}
