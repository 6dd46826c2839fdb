//! CPUs that the kernel itself takes offline and brings online, while the run goes on.
//!
//! A step begins with an interrupt that wakes the task that writes to sysfs. What follows is the kernel's: its hotplug threads,
//! the stopper, grace periods take their time on the CPUs. The engine hears of three moments: a CPU is switched on
//! (`irq::START`), a CPU's turn ends and it is off, and the write returns.

use super::Sourced;
use crate::SimError;
use crate::engine::Sim;
use crate::setup::Prepared;
use crate::source::{Source, irq};
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Note, Phase, TaskId};
use machine::CpuSet;

/// A step that lasts longer than this in the machine's time waits for something that does not come.
const LONGEST_NS: u64 = 10_000_000_000;

fn named(step: &Prepared) -> String {
    format!("CPU {} {}", step.cpu, if step.online { "online" } else { "offline" })
}

impl<'a, S: Source, T: Trace> Sim<'a, Sourced<'_, S>, T> {
    /// Somebody begins to write to the file of the step's CPU.
    pub(super) fn switch_cpu(&mut self, step: &Prepared) {
        // It has just been taken off the list.
        self.core.switching = Some(self.timeline.next_step - 1);
        self.core.source.switch_later(step.cpu.into(), step.online);
        let end_ns = self.w.now_ns + LONGEST_NS;
        self.timeline.events.set_ahead(self.timeline.slots.hotplug(), end_ns);
        if let Some(&cpu) = self.w.topo.online.first() {
            self.here = cpu;
            self.interrupt_here(cpu, irq::DEVICE);
            self.cpu_event(cpu);
        }
    }

    /// The step at hand has lasted for [`LONGEST_NS`].
    pub(super) fn lasts_for_ever(&mut self) {
        if let Some(step) = self.step_at_hand() {
            let reason =
                format!("{}: not done after {} s", named(step), LONGEST_NS / 1_000_000_000);
            self.core.failure = Some(SimError::Source { reason });
        }
    }

    pub(super) fn step_at_hand(&self) -> Option<&'a Prepared> {
        self.core.switching.map(|at| &self.setup.hotplug.steps[at])
    }

    /// The kernel has switched on `cpu`, which leaves its deepest idle state.
    pub(super) fn switched_on(&mut self, cpu: Cpu) {
        if let Some(step) = self.step_at_hand() {
            self.adopt(step);
            self.start_cpu(cpu);
        }
    }

    /// `cpu` executes nothing any more.
    pub(super) fn switched_off(&mut self, cpu: Cpu) {
        if self.w.cpus[cpu as usize].phase == Phase::Offline {
            return;
        }
        if let Some(step) = self.step_at_hand() {
            self.adopt(step);
            self.move_timers(cpu);
            self.move_interrupts(cpu);
            self.stop_cpu(cpu);
            self.core.irqs[cpu as usize] = 0;
        }
    }

    /// The write to the file of the step's CPU returns `answer`.
    pub(super) fn switched_cpu(&mut self, answer: i64) {
        if answer < 0
            && let Some(step) = self.step_at_hand()
        {
            let reason = format!("{}: the kernel answers {answer}", named(step));
            self.core.failure = Some(SimError::Source { reason });
        }
        self.core.switching = None;
        self.arm_hotplug();
    }

    /// The kernel has found no CPU online that `task` may use (`select_fallback_rq`).
    pub(super) fn affinity_broken(&mut self, task: TaskId, to: Cpu) {
        self.inspect_broken_affinity(task, to);
        let t = &mut self.w.tasks[task.index()];
        t.affinity = CpuSet::first_n(self.w.topo.nr_cpus);
        t.allowed = self.w.topo.online_set.clone();
        self.w.counters.affinities_broken += 1;
        self.w.notes.push(Note::Allowed(task));
        self.report_notes();
    }
}
