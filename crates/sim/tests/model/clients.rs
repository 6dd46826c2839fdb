//! Closed loops of users: operational laws hold, and a bottleneck is one.

use crate::counted::Counted;
use crate::machines;
use crate::workloads::scenario;
use machine::costs::Peer;
use machine::{CpuSet, Machine};
use sim::RunResult;
use workload::{Better, Clients, Metric, Op, Queue, QueueKind, Reading, Spread, Work, Workload};

const THINK_MS: f64 = 2.0;
const SERVICE_US: f64 = 500.0;
const WINDOW_S: f64 = 20.0;

/// `users` of `servers` threads, all bound to CPU 1; interrupts come to CPU 0. Metrics: replies/s and mean response in us.
fn closed_loop(machine: &Machine, users: u32, servers: usize) -> Workload {
    let mut w = Workload::default();
    let requests = w.queue(Queue::unbounded(QueueKind::Socket));
    let open = w.flag();
    let (from, to) = (w.mark(), w.mark());
    let responses = w.histogram(Some(open));
    let cycles_per_us = machine.constants.value("nominal_khz").expect("a clock") / 1e3;
    let work = Work { cycles: SERVICE_US * cycles_per_us, spread: Spread::Exponential };
    let ops = [Op::Receive(requests), Op::Compute(work), Op::Reply, Op::Loop { to: 0, times: 0 }];
    crate::workloads::tasks(&mut w, "server", servers, &ops, Some(CpuSet::single(1)));
    w.clients.push(Clients {
        requests,
        count: users,
        think_ns: THINK_MS * 1e6,
        spread: Spread::Exponential,
        open: false,
        irq_cpus: CpuSet::single(0),
        first_ns: 1_000_000,
        within_ns: 2_000_000,
        responses,
    });
    let sleep = |s: f64| Op::Sleep { mean_ns: s * 1e9, spread: Spread::Fixed };
    let clock = [
        sleep(1.0),
        Op::Mark(from),
        Op::SetFlag(open, true),
        sleep(WINDOW_S),
        Op::Mark(to),
        Op::Stop,
    ];
    crate::workloads::tasks(&mut w, "clock", 1, &clock, Some(CpuSet::single(0)));
    let metric = |name: &str, reading| Metric {
        name: name.to_string(),
        unit: "1".to_string(),
        better: Better::Higher,
        reading,
    };
    w.metrics.push(metric(
        "rate",
        Reading::RecordsPerSecond { histogram: responses, units: 1.0, from, to },
    ));
    w.metrics.push(metric("mean", Reading::MeanUs(responses)));
    w.metrics.push(metric("p99", Reading::PercentileUs { histogram: responses, percent: 99.0 }));
    w
}

fn run(users: u32, servers: usize) -> (RunResult, f64) {
    let machine = machines::smt(2, 1);
    let result = scenario(&machine, closed_loop(&machine, users, servers)).run(5).expect("a run");
    let counted = Counted::of(&machine);
    let kernel_ns = counted.ns("unix", Peer::Alternating, |o| o.take)
        + counted.ns("tcp", Peer::Alternating, |o| o.give);
    let service_us = SERVICE_US + kernel_ns / 1e3;
    (result, service_us)
}

#[test]
fn a_saturated_loop_goes_at_its_bottleneck() {
    let (result, service_us) = run(40, 1);
    // The server is never without work, so nothing but its service counts: X = 1 / S.
    let found = result.metrics[0] * service_us / 1e6;
    assert!((found - 1.0).abs() < 0.02, "utilisation by U = X S: {found}");
    let users = result.metrics[0] * (result.metrics[1] / 1e6 + THINK_MS / 1e3);
    assert!((users / 40.0 - 1.0).abs() < 0.02, "N = X (R + Z): {users}");
}

#[test]
fn response_time_law_holds_below_saturation() {
    for users in [1, 3] {
        let (result, _) = run(users, 4);
        let (rate, mean_us) = (result.metrics[0], result.metrics[1]);
        let found = rate * (mean_us / 1e6 + THINK_MS / 1e3);
        assert!((found / f64::from(users) - 1.0).abs() < 0.02, "N = X (R + Z): {found}");
        assert!(result.metrics[2] > mean_us, "the tail is above the mean");
    }
}

/// One user and one exponential server: no queueing, so the response time is the service time.
#[test]
fn a_lone_user_waits_for_the_service_only() {
    let (result, service_us) = run(1, 1);
    let found = result.metrics[1];
    // A wake-up from idle and a switch come on top.
    assert!(found > service_us && found < 1.05 * service_us, "{found} us, service {service_us}");
}
