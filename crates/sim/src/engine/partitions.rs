//! What a hypervisor asks of the engine: who runs now, threads that leave their partition or are kicked, and time.
//!
//! The thread of a vcore busy-waits while it is in its partition; what happens there is the hypervisor's. It never runs the
//! engine past the next event that either of the two has, and it changes the host only through what stands here.

use super::Sim;
use super::core::Core;
use crate::SimError;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Doing, Phase};
use workload::{FlagId, ProgramId, QueueId};

/// What a CPU does from now to its next event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Runs {
    /// Nothing.
    Nothing,
    /// The host: a task of its own, or the kernel for one.
    Host,
    /// The host for so many ns, then the partition of a thread that runs this program.
    Partition {
        /// The thread's program.
        program: ProgramId,
        /// Kernel work before it is in the partition again.
        host_ns: f64,
    },
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// When the next event is due.
    pub(crate) fn next_event_ns(&mut self) -> u64 {
        self.timeline.events.next_ns()
    }

    /// Handles all that is due at `now_ns`, before which nothing may be due.
    pub(crate) fn run_until(&mut self, now_ns: u64) -> Result<(), SimError> {
        while self.timeline.events.next_ns() <= now_ns {
            if let Some((at_ns, slot)) = self.timeline.events.pop() {
                self.event(at_ns, slot)?;
            }
        }
        self.w.advance(now_ns);
        for &cpu in &self.w.topo.online {
            self.settle(cpu);
        }
        Ok(())
    }

    /// What `cpu` does.
    pub(crate) fn runs(&self, cpu: Cpu) -> Runs {
        let c = &self.w.cpus[cpu as usize];
        match (c.phase, c.curr) {
            (Phase::Running, Some(task)) => {
                let t = &self.w.tasks[task.index()];
                match t.doing {
                    Doing::Spin(_) => {
                        Runs::Partition { program: t.program, host_ns: c.debt / c.rate }
                    }
                    Doing::Nothing
                    | Doing::KernelWork
                    | Doing::Loaded
                    | Doing::Cycles(_)
                    | Doing::AtBarrier { .. }
                    | Doing::Until(_)
                    | Doing::Units { .. } => Runs::Host,
                }
            }
            (Phase::Running | Phase::Waking, _) => Runs::Host,
            (Phase::Idle { .. } | Phase::Offline, _) => Runs::Nothing,
        }
    }

    /// The thread that watches `flag` leaves its partition.
    pub(crate) fn leave_partition(&mut self, flag: FlagId) {
        self.shared.flags[flag.index()] = true;
        self.wake_watchers(flag);
    }

    /// An interrupt on `cpu` kicks the thread that sleeps on `kicks`.
    pub(crate) fn kick(&mut self, cpu: Cpu, kicks: QueueId) {
        self.here = cpu;
        if self.w.cpus[cpu as usize].phase == Phase::Running {
            self.settle(cpu);
        }
        self.arrive(cpu, kicks, None, 0);
        self.cpu_event(cpu);
        K::settle_requests(self);
    }

    /// The host works for so many cycles on `cpu` before its task goes on.
    pub(crate) fn host_works(&mut self, cpu: Cpu, cycles: f64) {
        if self.w.cpus[cpu as usize].phase == Phase::Running {
            self.w.charge(cpu, cycles);
        }
    }
}
