//! Daytrader: a closed loop of users over a web application in JVMs and a database, all on one machine.
//!
//! Requests come over the network to a JVM's selector thread, which hands them to a pool of workers. A worker does
//! servlet work, takes the session's lock, and for each database call sends to its connection's agent and waits; the
//! agent works and holds a table's lock for a part of it. The reply leaves over the network and the user thinks.
//! After so many requests the selector stops the JVM's workers and lets all its collector threads run (a parallel
//! collector); compiler threads burst at the start. Selector, workers and collectors belong to one JVM; `k` JVMs divide
//! users, workers and collectors among them. All amounts of work are assumed: no open measurement of the mix is known.

mod params;
mod tasks;

pub use params::{Amounts, Costs, Params};

use crate::program::{Clients, Metric, Op, Program, Reading, Spread, Workload};
use crate::window::Window;
use crate::{WorkloadError, launch};
use stats::Better;
use tasks::Jvm;

const NAME: &str = "daytrader";
/// The throughput's name.
const REQUESTS_PER_S: &str = "requests_per_s";
/// How think times vary. Assumed.
const THINK: Spread = Spread::Exponential;

/// Builds the workload.
pub fn build(params: &Params, costs: &Costs) -> Result<Workload, WorkloadError> {
    params.check()?;
    let mut w = Workload::default();
    let window = Window::new(&mut w);
    let responses = w.histogram(Some(window.open));
    let tables: Vec<_> = (0..params.tables).map(|_| w.lock()).collect();
    let mut main = Vec::new();
    for nth in 0..params.jvms {
        let jvm = Jvm::new(&mut w, params, costs);
        main.push(Op::Fork(jvm.program(&mut w, &tables)));
        // The first JVMs take what does not divide evenly.
        let jvms = u32::from(params.jvms);
        let count = params.users / jvms + u32::from(u32::from(nth) < params.users % jvms);
        w.clients.push(Clients {
            requests: jvm.requests,
            count,
            think_ns: params.think_ms * 1e6,
            spread: THINK,
            open: false,
            irq_cpus: params.irq_cpus.clone(),
            first_ns: tasks::FIRST_REQUEST_NS,
            within_ns: (params.think_ms * 1e6) as u64,
            responses,
        });
    }
    main.extend(window.ops(params.warmup_s, params.seconds));
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, params.cpus.clone());
    w.metrics.push(Metric {
        name: REQUESTS_PER_S.to_string(),
        unit: "requests/s".to_string(),
        better: Better::Higher,
        reading: Reading::RecordsPerSecond {
            histogram: responses,
            units: 1.0,
            from: window.from,
            to: window.to,
        },
    });
    w.metrics.extend(Metric::latencies("response", responses, &[50.0, 90.0, 99.0]));
    Ok(w)
}
