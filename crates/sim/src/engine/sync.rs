//! Mutexes, condition variables and barriers as futexes make them: cheap until someone has to sleep.
//!
//! A step first does its atomic operation; if the task has to wait, it pays for entering the kernel, looks again, and
//! sleeps. Who wakes others pays for that as well. Waiters are woken first come, first served, but own nothing by it.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use super::shared::Shared;
use super::wait::WaitList;
use crate::spin_lock::SpinLock;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Doing, State, TaskId};
use workload::{BarrierId, CondId, LockId};

/// One mutex.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LockState {
    holder: Option<TaskId>,
    /// CPU that wrote the mutex's line last.
    line_at: Option<Cpu>,
    waiters: WaitList,
    bucket: SpinLock,
}

/// One barrier.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BarrierState {
    pub(super) come: u32,
    /// How often all have come, where they look for it.
    pub(super) generation: u32,
    /// CPU that wrote the barrier's line last, where they look at it.
    pub(super) line_at: Option<Cpu>,
    pub(super) waiters: WaitList,
    bucket: SpinLock,
}

impl BarrierState {
    /// Whether all have come who were awaited in round `generation`.
    pub(super) fn is_past(&self, generation: u32) -> bool {
        self.generation != generation
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// Makes the running `task` pay for entering the kernel before it looks again and sleeps; whether it has not yet.
    pub(super) fn enter_kernel(&mut self, task: TaskId) -> bool {
        if self.w.tasks[task.index()].in_kernel {
            return false;
        }
        let cycles = self.w.kernel_cycles(self.w.hw.kernel.futex.sleep);
        let t = &mut self.w.tasks[task.index()];
        t.in_kernel = true;
        t.doing = Doing::Cycles(cycles);
        true
    }

    /// The running task of `cpu` holds a bucket of futexes: it queues itself there, or takes others out. What that moves comes with waking.
    fn hold_bucket(&mut self, cpu: Cpu, which: impl FnOnce(&mut Shared) -> &mut SpinLock) {
        let claim = self.w.claim(cpu, cpu, self.w.hw.kernel.futex.waking);
        let wait_ns = self.w.take_lock(which(&mut self.shared), claim);
        self.w.spin(cpu, wait_ns);
    }

    /// Who holds a mutex.
    pub(super) fn holder(&self, id: LockId) -> Option<TaskId> {
        self.shared.locks[id.index()].holder
    }

    /// Takes a mutex, or sleeps until someone lets go.
    pub(super) fn lock(&mut self, cpu: Cpu, task: TaskId, id: LockId) -> Step {
        let lock = &mut self.shared.locks[id.index()];
        if lock.holder.is_some() {
            if self.enter_kernel(task) {
                return Step::Again;
            }
            self.hold_bucket(cpu, |shared| &mut shared.locks[id.index()].bucket);
            self.shared.locks[id.index()].waiters.push(&mut self.w.tasks, task);
            return self.block(task, State::Locking(id));
        }
        lock.holder = Some(task);
        if let Some(from) = lock.line_at.replace(cpu).filter(|&from| from != cpu) {
            self.w.charge_fetch(cpu, from, 1.0, 1.0);
        }
        self.trace.locked(self.w.now_ns, task, id);
        self.next_op(task)
    }

    pub(super) fn unlock(&mut self, cpu: Cpu, task: TaskId, id: LockId) -> Step {
        if self.release(cpu, task, id) { self.next_op(task) } else { self.not_held(task) }
    }

    fn not_held(&mut self, task: TaskId) -> Step {
        self.misuse(task, "found a mutex that the task does not hold, expected one that it locked")
    }

    /// Lets go and wakes the first who waits; whether the task held it.
    fn release(&mut self, cpu: Cpu, task: TaskId, id: LockId) -> bool {
        let lock = &mut self.shared.locks[id.index()];
        if lock.holder != Some(task) {
            return false;
        }
        lock.holder = None;
        self.trace.unlocked(self.w.now_ns, task, id);
        if let Some(next) = self.shared.locks[id.index()].waiters.pop(&mut self.w.tasks) {
            self.w.charge_kernel(cpu, self.w.hw.kernel.syscall);
            self.hold_bucket(cpu, |shared| &mut shared.locks[id.index()].bucket);
            self.wake(next, cpu, Some(task), false);
        }
        true
    }

    /// `pthread_cond_wait`: lets go, sleeps, and once signalled takes the mutex again.
    pub(super) fn cond_wait(&mut self, cpu: Cpu, task: TaskId, cond: CondId, lock: LockId) -> Step {
        if self.w.tasks[task.index()].signalled {
            return self.lock(cpu, task, lock);
        }
        if self.shared.locks[lock.index()].holder != Some(task) {
            return self.not_held(task);
        }
        if self.enter_kernel(task) {
            return Step::Again;
        }
        self.release(cpu, task, lock);
        self.shared.conds[cond.index()].push(&mut self.w.tasks, task);
        self.block(task, State::Conditional(cond))
    }

    /// Wakes one, or all, of those who wait for `cond`.
    pub(super) fn signal(&mut self, cpu: Cpu, task: TaskId, cond: CondId, all: bool) -> Step {
        if !self.shared.conds[cond.index()].is_empty() {
            self.w.charge_kernel(cpu, self.w.hw.kernel.syscall);
        }
        while let Some(next) = self.shared.conds[cond.index()].pop(&mut self.w.tasks) {
            self.w.tasks[next.index()].signalled = true;
            self.wake(next, cpu, Some(task), false);
            if !all {
                break;
            }
        }
        self.next_op(task)
    }

    /// Puts the running `task` to sleep until the other parties have come.
    pub(super) fn sleep_at_barrier(&mut self, cpu: Cpu, task: TaskId, id: BarrierId) -> Step {
        self.hold_bucket(cpu, |shared| &mut shared.barriers[id.index()].bucket);
        self.shared.barriers[id.index()].waiters.push(&mut self.w.tasks, task);
        self.block(task, State::AtBarrier(id))
    }

    pub(super) fn barrier(&mut self, cpu: Cpu, task: TaskId, id: BarrierId) -> Step {
        if self.w.tasks[task.index()].signalled {
            return self.next_op(task);
        }
        let parties = self.setup.workload.barriers[id.index()];
        if self.shared.barriers[id.index()].come + 1 < parties {
            if self.enter_kernel(task) {
                return Step::Again;
            }
            self.shared.barriers[id.index()].come += 1;
            return self.sleep_at_barrier(cpu, task, id);
        }
        self.shared.barriers[id.index()].come = 0;
        if !self.shared.barriers[id.index()].waiters.is_empty() {
            self.w.charge_kernel(cpu, self.w.hw.kernel.syscall);
        }
        self.wake_parties(cpu, task, id);
        self.next_op(task)
    }

    /// Wakes all who sleep at a barrier.
    pub(super) fn wake_parties(&mut self, cpu: Cpu, task: TaskId, id: BarrierId) {
        while let Some(next) = self.shared.barriers[id.index()].waiters.pop(&mut self.w.tasks) {
            self.w.tasks[next.index()].signalled = true;
            self.wake(next, cpu, Some(task), false);
        }
    }
}
