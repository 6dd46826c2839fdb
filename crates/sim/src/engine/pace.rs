//! What slows a running task beyond its core: memory, its bandwidth, contended lines.
//!
//! The memory time of the work ahead is foreseen up to the end of the step or the next tick, and spread over its cycles.
//! When the work is accounted for, what it really cost is compared, and the difference is owed. Bandwidth and lines are
//! shared with other CPUs, whose pace changes as well: they are settled, slowed and armed by whoever changes it.

use super::Sim;
use super::core::Core;
use super::lines::LineUser;
use super::working_sets::{Fixed, MemoryTime, Place};
use crate::events::NEVER;
use crate::pages::Part;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Doing, TaskId};
use workload::{LineId, MemoryUse, Op};

/// How fast a CPU's task progresses. A core cycle of it takes `1 / rate` and the time of memory and lines, but no less than
/// bandwidth allows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    /// Whose memory use counts here.
    task: Option<TaskId>,
    /// Memory time of a core cycle.
    pub(super) memory: MemoryTime,
    /// Time of a core cycle for moving the line that it fights for.
    pub(super) line_ns: f64,
    /// Time that a core cycle takes at least, by the bandwidth of the nodes from which it draws.
    pub(super) floor_ns: f64,
    /// Whether it moves bytes from or to memory.
    pub(super) draws: bool,
    /// Core cycles done and not accounted for.
    pub(super) cycles: f64,
    pub(super) line: Option<LineId>,
}

impl<'a, K: Core, T: Trace> Sim<'a, K, T> {
    fn fixed(&self) -> Option<Fixed<'a>> {
        let memory = self.setup.memory.as_ref()?;
        Some(Fixed { memory, hw: &self.setup.hw, topo: self.w.topo })
    }

    /// Whether steps of `task` take memory time.
    pub(super) fn uses_memory(&self, task: TaskId) -> bool {
        self.memory.paced && self.memory.working_sets.is_used(task)
    }

    /// `task`, which runs on `cpu`, uses memory like this from now on.
    pub(super) fn set_memory(&mut self, cpu: Cpu, task: TaskId, used: MemoryUse) {
        self.leave_memory(cpu);
        if self.setup.memory.is_some() {
            self.memory.working_sets.begin(task, used);
            self.w.pages.begin(task, &used);
        }
    }

    /// Sets the pace for what `task` does on `cpu` from now on.
    pub(super) fn set_pace(&mut self, cpu: Cpu, task: TaskId) {
        let op = self.op(task);
        let mut used = None;
        if let Some(&Op::Contend { line, cycles, write, .. }) = op {
            used = Some((line, LineUser { cpu, cycles, write }));
        }
        self.use_line(cpu, used);
        let computes =
            matches!(op, Some(Op::Compute(_) | Op::Portion(_) | Op::WorkWhileSet { .. }));
        if computes && self.memory.working_sets.is_used(task) {
            self.look_ahead(cpu, task);
        } else {
            self.leave_memory(cpu);
        }
        self.slow_down(cpu);
    }

    /// `cpu` runs another task than before, or none.
    pub(super) fn leave_pace(&mut self, cpu: Cpu) {
        self.use_line(cpu, None);
        self.leave_memory(cpu);
        self.slow_down(cpu);
    }

    /// Accounts for the memory use so far and foresees it up to the end of the step or the next tick.
    fn look_ahead(&mut self, cpu: Cpu, task: TaskId) {
        let Some(fixed) = self.fixed() else { return };
        if self.memory.paces[cpu as usize].task != Some(task) {
            self.leave_memory(cpu);
        }
        self.account(cpu, task, fixed);
        let c = &self.w.cpus[cpu as usize];
        let until_ns =
            if c.tick_ns == NEVER { self.w.tick_period_ns } else { c.tick_ns - self.w.now_ns };
        let most = until_ns.max(1) as f64 * c.rate;
        let cycles = match self.w.tasks[task.index()].doing {
            Doing::Cycles(left) => left.min(most),
            Doing::Nothing
            | Doing::KernelWork
            | Doing::Loaded
            | Doing::Until(_)
            | Doing::Spin(_)
            | Doing::AtBarrier { .. }
            | Doing::Units { .. } => most,
        };
        let mut memory = MemoryTime::default();
        self.memory.ahead.fill(0.0);
        if cycles > 0.0 {
            let place = self.place_of(cpu, task, fixed);
            let ahead = self.memory.working_sets.forecast(fixed, place, cycles);
            memory = ahead.memory.times(1.0 / cycles);
            let here = fixed.memory.node_of[cpu as usize];
            for (node, bytes) in self.memory.ahead.iter_mut().enumerate() {
                let share = |part| self.w.pages.share(task, part, here, node);
                let of_set = if ahead.set_bytes > 0.0 { share(Part::Set) } else { 0.0 };
                let of_stream = if ahead.stream_bytes > 0.0 { share(Part::Stream) } else { 0.0 };
                *bytes =
                    (ahead.set_bytes * of_set + ahead.stream_bytes * of_stream).max(0.0) / cycles;
            }
        }
        let pace = &mut self.memory.paces[cpu as usize];
        pace.task = Some(task);
        pace.memory = memory;
        self.demand(cpu);
    }

    /// Where `task` computes on `cpu`, and how far its memory is from there.
    fn place_of(&self, cpu: Cpu, task: TaskId, fixed: Fixed) -> Place {
        let here = fixed.memory.node_of[cpu as usize];
        Place { cpu, task, memory_ns: self.w.pages.mean_latency_ns(task, here) }
    }

    fn account(&mut self, cpu: Cpu, task: TaskId, fixed: Fixed) {
        let pace = &mut self.memory.paces[cpu as usize];
        let cycles = std::mem::take(&mut pace.cycles);
        let paid = pace.memory.times(cycles);
        let place = self.place_of(cpu, task, fixed);
        let done = self.memory.working_sets.account(fixed, place, cycles, paid);
        let here = fixed.memory.node_of[cpu as usize];
        self.w.pages.touch(task, here, done.touches, done.stream_bytes);
        if self.setup.numa_balancing {
            self.hinting_faults(task, here, (done.touches, done.stream_bytes));
        }
    }

    /// Ends the memory use that counts on `cpu`.
    fn leave_memory(&mut self, cpu: Cpu) {
        if let (Some(task), Some(fixed)) =
            (self.memory.paces[cpu as usize].task.take(), self.fixed())
        {
            self.account(cpu, task, fixed);
        }
        let pace = &mut self.memory.paces[cpu as usize];
        pace.cycles = 0.0;
        pace.memory = MemoryTime::default();
        self.memory.ahead.fill(0.0);
        self.demand(cpu);
    }

    /// Brings the CPU's slow-down into line with its pace and rate. Its time must be settled.
    pub(super) fn slow_down(&mut self, cpu: Cpu) {
        let c = &mut self.w.cpus[cpu as usize];
        let pace = &self.memory.paces[cpu as usize];
        let stalled = 1.0 + c.rate * (pace.memory.ns(c.clock) + pace.line_ns);
        c.slow = stalled.max(c.rate * pace.floor_ns);
        self.note_activity(cpu);
    }
}
