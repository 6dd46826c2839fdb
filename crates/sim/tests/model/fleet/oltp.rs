//! Transactions: one log for all, and rows that only one holds.

use super::{Run, assert_near};
use crate::machines;
use workload::{Benchmark, Distribution, oltp};

fn params(connections: u16, rows: u16) -> oltp::Params {
    oltp::Params {
        connections,
        think_ms: 0.0,
        statements: 4,
        statement_us: 50.0,
        distribution: Distribution::Constant,
        writes_from: 4,
        rows,
        log_us: 2000.0,
        warmup_s: 0.2,
        seconds: 1.0,
        cpus: None,
    }
}

fn run(params: oltp::Params) -> Run {
    Run::of(&machines::smt(32, 1), Benchmark::Oltp(params), 2)
}

/// Alone, a transaction is its statements and a write of the log.
#[test]
fn a_lone_connection_waits_for_each_write() {
    let run = run(params(1, 1));
    let mean_us = run.metric("transaction_mean_us");
    assert!((2200.0..2320.0).contains(&mean_us), "{mean_us} us");
    assert_near(run.metric("transactions_per_s"), 1e6 / mean_us, 0.01, "one at a time");
}

/// Whoever comes while the log is written waits for the next write, with all others: more connections commit no later.
#[test]
fn one_write_commits_many() {
    let run = run(params(12, 8192));
    let mean_us = run.metric("transaction_mean_us");
    assert!(
        (2200.0..4400.0).contains(&mean_us),
        "{mean_us} us: one write, or what is left of one and the next"
    );
    assert_near(run.metric("transactions_per_s"), 12e6 / mean_us, 0.02, "twelve at a time");
}

/// With one row there is one transaction at a time from its write on.
#[test]
fn a_row_is_held_until_the_log_is_written() {
    let run = run(params(12, 1));
    let held_us = 2000.0 + 50.0;
    let rate = run.metric("transactions_per_s");
    assert!(rate < 1e6 / held_us && rate > 0.95e6 / held_us, "{rate} a second");
}
