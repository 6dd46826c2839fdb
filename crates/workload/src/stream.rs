//! STREAM 5.10 with OpenMP: copy, scale, add and triad over arrays that no cache holds, threads bound to CPUs, each with
//! its part of the arrays in memory of its node (first touch).
//!
//! As the program does it: every kernel is run by all threads between two barriers, the first thread times it, and the
//! best pass but the first counts. Bytes are STREAM's: what a kernel reads and what it writes, without what a cache
//! reads before a line is written. OpenMP's barriers spin at first; those here sleep.

use crate::program::{HistogramId, MemoryUse, Metric, Op, Program, Reading, Since, Work, Workload};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
use machine::constants::{Constants, MissingConstant};
use serde::{Deserialize, Serialize};
use stats::Better;

const NAME: &str = "stream";

/// The kernels with the bytes that each moves for an element.
pub const KERNELS: [(&str, f64); 4] =
    [("copy", 16.0), ("scale", 16.0), ("add", 24.0), ("triad", 24.0)];

/// Bytes of an element (`STREAM_TYPE`, a double).
const ELEMENT_BYTES: f64 = 8.0;

/// What is run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Size of each of the three arrays, in MiB. STREAM asks for four times the last-level caches.
    pub array_mib: u32,
    /// Runs of each kernel (`NTIMES`); the first is not counted.
    pub passes: u32,
    /// Core cycles of an element in any kernel, memory apart: a thread alone gets the kernel's bytes of an element in
    /// this time.
    pub element_cycles: f64,
    /// CPUs, with a thread bound to each.
    pub cpus: CpuSet,
}

/// What the program's steps cost on a machine: nothing that its parameters and its memory do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs;

impl Costs {
    /// From the constants of a machine, of which none is needed.
    pub fn of(_: &Constants) -> Result<Costs, MissingConstant> {
        Ok(Costs)
    }
}

/// Name of a kernel's metric.
pub fn metric_name(kernel: &str) -> String {
    format!("{kernel}_mb_per_s")
}

/// Builds the workload.
pub fn build(params: &Params, _: &Costs) -> Result<Workload, WorkloadError> {
    check::within(NAME, "array_mib", params.array_mib, 1..=1 << 20, "1 to 1048576")?;
    check::within(NAME, "passes", params.passes, 2..=10_000, "2 to 10000")?;
    check::within(NAME, "element_cycles", params.element_cycles, 0.01..=1e6, "0.01 to 1e6")?;
    let threads = params.cpus.len();
    check::within(NAME, "cpus", threads, 1..=machine::cpuset::MAX_CPUS, "at least one CPU")?;
    let elements = f64::from(params.array_mib) * 1024.0 * 1024.0 / ELEMENT_BYTES;
    let part = elements / threads as f64;

    let mut w = Workload::default();
    let together = w.barrier(threads as u32);
    let times = KERNELS.map(|_| w.histogram(None));
    let pass = |times: Option<[HistogramId; KERNELS.len()]>| -> Vec<Op> {
        let kernel = |(at, (_, bytes)): (usize, (&str, f64))| {
            let cycles = part * params.element_cycles;
            let used = MemoryUse {
                working_set_bytes: part * ELEMENT_BYTES,
                touches_per_kcycle: 0.0,
                overlap: 1.0,
                stream_bytes_per_kcycle: bytes / params.element_cycles * 1000.0,
            };
            let record = times.and_then(|times| times.get(at).copied());
            let ops = [Op::Memory(used), Op::Barrier(together)].into_iter();
            ops.chain(record.map(|_| Op::Stamp))
                .chain([Op::Compute(Work::fixed(cycles)), Op::Barrier(together)])
                .chain(record.map(|histogram| Op::Record { histogram, since: Since::Stamp }))
        };
        KERNELS.into_iter().enumerate().flat_map(kernel).collect()
    };
    let mut cpus = params.cpus.iter().map(|cpu| Op::SetAffinity(CpuSet::single(cpu)));
    let first = cpus.next();
    let mut main = Vec::new();
    for bind in cpus {
        let mut ops = vec![bind];
        ops.extend(pass(None));
        ops.push(Op::Loop { to: 1, times: params.passes });
        main.push(Op::Fork(w.program(NAME, ops)));
    }
    main.extend(first);
    main.extend(pass(None));
    let to = main.len() as u16;
    main.extend(pass(Some(times)));
    main.extend([Op::Loop { to, times: params.passes - 1 }, Op::WaitChildren, Op::Stop]);
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, None);
    for ((kernel, bytes), histogram) in KERNELS.into_iter().zip(times) {
        w.metrics.push(Metric {
            name: metric_name(kernel),
            unit: "MB/s".to_string(),
            better: Better::Higher,
            reading: Reading::BestPerSecond { histogram, units: elements * bytes / 1e6 },
        });
    }
    Ok(w)
}
