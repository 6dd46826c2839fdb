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

mod groups;
mod hear;
mod hotplug;
mod inspected;
mod turns;

use super::cpu::Step;
use super::{Core, Sim};
use crate::SimError;
use crate::counters::Counters;
use crate::events::NEVER;
use crate::inspect::{Inspector, Margins};
use crate::judge::{Agreement, Judge};
use crate::setup::Prepared;
use crate::source::{Call, Decision, Event, Source, irq};
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Phase, TaskId, World};
use machine::CpuSet;
use workload::Policy;

/// A task's other half.
#[derive(Debug, Clone, Copy, Default)]
struct Half {
    pid: i64,
    /// Where its last wake-up happened, and whether a task woke it.
    waking_on: Cpu,
    by_task: bool,
    /// Whether it is being woken: a move then is a placement.
    waking: bool,
    /// Its control group, by its place from 1 on; 0 for the root.
    group: u32,
    /// The policy that it asked for last, itself or a parent.
    policy: Policy,
    /// The child that it is about to fork.
    forks: Option<TaskId>,
}

/// A core around a kernel.
pub(crate) struct Sourced<'a, S> {
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
    /// The step of hotplug that lasts.
    switching: Option<usize>,
    failure: Option<SimError>,
    /// Who is told of decisions.
    judge: Option<Judge<'a>>,
    decisions: Vec<Decision>,
    /// Who checks what a scheduler has to keep.
    inspector: Option<Box<Inspector>>,
}

impl<'a, S: Source> Sourced<'a, S> {
    /// A core around `source` for a machine of `cpus`, whose ticks come at `tick_phase_ns` of the run.
    pub(crate) fn new(mut source: S, cpus: usize, tick_phase_ns: u64, seed: u64) -> Sourced<'a, S> {
        source.seed(seed);
        let tick_ns = source.tick_ns();
        let next_tick_ns = source.booted_ns().next_multiple_of(tick_ns) + 2 * tick_ns;
        let base_ns = next_tick_ns - tick_phase_ns % tick_ns;
        source.begins(base_ns);
        Sourced {
            base_ns,
            source,
            halves: Vec::with_capacity(64),
            tasks: Vec::new(),
            irqs: vec![0; cpus],
            last_calls: vec![None; cpus],
            heard: Vec::with_capacity(64),
            util_changes: Vec::new(),
            switching: None,
            failure: None,
            judge: None,
            decisions: Vec::new(),
            inspector: None,
        }
    }

    /// Lets `inspector` look at all that happens.
    pub(crate) fn inspected_by(self, inspector: Inspector) -> Sourced<'a, S> {
        Sourced { inspector: Some(Box::new(inspector)), ..self }
    }

    /// How near the run came to each bound.
    pub(crate) fn margins(self) -> Option<Margins> {
        self.inspector.map(|inspector| inspector.margins())
    }

    /// Lets `judge` hear of each decision.
    ///
    /// # Errors
    /// What keeps the kernel from telling them.
    pub(crate) fn judged_by(mut self, judge: Judge<'a>) -> Result<Sourced<'a, S>, String> {
        self.source.watch_decisions()?;
        self.judge = Some(judge);
        Ok(self)
    }

    /// What the judge has found.
    pub(crate) fn agreement(self) -> Option<Agreement> {
        self.judge.map(Judge::finish)
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
        self.halves[task.index()].pid = pid;
    }
}

impl<S: Source> Core for Sourced<'_, S> {
    const ENGINE_TICKS: bool = false;

    fn boot<T: Trace>(sim: &mut Sim<'_, Self, T>) {
        sim.core.source.take_events(&mut sim.core.heard);
        sim.core.heard.clear();
        if let Some(clocks) = &mut sim.frequency.clocks {
            match sim.core.source.governs() {
                true => {
                    for &cpu in &sim.w.topo.online {
                        clocks.start_at(cpu, sim.core.source.requested_khz(cpu.into()));
                    }
                }
                false => sim.core.source.watch_util(),
            }
        }
        for &cpu in &sim.w.topo.online {
            let at_ns = sim.core.source.timer_ns(cpu.into());
            sim.w.cpus[cpu as usize].tick_ns =
                at_ns.map_or(NEVER, |at| at.saturating_sub(sim.core.base_ns));
            sim.arm(cpu);
        }
    }

    fn created<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, parent: Option<TaskId>) {
        debug_assert_eq!(sim.core.halves.len(), task.index());
        sim.core.halves.push(Half::default());
        if parent.is_some() {
            return;
        }
        let t = &sim.w.tasks[task.index()];
        let name = &sim.setup.workload.programs[t.program.index()].name;
        let pid = sim.core.source.spawn(name, t.cpu.into(), t.nice, &t.affinity);
        let group = sim.setup.groups.get(t.program.index()).copied().unwrap_or(0);
        sim.core.halves[task.index()].group = group;
        sim.core.know(task, pid);
        sim.join_group(task, group);
    }

    /// The kernel may sleep in it, for control groups. The child is known when its first wake-up is heard of.
    fn start<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        child: TaskId,
        cpu: Cpu,
        parent: TaskId,
    ) -> Step {
        let (group, call) = sim.group_of_child(child, parent);
        let policy = sim.core.halves[parent.index()].policy;
        let half = &mut sim.core.halves[child.index()];
        (half.group, half.policy) = (group, policy);
        sim.core.halves[parent.index()].forks = Some(child);
        sim.core.last_calls[cpu as usize] = Some(Call::Fork { group: call });
        Step::Resched
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
        sim.expects_timer(task, at_ns);
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

    fn yield_now<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu, task: TaskId) {
        sim.yields(task);
        sim.core.last_calls[cpu as usize] = Some(Call::Yield);
    }

    fn set_nice<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, nice: i8) {
        sim.call(sim.w.tasks[task.index()].cpu, &Call::SetNice(nice));
    }

    fn set_slice<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, slice_ns: u64) {
        sim.call(sim.w.tasks[task.index()].cpu, &Call::SetSlice(slice_ns));
    }

    fn set_clamps<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        task: TaskId,
        min: Option<u16>,
        max: Option<u16>,
    ) {
        sim.call(sim.w.tasks[task.index()].cpu, &Call::SetClamps { min, max });
    }

    fn set_policy<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        cpu: Cpu,
        task: TaskId,
        policy: Policy,
    ) -> Step {
        sim.asks_for_policy(task, policy);
        sim.next_op(task);
        sim.core.last_calls[cpu as usize] = Some(Call::SetPolicy(policy));
        Step::Resched
    }

    fn set_affinity<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        cpu: Cpu,
        task: TaskId,
        _: &CpuSet,
    ) -> Step {
        sim.asks_for_affinity(task);
        // With the CPUs that are offline, which the kernel keeps in mind.
        let affinity = sim.w.tasks[task.index()].affinity.clone();
        sim.core.last_calls[cpu as usize] = Some(Call::SetAffinity(affinity));
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

    fn switching(&self) -> bool {
        self.switching.is_some()
    }

    fn overdue<T: Trace>(sim: &mut Sim<'_, Self, T>) {
        sim.lasts_for_ever();
    }

    fn take_util_changes(&mut self, changed: &mut Vec<Cpu>) {
        changed.clear();
        std::mem::swap(&mut self.util_changes, changed);
    }

    fn clamps(&self, _: &World, cpu: Cpu) -> Option<(u64, u64)> {
        Some(self.source.clamps(cpu.into()))
    }

    fn util(&self, cpu: Cpu) -> u64 {
        self.source.util(cpu.into())
    }

    fn governs(&self) -> bool {
        self.source.governs()
    }

    fn invariant(&mut self, cpu: Cpu, scale: u64) {
        self.source.set_frequency(cpu.into(), scale);
    }

    fn count(&self, counters: &mut Counters) {
        self.source.count(counters);
    }

    fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    fn failure(&mut self) -> Option<SimError> {
        self.failure.take()
    }
}

impl<S: Source, T: Trace> Sim<'_, Sourced<'_, S>, T> {
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
