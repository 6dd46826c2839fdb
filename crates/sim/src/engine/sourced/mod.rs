//! The core that is a kernel tree's own code ([`crate::source`]).
//!
//! Tasks have two halves: their programs are the engine's, their life in the scheduler is the kernel's. What a step asks of
//! the kernel is a call in a turn of its CPU; a call that may put the task to sleep or move it waits until the step is over
//! and the CPU schedules. The kernel tells what it did by events (`hear`), and after a turn the engine's CPU is brought into
//! line with the kernel's (`turns`). Timers of sleeping tasks, ticks and balancing are all the kernel's: the engine knows
//! when the timer of a CPU is due, and nothing else.
//!
//! The hardware is the engine's. Interrupts take their time, idle states have to be left, and what the kernel did is
//! charged as the model's work is: wake-ups, switches, ticks, CPUs looked at.

mod hear;
mod hotplug;
mod turns;

use super::cpu::Step;
use super::{Core, Sim};
use crate::SimError;
use crate::counters::Counters;
use crate::events::NEVER;
use crate::setup::Prepared;
use crate::source::{Call, Event, Source, irq};
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Phase, TaskId};
use machine::CpuSet;

/// A task's other half.
#[derive(Debug, Clone, Copy)]
struct Half {
    pid: i64,
    /// Where its last wake-up happened, and whether a task woke it.
    waking_on: Cpu,
    by_task: bool,
    /// Whether it is being woken: a move then is a placement.
    waking: bool,
}

/// A core around a kernel.
pub(crate) struct Sourced<S> {
    source: S,
    /// The kernel's time at the run's start.
    base_ns: u64,
    halves: Vec<Half>,
    /// By pid.
    tasks: Vec<Option<TaskId>>,
    /// By CPU: interrupts on their way, and the call that ends the next turn.
    irqs: Vec<u32>,
    last_calls: Vec<Option<Call>>,
    heard: Vec<Event>,
    /// CPUs whose utilisation was updated since a governor last asked.
    util_changes: Vec<Cpu>,
    failure: Option<SimError>,
}

impl<S: Source> Sourced<S> {
    /// A core around `source` for a machine of `cpus`, whose ticks come at `tick_phase_ns` of the run.
    pub(crate) fn new(mut source: S, cpus: usize, tick_phase_ns: u64, seed: u64) -> Sourced<S> {
        source.seed(seed);
        let tick_ns = source.tick_ns();
        let next_tick_ns = source.booted_ns().next_multiple_of(tick_ns) + 2 * tick_ns;
        Sourced {
            base_ns: next_tick_ns - tick_phase_ns % tick_ns,
            source,
            halves: Vec::with_capacity(64),
            tasks: Vec::new(),
            irqs: vec![0; cpus],
            last_calls: vec![None; cpus],
            heard: Vec::with_capacity(64),
            util_changes: Vec::new(),
            failure: None,
        }
    }

    fn pid(&self, task: TaskId) -> i64 {
        self.halves[task.index()].pid
    }

    /// The task of the workload with this pid; kernel threads and the idle task are none.
    fn task(&self, pid: i64) -> Option<TaskId> {
        self.tasks.get(pid as usize).copied().flatten()
    }

    fn know(&mut self, task: TaskId, pid: i64) {
        let at = pid as usize;
        if self.tasks.len() <= at {
            self.tasks.resize(at + 1, None);
        }
        self.tasks[at] = Some(task);
        let half = Half { pid, waking_on: 0, by_task: false, waking: false };
        debug_assert_eq!(self.halves.len(), task.index());
        self.halves.push(half);
    }
}

impl<S: Source> Core for Sourced<S> {
    const ENGINE_TICKS: bool = false;

    fn boot<T: Trace>(sim: &mut Sim<'_, Self, T>) {
        sim.core.source.take_events(&mut sim.core.heard);
        sim.core.heard.clear();
        if sim.frequency.clocks.is_some() {
            sim.core.source.watch_util();
        }
        for &cpu in &sim.w.topo.online {
            let at_ns = sim.core.source.timer_ns(cpu.into());
            sim.w.cpus[cpu as usize].tick_ns =
                at_ns.map_or(NEVER, |at| at.saturating_sub(sim.core.base_ns));
            sim.arm(cpu);
        }
    }

    fn created<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, parent: Option<TaskId>) {
        if parent.is_some() {
            return;
        }
        let t = &sim.w.tasks[task.index()];
        let name = &sim.setup.workload.programs[t.program.index()].name;
        let pid = sim.core.source.spawn(name, t.cpu.into(), t.nice, &t.affinity);
        sim.core.know(task, pid);
    }

    fn start<T: Trace>(sim: &mut Sim<'_, Self, T>, child: TaskId, cpu: Cpu) {
        sim.fork_in_kernel(child, cpu);
    }

    fn wake<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        task: TaskId,
        cpu: Cpu,
        waker: Option<TaskId>,
        sync: bool,
    ) {
        let pid = sim.core.pid(task);
        let waits_for_io = std::mem::take(&mut sim.w.tasks[task.index()].in_iowait);
        let slept_on = sim.w.tasks[task.index()].cpu;
        sim.w.cpus[slept_on as usize].nr_iowait -= u32::from(waits_for_io);
        sim.runnable_again(task);
        match waker {
            Some(_) => {
                sim.call(cpu, &Call::Wake { pid, sync });
            }
            None => {
                sim.core.source.wake_later(cpu.into(), pid);
                sim.interrupt_here(cpu, irq::WAKE);
            }
        }
    }

    fn sleep<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId) {
        let t = &sim.w.tasks[task.index()];
        sim.core.last_calls[t.cpu as usize] = Some(Call::Sleep { for_io: t.in_iowait });
    }

    fn sleep_until<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, at_ns: u64) {
        let cpu = sim.w.tasks[task.index()].cpu;
        let at_ns = at_ns.saturating_add(sim.core.base_ns);
        sim.core.last_calls[cpu as usize] = Some(Call::SleepUntil(at_ns));
    }

    fn exit<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu, _: TaskId) {
        sim.core.last_calls[cpu as usize] = Some(Call::Exit);
    }

    fn exec<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu, task: TaskId) -> Step {
        sim.next_op(task);
        sim.core.last_calls[cpu as usize] = Some(Call::Exec);
        Step::Resched
    }

    fn yield_now<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu, _: TaskId) {
        sim.core.last_calls[cpu as usize] = Some(Call::Yield);
    }

    fn set_nice<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, nice: i8) {
        sim.call(sim.w.tasks[task.index()].cpu, &Call::SetNice(nice));
    }

    fn set_slice<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, slice_ns: u64) {
        sim.call(sim.w.tasks[task.index()].cpu, &Call::SetSlice(slice_ns));
    }

    fn set_affinity<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        cpu: Cpu,
        _: TaskId,
        allowed: &CpuSet,
    ) -> Step {
        sim.core.last_calls[cpu as usize] = Some(Call::SetAffinity(allowed.clone()));
        Step::Resched
    }

    fn schedule<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu) {
        let call = sim.core.last_calls[cpu as usize].take();
        sim.turn(cpu, call.as_ref());
    }

    fn left_idle<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu) {
        sim.w.cpus[cpu as usize].resched_ns = NEVER;
        sim.take_interrupt(cpu);
        sim.turn(cpu, None);
    }

    fn interrupted<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu) {
        match sim.w.cpus[cpu as usize].phase {
            // It has polled long enough, and its governor chooses again.
            Phase::Idle { .. } => sim.leave_idle(cpu, cpu),
            Phase::Running => {
                sim.take_interrupt(cpu);
                sim.turn(cpu, None);
            }
            Phase::Waking | Phase::Offline => {}
        }
    }

    fn timer<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu) {
        sim.w.cpus[cpu as usize].tick_ns = NEVER;
        if sim.frequency.governors.is_some() {
            sim.scale_freq_tick(cpu);
        }
        sim.interrupt_here(cpu, irq::TIMER);
    }

    fn settle_requests<T: Trace>(_: &mut Sim<'_, Self, T>) {}

    fn hotplug<T: Trace>(sim: &mut Sim<'_, Self, T>, step: &Prepared) {
        sim.switch_cpu(step);
    }

    fn take_util_changes(&mut self, changed: &mut Vec<Cpu>) {
        changed.clear();
        std::mem::swap(&mut self.util_changes, changed);
    }

    fn util(&self, cpu: Cpu) -> u64 {
        self.source.util(cpu.into())
    }

    fn invariant(&mut self, cpu: Cpu, scale: u64) {
        self.source.set_frequency(cpu.into(), scale);
    }

    fn count(&self, counters: &mut Counters) {
        self.source.count(counters);
    }

    fn failure(&mut self) -> Option<SimError> {
        self.failure.take()
    }
}

impl<S: Source, T: Trace> Sim<'_, Sourced<S>, T> {
    /// An interrupt on `cpu` itself: taken at once where it runs, else when it has left its idle state.
    fn interrupt_here(&mut self, cpu: Cpu, irqs: u32) {
        self.core.irqs[cpu as usize] |= irqs;
        match self.w.cpus[cpu as usize].phase {
            Phase::Idle { .. } => self.leave_idle(cpu, cpu),
            Phase::Running => {
                self.settle(cpu);
                self.turn(cpu, None);
            }
            Phase::Waking | Phase::Offline => {}
        }
    }
}
