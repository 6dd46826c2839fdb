//! One run: the event loop, and what CPUs and tasks do between scheduling decisions, which are the class's.
//!
//! [`Sim::run`] takes the next event and hands it to its owner: a CPU ([`cpu`]: work done is settled, the class picks, the
//! task goes on or the CPU goes idle), a task whose sleep is over ([`tasks`]), a user's request ([`clients`]), a package's
//! firmware ([`clocks`]), a hotplug step ([`hotplug`]). Then what the class asked for meanwhile is answered (other CPUs
//! choose again or are kicked, a running task is pushed), and governors hear whose utilisation changed ([`governors`]).
//!
//! Programs go step by step ([`steps`]) until a step takes time or the task sleeps. What they share is in [`shared`], and
//! has a room for each kind: [`queues`], [`sync`], [`spin_barrier`], [`pools`], [`devices`]. How fast they go is their core's rate and clock, and where
//! programs use memory also their [`pace`]. Whoever changes another CPU's speed settles that CPU first and sets its next
//! event anew (`settle`, `aim`, `arm`).
//!
//! The engine never chooses between tasks or CPUs: it asks the class at the moments of `crate::class`, and tells the trace
//! what happened. A trace hears and changes nothing. `crate::hypervisor` drives a run from outside through [`partitions`].

pub(crate) mod bandwidth;
mod clients;
mod clocks;
mod core;
mod cpu;
mod devices;
mod frequency;
mod governors;
mod hints;
mod hotplug;
mod kworkers;
mod lines;
mod memory;
mod modelled;
mod pace;
pub(crate) mod partitions;
mod pools;
mod progress;
mod queues;
mod recording;
mod shared;
mod sourced;
mod spin_barrier;
mod steps;
mod sync;
mod tasks;
mod timeline;
mod wait;
mod working_sets;

use crate::SimError;
use crate::events::{HORIZON_NS, NEVER};
use crate::kernel_locks::KernelLocks;
use crate::loops;
use crate::pages::Pages;
use crate::pelt_clock::PeltClock;
use crate::queue_lines::QueueLines;
use crate::rng::{Purpose, Stream};
use crate::setup::{ModelGroups, Setup};
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::uclamp::Uclamp;
use crate::world::{CpuState, Note, Phase, World};
use clients::Users;
pub(crate) use core::Core;
use frequency::Frequency;
use governors::Governors;
use kworkers::Kworkers;
use memory::Memory;
pub(crate) use modelled::Modelled;
use progress::Progress;
pub(crate) use recording::Recording;
use shared::Shared;
pub(crate) use sourced::Sourced;
use timeline::{Slot, Slots, Timeline};
use workload::HistogramId;

/// One run.
pub(crate) struct Sim<'a, K, T> {
    /// Time, CPUs and tasks, which a class sees as well.
    pub(crate) w: World<'a>,
    pub(crate) core: K,
    trace: &'a mut T,
    setup: &'a Setup,
    /// By program and step: which of a task's loop counts a `Loop` step uses.
    loop_slots: Vec<Vec<usize>>,
    timeline: Timeline,
    shared: Shared,
    users: Users,
    frequency: Frequency<'a>,
    kworkers: Kworkers,
    memory: Memory,
    pub(crate) recording: Recording,
    draws: Draws,
    progress: Progress,
    /// The CPU whose event is being handled: where requests come from.
    here: Cpu,
}

/// Random streams of the workload.
#[derive(Debug)]
struct Draws {
    /// Lengths of work and sleep.
    work: Stream,
    /// Where tasks start, and when.
    start: Stream,
}

impl<'a, K: Core, T: Trace> Sim<'a, K, T> {
    pub(crate) fn new(
        setup: &'a Setup,
        core: K,
        seed: u64,
        trace: &'a mut T,
    ) -> Result<Sim<'a, K, T>, SimError> {
        let workload = &setup.workload;
        let nr_cpus = setup.topo.nr_cpus;
        let tick_period_ns = 1_000_000_000 / u64::from(setup.kernel.hz);
        let mut start = Stream::new(seed, Purpose::Start);
        let tick_phase_ns = start.below(tick_period_ns);
        let users = Users::new(setup, seed);
        let packages = setup.governed.as_ref().map_or(0, |g| g.model.packages.len());
        let by_core = core.governs();
        let has_steps = !setup.hotplug.steps.is_empty();
        let has_timer = setup.model_groups.as_ref().is_ok_and(ModelGroups::has_quotas)
            || setup.policies.iter().any(|policy| !policy.is_fair());
        let slots = Slots::new(nr_cpus, users.list.len(), packages, has_steps, has_timer);
        let mut sim = Sim {
            w: world(setup, seed, tick_period_ns, tick_phase_ns),
            core,
            trace,
            setup,
            loop_slots: workload.programs.iter().map(|p| loops::slots(&p.ops)).collect(),
            timeline: Timeline::new(slots, nr_cpus, seed),
            shared: Shared::new(workload, nr_cpus),
            users,
            frequency: Frequency::new(setup, seed, tick_period_ns, by_core)?,
            kworkers: Kworkers::default(),
            memory: Memory::new(setup),
            recording: Recording::new(workload)?,
            draws: Draws { work: Stream::new(seed, Purpose::Work), start },
            progress: Progress::default(),
            here: 0,
        };
        sim.w.counters.group_run_ns = vec![0; setup.nr_groups];
        sim.boot();
        Ok(sim)
    }

    /// All CPUs idle, the first tasks asleep.
    fn boot(&mut self) {
        let deepest = self.setup.idle_exits.len() - 1;
        self.w.cpus.iter_mut().for_each(|c| c.phase = Phase::Offline);
        for &cpu in &self.w.topo.online {
            self.w.cpus[cpu as usize].phase = Phase::Idle { since_ns: 0, state: deepest };
            self.trace.idle(0, cpu, Some(deepest));
        }
        K::boot(self);
        self.tell_clocks();
        for spawn in &self.setup.workload.spawns {
            self.spawn(spawn);
        }
        let governors = self.frequency.governors.as_ref();
        if let Some(program) =
            self.setup.kworker.filter(|_| governors.is_some_and(Governors::govern))
        {
            self.start_kworkers(program);
        }
        self.boot_users();
        self.arm_hotplug();
    }

    /// Runs until a task stops the run.
    pub(crate) fn run(&mut self) -> Result<(), SimError> {
        while !self.is_over() {
            let next = self.timeline.events.pop().filter(|_| self.progress.active > 0);
            let Some((now_ns, slot)) = next else { return Err(self.stuck()) };
            self.event(now_ns, slot)?;
        }
        self.settle_all();
        self.core.count(&mut self.w.counters);
        Ok(())
    }

    /// The event of `slot`, at `now_ns`.
    fn event(&mut self, now_ns: u64, slot: u32) -> Result<(), SimError> {
        if now_ns >= HORIZON_NS {
            return Err(SimError::Horizon);
        }
        self.w.advance(now_ns);
        self.w.counters.events += 1;
        match self.timeline.slots.of(slot) {
            Slot::Cpu(cpu) => self.cpu_event(cpu),
            Slot::Task(task) => self.timer_event(task),
            Slot::User(user) => self.request_arrives(user),
            Slot::Package(package) => self.firmware_looks(package),
            Slot::Hotplug => self.hotplug_event(),
            Slot::Core => K::own_timer(self),
        }
        K::settle_requests(self);
        if self.frequency.governors.is_some() {
            self.govern(self.here);
            self.wake_kworkers();
        }
        self.progress.failure.take().or_else(|| self.core.failure()).map_or(Ok(()), Err)
    }

    pub(super) fn cpu_event(&mut self, cpu: Cpu) {
        self.here = cpu;
        self.settle(cpu);
        let now = self.w.now_ns;
        let c = &mut self.w.cpus[cpu as usize];
        if c.wake_ns <= now {
            c.wake_ns = NEVER;
            c.phase = Phase::Running;
            self.trace.idle(now, cpu, None);
            K::left_idle(self, cpu);
        }
        let c = &mut self.w.cpus[cpu as usize];
        if c.resched_ns <= now {
            c.resched_ns = NEVER;
            K::interrupted(self, cpu);
        }
        if self.w.cpus[cpu as usize].tick_ns <= now {
            K::timer(self, cpu);
        }
        self.proceed(cpu);
        self.arm(cpu);
    }

    /// Passes on what the class did.
    fn report_notes(&mut self) {
        for note in self.w.notes.drain(..) {
            match note {
                Note::Moved { task, from, to } => {
                    self.trace.migrate(self.w.now_ns, task, from, to);
                    for cpu in [from, to] {
                        let tasks = self.w.cpus[cpu as usize].nr_running;
                        self.trace.runnable(self.w.now_ns, cpu, tasks);
                    }
                }
                Note::Allowed(task) => {
                    let allowed = &self.w.tasks[task.index()].allowed;
                    self.trace.allowed(self.w.now_ns, task, allowed);
                }
            }
        }
    }

    /// The number of runnable tasks of `cpu` may have changed.
    pub(super) fn tell_runnable(&mut self, cpu: Cpu) {
        self.trace.runnable(self.w.now_ns, cpu, self.w.cpus[cpu as usize].nr_running);
    }

    /// Notes a time, if its histogram is open.
    fn record(&mut self, histogram: HistogramId, ns: u64) {
        let open = self.setup.workload.histograms[histogram.index()].while_set;
        if open.is_none_or(|flag| self.shared.flags[flag.index()]) {
            self.recording.recorded[histogram.index()].record(ns);
        }
    }

    fn settle_all(&mut self) {
        for &cpu in &self.w.topo.online {
            self.settle(cpu);
            if let Phase::Idle { since_ns, .. } = self.w.cpus[cpu as usize].phase {
                self.w.counters.idle_ns += self.w.now_ns - since_ns;
            }
        }
    }
}

/// The machine as a run finds it: no CPU has booted, no task exists.
pub(crate) fn world(
    setup: &Setup,
    seed: u64,
    tick_period_ns: u64,
    tick_phase_ns: u64,
) -> World<'_> {
    let nr_cpus = setup.topo.nr_cpus;
    World {
        now_ns: 0,
        tick_period_ns,
        hz: u64::from(setup.kernel.hz),
        tick_phase_ns,
        jiffies: 0,
        next_tick_ns: tick_phase_ns + tick_period_ns,
        topo: &setup.topo,
        hw: &setup.hw,
        cpus: (0..nr_cpus).map(|_| CpuState::new()).collect(),
        tasks: Vec::with_capacity(setup.workload.spawns.len() + 64),
        busy: vec![0; setup.topo.pipelines.len()],
        requests: Vec::with_capacity(16),
        notes: Vec::with_capacity(16),
        pelt_clocks: match setup.governed.as_ref().and_then(|g| g.max_freq_ratio) {
            Some(_) => vec![PeltClock::new(); nr_cpus],
            None => Vec::new(),
        },
        uclamp: setup
            .governed
            .as_ref()
            .and_then(|_| Uclamp::new(&setup.rules, &setup.workload, nr_cpus)),
        locks: KernelLocks::new(&setup.topo),
        queue_lines: QueueLines::new(&setup.topo),
        pages: match &setup.memory {
            Some(memory) => Pages::new(memory, setup.numa_balancing),
            None => Pages::default(),
        },
        balance_draws: Stream::new(seed, Purpose::Balance),
        counters: Default::default(),
    }
}
