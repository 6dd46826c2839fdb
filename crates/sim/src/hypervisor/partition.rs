//! What the vcpus of a partition share, and what it measures.

use std::collections::VecDeque;

/// A request or the answer to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Request {
    pub(crate) connection: u32,
    pub(crate) sent_ns: f64,
}

/// Where STREAM's threads meet after each kernel.
#[derive(Debug, Clone, Default)]
pub(crate) struct Barrier {
    parties: u32,
    arrived: u32,
    /// Kernels that all have done.
    pub(crate) kernels: u64,
    /// When the last of them ended, and when the slowest came so far.
    began_ns: f64,
    latest_ns: f64,
}

/// A partition.
#[derive(Debug, Clone, Default)]
pub(crate) struct PartitionState {
    /// First line of the code that its vcpus share, of the data, and lines from one array to the next.
    pub(crate) code: u64,
    pub(crate) data: u64,
    pub(crate) array_lines: u64,
    /// Requests and answers under way, workers that have ceded, vcpus to kick.
    pub(crate) requests: VecDeque<Request>,
    pub(crate) answers: VecDeque<Request>,
    pub(crate) idle_workers: Vec<u32>,
    pub(crate) kicks: Vec<u32>,
    pub(crate) barrier: Barrier,
    /// From when on it measures, in ns.
    from_ns: f64,
    total_mib: f64,
    /// When the sysbench run began that is under way, and what of it is done.
    run_ns: f64,
    run_mib: f64,
    pub(crate) measured: Measured,
}

/// What partitions measured.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measured {
    pub(crate) written_mib: f64,
    /// Times of whole sysbench runs, in ns.
    pub(crate) durations_ns: Vec<f64>,
    pub(crate) responses_ns: Vec<f64>,
    /// By kernel of STREAM: times of passes, in ns, from the first on.
    pub(crate) passes_ns: [Vec<f64>; 4],
    pub(crate) loads: f64,
    pub(crate) idle_ns: Vec<f64>,
}

/// Room for times: none is taken while a run lasts unless there are more.
const ROOM: usize = 4096;

impl PartitionState {
    /// A partition of `vcpus` that measures from `from_ns` on, and whose sysbench runs write `total_mib`.
    pub(crate) fn new(vcpus: u32, from_ns: f64, total_mib: f64) -> PartitionState {
        let mut partition = PartitionState { from_ns, total_mib, ..PartitionState::default() };
        partition.barrier.parties = vcpus;
        partition.kicks.reserve(64);
        partition.idle_workers.reserve(64);
        partition.measured.responses_ns.reserve(ROOM);
        partition
    }

    /// So many MiB more are written at `now_ns`.
    pub(crate) fn note_written(&mut self, now_ns: f64, mib: f64) {
        if now_ns >= self.from_ns {
            self.measured.written_mib += mib;
        }
        self.run_mib += mib;
        if self.run_mib >= self.total_mib {
            self.run_mib -= self.total_mib;
            if self.run_ns >= self.from_ns {
                self.measured.durations_ns.push(now_ns - self.run_ns);
            }
            self.run_ns = now_ns;
        }
    }

    /// A request was answered after so long.
    pub(crate) fn note_response(&mut self, now_ns: f64, took_ns: f64) {
        if now_ns >= self.from_ns {
            self.measured.responses_ns.push(took_ns);
        }
    }

    /// So many loads more.
    pub(crate) fn note_loads(&mut self, now_ns: f64, loads: f64) {
        if now_ns >= self.from_ns {
            self.measured.loads += loads;
        }
    }

    /// An idle vcpu has done its work so long after it was due.
    pub(crate) fn note_idle(&mut self, now_ns: f64, took_ns: f64) {
        if now_ns >= self.from_ns {
            self.measured.idle_ns.push(took_ns);
        }
    }

    /// A worker that has ceded, if there is one, is to be kicked.
    pub(crate) fn kick_idle_worker(&mut self) {
        if let Some(worker) = self.idle_workers.pop() {
            self.kicks.push(worker);
        }
    }

    /// A STREAM thread is through with a kernel; the last one ends it for all.
    pub(crate) fn arrive(&mut self, now_ns: f64) {
        let b = &mut self.barrier;
        b.latest_ns = b.latest_ns.max(now_ns);
        b.arrived += 1;
        if b.arrived < b.parties {
            return;
        }
        if b.began_ns >= self.from_ns {
            self.measured.passes_ns[(b.kernels % 4) as usize].push(b.latest_ns - b.began_ns);
        }
        (b.arrived, b.began_ns) = (0, b.latest_ns);
        b.kernels += 1;
    }
}
