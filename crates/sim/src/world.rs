//! What the engine and a scheduling class share: the clock, CPUs, tasks, and requests that a class makes.

mod task;

use crate::counters::Counters;
use crate::events::NEVER;
use crate::hardware::{Effort, Hardware, Travel};
use crate::idle::Memory;
use crate::kernel_locks::KernelLocks;
use crate::pages::Pages;
use crate::pelt_clock::PeltClock;
use crate::queue_lines::QueueLines;
use crate::rng::Stream;
use crate::topology::{Cpu, Topology};
use crate::uclamp::Uclamp;
use machine::CpuSet;
use machine::costs::Work;
pub(crate) use task::{Doing, KERNEL_MM, MAX_LOOPS, Origin};
pub use task::{State, Task, TaskId};

/// What a CPU is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// In an idle state since a point in time.
    Idle {
        /// When it went idle.
        since_ns: u64,
        /// Index into the machine's idle states.
        state: usize,
    },
    /// Offline: nothing comes here.
    Offline,
    /// On the way out of an idle state.
    Waking,
    /// Running a task.
    Running,
}

/// One CPU.
#[derive(Debug)]
pub struct CpuState {
    /// The running task.
    pub curr: Option<TaskId>,
    /// What it does.
    pub phase: Phase,
    /// Runnable tasks, the running one included; kept by the class.
    pub nr_running: u32,
    /// `TIF_NEED_RESCHED`.
    pub need_resched: bool,
    /// Next tick; `NEVER` while the tick is stopped.
    pub tick_ns: u64,
    /// Tasks that wait for I/O and slept last here (`rq::nr_iowait`).
    pub nr_iowait: u32,
    pub(crate) wake_ns: u64,
    pub(crate) resched_ns: u64,
    pub(crate) done_ns: u64,
    pub(crate) settled_ns: u64,
    pub(crate) rate: f64,
    /// The core's clock in terms of the nominal one.
    pub(crate) clock: f64,
    /// How many times longer than its core cycles alone the running task takes; 1 for kernel work.
    pub(crate) slow: f64,
    /// Whether another CPU's interrupt is on its way.
    pub(crate) interrupted: bool,
    /// Address space that is loaded; it stays while the CPU is idle.
    pub(crate) mm: u32,
    /// Kernel work to do before the task goes on, in cycles.
    pub(crate) debt: f64,
    /// A kick to balance for idle CPUs that is under way.
    pub(crate) kicked: Option<NohzKick>,
    pub(crate) idle_memory: Memory,
    /// Idle time that is over.
    pub(crate) idle_total_ns: u64,
    /// How often it went idle without a tick to come (`tick_nohz_get_idle_calls_cpu`): `ts->idle_calls` counts in
    /// `tick_nohz_idle_stop_tick`, which idle periods that keep their tick do not reach (4.17 on).
    pub(crate) idle_calls: u64,
    /// A task that waited for I/O woke up here, and no governor has heard of it (`SCHED_CPUFREQ_IOWAIT`).
    pub(crate) woken_from_io: bool,
}

/// Why a CPU is kicked out of idle (`NOHZ_KICK_MASK`, `NOHZ_STATS_KICK`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NohzKick {
    /// Only to bring blocked load up to date.
    Stats,
    /// To balance as well.
    Balance,
}

/// Something a class asks of the engine, done after the current moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// Let the CPU choose again; a class queued a task there.
    Resched(Cpu),
    /// Kick an idle CPU to balance for the idle ones.
    Kick(Cpu, NohzKick),
    /// Push the running task of `from` to `to` (`active_load_balance_cpu_stop`).
    Push {
        /// The busiest CPU.
        from: Cpu,
        /// The CPU that pulls.
        to: Cpu,
    },
    /// Move a task to the node of its memory (`migrate_task_to`).
    NumaMove {
        /// The task.
        task: TaskId,
        /// The CPU that it was on.
        from: Cpu,
        /// The CPU for it.
        to: Cpu,
    },
    /// Let two tasks change places (`migrate_swap`).
    NumaSwap {
        /// The task that asks.
        task: TaskId,
        /// The CPU that it was on.
        from: Cpu,
        /// The other, which goes there.
        other: TaskId,
        /// The CPU that this one was on.
        to: Cpu,
    },
}

/// Something that a class did and the observer has not seen yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// [`World::balance_to`] moved a task.
    Moved { task: TaskId, from: Cpu, to: Cpu },
    /// A task may use other CPUs.
    Allowed(TaskId),
}

/// The shared state.
#[derive(Debug)]
pub struct World<'a> {
    /// Now, in ns.
    pub now_ns: u64,
    /// Length of a tick, in ns.
    pub tick_period_ns: u64,
    /// Ticks a second (`HZ`).
    pub hz: u64,
    /// Point in time of tick 0; ticks of all CPUs come together.
    pub tick_phase_ns: u64,
    /// Ticks so far and the first tick after now: wake-ups and idle CPUs ask too often for a division each time.
    pub(crate) jiffies: u64,
    pub(crate) next_tick_ns: u64,
    /// What does not change while the same CPUs are online.
    pub topo: &'a Topology,
    /// What things cost.
    pub hw: &'a Hardware,
    /// CPUs by number.
    pub cpus: Vec<CpuState>,
    /// Tasks by [`TaskId`].
    pub tasks: Vec<Task>,
    /// Busy threads by pipeline.
    pub(crate) busy: Vec<u16>,
    /// What classes asked for.
    pub requests: Vec<Request>,
    pub(crate) notes: Vec<Note>,
    /// Clocks of load tracking, by CPU; empty where these are the time.
    pub(crate) pelt_clocks: Vec<PeltClock>,
    /// Utilisation clamps, where a governor listens and tasks have some.
    pub(crate) uclamp: Option<Uclamp>,
    pub(crate) locks: KernelLocks,
    /// Who has the lines of run queues.
    pub(crate) queue_lines: QueueLines,
    /// On which nodes tasks' memory lies.
    pub(crate) pages: Pages,
    /// Draws of balancing.
    pub(crate) balance_draws: Stream,
    /// Counters.
    pub counters: Counters,
}

impl World<'_> {
    /// Goes on to `now_ns`.
    pub(crate) fn advance(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        if now_ns >= self.next_tick_ns {
            self.jiffies = now_ns.saturating_sub(self.tick_phase_ns) / self.tick_period_ns;
            self.next_tick_ns = self.tick_phase_ns + (self.jiffies + 1) * self.tick_period_ns;
        }
    }

    /// The number of ticks so far (`jiffies`).
    pub fn jiffies(&self) -> u64 {
        self.jiffies
    }

    /// What load tracking on `cpu` takes for the time, in ns (`rq_clock_pelt`).
    pub fn pelt_clock_ns(&self, cpu: Cpu) -> u64 {
        self.pelt_clocks.get(cpu as usize).map_or(self.now_ns, |clock| clock.read(self.now_ns))
    }

    /// Milliseconds in ticks (`msecs_to_jiffies`), rounded up.
    pub fn ms_to_jiffies(&self, ms: u64) -> u64 {
        (ms * self.hz).div_ceil(1000)
    }

    /// First tick after now.
    pub fn next_tick_ns(&self) -> u64 {
        self.next_tick_ns
    }

    /// Counts how long `next` waited to run; `previous`, if it is still runnable, waits from now on.
    pub(crate) fn note_switch(&mut self, previous: Option<TaskId>, next: Option<TaskId>) {
        if let Some(task) = previous {
            self.tasks[task.index()].queued_ns = self.now_ns;
        }
        let Some(task) = next else {
            self.counters.sched_goidle += 1;
            return;
        };
        let t = &mut self.tasks[task.index()];
        let waited_ns = self.now_ns.saturating_sub(t.queued_ns);
        self.counters.run_delay_ns += waited_ns;
        if std::mem::take(&mut t.woken) {
            self.counters.note_latency(waited_ns);
        }
    }

    /// Whether a CPU runs nothing and has nothing to run (`idle_cpu`).
    pub fn idle_cpu(&self, cpu: Cpu) -> bool {
        let c = &self.cpus[cpu as usize];
        c.curr.is_none() && c.nr_running == 0
    }

    /// Whether `task` may run on `cpu`.
    pub fn allowed(&self, task: TaskId, cpu: Cpu) -> bool {
        self.tasks[task.index()].allowed.contains(cpu as usize)
    }

    /// `select_fallback_rq`: the first allowed CPU of the same node, else of all. A task whose affinity has no online
    /// CPU left loses it for good (`cpuset_cpus_allowed_fallback`, then `cpu_possible_mask`).
    pub fn select_fallback_rq(&mut self, task: TaskId) -> Cpu {
        let t = &mut self.tasks[task.index()];
        let mut near = &t.allowed & &self.topo.node_cpus[t.cpu as usize];
        if t.allowed.is_empty() {
            t.affinity = CpuSet::first_n(self.topo.nr_cpus);
            t.allowed = self.topo.online_set.clone();
            near = CpuSet::EMPTY;
            self.counters.affinities_broken += 1;
            self.notes.push(Note::Allowed(task));
        }
        near.first().or(t.allowed.first()).map_or(t.cpu, |c| c as Cpu)
    }

    /// Makes `cpu` spend `cycles` on kernel work before its task goes on.
    pub fn charge(&mut self, cpu: Cpu, cycles: f64) {
        self.cpus[cpu as usize].debt += cycles;
    }

    /// The same for lines that `cpu` fetches from `from` in the course of counted work, some of them at once.
    pub(crate) fn charge_lines(&mut self, cpu: Cpu, from: Cpu, lines: f64) {
        self.charge_fetch(cpu, from, lines, lines * self.hw.line_ratio);
    }

    /// The same for `lines` that take as long as so many `handovers` one after the other.
    pub(crate) fn charge_fetch(&mut self, cpu: Cpu, from: Cpu, lines: f64, handovers: f64) {
        let travel = self.travel(cpu, from, lines, handovers);
        let c = &mut self.cpus[cpu as usize];
        c.debt += travel.cycles(c.clock);
    }

    /// Counts `lines` that `cpu` fetches from `from`; how long so many `handovers` take.
    pub(crate) fn travel(&mut self, cpu: Cpu, from: Cpu, lines: f64, handovers: f64) -> Travel {
        if cpu == from {
            return Travel::default();
        }
        let distance = self.topo.distance(from, cpu);
        self.counters.note_lines(distance, lines);
        self.hw.travel(distance, handovers)
    }

    /// [`charge`](World::charge) for instructions of the kernel.
    pub(crate) fn charge_kernel(&mut self, cpu: Cpu, instructions: f64) {
        let cycles = self.kernel_cycles(instructions);
        self.charge(cpu, cycles);
    }

    /// Counts instructions of the kernel; how many cycles they take.
    pub(crate) fn kernel_cycles(&mut self, instructions: f64) -> f64 {
        self.counters.kernel_instructions += instructions as u64;
        self.hw.kernel_cycles(instructions)
    }

    /// Counts an effort; how many cycles it takes.
    pub(crate) fn effort_cycles(&mut self, effort: Effort) -> f64 {
        let cycles = match effort {
            Effort::Atomic => self.hw.atomic_cycles,
            Effort::Kernel(instructions) => self.kernel_cycles(instructions),
        };
        if self.hw.kernel_is_free { 0.0 } else { cycles }
    }

    /// Forgets the kernel work that `cpu` owes, where that takes no time. What balancing costs is known by then.
    pub(crate) fn forgive(&mut self, cpu: Cpu) {
        if self.hw.kernel_is_free {
            self.cpus[cpu as usize].debt = 0.0;
        }
    }

    /// The same for work whose lines come from `from`.
    pub(crate) fn charge_work(&mut self, cpu: Cpu, from: Cpu, work: Work) {
        self.charge_kernel(cpu, work.instructions);
        self.charge_lines(cpu, from, work.lines);
    }

    /// Moves a task that is not queued to `cpu` for the balancer.
    pub fn balance_to(&mut self, task: TaskId, cpu: Cpu) {
        let from = self.tasks[task.index()].cpu;
        self.counters.balanced_by_distance[self.topo.distance(from, cpu) as usize] += 1;
        self.tasks[task.index()].cpu = cpu;
        if let Some(uclamp) = &mut self.uclamp {
            uclamp.moved(task, cpu);
        }
        self.notes.push(Note::Moved { task, from, to: cpu });
    }

    /// `task` is on its CPU's queue, or runnable on it again.
    pub(crate) fn uclamp_inc(&mut self, task: TaskId) {
        if let Some(uclamp) = &mut self.uclamp {
            uclamp.inc(task, self.tasks[task.index()].cpu);
        }
    }

    /// `task` leaves its queue to sleep or for good.
    pub(crate) fn uclamp_dec(&mut self, task: TaskId) {
        if let Some(uclamp) = &mut self.uclamp {
            uclamp.dec(task);
        }
    }

    /// An idle CPU's state, by its place in the order of exit latencies; `None` if it is not in one (`idle_get_state`).
    pub fn idle_state(&self, cpu: Cpu) -> Option<usize> {
        match self.cpus[cpu as usize].phase {
            Phase::Idle { state, .. } => Some(state),
            Phase::Offline | Phase::Waking | Phase::Running => None,
        }
    }
}

impl CpuState {
    pub(crate) fn new() -> CpuState {
        CpuState {
            curr: None,
            phase: Phase::Idle { since_ns: 0, state: 0 },
            nr_running: 0,
            need_resched: false,
            tick_ns: NEVER,
            nr_iowait: 0,
            wake_ns: NEVER,
            resched_ns: NEVER,
            done_ns: NEVER,
            settled_ns: 0,
            rate: 0.0,
            clock: 1.0,
            slow: 1.0,
            interrupted: false,
            mm: u32::MAX,
            debt: 0.0,
            kicked: None,
            idle_memory: Memory::default(),
            idle_total_ns: 0,
            idle_calls: 0,
            woken_from_io: false,
        }
    }

    pub(crate) fn next_event_ns(&self) -> u64 {
        self.wake_ns.min(self.tick_ns).min(self.resched_ns).min(self.done_ns)
    }
}
