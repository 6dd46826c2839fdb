//! A service: workers that answer requests, under an open or a closed loop of them.
//!
//! **Requests** come from threads beside the workers, as a load generator on the same machine sends them, or from other machines, as
//! interrupts. In an open loop they come at random (Poisson) at a rate whatever the service does, and latency counts from the point at
//! which a request was to come, however late its generator was. In a closed one each user thinks, asks, and waits for the answer.
//!
//! **A worker** takes the first request that waits, or sleeps in a futex. It draws how much work that is, and does a part of it before and a
//! part after what the request asks of others: the part under the one lock of the service, and the requests to a second tier, whose
//! workers are shared by all and whose answers it waits for together.

mod load;
mod params;

pub use crate::clock_costs::ClockCosts as Costs;
use crate::program::{
    HistogramId, LockId, Metric, Op, Program, ProgramId, Queue, QueueId, QueueKind, Reading,
    Workload,
};
use crate::window::Window;
use crate::{WorkloadError, launch};
use load::Source;
pub use params::{FanOut, Load, Params};
use stats::Better;

const NAME: &str = "service";
/// Throughput.
pub const REQUESTS_PER_S: &str = "requests_per_s";
/// Requests within the deadline.
pub const GOODPUT_PER_S: &str = "goodput_per_s";
/// Percentiles of latency.
const PERCENTS: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    params.check()?;
    let mut w = Workload::default();
    let window = Window::new(&mut w);
    let latency = w.histogram(Some(window.open));
    let source = Source::new(&mut w, params);
    let mut main = workers(&mut w, params, costs, &source, latency);
    main.extend(source.threads(&mut w, params, latency));
    main.extend(window.ops(params.warmup_s, params.seconds));
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    let rate = |name: &str, unit: &str, reading| Metric {
        name: name.to_string(),
        unit: unit.to_string(),
        better: Better::Higher,
        reading,
    };
    let Window { from, to, .. } = window;
    let all = Reading::RecordsPerSecond { histogram: latency, units: 1.0, from, to };
    w.metrics.push(rate(REQUESTS_PER_S, "requests/s", all));
    if let Some(deadline_ms) = params.deadline_ms {
        let within_ns = (deadline_ms * 1e6) as u64;
        let timely = Reading::WithinPerSecond { histogram: latency, within_ns, from, to };
        w.metrics.push(rate(GOODPUT_PER_S, "requests/s", timely));
    }
    w.metrics.extend(Metric::latencies("latency", latency, &PERCENTS));
    Ok(w)
}

/// Steps that start both tiers.
fn workers(
    w: &mut Workload,
    params: &Params,
    costs: &Costs,
    source: &Source,
    latency: HistogramId,
) -> Vec<Op> {
    let lock = (params.lock_share > 0.0).then(|| w.lock());
    let finish = source.finish(latency);
    let Some(fan_out) = &params.fan_out else {
        let ops = worker(params, costs, source.requests, lock, &[], finish);
        let worker = w.program(NAME, ops);
        return vec![Op::Clone(worker); usize::from(params.workers)];
    };
    let questions = w.queue(Queue::unbounded(QueueKind::Futex));
    let mut main =
        vec![Op::Clone(leaf(w, fan_out, costs, questions)); usize::from(fan_out.workers)];
    for _ in 0..params.workers {
        let answers = w.queue(Queue::unbounded(QueueKind::Futex));
        let ask = Op::Ask { queue: questions, answers };
        let mut asks = vec![ask; usize::from(fan_out.requests)];
        asks.extend(vec![Op::Receive(answers); usize::from(fan_out.requests)]);
        let ops = worker(params, costs, source.requests, lock, &asks, finish.clone());
        main.push(Op::Clone(w.program(NAME, ops)));
    }
    main
}

/// A worker that `asks` others in the middle of a request.
fn worker(
    params: &Params,
    costs: &Costs,
    requests: QueueId,
    lock: Option<LockId>,
    asks: &[Op],
    finish: Op,
) -> Vec<Op> {
    let mut ops: Vec<Op> = params.memory.iter().map(|m| m.begin(costs.cycles_per_us)).collect();
    let again = ops.len() as u16;
    let free = 1.0 - params.lock_share;
    let (before, after) = if asks.is_empty() { (free, 0.0) } else { (free / 2.0, free / 2.0) };
    let work = params.distribution.work(params.work_us * costs.cycles_per_us);
    ops.extend([Op::Receive(requests), Op::Draw(work), Op::Portion(before)]);
    if let Some(lock) = lock {
        ops.extend([Op::Lock(lock), Op::Portion(params.lock_share), Op::Unlock(lock)]);
    }
    ops.extend(asks.iter().cloned());
    if after > 0.0 {
        ops.push(Op::Portion(after));
    }
    ops.extend([finish, Op::Loop { to: again, times: 0 }]);
    ops
}

/// A worker of the second tier.
fn leaf(w: &mut Workload, fan_out: &FanOut, costs: &Costs, questions: QueueId) -> ProgramId {
    let mut ops: Vec<Op> = fan_out.memory.iter().map(|m| m.begin(costs.cycles_per_us)).collect();
    let again = ops.len() as u16;
    ops.extend([
        Op::Receive(questions),
        fan_out.distribution.compute(fan_out.work_us * costs.cycles_per_us),
        Op::Answer,
        Op::Loop { to: again, times: 0 },
    ]);
    w.program("leaf", ops)
}
