//! STREAM 5.10 with OpenMP: copy, scale, add and triad over arrays that no cache holds, each thread with its part of the arrays in memory
//! of the node where it first touched them.
//!
//! As the program does it: every kernel is run by all threads between two barriers, the first thread times it, and the
//! best pass but the first counts. Bytes are STREAM's: what a kernel reads and what it writes, without what a cache
//! reads before a line is written.
//!
//! Threads bound to a CPU each sleep at barriers, and find their memory there. Free ones go where the scheduler puts them: they write their
//! part of the arrays once before the first pass, and wait at barriers as libgomp does ([`crate::parallel`]).

pub use crate::clock_costs::ClockCosts as Costs;
use crate::parallel;
use crate::placement::Placement;
use crate::program::{HistogramId, MemoryUse, Metric, Op, Program, Reading, Since, Work, Workload};
use crate::{WorkloadError, check, launch};
use machine::CpuSet;
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
    /// Threads that are free to move; where absent, one is bound to each of `cpus`.
    pub threads: Option<u16>,
    /// On which nodes the arrays lie.
    #[serde(default, skip_serializing_if = "Placement::is_default")]
    pub placement: Placement,
    /// CPUs: with a thread bound to each, or those that free threads may use, which are all where absent.
    pub cpus: Option<CpuSet>,
}

impl Params {
    fn check(&self) -> Result<(), WorkloadError> {
        check::within(NAME, "array_mib", self.array_mib, 1..=1 << 20, "1 to 1048576")?;
        check::within(NAME, "passes", self.passes, 2..=10_000, "2 to 10000")?;
        check::within(NAME, "element_cycles", self.element_cycles, 0.01..=1e6, "0.01 to 1e6")?;
        if let Some(threads) = self.threads {
            return check::within(NAME, "threads", threads, 1..=8192, "1 to 8192");
        }
        let bound = self.cpus.as_ref().map_or(0, CpuSet::len);
        let expected = "at least one CPU, or `threads` that are free";
        check::within(NAME, "cpus", bound, 1..=machine::cpuset::MAX_CPUS, expected)
    }

    /// Threads, bound or free.
    pub fn thread_count(&self) -> usize {
        let bound = || self.cpus.as_ref().map_or(0, CpuSet::len);
        self.threads.map_or_else(bound, usize::from)
    }
}

/// Name of a kernel's metric.
pub fn metric_name(kernel: &str) -> String {
    format!("{kernel}_mb_per_s")
}

/// A pass of a thread: its kernels, with the barriers around each.
struct Pass {
    /// Elements of the thread.
    part: f64,
    element_cycles: f64,
    placement: Placement,
    together: Op,
}

impl Pass {
    /// What a thread that moves so many bytes for an element does to memory.
    fn memory(&self, bytes: f64) -> Op {
        Op::Memory(MemoryUse {
            working_set_bytes: self.part * ELEMENT_BYTES,
            stream_set_bytes: 3.0 * self.part * ELEMENT_BYTES,
            placement: self.placement,
            touches_per_kcycle: 0.0,
            overlap: 1.0,
            stream_bytes_per_kcycle: bytes / self.element_cycles * 1000.0,
        })
    }

    fn compute(&self) -> Op {
        Op::Compute(Work::fixed(self.part * self.element_cycles))
    }

    /// The steps, which the first thread times.
    fn ops(&self, times: Option<[HistogramId; KERNELS.len()]>) -> Vec<Op> {
        let kernel = |(at, (_, bytes)): (usize, (&str, f64))| {
            let record = times.and_then(|times| times.get(at).copied());
            let ops = [self.memory(bytes), self.together.clone()].into_iter();
            ops.chain(record.map(|_| Op::Stamp))
                .chain([self.compute(), self.together.clone()])
                .chain(record.map(|histogram| Op::Record { histogram, since: Since::Stamp }))
        };
        KERNELS.into_iter().enumerate().flat_map(kernel).collect()
    }
}

/// Builds the workload for a machine whose CPUs `online` are.
pub fn build(params: &Params, costs: &Costs, online: &CpuSet) -> Result<Workload, WorkloadError> {
    params.check()?;
    let threads = params.thread_count();
    let elements = f64::from(params.array_mib) * 1024.0 * 1024.0 / ELEMENT_BYTES;
    let mut w = Workload::default();
    let barrier = w.barrier(threads as u32);
    let free = params.threads.is_some();
    let spin_cycles = || {
        let usable = params.cpus.as_ref().map_or(online.len(), |cpus| (cpus & online).len());
        parallel::spin_cycles(parallel::spins(threads, usable, None), costs)
    };
    let together = match free {
        true => Op::SpinBarrier { barrier, spin_cycles: spin_cycles() },
        false => Op::Barrier(barrier),
    };
    let part = elements / threads as f64;
    let pass =
        Pass { part, element_cycles: params.element_cycles, placement: params.placement, together };
    let times = KERNELS.map(|_| w.histogram(None));
    let mut main = Vec::new();
    let mut cpus = None;
    if free {
        // All three arrays are written.
        let touch = [pass.memory(3.0 * ELEMENT_BYTES), pass.compute()];
        let mut ops = touch.to_vec();
        ops.extend(pass.ops(None));
        ops.push(Op::Loop { to: touch.len() as u16, times: params.passes });
        let thread = w.program(NAME, ops);
        main.extend(vec![Op::Clone(thread); threads - 1]);
        main.extend(touch);
        cpus = params.cpus.clone();
    } else {
        let cpus = params.cpus.iter().flat_map(CpuSet::iter);
        let mut bind = cpus.map(|cpu| Op::SetAffinity(CpuSet::single(cpu)));
        let first = bind.next();
        for bind in bind {
            let mut ops = vec![bind];
            ops.extend(pass.ops(None));
            ops.push(Op::Loop { to: 1, times: params.passes });
            main.push(Op::Fork(w.program(NAME, ops)));
        }
        main.extend(first);
    }
    main.extend(pass.ops(None));
    let to = main.len() as u16;
    main.extend(pass.ops(Some(times)));
    main.extend([Op::Loop { to, times: params.passes - 1 }, Op::WaitChildren, Op::Stop]);
    launch::from_shell(&mut w, Program { name: NAME.to_string(), ops: main }, cpus);
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
