//! The threads of one JVM and the database agents of its connections.

use super::{Costs, Params};
use crate::launch;
use crate::program::{LockId, Op, ProgramId, Queue, QueueId, QueueKind, Spread, Work, Workload};

/// Users come when the JVMs are up: the shell starts them by then.
pub(super) const FIRST_REQUEST_NS: u64 = launch::STARTED_NS;
/// Spread of amounts of work: requests differ, assumed.
const SIGMA: f64 = 0.3;
/// Mean time between two bursts of a compiler thread.
const COMPILE_PERIOD_NS: f64 = 10e6;

/// One JVM: what its threads share.
pub(super) struct Jvm<'a> {
    params: &'a Params,
    cycles_per_us: f64,
    /// Where users' requests arrive.
    pub(super) requests: QueueId,
    pool: QueueId,
    collect: QueueId,
    collected: QueueId,
    /// Held while the world is stopped; workers take it for a moment at their safepoints.
    safepoint: LockId,
    session: LockId,
}

impl<'a> Jvm<'a> {
    pub(super) fn new(w: &mut Workload, params: &'a Params, costs: &Costs) -> Jvm<'a> {
        let futex = Queue::unbounded(QueueKind::Futex);
        Jvm {
            params,
            cycles_per_us: costs.cycles_per_us,
            requests: w.queue(Queue::unbounded(QueueKind::Socket)),
            pool: w.queue(futex),
            collect: w.queue(futex),
            collected: w.queue(futex),
            safepoint: w.lock(),
            session: w.lock(),
        }
    }

    fn compute(&self, us: f64) -> Op {
        let cycles = us * self.cycles_per_us;
        Op::Compute(Work { cycles, spread: Spread::LogNormal(SIGMA) })
    }

    /// The JVM's main thread, which is its selector once it has started the others.
    pub(super) fn program(&self, w: &mut Workload, tables: &[LockId]) -> ProgramId {
        let a = &self.params.amounts;
        let collector = w.program(
            "gc",
            vec![
                Op::Receive(self.collect),
                self.compute(a.collect_us),
                Op::Send(self.collected),
                Op::Loop { to: 0, times: 0 },
            ],
        );
        let compiler = w.program(
            "jit",
            vec![
                self.compute(a.compile_us),
                Op::Sleep { mean_ns: COMPILE_PERIOD_NS, spread: Spread::Exponential },
                Op::Loop { to: 0, times: a.compile_bursts },
            ],
        );
        let mut ops = Vec::new();
        for _ in 0..self.params.workers {
            let connection = Queue::unbounded(QueueKind::Loopback);
            let (call, answer) = (w.queue(connection), w.queue(connection));
            ops.push(Op::Fork(w.program("db-agent", self.agent(call, answer, tables))));
            ops.push(Op::Clone(w.program("worker", self.worker(call, answer))));
        }
        ops.extend((0..self.params.collectors).map(|_| Op::Clone(collector)));
        ops.extend((0..a.compilers).map(|_| Op::Clone(compiler)));
        self.select(&mut ops);
        w.program("selector", ops)
    }

    /// Hands requests to the pool, and stops the world after so many.
    fn select(&self, ops: &mut Vec<Op>) {
        let a = &self.params.amounts;
        let threads = u32::from(self.params.collectors);
        let to = ops.len() as u16;
        ops.extend([
            Op::Receive(self.requests),
            self.compute(a.select_us),
            Op::Send(self.pool),
            Op::Loop { to, times: a.collect_every },
            Op::Lock(self.safepoint),
        ]);
        ops.extend([Op::Send(self.collect), Op::Loop { to: ops.len() as u16, times: threads }]);
        ops.extend([
            Op::Receive(self.collected),
            Op::Loop { to: ops.len() as u16, times: threads },
        ]);
        ops.extend([Op::Unlock(self.safepoint), Op::Loop { to, times: 0 }]);
    }

    fn worker(&self, call: QueueId, answer: QueueId) -> Vec<Op> {
        let a = &self.params.amounts;
        let part_us = a.servlet_us / f64::from(a.calls + 1);
        let safepoint = [Op::Lock(self.safepoint), Op::Unlock(self.safepoint)];
        let mut ops = vec![Op::Receive(self.pool)];
        ops.extend(safepoint.clone());
        ops.extend([
            Op::Lock(self.session),
            self.compute(a.session_us),
            Op::Unlock(self.session),
            self.compute(part_us),
        ]);
        for _ in 0..a.calls {
            ops.extend([Op::Send(call), Op::Receive(answer)]);
            ops.extend(safepoint.clone());
            ops.push(self.compute(part_us));
        }
        ops.extend([Op::Reply, Op::Loop { to: 0, times: 0 }]);
        ops
    }

    /// Serves one connection; a request's calls go to the tables in turn.
    fn agent(&self, call: QueueId, answer: QueueId, tables: &[LockId]) -> Vec<Op> {
        let a = &self.params.amounts;
        let serve = |&table: &LockId| {
            [
                Op::Receive(call),
                self.compute(a.call_us),
                Op::Lock(table),
                self.compute(a.table_us),
                Op::Unlock(table),
                Op::Send(answer),
            ]
        };
        let mut ops: Vec<Op> =
            tables.iter().take(usize::from(a.calls.max(1))).flat_map(serve).collect();
        ops.push(Op::Loop { to: 0, times: 0 });
        ops
    }
}
