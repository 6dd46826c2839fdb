//! netperf's request and response tests on loopback: pairs of a client and a server that pass one byte to and fro.
//!
//! The network's soft interrupt runs on the sender's CPU, within its `send`; the receiver is woken from there with
//! `WF_SYNC` (`sock_def_readable`). TCP and UDP are not told apart: both cost what was counted for TCP over loopback.

use crate::program::{Metric, Op, Program, Queue, QueueKind, Reading, Since, Work, Workload};
use crate::window::Window;
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use machine::constants::{Constants, MissingConstant};
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "netperf";

/// Command-line options, and what is around the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Pairs of client and server that run at once.
    pub pairs: u16,
    /// Warm-up in seconds.
    pub warmup_s: f64,
    /// Measured time in seconds (`-l`).
    pub seconds: f64,
    /// CPUs it is bound to; all where absent.
    pub cpus: Option<CpuSet>,
}

/// What the program's steps cost on a machine, beside its system calls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    /// Cycles in user space between two system calls.
    pub user_cycles: f64,
}

impl Costs {
    /// From the constants of a machine.
    pub fn of(constants: &Constants) -> Result<Costs, MissingConstant> {
        Ok(Costs { user_cycles: constants.value("message_user_cycles")? })
    }
}

/// The throughput's name.
pub const TRANSACTIONS_PER_S: &str = "transactions_per_s";

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "pairs", params.pairs, 1..=4096, "1 to 4096")?;
    check::window(NAME, params.warmup_s, params.seconds)?;
    let mut w = Workload::default();
    let window = Window::new(&mut w);
    let round = w.histogram(Some(window.open));
    let user = Op::Compute(Work::fixed(costs.user_cycles));
    let mut main = Vec::new();
    for _ in 0..params.pairs {
        let made = w.connection();
        let connection = Queue { connection: Some(made), ..Queue::unbounded(QueueKind::Loopback) };
        let (there, back) = (w.queue(connection), w.queue(connection));
        let server = w.program(
            "netserver",
            vec![user.clone(), Op::Receive(there), Op::Send(back), Op::Loop { to: 0, times: 0 }],
        );
        let client = w.program(
            NAME,
            vec![
                Op::Connect(made),
                Op::Stamp,
                user.clone(),
                Op::Send(there),
                Op::Receive(back),
                Op::Record { histogram: round, since: Since::Stamp },
                Op::Loop { to: 1, times: 0 },
            ],
        );
        main.extend([Op::Fork(server), Op::Fork(client)]);
    }
    main.extend(window.ops(params.warmup_s, params.seconds));
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    w.metrics.push(Metric {
        name: TRANSACTIONS_PER_S.to_string(),
        unit: "transactions/s".to_string(),
        better: Better::Higher,
        reading: Reading::RecordsPerSecond {
            histogram: round,
            units: 1.0,
            from: window.from,
            to: window.to,
        },
    });
    w.metrics.extend(Metric::latencies("round_trip", round, &[50.0, 99.0]));
    Ok(w)
}
