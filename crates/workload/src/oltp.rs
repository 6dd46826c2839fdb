//! A database under short transactions: connections with a backend each, locks of rows, and a log that is written in groups.
//!
//! As PostgreSQL and sysbench's oltp tests do it: each client thinks, then sends one statement after another over TCP on loopback and
//! waits for each answer. Its backend works on a statement; the first one that writes locks a row until the transaction ends. The last one commits:
//! the backend waits for the log, which is written once for all who wait when it comes free (group commit), lets the row go, and answers.
//! Connections go through the rows each in its own order, so that a transaction holds one row and none waits in a circle.

pub use crate::clock_costs::ClockCosts as Costs;
use crate::distribution::Distribution;
use crate::program::{
    Device, DeviceId, HistogramId, LockId, Metric, Op, Program, Queue, QueueId, QueueKind, Reading,
    Since, Spread, Workload,
};
use crate::window::Window;
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "oltp";
/// Transactions after which a connection begins again with its first row.
const ROUND: u32 = 16;
/// Percentiles of a transaction's time.
const PERCENTS: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Connections, each with one transaction at a time.
    pub connections: u16,
    /// Mean time between two transactions of a connection, in ms; exponential.
    #[serde(default)]
    pub think_ms: f64,
    /// Statements of a transaction, the last of which commits.
    pub statements: u16,
    /// Mean work of a statement, in us of a thread alone at the nominal clock.
    pub statement_us: f64,
    /// How that differs.
    #[serde(default)]
    pub distribution: Distribution,
    /// Which statement is the first to write, from 1 on.
    pub writes_from: u16,
    /// Rows that transactions write.
    pub rows: u16,
    /// Time of a write of the log, in us.
    pub log_us: f64,
    /// Warm-up in seconds.
    pub warmup_s: f64,
    /// Measured time in seconds.
    pub seconds: f64,
    /// CPUs it is bound to, clients and all; all where absent.
    pub cpus: Option<CpuSet>,
}

/// Throughput.
pub const TRANSACTIONS_PER_S: &str = "transactions_per_s";

impl Params {
    fn check(&self) -> Result<(), WorkloadError> {
        check::within(NAME, "connections", self.connections, 1..=8192, "1 to 8192")?;
        check::within(NAME, "think_ms", self.think_ms, 0.0..=1e6, "0 to 1e6")?;
        check::within(NAME, "statements", self.statements, 1..=256, "1 to 256")?;
        check::within(NAME, "statement_us", self.statement_us, 1e-3..=1e7, "1e-3 to 1e7")?;
        self.distribution.check(NAME, "distribution")?;
        let statements = 1..=self.statements;
        check::within(NAME, "writes_from", self.writes_from, statements, "1 to `statements`")?;
        check::within(NAME, "rows", self.rows, 1..=8192, "1 to 8192")?;
        check::within(NAME, "log_us", self.log_us, 0.0..=1e6, "0 to 1e6")?;
        check::window(NAME, self.warmup_s, self.seconds)
    }
}

/// The row that transaction `nth` of `connection` writes, of so many: as good as drawn, and the same wherever it runs.
pub fn row(connection: u16, nth: u32, rows: u16) -> u16 {
    let mixed = (u32::from(connection) * ROUND + nth % ROUND).wrapping_mul(0x9e37_79b9);
    ((mixed >> 8) % u32::from(rows)) as u16
}

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    params.check()?;
    let mut w = Workload::default();
    let window = Window::new(&mut w);
    let times = w.histogram(Some(window.open));
    let rows: Vec<LockId> = (0..params.rows).map(|_| w.lock()).collect();
    let log = w.device(Device { slots: 1, together: u32::MAX });
    let mut main = Vec::new();
    for nth in 0..params.connections {
        let connection = Queue::unbounded(QueueKind::Loopback);
        let (there, back) = (w.queue(connection), w.queue(connection));
        let backend = backend(params, costs, nth, &rows, log, (there, back));
        main.push(Op::Fork(w.program("backend", backend)));
        main.push(Op::Fork(w.program("client", client(params, times, (there, back)))));
    }
    main.extend(window.ops(params.warmup_s, params.seconds));
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    w.metrics.push(Metric {
        name: TRANSACTIONS_PER_S.to_string(),
        unit: "transactions/s".to_string(),
        better: Better::Higher,
        reading: Reading::RecordsPerSecond {
            histogram: times,
            units: 1.0,
            from: window.from,
            to: window.to,
        },
    });
    w.metrics.extend(Metric::latencies("transaction", times, &PERCENTS));
    Ok(w)
}

fn client(params: &Params, times: HistogramId, (there, back): (QueueId, QueueId)) -> Vec<Op> {
    let think = Op::Sleep { mean_ns: params.think_ms * 1e6, spread: Spread::Exponential };
    let mut ops = if params.think_ms > 0.0 { vec![think] } else { vec![] };
    ops.push(Op::Stamp);
    let to = ops.len() as u16;
    ops.extend([
        Op::Send(there),
        Op::Receive(back),
        Op::Loop { to, times: params.statements.into() },
        Op::Record { histogram: times, since: Since::Stamp },
        Op::Loop { to: 0, times: 0 },
    ]);
    ops
}

/// Answers the statements of connection `nth`.
fn backend(
    params: &Params,
    costs: &Costs,
    nth: u16,
    rows: &[LockId],
    log: DeviceId,
    (there, back): (QueueId, QueueId),
) -> Vec<Op> {
    let work = params.distribution.compute(params.statement_us * costs.cycles_per_us);
    let write = Op::Io {
        device: log,
        service_ns: params.log_us * 1e3,
        spread: Spread::Fixed,
        iowait: false,
    };
    let transaction = |at: u32| {
        let row = rows[usize::from(row(nth, at, params.rows))];
        let mut ops = Vec::new();
        for statement in 1..=params.statements {
            ops.push(Op::Receive(there));
            if statement == params.writes_from {
                ops.push(Op::Lock(row));
            }
            ops.push(work.clone());
            if statement == params.statements {
                ops.extend([write.clone(), Op::Unlock(row)]);
            }
            ops.push(Op::Send(back));
        }
        ops
    };
    let mut ops: Vec<Op> = (0..ROUND).flat_map(transaction).collect();
    ops.push(Op::Loop { to: 0, times: 0 });
    ops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_spread() {
        let mut counts = [0; 10];
        for connection in 0..64 {
            (0..ROUND).for_each(|nth| counts[usize::from(row(connection, nth, 10))] += 1);
        }
        assert!(counts.iter().all(|&n| (70..140).contains(&n)), "{counts:?} of 1024");
        assert_eq!(row(3, 1, 1), 0);
    }
}
