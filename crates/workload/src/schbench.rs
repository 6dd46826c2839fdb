//! schbench: workers that ask a message thread to be woken, sleep a moment, and work; latencies are the result.
//!
//! As the program does it: a worker puts itself on its message thread's list, wakes that thread and waits on a futex; the
//! message thread wakes all on its list. The time from the message thread's `gettimeofday` to the worker running is the
//! wake-up latency. The worker then sleeps (`-s`), as a request would on the network, and multiplies matrices (`-n`,
//! `-F`); both together are the request latency.

pub use crate::clock_costs::ClockCosts as Costs;
use crate::program::{
    Metric, Op, Program, Queue, QueueKind, Reading, Since, Spread, Work, Workload,
};
use crate::window::Window;
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "schbench";
/// Percentiles that the program prints.
const PERCENTS: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// Command-line options, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Message threads (`-m`).
    pub message_threads: u16,
    /// Workers of each message thread (`-t`).
    pub workers: u16,
    /// Sleep before the work of a request, in us (`-s`).
    pub sleep_us: f64,
    /// Work of a request, in us of a thread that has its core to itself at the nominal clock.
    pub work_us: f64,
    /// Warm-up in seconds (`-w`).
    pub warmup_s: f64,
    /// Measured time in seconds (`-r`).
    pub seconds: f64,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "message_threads", params.message_threads, 1..=1000, "1 to 1000")?;
    check::within(NAME, "workers", params.workers, 1..=4096, "1 to 4096")?;
    check::within(NAME, "sleep_us", params.sleep_us, 0.0..=1e6, "0 to 1e6")?;
    check::within(NAME, "work_us", params.work_us, 1e-3..=1e7, "1e-3 to 1e7")?;
    check::window(NAME, params.warmup_s, params.seconds)?;
    let mut w = Workload::default();
    let window = Window::new(&mut w);
    let wakeup = w.histogram(Some(window.open));
    let request = w.histogram(Some(window.open));
    let mut main = Vec::new();
    for _ in 0..params.message_threads {
        let futex = Queue::unbounded(QueueKind::Futex);
        let (ask, go) = (w.queue(futex), w.queue(futex));
        let mut ops = vec![
            Op::Send(ask),
            Op::Receive(go),
            Op::Record { histogram: wakeup, since: Since::Message },
            Op::Stamp,
        ];
        if params.sleep_us > 0.0 {
            ops.push(Op::Sleep { mean_ns: params.sleep_us * 1e3, spread: Spread::Fixed });
        }
        ops.extend([
            Op::Compute(Work::fixed(params.work_us * costs.cycles_per_us)),
            Op::Record { histogram: request, since: Since::Stamp },
            Op::Loop { to: 0, times: 0 },
        ]);
        let worker = w.program(NAME, ops);
        let mut ops: Vec<Op> = (0..params.workers).map(|_| Op::Clone(worker)).collect();
        let to = ops.len() as u16;
        ops.extend([Op::Receive(ask), Op::Send(go), Op::Loop { to, times: 0 }]);
        main.push(Op::Clone(w.program(NAME, ops)));
    }
    main.extend(window.ops(params.warmup_s, params.seconds));
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    w.metrics.extend(Metric::latencies("wakeup", wakeup, &PERCENTS));
    w.metrics.extend(Metric::latencies("request", request, &PERCENTS));
    w.metrics.push(Metric {
        name: "requests_per_s".to_string(),
        unit: "requests/s".to_string(),
        better: Better::Higher,
        reading: Reading::RecordsPerSecond {
            histogram: request,
            units: 1.0,
            from: window.from,
            to: window.to,
        },
    });
    Ok(w)
}
