//! Where the engine asks the scheduler's core (`kernel/sched/core.c`), which is one of two: our own retelling around a
//! scheduling class ([`super::modelled`]), or the code of a kernel tree ([`super::sourced`]).
//!
//! A core chooses: which CPU a task goes to, which task a CPU runs, when one is preempted or moved. Whatever takes time on
//! hardware is the engine's: steps of programs, idle states, interrupts on their way, clocks.

use super::Sim;
use super::cpu::Step;
use crate::SimError;
use crate::class::{Faulted, Hint};
use crate::counters::Counters;
use crate::setup::Prepared;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{TaskId, World};
use machine::CpuSet;
use workload::Policy;

/// The core of a scheduler. Functions take the whole run, as the kernel's work on the whole machine.
pub(crate) trait Core: Sized {
    /// Whether the engine keeps the ticks of CPUs; else [`Core::timer`] comes when the core has asked for it.
    const ENGINE_TICKS: bool;

    /// All CPUs have booted and are idle.
    fn boot<T: Trace>(sim: &mut Sim<'_, Self, T>);
    /// `sched_fork`: a task exists, not queued. A child has its `parent` and runs first by [`Core::start`]; other tasks
    /// sleep and are woken.
    fn created<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, parent: Option<TaskId>);
    /// `wake_up_new_task`: the running `parent` of `cpu` forks `child`.
    fn start<T: Trace>(sim: &mut Sim<'_, Self, T>, child: TaskId, cpu: Cpu, parent: TaskId)
    -> Step;
    /// `try_to_wake_up` on `cpu`, by `waker` or by an interrupt.
    fn wake<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        task: TaskId,
        cpu: Cpu,
        waker: Option<TaskId>,
        sync: bool,
    );
    /// The running `task` sleeps until it is woken.
    fn sleep<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId);
    /// The running `task` sleeps until its timer wakes it.
    fn sleep_until<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, at_ns: u64);
    /// The running `task` of `cpu` is gone.
    fn exit<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu, task: TaskId);
    /// `sched_exec` by the running `task` of `cpu`.
    fn exec<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu, task: TaskId) -> Step;
    /// `sched_yield` by the running `task` of `cpu`.
    fn yield_now<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu, task: TaskId);
    /// `set_user_nice` by the running task itself.
    fn set_nice<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, nice: i8);
    /// `sched_setattr` with a slice of its own, in ns; 0 for the default.
    fn set_slice<T: Trace>(sim: &mut Sim<'_, Self, T>, task: TaskId, slice_ns: u64);
    /// `sched_setattr` of the running `task` with clamps of utilisation; what is none stays.
    fn set_clamps<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        task: TaskId,
        min: Option<u16>,
        max: Option<u16>,
    );
    /// `sched_setattr` by the running `task` of `cpu` with a policy.
    fn set_policy<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        cpu: Cpu,
        task: TaskId,
        policy: Policy,
    ) -> Step;
    /// `sched_setaffinity` by the running `task` of `cpu`, to `allowed` CPUs, which are online.
    fn set_affinity<T: Trace>(
        sim: &mut Sim<'_, Self, T>,
        cpu: Cpu,
        task: TaskId,
        allowed: &CpuSet,
    ) -> Step;
    /// What is left of an affinity in a group, by its place from 1 on, where the core leaves cpusets to the engine.
    fn cpuset<T: Trace>(_: &Sim<'_, Self, T>, _group: u32, affinity: CpuSet) -> CpuSet {
        affinity
    }
    /// `__schedule` on `cpu`, and with it what its task has asked for.
    fn schedule<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu);
    /// `cpu` has left its idle state.
    fn left_idle<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu);
    /// An interrupt that makes `cpu` choose again has arrived.
    fn interrupted<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu);
    /// The tick of `cpu`, or its timer.
    fn timer<T: Trace>(sim: &mut Sim<'_, Self, T>, cpu: Cpu);
    /// The core's own timer is due, which it set by [`Slots::core`](super::timeline::Slots::core).
    fn own_timer<T: Trace>(_: &mut Sim<'_, Self, T>) {}
    /// After each event: what is left to do on other CPUs.
    fn settle_requests<T: Trace>(sim: &mut Sim<'_, Self, T>);
    /// The CPU of `step` goes offline or comes online: the core calls [`Sim::adopt`] when it does.
    fn hotplug<T: Trace>(sim: &mut Sim<'_, Self, T>, step: &Prepared);
    /// Whether a step of hotplug lasts. It sets its event to when it lasts for too long; its end arms the next.
    fn switching(&self) -> bool {
        false
    }
    /// A step of hotplug lasts for too long.
    fn overdue<T: Trace>(_: &mut Sim<'_, Self, T>) {}
    /// Moves the CPUs whose utilisation was brought up to date since the last call to `changed`.
    fn take_util_changes(&mut self, changed: &mut Vec<Cpu>);
    /// What the tasks of `cpu` use of it, 1024 for a CPU (`cpu_util_cfs`).
    fn util(&self, cpu: Cpu) -> u64;
    /// Lower and upper clamp of what its tasks use, where there are some (`uclamp_rq_get`).
    fn clamps(&self, w: &World, cpu: Cpu) -> Option<(u64, u64)>;
    /// Whether governors are the core's own: they ask for P-states by themselves.
    fn governs(&self) -> bool {
        false
    }
    /// `arch_scale_freq_capacity` of `cpu` is `scale` from now on.
    fn invariant(&mut self, _cpu: Cpu, _scale: u64) {}
    /// `task` faulted on pages that NUMA balancing had unmapped; what that came to.
    fn hinting_faults<T: Trace>(_: &mut Sim<'_, Self, T>, _: TaskId, _: &[Hint]) -> Faulted {
        Faulted::default()
    }
    /// At the end of a run: sets what the core itself has counted.
    fn count(&self, _counters: &mut Counters) {}
    /// Whether [`Core::failure`] has something to tell.
    fn has_failed(&self) -> bool {
        false
    }
    /// Why the core cannot go on, if it cannot.
    fn failure(&mut self) -> Option<SimError> {
        None
    }
}
