//! CPUs that go offline lose their tasks, those that come online get new domains.

use super::Modelled;
use crate::class::{Class, Dequeue, Enqueue};
use crate::engine::Sim;
use crate::setup::Prepared;
use crate::topology::Cpu;
use crate::trace::Trace;

impl<C: Class, T: Trace> Sim<'_, Modelled<C>, T> {
    pub(super) fn cpu_down(&mut self, step: &Prepared) {
        let at_once = self.setup.rules.rebuilds_at_once;
        self.settle(step.cpu);
        if at_once {
            self.core.class.rebuild_domains(&mut self.w, step.cpu, false);
        }
        self.move_timers(step.cpu);
        self.move_interrupts(step.cpu);
        self.migrate_tasks(step.cpu);
        self.stop_cpu(step.cpu);
        if !at_once {
            self.core.class.rebuild_domains(&mut self.w, step.cpu, false);
        }
    }

    /// `migrate_tasks`, from 5.11 on `balance_push`: what is queued leaves in the order in which it would run. Delayed
    /// tasks that come up go to sleep.
    fn migrate_tasks(&mut self, cpu: Cpu) {
        self.take_off(cpu);
        while let Some(task) = self.core.class.pick_next(&mut self.w, cpu) {
            self.core.class.dequeue(&mut self.w, task, Dequeue::Move);
            self.core.class.put_prev(&mut self.w, cpu, task);
            let target = self.w.select_fallback_rq(task);
            self.report_notes();
            self.place(task, target);
            self.core.class.enqueue(&mut self.w, task, Enqueue::Moved);
            self.w.uclamp_inc(task);
            self.tell_runnable(target);
            self.announce(task, cpu);
            self.w.counters.hotplug_moved += 1;
        }
    }

    /// The CPU comes out of its deepest idle state, runs its hotplug thread and chooses.
    pub(super) fn cpu_up(&mut self, step: &Prepared) {
        self.start_cpu(step.cpu);
        self.core.class.rebuild_domains(&mut self.w, step.cpu, true);
        self.leave_idle(step.cpu, step.cpu);
    }
}
