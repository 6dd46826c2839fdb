//! Where a service's requests come from.

use super::{Load, Params};
use crate::launch;
use crate::program::{
    Clients, HistogramId, Missed, Op, Queue, QueueId, QueueKind, Since, Spread, Workload,
};

/// Requests from other machines come when the workers are there.
const FIRST_REQUEST_NS: u64 = launch::STARTED_NS;
/// Name of threads that send requests.
const GENERATOR: &str = "load";

/// The way that requests come.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    /// Where they wait.
    pub(super) requests: QueueId,
    remote: bool,
    load: Load,
}

impl Source {
    pub(super) fn new(w: &mut Workload, params: &Params) -> Source {
        let remote = params.irq_cpus.is_some();
        let kind = if remote { QueueKind::Socket } else { QueueKind::Futex };
        Source { requests: w.queue(Queue::unbounded(kind)), remote, load: params.load }
    }

    /// A worker's last step of a request: whoever knows the latency first notes it.
    pub(super) fn finish(&self, latency: HistogramId) -> Op {
        match (self.remote, self.load) {
            (true, _) => Op::Reply,
            (false, Load::Open { .. }) => Op::Record { histogram: latency, since: Since::Request },
            (false, Load::Closed { .. }) => Op::Answer,
        }
    }

    /// Users on other machines, or steps that start the threads that send requests.
    pub(super) fn threads(
        &self,
        w: &mut Workload,
        params: &Params,
        latency: HistogramId,
    ) -> Vec<Op> {
        if let Some(cpus) = &params.irq_cpus {
            let (open, count, think_ns) = match self.load {
                // One flow of requests for each CPU.
                Load::Open { per_s, .. } => {
                    (true, cpus.len() as u32, 1e9 * cpus.len() as f64 / per_s)
                }
                Load::Closed { users, think_ms } => (false, users, think_ms * 1e6),
            };
            w.clients.push(Clients {
                requests: self.requests,
                count,
                think_ns,
                spread: Spread::Exponential,
                open,
                irq_cpus: cpus.clone(),
                first_ns: FIRST_REQUEST_NS,
                within_ns: think_ns as u64,
                responses: latency,
            });
            return vec![];
        }
        match self.load {
            Load::Open { per_s, generators } => {
                let period_ns = (1e9 * f64::from(generators) / per_s) as u64;
                (0..generators).map(|_| Op::Clone(self.generator(w, period_ns))).collect()
            }
            Load::Closed { users, think_ms } => {
                (0..users).map(|_| Op::Clone(self.user(w, think_ms, latency))).collect()
            }
        }
    }

    /// A thread that sends requests at random, also those that are overdue.
    fn generator(&self, w: &mut Workload, period_ns: u64) -> crate::ProgramId {
        let timer = w.timer();
        let spread = Spread::Exponential;
        w.program(
            GENERATOR,
            vec![
                Op::TimerWait { timer, period_ns, spread, missed: Missed::CatchUp },
                Op::Begin(Since::Due),
                Op::Send(self.requests),
                Op::Loop { to: 0, times: 0 },
            ],
        )
    }

    /// A thread that thinks, asks, and waits.
    fn user(&self, w: &mut Workload, think_ms: f64, latency: HistogramId) -> crate::ProgramId {
        let answers = w.queue(Queue::unbounded(QueueKind::Futex));
        let think = Op::Sleep { mean_ns: think_ms * 1e6, spread: Spread::Exponential };
        let mut ops = if think_ms > 0.0 { vec![think] } else { vec![] };
        ops.extend([
            Op::Stamp,
            Op::Begin(Since::Stamp),
            Op::Ask { queue: self.requests, answers },
            Op::Receive(answers),
            Op::Record { histogram: latency, since: Since::Stamp },
            Op::Loop { to: 0, times: 0 },
        ]);
        w.program(GENERATOR, ops)
    }
}
