//! CPUs that go offline and come online while the run lasts (`cpu_down`, `cpu_up`).
//!
//! The model's steps take no time: what the kernel spends on one (`stop_machine`, RCU, the notifiers' work) is left out. Under
//! a tree's code a step lasts as long as the kernel takes, and the next one waits for it.

use super::Sim;
use super::core::Core;
use crate::queue_lines::QueueLines;
use crate::setup::Prepared;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{CpuState, Note, Phase, State};
use machine::CpuSet;

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// Sets the event of the next step, if there is one.
    pub(super) fn arm_hotplug(&mut self) {
        if let Some(step) = self.setup.hotplug.steps.get(self.timeline.next_step) {
            let at_ns = step.at_ns.max(self.w.now_ns);
            self.timeline.events.set_ahead(self.timeline.slots.hotplug(), at_ns);
        }
    }

    /// Takes the steps that are due.
    pub(super) fn hotplug_event(&mut self) {
        if self.core.switching() {
            K::overdue(self);
            return;
        }
        let steps = &self.setup.hotplug.steps;
        while let Some(step) =
            steps.get(self.timeline.next_step).filter(|s| s.at_ns <= self.w.now_ns)
        {
            self.timeline.next_step += 1;
            K::hotplug(self, step);
            K::settle_requests(self);
            if self.core.switching() {
                return;
            }
        }
        self.arm_hotplug();
    }

    /// CPUs are online as `step` leaves them.
    pub(super) fn adopt(&mut self, step: &Prepared) {
        self.w.counters.hotplug_steps += 1;
        self.w.topo = self.setup.hotplug.topology(step);
        self.w.queue_lines = QueueLines::new(self.w.topo);
        // Who writes to sysfs is not modelled; it may as well be the boot CPU.
        self.here = self.w.topo.online.first().copied().unwrap_or(self.here);
        self.restrict_affinities();
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

    /// `hrtimers_cpu_dying`, `timers_dead_cpu`: pending timers go to the first CPU.
    pub(super) fn move_timers(&mut self, cpu: Cpu) {
        let to = self.here;
        let timers = std::mem::take(&mut self.timeline.sleepers[cpu as usize]);
        // Devices' interrupts go there as well.
        self.w.tasks.iter_mut().filter(|t| t.timer_cpu == cpu).for_each(|t| t.timer_cpu = to);
        self.timeline.sleepers[to as usize].extend(timers);
    }

    /// `irq_migrate_all_off_this_cpu`: to another CPU of the interrupt's affinity, else to any. It stays there.
    pub(super) fn move_interrupts(&mut self, cpu: Cpu) {
        let online = &self.w.topo.online_set;
        for user in self.users.list.iter_mut().filter(|u| u.irq_cpu == cpu) {
            let irq_cpus = &self.setup.workload.clients[user.group as usize].irq_cpus;
            let first = irq_cpus.iter_and(online).next().or(online.first());
            user.irq_cpu = first.map_or(cpu, |c| c as Cpu);
        }
    }

    /// The CPU has nothing to do any more and leaves its pipeline to its siblings.
    pub(super) fn stop_cpu(&mut self, cpu: Cpu) {
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

    /// The CPU is there, in its deepest idle state.
    pub(super) fn start_cpu(&mut self, cpu: Cpu) {
        let since_ns = self.w.now_ns;
        let state = self.setup.idle_exits.len() - 1;
        self.w.cpus[cpu as usize] = CpuState {
            phase: Phase::Idle { since_ns, state },
            settled_ns: since_ns,
            ..CpuState::new()
        };
        self.trace.idle(since_ns, cpu, Some(state));
    }
}
