//! CPUs that the kernel itself takes offline and brings online.

use super::Sourced;
use crate::SimError;
use crate::engine::Sim;
use crate::events::NEVER;
use crate::setup::Prepared;
use crate::source::Source;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::Phase;

impl<S: Source, T: Trace> Sim<'_, Sourced<S>, T> {
    /// `cpu_down` or `cpu_up`, in no time of the run: the kernel's clock goes on meanwhile, and the run's catches up with it.
    pub(super) fn switch_cpu(&mut self, step: &Prepared) {
        let topo = self.w.topo;
        for cpu in 0..topo.nr_cpus as Cpu {
            self.settle(cpu);
        }
        if step.online {
            self.start_cpu(step.cpu);
        }
        match self.core.source.set_online(step.cpu.into(), step.online) {
            Ok(now_ns) => {
                self.core.base_ns = self.core.base_ns.max(now_ns.saturating_sub(self.w.now_ns));
            }
            Err(number) => {
                let to = if step.online { "online" } else { "offline" };
                let reason = format!("CPU {} {to}: the kernel answers {number}", step.cpu);
                self.core.failure = Some(SimError::Source { reason });
                return;
            }
        }
        self.hear();
        for cpu in 0..topo.nr_cpus as Cpu {
            let at_ns = self.core.source.timer_ns(cpu.into());
            let at_ns = at_ns.map_or(NEVER, |at| at.saturating_sub(self.core.base_ns));
            self.w.cpus[cpu as usize].tick_ns = at_ns.max(self.w.now_ns);
        }
        if !step.online {
            self.move_timers(step.cpu);
            self.move_interrupts(step.cpu);
            self.stop_cpu(step.cpu);
            self.core.irqs[step.cpu as usize] = 0;
        }
        for &cpu in &topo.online {
            let (waits, pid) = self.core.source.state(cpu.into());
            if let Phase::Idle { .. } = self.w.cpus[cpu as usize].phase
                && self.w.cpus[cpu as usize].curr.is_some()
            {
                self.leave_idle(cpu, cpu);
                continue;
            }
            self.after_interruption(cpu, waits, pid);
        }
    }
}
