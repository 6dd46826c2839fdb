//! What hinting faults cost who makes them.
//!
//! The faults of a stretch of work are known when it is accounted for. Their instructions and copies are then owed like
//! memory time that was not foreseen, and spread over the task's next stretch. A fault takes what an ordinary one was
//! counted to take; a page that moves takes that once more, for a new page in the place of the old one, and its copy: at
//! the core's rate of copying or the bandwidth of the slower node, whichever is slower.

use super::Sim;
use super::core::Core;
use super::working_sets::MemoryTime;
use crate::trace::Trace;
use crate::world::TaskId;

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// `task` touched and streamed so much on a CPU of node `here`: faults on pages that were unmapped.
    pub(super) fn hinting_faults(&mut self, task: TaskId, here: u16, touched: (f64, f64)) {
        let mut hints = std::mem::take(&mut self.memory.hints);
        hints.clear();
        self.w.pages.take_hints(task, here, touched, &mut hints);
        if !hints.is_empty() {
            let faulted = K::hinting_faults(self, task, &hints);
            let instructions = (faulted.faults + faulted.moved) * self.w.hw.kernel.fault;
            let kernel_ns = self.w.kernel_cycles(instructions) / self.w.hw.cycles_per_ns;
            let copy_ns = faulted.moved_bytes * self.setup.copy_ns_per_byte;
            let mut time = MemoryTime::of_core(kernel_ns);
            match copy_ns > faulted.moved_ns {
                true => time = time.plus(MemoryTime::of_core(copy_ns)),
                false => time = time.plus(MemoryTime::of_memory(faulted.moved_ns)),
            }
            if !self.w.hw.kernel_is_free {
                self.memory.working_sets.owe(task, time);
            }
        }
        self.memory.hints = hints;
    }
}
