//! What a run can be watched by: context switches, wake-ups and moves as they happen.
//!
//! The engine takes the observer as a type, so that [`NoTrace`] costs nothing.

use crate::topology::Cpu;
use crate::world::TaskId;
use machine::CpuSet;

/// An observer of a run. Times are in ns and never go back; each method does nothing unless overridden.
pub trait Trace {
    /// A task exists, asleep or about to be queued; `program` is its `comm`.
    fn created(&mut self, _at_ns: u64, _task: TaskId, _program: &str, _allowed: CpuSet) {}
    /// A task exited.
    fn exited(&mut self, _at_ns: u64, _task: TaskId) {}
    /// A task may use these CPUs from now on (`sched_setaffinity`).
    fn allowed(&mut self, _at_ns: u64, _task: TaskId, _allowed: CpuSet) {}
    /// `sched_switch`: `cpu` runs `next` where it ran `previous`; `None` is the idle task or the stopper.
    fn switch(&mut self, _at_ns: u64, _cpu: Cpu, _previous: Option<TaskId>, _next: Option<TaskId>) {
    }
    /// `sched_wakeup`: a task is queued on `target`, woken by something on `by`.
    fn wakeup(&mut self, _at_ns: u64, _task: TaskId, _by: Cpu, _target: Cpu) {}
    /// `sched_migrate_task`: a task that does not run belongs to another CPU.
    fn migrate(&mut self, _at_ns: u64, _task: TaskId, _from: Cpu, _to: Cpu) {}
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoTrace;

impl Trace for NoTrace {}
