//! What can be worked out by hand.

use crate::rig::*;
use workload::kvm::Params;

fn constant(name: &str) -> f64 {
    power8().constants.value(name).expect("a constant")
}

fn near(found: f64, wanted: f64, part: f64) {
    assert!((found / wanted - 1.0).abs() < part, "found {found}, expected {wanted}");
}

/// A load of a chase alone on its core takes its cycles and the latency of the level that holds the set. Ticks, exits and
/// the host's daemons take a little.
#[test]
fn a_chase_pays_the_latency_of_the_level_that_holds_its_set() {
    let machine = cores(&power8(), 1);
    let ghz = constant("nominal_khz") / 1e6;
    let l2_ns = constant("l2_latency_cycles") / ghz;
    for (kib, latency_ns) in [
        (32.0, 0.0),
        (384.0, l2_ns),
        (6000.0, constant("l3_latency_ns")),
        (60_000.0, constant("memory_latency_ns")),
    ] {
        let p = params(vec![partition(1, 1, chase(kib))]);
        let found = metric(&p, &run(&machine, &p, Logs::Nothing), "load_ns");
        near(found, 2.0 / ghz + latency_ns, 0.04);
    }
}

/// Eight vcpus of a vcore share their core's cycles.
#[test]
fn vcpus_of_a_vcore_share_its_core() {
    let machine = cores(&power8(), 1);
    let ghz = constant("nominal_khz") / 1e6;
    let p = Params { threads_per_vcore: 8, ..params(vec![partition(1, 8, chase(1.0))]) };
    let found = metric(&p, &run(&machine, &p, Logs::Nothing), "load_ns");
    near(found, 2.0 / ghz / constant("smt_share_8"), 0.04);
    // As eight vcores they take turns.
    let p = Params { threads_per_vcore: 1, ..p };
    let found = metric(&p, &run(&machine, &p, Logs::Nothing), "load_ns");
    near(found, 8.0 * 2.0 / ghz, 0.05);
}

/// Two subcores are two CPUs of the host, whose threads share the core.
#[test]
fn subcores_are_cpus_of_their_own() {
    let machine = cores(&power8(), 1);
    let ghz = constant("nominal_khz") / 1e6;
    let p = Params { subcores_per_core: 4, ..params(vec![partition(1, 2, chase(1.0))]) };
    let found = metric(&p, &run(&machine, &p, Logs::Nothing), "load_ns");
    near(found, 2.0 / ghz / constant("smt_share_2"), 0.04);
}

/// One STREAM thread alone moves what its core can: four transfers count as three, three as two.
#[test]
fn stream_gets_the_bandwidth_of_its_core() {
    let machine = cores(&power8(), 1);
    let p = params(vec![partition(1, 1, stream(8.0))]);
    let found = run(&machine, &p, Logs::Nothing);
    let supply = constant("memory_core_gb_per_s") * 1e3;
    near(metric(&p, &found, "copy_mb_per_s"), supply * 2.0 / 3.0, 0.05);
    near(metric(&p, &found, "triad_mb_per_s"), supply * 3.0 / 4.0, 0.05);
}

/// A package's bandwidth is shared by its cores.
#[test]
fn a_package_has_no_more_than_its_bandwidth() {
    let machine = cores(&power8(), 4);
    let p = params(vec![partition(1, 4, stream(32.0))]);
    let found = metric(&p, &run(&machine, &p, Logs::Nothing), "triad_mb_per_s");
    near(found, constant("memory_package_gb_per_s") * 1e3 * 3.0 / 4.0, 0.05);
}

/// Vcpus that cede leave their CPUs to others: entries are as many as wake-ups and what the host's ticks add.
#[test]
fn idle_partitions_cede() {
    let machine = cores(&power8(), 2);
    let p = params(vec![partition(2, 2, idle())]);
    let found = run(&machine, &p, Logs::Nothing);
    let wakeups = 4.0 * 80.0 / 2.0;
    let entries = counter(&found, "guest_entries") as f64;
    assert!((0.7 * wakeups..1.5 * wakeups).contains(&entries), "{entries} of {wakeups}");
    assert!(found.counters.idle_ns > 100_000_000, "{} ns idle", found.counters.idle_ns);
}

/// Requests in flight are as many as connections (Little's law).
#[test]
fn all_connections_wait_for_something() {
    let machine = cores(&power8(), 4);
    let p = params(vec![partition(1, 4, apache())]);
    let found = run(&machine, &p, Logs::Nothing);
    let rate = metric(&p, &found, "requests_per_s");
    let mean_s = metric(&p, &found, "response_mean_ms") / 1e3;
    // What the client works on between an answer and the next request is no part of the response.
    assert!((0.9..1.02).contains(&(rate * mean_s / 40.0)), "{} in flight", rate * mean_s);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let machine = cores(&power8(), 4);
    let p = params(vec![partition(1, 4, apache()), partition(2, 2, sysbench())]);
    let h = hypervisor(&machine, &p, Logs::L2, Default::default()).expect("a host");
    let (a, b, c) = (h.run(5).expect("a run"), h.run(5).expect("a run"), h.run(6).expect("a run"));
    assert_eq!(a, b);
    assert_ne!(a.metrics, c.metrics);
}
