//! The core around a scheduling class of ours: `kernel/sched/core.c` retold.
//!
//! `wake` says what happens to a task that wakes, is new or moves, `run` which task a CPU runs and what ticks and kicks
//! do, `hotplug` empties CPUs. The class decides; it is asked at the kernel's own moments (`crate::class`).

mod hotplug;
mod numa;
mod run;
mod wake;

use super::cpu::Step;
use super::{Core, Sim};
use crate::class::{Class, Dequeue, Faulted, Hint, Select};
use crate::counters::Counters;
use crate::events::NEVER;
use crate::idle::Ended;
use crate::setup::Prepared;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{NohzKick, Phase, TaskId, World};
use machine::CpuSet;
use workload::Policy;

/// A core around `class`, which is as it is at boot.
pub(crate) struct Modelled<C> {
    class: C,
    /// What its timer is set to.
    timer_ns: u64,
}

impl<C: Class> Modelled<C> {
    pub(crate) fn new(class: C) -> Modelled<C> {
        Modelled { class, timer_ns: NEVER }
    }
}

impl<C: Class> Core for Modelled<C> {
    const ENGINE_TICKS: bool = true;

    fn boot<T: Trace>(sim: &mut Sim<'_, Self, T>) {
        for &cpu in &sim.w.topo.online {
            sim.core.class.idle(&mut sim.w, cpu, true);
        }
        if sim.frequency.clocks.is_some() {
            sim.core.class.watch_util();
        }
    }

    fn created<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, parent: Option<TaskId>) {
        sim.core.class.fork(&mut sim.w, task, parent);
    }

    fn start<T: Trace>(sim: &mut Sim<'_, Self, T>, child: TaskId, cpu: Cpu, _: TaskId) -> Step {
        sim.wake_up_new_task(child, cpu);
        Step::Again
    }

    fn wake<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        task: TaskId,
        cpu: Cpu,
        waker: Option<TaskId>,
        sync: bool,
    ) {
        sim.try_to_wake_up(task, cpu, waker, sync);
    }

    fn sleep<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId) {
        sim.core.class.dequeue(&mut sim.w, task, Dequeue::Sleep);
    }

    fn sleep_until<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, at_ns: u64) {
        sim.start_timer(task, at_ns);
        Self::sleep(sim, task);
    }

    fn exit<T: Trace>(sim: &mut Sim<'_, Self, T>, _: Cpu, task: TaskId) {
        sim.core.class.dequeue(&mut sim.w, task, Dequeue::Exit);
        sim.core.class.dead(&mut sim.w, task);
    }

    fn exec<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu, task: TaskId) -> Step {
        let target = sim.core.class.select_cpu(&mut sim.w, task, Select::Exec);
        sim.next_op(task);
        sim.move_running(cpu, task, target)
    }

    fn yield_now<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu, task: TaskId) {
        sim.core.class.yield_task(&mut sim.w, cpu, task);
    }

    fn set_nice<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, nice: i8) {
        sim.core.class.reweight(&mut sim.w, task, nice);
    }

    fn set_slice<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, slice_ns: u64) {
        sim.core.class.set_slice(&mut sim.w, task, slice_ns);
    }

    fn set_policy<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        _: Cpu,
        task: TaskId,
        policy: Policy,
    ) -> Step {
        sim.core.class.set_policy(&mut sim.w, task, policy);
        sim.next_op(task);
        Step::Resched
    }

    fn cpuset<T: Trace>(sim: &Sim<'_, Self, T>, group: u32, affinity: CpuSet) -> CpuSet {
        match &sim.setup.model_groups {
            Ok(groups) => groups.allowed(group, &affinity),
            Err(_) => affinity,
        }
    }

    fn own_timer<T: Trace>(sim: &mut Sim<'_, Self, T>) {
        sim.core.timer_ns = NEVER;
        sim.core.class.timer(&mut sim.w);
    }

    fn hinting_faults<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        task: TaskId,
        hints: &[Hint],
    ) -> Faulted {
        sim.core.class.hinting_faults(&mut sim.w, task, hints)
    }

    fn count(&self, counters: &mut Counters) {
        self.class.count(counters);
    }

    fn set_affinity<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        cpu: Cpu,
        task: TaskId,
        allowed: &CpuSet,
    ) -> Step {
        let stays = allowed.contains(cpu as usize);
        let target = if stays { cpu } else { allowed.first().map_or(cpu, |c| c as Cpu) };
        sim.move_running(cpu, task, target)
    }

    fn schedule<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu) {
        sim.pick_and_switch(cpu);
    }

    fn left_idle<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu) {
        sim.w.cpus[cpu as usize].need_resched = true;
        sim.take_interrupt(cpu);
        let kick: Option<NohzKick> = sim.w.cpus[cpu as usize].kicked.take();
        if let Some(kick) = kick {
            sim.core.class.nohz_balance(&mut sim.w, cpu, kick);
        }
    }

    fn interrupted<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu) {
        match sim.w.cpus[cpu as usize].phase {
            Phase::Idle { .. } => sim.idle_again(cpu, Ended::PollLimit),
            Phase::Running => {
                sim.w.cpus[cpu as usize].need_resched = true;
                sim.take_interrupt(cpu);
            }
            Phase::Waking | Phase::Offline => {}
        }
    }

    fn timer<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu) {
        sim.w.cpus[cpu as usize].tick_ns = sim.w.now_ns + sim.w.tick_period_ns;
        sim.tick(cpu);
    }

    fn settle_requests<T: Trace>(sim: &mut Sim<'_, Self, T>) {
        sim.answer_requests();
        if sim.core.class.timer_ns() != sim.core.timer_ns {
            sim.core.timer_ns = sim.core.class.timer_ns();
            let slot = sim.timeline.slots.core();
            sim.timeline.events.set(slot, sim.core.timer_ns);
        }
    }

    fn set_clamps<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        task: TaskId,
        min: Option<u16>,
        max: Option<u16>,
    ) {
        if let Some(uclamp) = &mut sim.w.uclamp {
            uclamp.set(task, min, max);
        }
    }

    fn hotplug<T: Trace>(sim: &mut Sim<'_, Self, T>, step: &Prepared) {
        sim.adopt(step);
        match step.online {
            true => sim.cpu_up(step),
            false => sim.cpu_down(step),
        }
    }

    fn take_util_changes(&mut self, changed: &mut Vec<Cpu>) {
        self.class.take_util_changes(changed);
    }

    fn clamps(&self, w: &World, cpu: Cpu) -> Option<(u64, u64)> {
        w.uclamp.as_ref().map(|u| u.of(cpu))
    }

    fn util(&self, cpu: Cpu) -> u64 {
        self.class.util(cpu)
    }
}
