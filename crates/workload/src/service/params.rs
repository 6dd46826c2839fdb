//! Parameters of a service and their checks.

use super::NAME;
use crate::distribution::Distribution;
use crate::footprint::Footprint;
use crate::{WorkloadError, check};
use machine::CpuSet;
use serde::{Deserialize, Serialize};

/// Who sends requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Load {
    /// Requests come at random.
    Open {
        /// Requests a second on average.
        per_s: f64,
        /// Threads that send them, where no interrupts do.
        #[serde(default = "one")]
        generators: u16,
    },
    /// Users wait for answers.
    Closed {
        /// Users, each a thread where no interrupts bring their requests.
        users: u32,
        /// Mean time from an answer to the next request, in ms; exponential.
        think_ms: f64,
    },
}

fn one() -> u16 {
    1
}

/// Requests to a second tier.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FanOut {
    /// For each request of the first tier.
    pub requests: u16,
    /// Threads that answer them.
    pub workers: u16,
    /// Mean work of one, in us.
    pub work_us: f64,
    /// How that differs.
    #[serde(default)]
    pub distribution: Distribution,
    /// Memory of a thread.
    pub memory: Option<Footprint>,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Who sends requests.
    pub load: Load,
    /// Worker threads.
    pub workers: u16,
    /// Mean work of a request, in us of a thread alone at the nominal clock.
    pub work_us: f64,
    /// How that differs from request to request.
    #[serde(default)]
    pub distribution: Distribution,
    /// Part of that work under the service's lock.
    #[serde(default)]
    pub lock_share: f64,
    /// The second tier.
    pub fan_out: Option<FanOut>,
    /// By when a request counts as answered in time, in ms.
    pub deadline_ms: Option<f64>,
    /// Memory of a worker.
    pub memory: Option<Footprint>,
    /// Warm-up in seconds.
    pub warmup_s: f64,
    /// Measured time in seconds.
    pub seconds: f64,
    /// CPUs it is bound to, its load generator with it; all where absent.
    pub cpus: Option<CpuSet>,
    /// CPUs that take the interrupts of requests from other machines; requests come from threads here where absent.
    pub irq_cpus: Option<CpuSet>,
}

impl Params {
    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        match self.load {
            Load::Open { per_s, generators } => {
                check::within(NAME, "load.open.per_s", per_s, 1e-3..=1e8, "0.001 to 1e8")?;
                check::within(NAME, "load.open.generators", generators, 1..=1024, "1 to 1024")?;
            }
            Load::Closed { users, think_ms } => {
                let most = if self.irq_cpus.is_some() { 100_000 } else { 8192 };
                let expected = "1 to 100000 on other machines, 1 to 8192 threads";
                check::within(NAME, "load.closed.users", users, 1..=most, expected)?;
                check::within(NAME, "load.closed.think_ms", think_ms, 0.0..=1e6, "0 to 1e6")?;
            }
        }
        check::within(NAME, "workers", self.workers, 1..=8192, "1 to 8192")?;
        check::within(NAME, "work_us", self.work_us, 1e-3..=1e7, "1e-3 to 1e7")?;
        self.distribution.check(NAME, "distribution")?;
        check::within(NAME, "lock_share", self.lock_share, 0.0..=1.0, "0 to 1")?;
        if let Some(fan_out) = &self.fan_out {
            check::within(NAME, "fan_out.requests", fan_out.requests, 1..=256, "1 to 256")?;
            check::within(NAME, "fan_out.workers", fan_out.workers, 1..=8192, "1 to 8192")?;
            check::within(NAME, "fan_out.work_us", fan_out.work_us, 1e-3..=1e7, "1e-3 to 1e7")?;
            fan_out.distribution.check(NAME, "fan_out.distribution")?;
        }
        if let Some(ms) = self.deadline_ms {
            check::within(NAME, "deadline_ms", ms, 1e-3..=1e6, "1e-3 to 1e6")?;
        }
        let second = self.fan_out.and_then(|fan_out| fan_out.memory);
        for memory in self.memory.iter().chain(&second) {
            memory.check(NAME)?;
        }
        if self.irq_cpus.as_ref().is_some_and(CpuSet::is_empty) {
            let found = "none".to_string();
            let expected = "at least one CPU";
            return Err(WorkloadError { program: NAME, field: "irq_cpus", found, expected });
        }
        check::window(NAME, self.warmup_s, self.seconds)
    }
}
