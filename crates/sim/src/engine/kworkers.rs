//! Workers of the kernel that sample for governors: one a CPU, bound to it, as those of `system_wq` are.
//!
//! A governor that samples finds that a sample is due in the middle of the scheduler, where it can take none. So it sends its
//! own CPU an interrupt (`irq_work_queue`), which wakes the CPU's worker (`schedule_work_on`), and the sample is taken when
//! the scheduler lets the worker run: before the task whose wake-up began it, or once that has gone to sleep. What the worker
//! costs is the interrupt, its wake-up and two switches between threads. Time in the governor and the driver is not counted.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Doing, KERNEL_MM, Phase, State, Task, TaskId};
use machine::CpuSet;
use workload::ProgramId;

/// The workers of a run; none where no governor has work for them.
#[derive(Debug, Default)]
pub(super) struct Kworkers {
    /// That of CPU 0; the others follow by number.
    first: Option<TaskId>,
    /// By CPU: whether its worker has work.
    has_work: Vec<bool>,
    /// CPUs that have sent themselves an interrupt.
    raised: Vec<Cpu>,
}

impl Kworkers {
    /// `irq_work_queue` on `here`.
    pub(super) fn queue_work(&mut self, here: Cpu) {
        self.raised.push(here);
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// Starts the workers, which run `program`.
    pub(super) fn start_kworkers(&mut self, program: ProgramId) {
        let nr_cpus = self.w.topo.nr_cpus;
        for cpu in 0..nr_cpus {
            let affinity = CpuSet::single(cpu);
            let allowed = &affinity & &self.w.topo.online_set;
            let task = self.add_task(Task {
                daemon: true,
                doing: Doing::KernelWork,
                mm: KERNEL_MM,
                affinity,
                ..Task::new(program, cpu as Cpu, allowed)
            });
            self.kworkers.first.get_or_insert(task);
        }
        self.kworkers.has_work = vec![false; nr_cpus];
    }

    /// The interrupts that governors asked for.
    pub(super) fn wake_kworkers(&mut self) {
        while let Some(cpu) = self.kworkers.raised.pop() {
            let Some(first) = self.kworkers.first else { return };
            self.here = cpu;
            if self.w.cpus[cpu as usize].phase == Phase::Running {
                self.settle(cpu);
                self.w.charge_kernel(cpu, self.w.hw.kernel.syscall);
            }
            self.kworkers.has_work[cpu as usize] = true;
            self.wake(TaskId(first.0 + u32::from(cpu)), cpu, None, false);
            self.cpu_event(cpu);
            K::settle_requests(self);
            self.govern(cpu);
        }
    }

    /// A worker runs on `cpu`: it does its work, or sleeps.
    pub(super) fn kernel_work(&mut self, cpu: Cpu, worker: TaskId) -> Step {
        let home = worker.0 - self.kworkers.first.map_or(0, |first| first.0);
        if !std::mem::take(&mut self.kworkers.has_work[home as usize]) {
            return self.block(worker, State::Sleeping);
        }
        self.governor_work(home as Cpu, cpu);
        Step::Again
    }
}
