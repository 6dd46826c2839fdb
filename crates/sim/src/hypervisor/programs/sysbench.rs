//! `sysbench --test=memory`: each thread writes its block again and again.

use super::{Memory, PathRun, STORE_OVERLAP, Stop};
use crate::hypervisor::core::At;
use crate::hypervisor::partition::PartitionState;
use cache::{Kind, Walk};
use workload::kvm::SysbenchMemory;

/// Bytes of a word.
const WORD_BYTES: f64 = 8.0;

/// A thread.
#[derive(Debug)]
pub(crate) struct SysbenchThread {
    block: Walk,
    event: PathRun,
    cycles: f64,
    block_mib: f64,
    /// Accesses of the core at the end of the last block, where that block cost nothing but its cycles.
    settled: Option<u64>,
}

impl SysbenchThread {
    pub(super) fn new(
        p: &SysbenchMemory,
        partition: &PartitionState,
        memory: &mut Memory<'_>,
    ) -> SysbenchThread {
        let lines = memory.costs.lines(p.block_kib);
        let first = memory.region(lines);
        let words = p.block_kib * 1024.0 / WORD_BYTES;
        SysbenchThread {
            block: Walk::new(first, lines, memory.sampling),
            event: PathRun::new(&p.event, partition.code, memory),
            cycles: words * p.word_cycles + p.event.cycles,
            block_mib: p.block_kib / 1024.0,
            settled: None,
        }
    }

    /// Blocks until `until_ns`. A block that found all it needs in the L1, with nobody else there, is followed by more of
    /// the same.
    pub(super) fn run(
        &mut self,
        at: &mut At<'_>,
        partition: &mut PartitionState,
        until_ns: f64,
    ) -> Stop {
        while at.thread.now_ns < until_ns {
            if self.settled.is_some_and(|accesses| at.undisturbed(accesses)) {
                let block_ns = self.cycles * at.core.cycle_ns;
                let blocks = ((until_ns - at.thread.now_ns) / block_ns).ceil();
                at.compute(blocks * self.cycles);
                partition.note_written(at.thread.now_ns, blocks * self.block_mib);
                continue;
            }
            let mut free = true;
            for _ in 0..self.block.lines() {
                free &= at.access(self.block.next_line(), Kind::Write, STORE_OVERLAP);
            }
            free &= self.event.touch_all(at);
            at.compute(self.cycles);
            partition.note_written(at.thread.now_ns, self.block_mib);
            self.settled = free.then_some(at.core.accesses);
        }
        Stop::Time
    }
}
