//! The event loop: time, CPUs and tasks; every scheduling decision is the class's.

pub(crate) mod bandwidth;
mod clients;
mod clocks;
mod cpu;
mod devices;
mod governors;
pub(crate) mod guests;
mod hotplug;
mod lines;
mod pace;
mod queues;
mod steps;
mod stuck;
mod sync;
mod tasks;
mod wait;
mod working_sets;

use crate::SimError;
use crate::class::Class;
use crate::events::{Events, HORIZON_NS, NEVER};
use crate::latency::Latencies;
use crate::loops;
use crate::pelt_clock::PeltClock;
use crate::rng::{Purpose, Stream};
use crate::scenario::Scenario;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::uclamp::Uclamp;
use crate::world::{CpuState, Note, Phase, Request, TaskId, World};
use bandwidth::NodeLoad;
use clients::Users;
use clocks::Clocks;
use devices::DeviceState;
use governors::Governors;
use lines::LineUser;
use machine::IdleState;
use pace::Pace;
use queues::QueueState;
use sync::{BarrierState, LockState};
use wait::WaitList;
use working_sets::WorkingSets;
use workload::{HistogramId, Op};

/// One run.
pub(crate) struct Sim<'a, C, T> {
    pub(crate) w: World<'a>,
    class: C,
    trace: &'a mut T,
    events: Events,
    scenario: &'a Scenario,
    idle_states: &'a [IdleState],
    /// By program and step: which of a task's loop counts a `Loop` step uses.
    loop_slots: Vec<Vec<usize>>,
    work: Stream,
    start: Stream,
    flags: Vec<bool>,
    queues: Vec<QueueState>,
    locks: Vec<LockState>,
    conds: Vec<WaitList>,
    barriers: Vec<BarrierState>,
    devices: Vec<DeviceState>,
    /// By timer: the point at which it was due last, once it runs.
    timers: Vec<Option<u64>>,
    users: Users,
    pub(crate) recorded: Vec<Latencies>,
    pub(crate) counted: Vec<u64>,
    pub(crate) marks: Vec<Option<u64>>,
    /// By CPU: sleeping tasks whose timers are on it.
    sleepers: Vec<Vec<(u64, TaskId)>>,
    /// First event slot of a task; before come those of CPUs, users and, where there are steps, hotplug.
    first_task: u32,
    /// First event slot of a package's firmware; those of hotplug and tasks come behind.
    first_package: u32,
    clocks: Option<Clocks<'a>>,
    governors: Option<Governors<'a>>,
    /// The next hotplug step.
    next_step: usize,
    /// The CPU whose event is being handled: where requests come from.
    here: Cpu,
    /// Tasks other than daemons that run or have a timer, and users who think.
    active: u32,
    /// Steps without time since `steps_at_ns`.
    steps: u32,
    steps_at_ns: u64,
    stopped: bool,
    failure: Option<SimError>,
    /// Whether any program uses memory or contends; without, nothing below is looked at.
    paced: bool,
    /// By CPU.
    paces: Vec<Pace>,
    working_sets: WorkingSets,
    /// By node.
    nodes: Vec<NodeLoad>,
    /// By line: who uses it now.
    lines: Vec<Vec<LineUser>>,
}

impl<'a, C: Class, T: Trace> Sim<'a, C, T> {
    pub(crate) fn new(
        scenario: &'a Scenario,
        class: C,
        seed: u64,
        trace: &'a mut T,
    ) -> Result<Sim<'a, C, T>, SimError> {
        let workload = &scenario.workload;
        let nr_cpus = scenario.topo.nr_cpus;
        let tick_period_ns = 1_000_000_000 / u64::from(scenario.kernel.hz);
        let mut start = Stream::new(seed, Purpose::Start);
        let tick_phase_ns = start.below(tick_period_ns);
        let w = World {
            now_ns: 0,
            tick_period_ns,
            hz: u64::from(scenario.kernel.hz),
            tick_phase_ns,
            jiffies: 0,
            next_tick_ns: tick_phase_ns + tick_period_ns,
            topo: &scenario.topo,
            hw: &scenario.hw,
            cpus: (0..nr_cpus).map(|_| CpuState::new()).collect(),
            tasks: Vec::with_capacity(workload.spawns.len() + 64),
            busy: vec![0; scenario.topo.pipelines.len()],
            requests: Vec::with_capacity(16),
            notes: Vec::with_capacity(16),
            pelt_clocks: match scenario.governed.as_ref().and_then(|g| g.max_freq_ratio) {
                Some(_) => vec![PeltClock::new(); nr_cpus],
                None => Vec::new(),
            },
            uclamp: scenario
                .governed
                .as_ref()
                .and_then(|_| Uclamp::new(scenario.kernel.version, workload, nr_cpus)),
            balance_draws: Stream::new(seed, Purpose::Balance),
            counters: Default::default(),
        };
        let users = Users::new(scenario, seed);
        let hotplug = usize::from(!scenario.hotplug.steps.is_empty());
        let first_package = nr_cpus + users.list.len();
        let packages = scenario.governed.as_ref().map_or(0, |g| g.model.packages.len());
        let first_task = first_package + packages + hotplug;
        let (clocks, governors) = frequencies(scenario, seed, tick_period_ns)?;
        let mut sim = Sim {
            w,
            class,
            trace,
            events: Events::new(first_task, seed),
            scenario,
            idle_states: &scenario.idle_states,
            loop_slots: workload.programs.iter().map(|p| loops::slots(&p.ops)).collect(),
            work: Stream::new(seed, Purpose::Work),
            start,
            flags: vec![false; workload.flags as usize],
            queues: workload.queues.iter().map(QueueState::new).collect(),
            locks: vec![LockState::default(); workload.locks as usize],
            conds: vec![WaitList::default(); workload.conds as usize],
            barriers: vec![BarrierState::default(); workload.barriers.len()],
            devices: workload.devices.iter().map(DeviceState::new).collect(),
            timers: vec![None; workload.timers as usize],
            users,
            recorded: Latencies::of(workload)?,
            counted: vec![0; workload.counters as usize],
            marks: vec![None; workload.marks as usize],
            sleepers: vec![Vec::with_capacity(8); nr_cpus],
            first_task: first_task as u32,
            first_package: first_package as u32,
            clocks,
            governors,
            next_step: 0,
            here: 0,
            active: 0,
            steps: 0,
            steps_at_ns: 0,
            stopped: false,
            failure: None,
            paced: workload.programs.iter().any(|p| p.ops.iter().any(is_paced)),
            paces: vec![Pace::default(); nr_cpus],
            working_sets: scenario
                .memory
                .as_ref()
                .map_or_else(WorkingSets::default, WorkingSets::new),
            nodes: scenario
                .memory
                .iter()
                .flat_map(|m| &m.bandwidth)
                .map(|_| NodeLoad::new())
                .collect(),
            lines: vec![Vec::new(); workload.lines as usize],
        };
        sim.boot();
        Ok(sim)
    }

    /// All CPUs idle, the first tasks asleep.
    fn boot(&mut self) {
        let deepest = self.idle_states.len() - 1;
        self.w.cpus.iter_mut().for_each(|c| c.phase = Phase::Offline);
        for &cpu in &self.w.topo.online {
            self.w.cpus[cpu as usize].phase = Phase::Idle { since_ns: 0, state: deepest };
            self.trace.idle(0, cpu, Some(deepest));
            self.class.idle(&mut self.w, cpu, true);
        }
        self.tell_clocks();
        if self.clocks.is_some() {
            self.class.watch_util();
        }
        for spawn in &self.scenario.workload.spawns {
            self.spawn(spawn);
        }
        self.boot_users();
        self.arm_hotplug();
    }

    /// Runs until a task stops the run.
    pub(crate) fn run(&mut self) -> Result<(), SimError> {
        while !self.stopped {
            let next = self.events.pop().filter(|_| self.active > 0);
            let Some((now_ns, slot)) = next else { return Err(self.stuck()) };
            self.event(now_ns, slot)?;
        }
        self.settle_all();
        Ok(())
    }

    /// The event of `slot`, at `now_ns`.
    fn event(&mut self, now_ns: u64, slot: u32) -> Result<(), SimError> {
        if now_ns >= HORIZON_NS {
            return Err(SimError::Horizon);
        }
        let first_user = self.scenario.topo.nr_cpus as u32;
        self.w.advance(now_ns);
        self.w.counters.events += 1;
        if slot < first_user {
            self.cpu_event(slot as Cpu);
        } else if slot >= self.first_task {
            self.timer_event(TaskId(slot - self.first_task));
        } else if slot < self.first_package {
            self.request_arrives(slot - first_user);
        } else {
            let package = (slot - self.first_package) as usize;
            let packages = self.scenario.governed.as_ref().map_or(0, |g| g.model.packages.len());
            if package < packages {
                self.firmware_looks(package);
            } else {
                self.hotplug_event();
            }
        }
        self.answer_requests();
        if self.governors.is_some() {
            self.govern();
        }
        self.failure.take().map_or(Ok(()), Err)
    }

    pub(super) fn cpu_event(&mut self, cpu: Cpu) {
        self.here = cpu;
        self.settle(cpu);
        let now = self.w.now_ns;
        let c = &mut self.w.cpus[cpu as usize];
        if c.wake_ns <= now {
            c.wake_ns = NEVER;
            c.phase = Phase::Running;
            c.need_resched = true;
            self.trace.idle(now, cpu, None);
            self.take_interrupt(cpu);
            let c = &mut self.w.cpus[cpu as usize];
            if let Some(kick) = c.kicked.take() {
                self.class.nohz_balance(&mut self.w, cpu, kick);
            }
        }
        let c = &mut self.w.cpus[cpu as usize];
        if c.resched_ns <= now {
            c.resched_ns = NEVER;
            c.need_resched = true;
            self.take_interrupt(cpu);
        }
        let c = &mut self.w.cpus[cpu as usize];
        if c.tick_ns <= now {
            c.tick_ns = now + self.w.tick_period_ns;
            self.tick(cpu);
        }
        self.proceed(cpu);
        self.arm(cpu);
    }

    fn tick(&mut self, cpu: Cpu) {
        if self.governors.is_some() {
            self.scale_freq_tick(cpu);
        }
        let resched = self.class.tick(&mut self.w, cpu);
        let tick_cycles = self.w.hw.tick_cycles;
        match self.w.cpus[cpu as usize].phase {
            Phase::Running => {
                self.w.charge(cpu, tick_cycles);
                self.w.cpus[cpu as usize].need_resched |= resched;
            }
            Phase::Idle { .. } if self.w.cpus[cpu as usize].nr_running > 0 => {
                self.leave_idle(cpu, cpu);
            }
            Phase::Idle { .. } | Phase::Offline | Phase::Waking => {}
        }
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
                    let allowed = self.w.tasks[task.index()].allowed;
                    self.trace.allowed(self.w.now_ns, task, allowed);
                }
            }
        }
    }

    /// The number of runnable tasks of `cpu` may have changed.
    pub(super) fn tell_runnable(&mut self, cpu: Cpu) {
        self.trace.runnable(self.w.now_ns, cpu, self.w.cpus[cpu as usize].nr_running);
    }

    fn answer_requests(&mut self) {
        self.report_notes();
        while let Some(request) = self.w.requests.pop() {
            match request {
                Request::Resched(cpu) => self.resched(cpu, self.here),
                Request::Kick(cpu, kick) => {
                    let c = &mut self.w.cpus[cpu as usize];
                    if c.phase != Phase::Running {
                        c.kicked = c.kicked.max(Some(kick));
                        self.w.counters.ilb_kicks += 1;
                        self.leave_idle(cpu, self.here);
                    }
                }
                Request::Push { from, to } => self.push(from, to),
            }
        }
    }

    /// The stopper of `from` takes its running task off and lets the class move one to `to`.
    fn push(&mut self, from: Cpu, to: Cpu) {
        self.settle(from);
        if self.w.cpus[from as usize].phase != Phase::Running {
            return;
        }
        if let Some(task) = self.w.cpus[from as usize].curr.take() {
            self.class.put_prev(&mut self.w, from, task);
            self.trace.stopped(self.w.now_ns, from, task);
        }
        self.w.charge(from, self.w.hw.switch_cycles);
        if self.class.push(&mut self.w, from, to) {
            self.w.counters.alb_pushed += 1;
            self.w.requests.push(Request::Resched(to));
        }
        self.w.cpus[from as usize].need_resched = true;
        self.proceed(from);
        self.arm(from);
    }

    /// Notes a time, if its histogram is open.
    fn record(&mut self, histogram: HistogramId, ns: u64) {
        let open = self.scenario.workload.histograms[histogram.index()].while_set;
        if open.is_none_or(|flag| self.flags[flag.index()]) {
            self.recorded[histogram.index()].record(ns);
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

/// Clocks and governors, where the scenario's machine has such.
fn frequencies(
    scenario: &Scenario,
    seed: u64,
    tick_ns: u64,
) -> Result<(Option<Clocks<'_>>, Option<Governors<'_>>), SimError> {
    let Some(governed) = &scenario.governed else { return Ok((None, None)) };
    let start_khz = governors::start_khz(governed);
    // Two draws: where firmware's slots begin says nothing of when governors sample.
    let mut draws = Stream::new(seed, Purpose::Clocks);
    let slot_phase_ns = draws.below(governed.model.slot_ns.max(1));
    let first_sample_ns = draws.below(tick_ns);
    let clocks = Clocks::new(&governed.model, start_khz as u32, slot_phase_ns);
    let refuse = |source| SimError::Frequency { machine: scenario.machine.clone(), source };
    let governors = Governors::new(governed, tick_ns, first_sample_ns).map_err(refuse)?;
    Ok((Some(clocks), Some(governors)))
}

/// Whether a step is slowed by more than its core.
fn is_paced(op: &Op) -> bool {
    matches!(op, Op::Memory(_) | Op::Contend { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::{Kernel, Version};
    use setting::{Frequency, Governor, Setting};
    use workload::Workload;

    #[test]
    fn firmware_and_governors_begin_apart() {
        let machine = machine::catalog::load("epyc-7742-1s-nps1").unwrap();
        let kernel = Kernel::new(Version::new(5, 9));
        let frequency = Some(Frequency::new(Governor::Ondemand));
        let setting = Setting { frequency, ..Setting::default() };
        let scenario =
            Scenario::in_setting(&machine, &kernel, Workload::default(), &setting).unwrap();
        let tick_ns = 4_000_000;
        let mut apart = Vec::new();
        for seed in 0..64 {
            let (clocks, governors) = frequencies(&scenario, seed, tick_ns).unwrap();
            let (clocks, governors) = (clocks.unwrap(), governors.unwrap());
            let slot = clocks.phase_ns as f64 / clocks.model.slot_ns as f64;
            let sample = governors.policies[0].next_sample_ns as f64 / tick_ns as f64;
            apart.push((slot - sample).abs());
        }
        // Two independent fractions are a third apart on average.
        let mean = apart.iter().sum::<f64>() / apart.len() as f64;
        assert!((0.2..0.5).contains(&mean), "{mean}");
    }
}
