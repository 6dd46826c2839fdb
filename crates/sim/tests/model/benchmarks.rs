//! The built-in benchmarks do what the real ones do.

use crate::conservation::interleaved;
use crate::counted::Counted;
use crate::machines;
use crate::watch::Watch;
use crate::workloads::{benchmark, build, hackbench, kernel, netperf, scenario, with_background};
use machine::Machine;
use sim::Scenario;
use workload::daytrader::Amounts;
use workload::{Benchmark, Workload, daytrader, schbench};

fn constant(machine: &Machine, name: &str) -> f64 {
    machine.constants.value(name).expect("a constant of the machine")
}

#[test]
fn hackbench_passes_all_its_messages() {
    let machine = machines::smt(4, 2);
    for (pipe, groups, fds, loops) in [(true, 2, 5, 30), (false, 2, 5, 30), (true, 1, 20, 100)] {
        let mut watch = Watch::new(machine.cpus.len());
        let w = with_background(&machine, hackbench(&machine, groups, fds, loops, pipe));
        scenario(&machine, w).run_traced(2, &mut watch).expect("a run");
        assert!(watch.wrong.is_empty(), "{:?}", &watch.wrong[..watch.wrong.len().min(5)]);
        let pairs = u64::from(groups) * u64::from(fds) * u64::from(fds);
        let ready = 2 * u64::from(groups) * u64::from(fds);
        assert_eq!(watch.sent, pairs * u64::from(loops) + ready);
        assert_eq!(watch.received, watch.sent);
        let tasks = watch.tasks.iter().filter(|t| t.program == "hackbench" && t.exited).count();
        assert_eq!(tasks as u64, ready);
    }
}

/// On one CPU a transaction is two messages, each with user code, a wake-up and a switch.
#[test]
fn a_transaction_on_one_cpu_is_the_sum_of_its_costs() {
    let machine = machines::smt(1, 1);
    let result = scenario(&machine, netperf(&machine, 1, None)).run(1).expect("a run");
    let user_ns =
        constant(&machine, "message_user_cycles") / (constant(&machine, "nominal_khz") / 1e6);
    let counted = Counted::of(&machine);
    let message_ns =
        counted.message_ns("tcp") + counted.wakeup_ns("tcp") + counted.switch_ns(false);
    let expected_ns = 2.0 * (message_ns + user_ns);
    let found_ns = 1e9 / result.metrics[0];
    assert!((found_ns / expected_ns - 1.0).abs() < 0.02, "{found_ns}, expected {expected_ns}");
}

#[test]
fn schbench_with_room_for_all_takes_sleep_and_work() {
    let machine = machines::power9();
    let params = schbench::Params {
        message_threads: 1,
        workers: 4,
        sleep_us: 100.0,
        work_us: 1_000.0,
        warmup_s: 0.1,
        seconds: 0.5,
        cpus: None,
    };
    let w = benchmark(&machine, Benchmark::Schbench(params));
    let names: Vec<String> = w.metrics.iter().map(|m| m.name.clone()).collect();
    let result = scenario(&machine, w).run(1).expect("a run");
    let metric =
        |name: &str| result.metrics[names.iter().position(|n| n == name).expect("a metric")];
    assert!(metric("wakeup_p50_us") > 0.0 && metric("wakeup_p50_us") < 50.0);
    assert!(metric("wakeup_p99.9_us") >= metric("wakeup_p99_us"));
    let request_us = metric("request_p50_us");
    assert!((1_100.0..1_150.0).contains(&request_us), "{request_us} us");
}

fn daytrader_params(users: u32, jvms: u16) -> daytrader::Params {
    let cpus: machine::CpuSet = "0-63".parse().expect("a CPU list");
    daytrader::Params {
        users,
        think_ms: 7.0,
        jvms,
        workers: 64 / jvms,
        collectors: 64 / jvms,
        tables: 8,
        warmup_s: 1.0,
        seconds: 2.0,
        cpus: Some(cpus.clone()),
        irq_cpus: cpus,
        amounts: Amounts::ASSUMED,
    }
}

fn daytrader_on(machine: &Machine, users: u32, jvms: u16) -> Workload {
    benchmark(machine, Benchmark::Daytrader(daytrader_params(users, jvms)))
}

/// The working point that the amounts of work are assumed for, on 8 cores of 8 threads.
#[test]
fn daytrader_keeps_the_machine_three_quarters_busy() {
    let mut machine = machines::smt(8, 8);
    machine.thread_groups = (0..8).map(interleaved).collect();
    for jvms in [1, 2] {
        let w = daytrader_on(&machine, 80, jvms);
        let scenario = Scenario::new(&machine, &kernel(true), w).expect("a scenario");
        let result = scenario.run(1).expect("a run");
        let ran: u64 = result.counters.run_ns_by_busy.iter().sum();
        // The first half second is the start; users are there from then on.
        let busy = ran as f64 / (64.0 * (result.end_ns as f64 - 0.5e9));
        assert!((0.60..0.85).contains(&busy), "{jvms} JVMs: {busy} of the CPUs' time");
        let users = result.metrics[0] * (result.metrics[1] / 1e6 + 7e-3);
        assert!((users / 80.0 - 1.0).abs() < 0.04, "{jvms} JVMs, N = X (R + Z): {users}");
    }
}

#[test]
fn parameters_that_cannot_be_are_refused_by_name() {
    let machine = machines::power9();
    let refused = |b: Benchmark| build(&machine, &b).expect_err("refused").to_string();
    let daytrader = daytrader::Params { jvms: 0, ..daytrader_params(80, 1) };
    assert_eq!(
        refused(Benchmark::Daytrader(daytrader)),
        "daytrader: jvms: found 0, expected 1 to 64"
    );
    let hackbench = workload::hackbench::Params {
        groups: 1,
        loops: 1,
        fds: 20,
        datasize: 5000,
        pipe: true,
        threads: false,
        cpus: None,
    };
    assert_eq!(
        refused(Benchmark::Hackbench(hackbench)),
        "hackbench: datasize: found 5000, expected 1 to 4096"
    );
    let netperf =
        workload::netperf::Params { pairs: 1, warmup_s: 0.0, seconds: f64::NAN, cpus: None };
    assert_eq!(
        refused(Benchmark::Netperf(netperf)),
        "netperf: seconds: found NaN, expected more than 0, at most 3600"
    );
}
