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
    fn created(&mut self, _at_ns: u64, _task: TaskId, _program: &str, _allowed: &CpuSet) {}
    /// A task exited.
    fn exited(&mut self, _at_ns: u64, _task: TaskId) {}
    /// A task may use these CPUs from now on (`sched_setaffinity`, hotplug).
    fn allowed(&mut self, _at_ns: u64, _task: TaskId, _allowed: &CpuSet) {}
    /// `sched_switch`: `cpu` runs `next` where it ran `previous`; `None` is the idle task or the stopper.
    fn switch(&mut self, _at_ns: u64, _cpu: Cpu, _previous: Option<TaskId>, _next: Option<TaskId>) {
    }
    /// The stopper of `cpu` takes the place of its running `task`; whoever it makes room for has `None` before it.
    fn stopped(&mut self, at_ns: u64, cpu: Cpu, task: TaskId) {
        self.switch(at_ns, cpu, Some(task), None);
    }
    /// A running task goes to sleep; its CPU switches away from it at once. `_for_io` is the kernel's `in_iowait`.
    fn blocked(&mut self, _at_ns: u64, _task: TaskId, _for_io: bool) {}
    /// `sched_waking`: `_waker`, or an interrupt, on `_by` wakes a task whose CPU is `_previous`.
    fn waking(
        &mut self,
        _at_ns: u64,
        _task: TaskId,
        _by: Cpu,
        _waker: Option<TaskId>,
        _previous: Cpu,
    ) {
    }
    /// `sched_wakeup`: a task is queued on `target`, woken by something on `by`.
    fn wakeup(&mut self, _at_ns: u64, _task: TaskId, _by: Cpu, _target: Cpu) {}
    /// `sched_wakeup_new`: the same of a task that was just forked on `_by`.
    fn wakeup_new(&mut self, _at_ns: u64, _task: TaskId, _by: Cpu, _target: Cpu) {}
    /// `sched_migrate_task`: a task that does not run belongs to another CPU.
    fn migrate(&mut self, _at_ns: u64, _task: TaskId, _from: Cpu, _to: Cpu) {}
    /// So many tasks are runnable on a CPU (`nr_running`); may be told again without a change.
    fn runnable(&mut self, _at_ns: u64, _cpu: Cpu, _tasks: u32) {}
    /// A task has another nice value than it had, 0 at first.
    fn nice(&mut self, _at_ns: u64, _task: TaskId, _nice: i8) {}
    /// `cpu_idle`: a CPU enters the idle state of this number in the machine's list, or, `None`, has left it.
    fn idle(&mut self, _at_ns: u64, _cpu: Cpu, _state: Option<usize>) {}
    /// `cpu_frequency`: a governor asks for a P-state, in kHz.
    fn frequency(&mut self, _at_ns: u64, _cpu: Cpu, _khz: u32) {}
    /// A CPU's core runs at this clock from now on, in kHz.
    fn clock(&mut self, _at_ns: u64, _cpu: Cpu, _khz: u32) {}
    /// A package takes so many watts from now on, its floor included; packages count from 0, by their numbers. May be told
    /// again without a change.
    fn power(&mut self, _at_ns: u64, _package: usize, _watts: f64) {}
    /// A CPU is offline from now on, whatever it did.
    fn offline(&mut self, _at_ns: u64, _cpu: Cpu) {}
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
