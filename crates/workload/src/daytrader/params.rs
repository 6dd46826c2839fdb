//! Parameters of Daytrader and their checks.

use super::NAME;
pub use crate::clock_costs::ClockCosts as Costs;
use crate::{WorkloadError, check};
use machine::CpuSet;
use serde::{Deserialize, Serialize};

/// What is run, and how much work a request is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Users, each with one request at a time.
    pub users: u32,
    /// Mean think time in ms, exponential.
    pub think_ms: f64,
    /// JVMs.
    pub jvms: u16,
    /// Worker threads, and connections to the database, of each JVM.
    pub workers: u16,
    /// Collector threads of each JVM.
    pub collectors: u16,
    /// Tables of the database, each with a lock.
    pub tables: u16,
    /// Warm-up in seconds.
    pub warmup_s: f64,
    /// Measured time in seconds.
    pub seconds: f64,
    /// CPUs that JVMs and database are bound to; all where absent.
    pub cpus: Option<CpuSet>,
    /// CPUs that take the network's interrupts.
    pub irq_cpus: CpuSet,
    /// Amounts of work; [`Amounts::ASSUMED`] where absent.
    #[serde(default = "Amounts::assumed")]
    pub amounts: Amounts,
}

/// Work, in us of a thread that has its core to itself at the nominal clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amounts {
    /// The selector's part of a request.
    pub select_us: f64,
    /// Servlet work of a request in all, in equal parts before, between and after the database calls.
    pub servlet_us: f64,
    /// Under the session's lock.
    pub session_us: f64,
    /// Database calls of a request.
    pub calls: u16,
    /// An agent's work for a call without a lock.
    pub call_us: f64,
    /// An agent's work for a call under the table's lock.
    pub table_us: f64,
    /// Requests of a JVM between two collections.
    pub collect_every: u32,
    /// Work of each collector thread in a collection.
    pub collect_us: f64,
    /// Compiler threads of a JVM.
    pub compilers: u16,
    /// Bursts of a compiler thread from the start on, 10 ms apart on average.
    pub compile_bursts: u32,
    /// Work of a burst.
    pub compile_us: f64,
}

impl Amounts {
    /// Assumed so that 80 users with a think time of 7 ms keep 64 threads of 8 cores three quarters busy.
    pub const ASSUMED: Amounts = Amounts {
        select_us: 20.0,
        servlet_us: 2400.0,
        session_us: 5.0,
        calls: 4,
        call_us: 300.0,
        table_us: 10.0,
        collect_every: 2000,
        collect_us: 3000.0,
        compilers: 2,
        compile_bursts: 100,
        compile_us: 2000.0,
    };

    fn assumed() -> Amounts {
        Amounts::ASSUMED
    }
}

impl Params {
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        check::within(NAME, "users", self.users, 1..=100_000, "1 to 100000")?;
        check::within(NAME, "think_ms", self.think_ms, 1e-3..=1e6, "1e-3 to 1e6")?;
        check::within(NAME, "jvms", self.jvms, 1..=64, "1 to 64")?;
        check::within(NAME, "workers", self.workers, 1..=256, "1 to 256")?;
        check::within(NAME, "collectors", self.collectors, 1..=1024, "1 to 1024")?;
        check::within(NAME, "tables", self.tables, 1..=1024, "1 to 1024")?;
        check::window(NAME, self.warmup_s, self.seconds)?;
        let a = &self.amounts;
        check::within(NAME, "amounts.calls", a.calls, 0..=100, "0 to 100")?;
        check::within(NAME, "amounts.collect_every", a.collect_every, 1..=u32::MAX, "at least 1")?;
        check::within(NAME, "amounts.compilers", a.compilers, 0..=64, "0 to 64")?;
        check::within(NAME, "amounts.compile_bursts", a.compile_bursts, 1..=1_000_000, "1 to 1e6")?;
        let works = [
            ("amounts.select_us", a.select_us),
            ("amounts.servlet_us", a.servlet_us),
            ("amounts.session_us", a.session_us),
            ("amounts.call_us", a.call_us),
            ("amounts.table_us", a.table_us),
            ("amounts.collect_us", a.collect_us),
            ("amounts.compile_us", a.compile_us),
        ];
        works.into_iter().try_for_each(|(field, us)| check::work_us(NAME, field, us))
    }
}
