//! Iterations of loops, which tasks take in chunks with one atomic operation each (`gomp_iter_dynamic_next`, `gomp_iter_guided_next`).
//!
//! The counter's line comes from the CPU that took the last chunk. What a chunk is of work is the pool's ([`workload::Pool`]); the task's
//! next steps do it.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::TaskId;
use workload::PoolId;

/// One loop.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PoolState {
    /// The first iteration that nobody has taken.
    next: u32,
    /// CPU that wrote that last.
    line_at: Option<Cpu>,
}

impl PoolState {
    /// All iterations are due.
    pub(super) fn refill(&mut self) {
        self.next = 0;
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// The running `task` takes a chunk, or goes on behind `steps` steps where none is left.
    pub(super) fn take_chunk(&mut self, cpu: Cpu, task: TaskId, id: PoolId, steps: u16) -> Step {
        let pool = &self.setup.workload.pools[id.index()];
        let state = &mut self.shared.pools[id.index()];
        let from = state.next;
        if let Some(writer) = state.line_at.replace(cpu).filter(|&writer| writer != cpu) {
            self.w.charge_lines(cpu, writer, 1.0);
        }
        let t = &mut self.w.tasks[task.index()];
        if from >= pool.iterations {
            t.pc += u32::from(steps);
            return self.next_op(task);
        }
        let to = pool.chunk_end(from);
        t.drawn_cycles = pool.cycles(from, to);
        self.shared.pools[id.index()].next = to;
        self.next_op(task)
    }
}
