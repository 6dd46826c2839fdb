//! Tasks that NUMA balancing moves (`migrate_task_to`, `migrate_swap`).

use super::Modelled;
use crate::class::Class;
use crate::engine::Sim;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Phase, Request, State, TaskId};

impl<C: Class, T: Trace> Sim<'_, Modelled<C>, T> {
    /// `migrate_task_to`: the stopper of `from` moves the task, if it is still there and can run.
    pub(super) fn numa_move(&mut self, task: TaskId, from: Cpu, to: Cpu) {
        if self.can_leave(task, from, to) {
            self.w.counters.numa.tasks_migrated += 1;
            self.carry(task, from, to);
        }
    }

    /// `migrate_swap`: the stoppers of both CPUs let the tasks change places, if both are still there.
    pub(super) fn numa_swap(&mut self, (task, from): (TaskId, Cpu), (other, to): (TaskId, Cpu)) {
        if self.can_leave(task, from, to) && self.can_leave(other, to, from) {
            self.w.counters.numa.tasks_swapped += 2;
            self.carry(task, from, to);
            self.carry(other, to, from);
        }
    }

    fn can_leave(&self, task: TaskId, from: Cpu, to: Cpu) -> bool {
        let t = &self.w.tasks[task.index()];
        let runs = self.w.cpus[from as usize].curr == Some(task);
        let settled = !runs || self.w.cpus[from as usize].phase == Phase::Running;
        t.state == State::Runnable && t.cpu == from && self.w.allowed(task, to) && settled
    }

    /// Takes the task off its CPU, if it runs, and queues it on the other.
    fn carry(&mut self, task: TaskId, from: Cpu, to: Cpu) {
        self.settle(from);
        self.core.class.stopper_wakes(&self.w, from);
        if self.w.cpus[from as usize].curr == Some(task) {
            self.w.cpus[from as usize].curr = None;
            self.core.class.put_prev(&mut self.w, from, task);
            self.trace.stopped(self.w.now_ns, from, task);
            if self.memory.paced {
                self.leave_pace(from);
            }
        }
        self.w.charge_kernel(from, self.w.hw.kernel.switch);
        self.core.class.numa_move(&mut self.w, task, to);
        self.w.requests.push(Request::Resched(to));
        if self.w.cpus[from as usize].phase == Phase::Running {
            self.w.cpus[from as usize].need_resched = true;
            self.proceed(from);
            self.arm(from);
        }
    }
}
