//! What a run can be watched by: context switches, wake-ups and moves as they happen.
//!
//! The engine takes the observer as a type, so that [`NoTrace`] costs nothing.

use crate::topology::Cpu;
use crate::world::TaskId;
use machine::CpuSet;
use workload::{LockId, QueueId};

/// An observer of a run. Times are in ns and never go back; each method does nothing unless overridden.
pub trait Trace {
    /// A task exists, asleep or about to be queued; `program` is its `comm`.
    fn created(&mut self, _at_ns: u64, _task: TaskId, _program: &str, _allowed: CpuSet) {}
    /// A task exited.
    fn exited(&mut self, _at_ns: u64, _task: TaskId) {}
    /// A task may use these CPUs from now on (`sched_setaffinity`, hotplug).
    fn allowed(&mut self, _at_ns: u64, _task: TaskId, _allowed: CpuSet) {}
    /// `sched_switch`: `cpu` runs `next` where it ran `previous`; `None` is the idle task or the stopper.
    fn switch(&mut self, _at_ns: u64, _cpu: Cpu, _previous: Option<TaskId>, _next: Option<TaskId>) {
    }
    /// `sched_wakeup`: a task is queued on `target`, woken by something on `by`.
    fn wakeup(&mut self, _at_ns: u64, _task: TaskId, _by: Cpu, _target: Cpu) {}
    /// `sched_migrate_task`: a task that does not run belongs to another CPU.
    fn migrate(&mut self, _at_ns: u64, _task: TaskId, _from: Cpu, _to: Cpu) {}
    /// A message was written, by a task or, `None`, from the network; so many are in the queue now.
    fn sent(&mut self, _at_ns: u64, _task: Option<TaskId>, _queue: QueueId, _queued: usize) {}
    /// A task read the message that was written at `_written_ns`.
    fn received(&mut self, _at_ns: u64, _task: TaskId, _queue: QueueId, _written_ns: u64) {}
    /// A task holds a mutex from now on.
    fn locked(&mut self, _at_ns: u64, _task: TaskId, _lock: LockId) {}
    /// A task lets go of a mutex.
    fn unlocked(&mut self, _at_ns: u64, _task: TaskId, _lock: LockId) {}
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoTrace;

impl Trace for NoTrace {}
