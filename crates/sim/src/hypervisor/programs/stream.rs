//! STREAM: every kernel by all threads together, each over its part of the arrays.
//!
//! Stores allocate: a line is read before it is written and written back later. Threads wait for each other at the end of a
//! kernel by spinning, as OpenMP's do for the first milliseconds.

use super::{LOAD_OVERLAP, Memory, STORE_OVERLAP, Stop};
use crate::hypervisor::core::At;
use crate::hypervisor::partition::PartitionState;
use cache::{Kind, Walk};
use workload::kvm::Stream;

/// Bytes of an element.
const ELEMENT_BYTES: f64 = 8.0;
/// Kernels: arrays that each reads, and the one that it writes.
const ARRAYS: [(&[usize], usize); 4] = [(&[0], 2), (&[2], 1), (&[0, 1], 2), (&[1, 2], 0)];

/// A thread.
#[derive(Debug)]
pub(crate) struct StreamThread {
    /// Its part of each array.
    parts: [Walk; 3],
    line_cycles: f64,
    /// Kernels that it has done, and lines of this one.
    kernels: u64,
    line: u32,
}

impl StreamThread {
    pub(super) fn new(
        p: &Stream,
        vcpu: u32,
        vcpus: u32,
        partition: &PartitionState,
        memory: &mut Memory<'_>,
    ) -> StreamThread {
        let lines = memory.costs.lines(p.array_mib * 1024.0);
        let (from, to) = (
            lines * u64::from(vcpu) / u64::from(vcpus),
            lines * u64::from(vcpu + 1) / u64::from(vcpus),
        );
        let part = |array: u64| {
            Walk::new(
                partition.data + array * partition.array_lines + from,
                to - from,
                memory.sampling,
            )
        };
        let elements = memory.costs.line_bytes / ELEMENT_BYTES;
        StreamThread {
            parts: [part(0), part(1), part(2)],
            line_cycles: p.element_cycles * elements * f64::from(memory.sampling.factor()),
            kernels: 0,
            line: 0,
        }
    }

    pub(super) fn run(
        &mut self,
        at: &mut At<'_>,
        partition: &mut PartitionState,
        until_ns: f64,
    ) -> Stop {
        while at.thread.now_ns < until_ns {
            if self.kernels > partition.barrier.kernels {
                // It spins until the others have come, which others' times are a round behind to tell.
                at.thread.now_ns = until_ns;
                return Stop::Time;
            }
            let (reads, write) = ARRAYS[(self.kernels % 4) as usize];
            while self.line < self.parts[write].lines() {
                if at.thread.now_ns >= until_ns {
                    return Stop::Time;
                }
                for &array in reads {
                    at.access(self.parts[array].line(self.line), Kind::Read, LOAD_OVERLAP);
                }
                at.access(self.parts[write].line(self.line), Kind::Write, STORE_OVERLAP);
                at.compute(self.line_cycles);
                self.line += 1;
            }
            self.line = 0;
            self.kernels += 1;
            partition.arrive(at.thread.now_ns);
        }
        Stop::Time
    }
}
