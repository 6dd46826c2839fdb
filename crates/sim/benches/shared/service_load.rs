//! The service of the bench and of the example of its name.

use machine::CpuSet;
use workload::Distribution;
use workload::service::{Load, Params};

/// Requests a second.
pub const PER_S: f64 = 50_000.0;
/// CPUs on which it runs.
pub const CPUS: u32 = 64;

/// Five eighths of the CPUs' time is work.
pub fn params(irq_cpus: Option<CpuSet>) -> Params {
    Params {
        load: Load::Open { per_s: PER_S, generators: 4 },
        workers: 96,
        work_us: 800.0,
        distribution: Distribution::Lognormal { cv: 1.5 },
        lock_share: 0.01,
        fan_out: None,
        deadline_ms: Some(5.0),
        memory: None,
        warmup_s: 0.2,
        seconds: 1.0,
        cpus: None,
        irq_cpus,
    }
}
