//! CPUs that go offline and come online while the run lasts (`cpu_down`, `cpu_up`).
//!
//! A step takes no time: what the kernel spends on it (`stop_machine`, RCU, the notifiers' work) is left out.

use super::Sim;
use crate::class::{Class, Dequeue, Enqueue};
use crate::setup::Prepared;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{CpuState, Note, Phase, State};
use machine::CpuSet;

impl<C: Class, T: Trace> Sim<'_, C, T> {
    /// Sets the event of the next step, if there is one.
    pub(super) fn arm_hotplug(&mut self) {
        if let Some(step) = self.setup.hotplug.steps.get(self.timeline.next_step) {
            self.timeline.events.set_ahead(self.timeline.slots.hotplug(), step.at_ns);
        }
    }

    /// Takes the steps that are due.
    pub(super) fn hotplug_event(&mut self) {
        let steps = &self.setup.hotplug.steps;
        while let Some(step) =
            steps.get(self.timeline.next_step).filter(|s| s.at_ns <= self.w.now_ns)
        {
            self.timeline.next_step += 1;
            self.w.counters.hotplug_steps += 1;
            self.w.topo = self.setup.hotplug.topology(step);
            // Who writes to sysfs is not modelled; it may as well be the boot CPU.
            self.here = self.w.topo.online.first().copied().unwrap_or(self.here);
            self.restrict_affinities();
            if step.online {
                self.cpu_up(step);
            } else {
                self.cpu_down(step);
            }
            self.answer_requests();
        }
        self.arm_hotplug();
    }

    /// CPUs that a task gets when it asks for `set`, online or not.
    pub(super) fn affinity_of(&self, set: &CpuSet) -> CpuSet {
        match self.setup.rules.affinity_keeps_offline {
            true => set.clone(),
            false => set & &self.w.topo.online_set,
        }
    }

    /// Brings what tasks may use into line with the online CPUs.
    fn restrict_affinities(&mut self) {
        let online = &self.w.topo.online_set;
        for (at, t) in self.w.tasks.iter_mut().enumerate() {
            let allowed = &t.affinity & online;
            if t.state != State::Dead && t.allowed != allowed {
                t.allowed = allowed;
                self.w.notes.push(Note::Allowed(crate::world::TaskId(at as u32)));
            }
        }
        self.report_notes();
    }

    fn cpu_down(&mut self, step: &Prepared) {
        let at_once = self.setup.rules.rebuilds_at_once;
        self.settle(step.cpu);
        if at_once {
            self.class.rebuild_domains(&mut self.w, step.cpu, false);
        }
        self.move_timers(step.cpu);
        self.move_interrupts(step.cpu);
        self.migrate_tasks(step.cpu);
        self.stop_cpu(step.cpu);
        if !at_once {
            self.class.rebuild_domains(&mut self.w, step.cpu, false);
        }
    }

    /// `hrtimers_cpu_dying`, `timers_dead_cpu`: pending timers go to the first CPU.
    fn move_timers(&mut self, cpu: Cpu) {
        let to = self.here;
        let timers = std::mem::take(&mut self.timeline.sleepers[cpu as usize]);
        // Devices' interrupts go there as well.
        self.w.tasks.iter_mut().filter(|t| t.timer_cpu == cpu).for_each(|t| t.timer_cpu = to);
        self.timeline.sleepers[to as usize].extend(timers);
    }

    /// `irq_migrate_all_off_this_cpu`: to another CPU of the interrupt's affinity, else to any. It stays there.
    fn move_interrupts(&mut self, cpu: Cpu) {
        let online = &self.w.topo.online_set;
        for user in self.users.list.iter_mut().filter(|u| u.irq_cpu == cpu) {
            let irq_cpus = &self.setup.workload.clients[user.group as usize].irq_cpus;
            let first = irq_cpus.iter_and(online).next().or(online.first());
            user.irq_cpu = first.map_or(cpu, |c| c as Cpu);
        }
    }

    /// `migrate_tasks`, from 5.11 on `balance_push`: what is queued leaves in the order in which it would run. Delayed
    /// tasks that come up go to sleep.
    fn migrate_tasks(&mut self, cpu: Cpu) {
        if let Some(task) = self.w.cpus[cpu as usize].curr.take() {
            self.class.put_prev(&mut self.w, cpu, task);
            self.trace.stopped(self.w.now_ns, cpu, task);
            self.w.tasks[task.index()].queued_ns = self.w.now_ns;
        }
        while let Some(task) = self.class.pick_next(&mut self.w, cpu) {
            self.class.dequeue(&mut self.w, task, Dequeue::Move);
            self.class.put_prev(&mut self.w, cpu, task);
            let target = self.w.select_fallback_rq(task);
            self.report_notes();
            self.place(task, target);
            self.class.enqueue(&mut self.w, task, Enqueue::Moved);
            self.w.uclamp_inc(task);
            self.tell_runnable(target);
            self.announce(task, cpu);
            self.w.counters.hotplug_moved += 1;
        }
    }

    /// The CPU has nothing to do any more and leaves its pipeline to its siblings.
    fn stop_cpu(&mut self, cpu: Cpu) {
        if self.memory.paced {
            self.leave_pace(cpu);
        }
        let now_ns = self.w.now_ns;
        match self.w.cpus[cpu as usize].phase {
            Phase::Idle { since_ns, .. } => self.w.counters.idle_ns += now_ns - since_ns,
            Phase::Waking | Phase::Running => self.set_busy(cpu, false),
            Phase::Offline => {}
        }
        self.w.cpus[cpu as usize] =
            CpuState { phase: Phase::Offline, settled_ns: now_ns, ..CpuState::new() };
        self.trace.offline(now_ns, cpu);
        self.arm(cpu);
    }

    /// The CPU comes out of its deepest idle state, runs its hotplug thread and chooses.
    fn cpu_up(&mut self, step: &Prepared) {
        let (cpu, since_ns) = (step.cpu, self.w.now_ns);
        let state = self.setup.idle_states.len() - 1;
        self.w.cpus[cpu as usize] = CpuState {
            phase: Phase::Idle { since_ns, state },
            settled_ns: since_ns,
            ..CpuState::new()
        };
        self.trace.idle(since_ns, cpu, Some(state));
        self.class.rebuild_domains(&mut self.w, cpu, true);
        self.leave_idle(cpu, cpu);
    }
}
