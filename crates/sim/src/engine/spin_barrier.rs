//! Barriers at which tasks look for the others before they sleep, as libgomp's do (`gomp_barrier_wait`, `do_wait`).
//!
//! Who comes takes the barrier's line and counts itself. Who is not the last looks at the line for so many cycles of its own, whether it
//! keeps its CPU meanwhile or not, then enters the kernel, looks once more, and sleeps. The last one begins a new round of the barrier,
//! which those see who look: at once where they run, and when they next run where they do not. It always asks the kernel to wake sleepers,
//! as it does not know whether there are any.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Doing, Phase, TaskId};
use workload::BarrierId;

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// Whether round `generation` of a barrier is over.
    pub(super) fn barrier_passed(&self, id: BarrierId, generation: u32) -> bool {
        self.shared.barriers[id.index()].is_past(generation)
    }

    /// Takes `task` past the barrier at which it was.
    pub(super) fn pass_barrier(&mut self, task: TaskId) -> Step {
        self.w.tasks[task.index()].arrived = None;
        self.next_op(task)
    }

    /// The running `task` comes to a barrier; or it has looked for long enough and is in the kernel; or it was woken.
    pub(super) fn spin_barrier(
        &mut self,
        cpu: Cpu,
        task: TaskId,
        id: BarrierId,
        spin_cycles: f64,
    ) -> Step {
        if let Some(generation) = self.w.tasks[task.index()].arrived {
            return match self.barrier_passed(id, generation) {
                true => self.pass_barrier(task),
                false => self.sleep_at_barrier(cpu, task, id),
            };
        }
        let barrier = &mut self.shared.barriers[id.index()];
        let line_at = barrier.line_at.replace(cpu).filter(|&from| from != cpu);
        barrier.come += 1;
        let (come, generation) = (barrier.come, barrier.generation);
        if let Some(from) = line_at {
            self.w.charge_lines(cpu, from, 1.0);
        }
        if come < self.setup.workload.barriers[id.index()] {
            let t = &mut self.w.tasks[task.index()];
            t.arrived = Some(generation);
            t.doing = Doing::AtBarrier { barrier: id, generation, left: spin_cycles };
            return Step::Again;
        }
        let barrier = &mut self.shared.barriers[id.index()];
        barrier.come = 0;
        barrier.generation = generation.wrapping_add(1);
        self.w.charge_kernel(cpu, self.w.hw.kernel.syscall);
        self.end_looking(cpu, id);
        self.wake_parties(cpu, task, id);
        self.next_op(task)
    }

    /// Those who look at a barrier see that all have come, once they have its line from the CPU `from`.
    fn end_looking(&mut self, from: Cpu, id: BarrierId) {
        for &cpu in &self.w.topo.online {
            let c = &self.w.cpus[cpu as usize];
            let Some(task) = c.curr.filter(|_| c.phase == Phase::Running) else { continue };
            let doing = self.w.tasks[task.index()].doing;
            if matches!(doing, Doing::AtBarrier { barrier, .. } if barrier == id) {
                self.settle(cpu);
                self.w.charge_lines(cpu, from, 1.0);
                self.aim(cpu);
                self.arm(cpu);
            }
        }
    }
}
