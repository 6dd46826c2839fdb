//! Tasks that are new, wake up or move while they run.
//!
//! A wake-up asks the class for a CPU (`select_cpu`), notes the move, enqueues, and tells that CPU: an idle one leaves idle,
//! a busy one chooses again if the task preempts. The order is the kernel's, as what the class reads in between depends on
//! it.

use super::{Modelled, NEVER};
use crate::class::{Class, Dequeue, Enqueue, Select};
use crate::engine::Sim;
use crate::engine::cpu::Step;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Phase, State, TaskId};

impl<C: Class, T: Trace> Sim<'_, Modelled<C>, T> {
    /// `wake_up_new_task`: the child is queued where the class wants it.
    pub(super) fn wake_up_new_task(&mut self, child: TaskId, cpu: Cpu) {
        let target = self.core.class.select_cpu(&mut self.w, child, Select::Fork(cpu));
        self.place(child, target);
        self.charge_fork(cpu, target);
        let new = &mut self.w.tasks[child.index()];
        new.state = State::Runnable;
        new.queued_ns = self.w.now_ns;
        self.core.class.enqueue(&mut self.w, child, Enqueue::New);
        self.w.uclamp_inc(child);
        self.trace.wakeup_new(self.w.now_ns, child, cpu, target);
        self.tell_runnable(target);
        self.announce(child, cpu);
    }

    pub(super) fn try_to_wake_up(
        &mut self,
        task: TaskId,
        cpu: Cpu,
        waker: Option<TaskId>,
        sync: bool,
    ) {
        let from = self.w.tasks[task.index()].cpu;
        self.trace.waking(self.w.now_ns, task, cpu, waker, from);
        let mut onto_idle = false;
        // Whose CPU queues the task: one of another cache does so itself (`ttwu_queue_wakelist`).
        let mut queues = cpu;
        let target = if self.core.class.requeue(&mut self.w, task) {
            from
        } else {
            let why = Select::Wake { cpu, sync, waker };
            let target = self.core.class.select_cpu(&mut self.w, task, why);
            let migrated = target != from;
            onto_idle = self.w.idle_cpu(target);
            if migrated {
                self.core.class.migrate(&mut self.w, task);
                self.place(task, target);
            }
            self.govern(cpu);
            if !self.w.topo.share_cache(cpu, target) {
                queues = target;
            }
            self.core.class.enqueue(&mut self.w, task, Enqueue::Wakeup { migrated });
            target
        };
        self.w.uclamp_inc(task);
        self.govern(queues);
        self.runnable_again(task);
        let waited_for_io = std::mem::take(&mut self.w.tasks[task.index()].in_iowait);
        self.w.cpus[from as usize].nr_iowait -= u32::from(waited_for_io);
        self.w.counters.wakeups_to_idle += u64::from(onto_idle);
        self.count_wakeup(task, cpu, target, onto_idle);
        self.announce(task, cpu);
    }

    /// A task was queued by something on `from`: wakes its CPU, or makes it choose again if the task preempts.
    pub(super) fn announce(&mut self, task: TaskId, from: Cpu) {
        let cpu = self.w.tasks[task.index()].cpu;
        let phase = self.w.cpus[cpu as usize].phase;
        match phase {
            Phase::Idle { .. } => self.leave_idle(cpu, from),
            Phase::Offline | Phase::Waking => {}
            Phase::Running if self.w.cpus[cpu as usize].curr.is_none() => self.resched(cpu, from),
            Phase::Running if self.core.class.preempts(&mut self.w, task) => {
                if cpu == from {
                    self.w.cpus[cpu as usize].need_resched = true;
                    self.w.cpus[cpu as usize].resched_ns = NEVER;
                } else {
                    self.resched(cpu, from);
                }
            }
            Phase::Running => {}
        }
    }

    /// Moves the running `task` to `target` through the stopper.
    pub(super) fn move_running(&mut self, cpu: Cpu, task: TaskId, target: Cpu) -> Step {
        if target == cpu {
            return Step::Again;
        }
        self.core.class.stopper_wakes(&self.w, cpu);
        self.core.class.dequeue(&mut self.w, task, Dequeue::Move);
        self.core.class.put_prev(&mut self.w, cpu, task);
        self.w.cpus[cpu as usize].curr = None;
        self.trace.stopped(self.w.now_ns, cpu, task);
        self.tell_runnable(cpu);
        self.w.charge_kernel(cpu, self.w.hw.kernel.switch);
        self.place(task, target);
        self.w.tasks[task.index()].queued_ns = self.w.now_ns;
        self.core.class.enqueue(&mut self.w, task, Enqueue::Moved);
        self.w.uclamp_inc(task);
        self.tell_runnable(target);
        self.announce(task, cpu);
        Step::Resched
    }
}
