//! A machine, a kernel and a workload prepared for running, and what a run gives.

use crate::SimError;
use crate::class::Class;
use crate::counters::Counters;
use crate::engine::Sim;
use crate::fair::Fair;
use crate::hardware::{Hardware, Memory};
use crate::latency::Latencies;
use crate::loops;
use crate::topology::Topology;
use crate::trace::{NoTrace, Trace};
use crate::world::MAX_LOOPS;
mod frequency;
mod hotplug;
mod steps;

pub(crate) use frequency::Governed;
use hotplug::Hotplug;
pub(crate) use hotplug::Prepared;
use kernel::Kernel;
use machine::{CpuSet, IdleState, Machine};
use setting::{HotplugStep, Prefetch, Setting};
use workload::{Metric, Op, Reading, Workload};

/// Everything that replicas of one variant share.
#[derive(Debug)]
pub struct Scenario {
    pub(crate) topo: Topology,
    pub(crate) hw: Hardware,
    pub(crate) idle_states: Vec<IdleState>,
    pub(crate) kernel: Kernel,
    pub(crate) workload: Workload,
    /// Caches and memory, where a program uses them.
    pub(crate) memory: Option<Memory>,
    /// Moves of a contended line for each access to it, where a program contends.
    pub(crate) contend_transfers: f64,
    pub(crate) hotplug: Hotplug,
    /// Clocks that move, where the scenario says who governs them.
    pub(crate) governed: Option<Governed>,
    /// The machine's name.
    pub(crate) machine: String,
}

/// What one run gives.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Metrics in the workload's order.
    pub metrics: Vec<f64>,
    /// By metric: the single times that it is the mean of, in its unit and the order of their ends; none where the reading
    /// gives none (see [`Reading::single_times`]).
    pub single_times: Vec<Vec<f64>>,
    /// Counters.
    pub counters: Counters,
    /// Length of the run in simulated time, in ns.
    pub end_ns: u64,
    /// Energy of each package over the run, in J; none where clocks are not modelled.
    pub energy_j: Vec<f64>,
}

impl Scenario {
    /// Prepares `workload` for `machine` under `kernel`.
    pub fn new(
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
    ) -> Result<Scenario, SimError> {
        Scenario::in_setting(machine, kernel, workload, &Setting::default())
    }

    /// The same with CPUs that go offline and come online while the run lasts, in the order of `steps`.
    ///
    /// # Errors
    /// As [`Scenario::in_setting`].
    pub fn with_hotplug(
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        steps: &[HotplugStep],
    ) -> Result<Scenario, SimError> {
        let setting = Setting { hotplug: steps.to_vec(), ..Setting::default() };
        Scenario::in_setting(machine, kernel, workload, &setting)
    }

    /// The same with what else happens around the workload.
    ///
    /// # Errors
    /// Besides those of [`Scenario::new`], steps that cannot be taken: [`SimError::HotplugCpu`],
    /// [`SimError::HotplugState`], [`SimError::HotplugLast`], [`SimError::HotplugOrder`]; clocks that cannot be
    /// governed so: [`SimError::Frequency`], [`SimError::NoPolicies`], [`SimError::NoCppc`], [`SimError::Boost`].
    pub fn in_setting(
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<Scenario, SimError> {
        if setting.prefetch != Prefetch::default() || workload.guests.is_some() {
            return Err(SimError::Guests {
                field: "workload",
                found: "guests, or a use of the prefetch engine without them".to_string(),
                expected: "neither, or both on a host (`sim::hypervisor`)".to_string(),
            });
        }
        if machine.idle_states.is_empty() {
            return Err(SimError::IdleStates { machine: machine.name.clone() });
        }
        let domains = kernel::build(machine, kernel)?;
        let topo = Topology::new(machine, &domains);
        let hotplug = Hotplug::new(machine, kernel, &setting.hotplug)?;
        let all = Machine { online: hotplug.ever_online.clone(), ..machine.clone() };
        // Costs are those of all CPUs that ever run.
        let widest = match all.online == machine.online {
            true => None,
            false => Some(Topology::new(&all, &kernel::build(&all, kernel)?)),
        };
        let widest = widest.as_ref().unwrap_or(&topo);
        let hw = Hardware::new(machine, widest)?;
        check(&workload, &machine.online, &all.online)?;
        steps::check(&workload)?;
        let memory = if uses(&workload, |op| matches!(op, Op::Memory(_))) {
            Some(Memory::new(machine, widest)?)
        } else {
            None
        };
        let contend_transfers = if uses(&workload, |op| matches!(op, Op::Contend { .. })) {
            let missing = |e| SimError::Constant { machine: machine.name.clone(), missing: e };
            machine.constants.value("contend_transfers_per_round").map_err(missing)?
        } else {
            0.0
        };
        let governed = (setting.frequency.as_ref())
            .map(|choice| Governed::new(machine, kernel, widest, choice))
            .transpose()?;
        Ok(Scenario {
            topo,
            hw,
            idle_states: idle_states(machine),
            kernel: kernel.clone(),
            workload,
            memory,
            contend_transfers,
            hotplug,
            governed,
            machine: machine.name.clone(),
        })
    }

    /// The workload.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// What the scenario's machine looks like to a class at the start.
    pub fn topology(&self) -> &Topology {
        &self.topo
    }

    /// What it looks like after hotplug step `step`, from 0; `None` where there are fewer.
    pub fn topology_after(&self, step: usize) -> Option<&Topology> {
        self.hotplug.steps.get(step).map(|s| self.hotplug.topology(s))
    }

    /// One run under the fair class. The same seed gives the same result on any machine.
    pub fn run(&self, seed: u64) -> Result<RunResult, SimError> {
        self.run_traced(seed, &mut NoTrace)
    }

    /// The same run, watched by `trace`, which cannot change it.
    pub fn run_traced(&self, seed: u64, trace: &mut impl Trace) -> Result<RunResult, SimError> {
        self.run_with(Fair::new(&self.topo, &self.kernel), seed, trace)
    }

    /// One run under another class, which must be as it is at boot. It has to keep to the affinities of tasks.
    pub fn run_with(
        &self,
        class: impl Class,
        seed: u64,
        trace: &mut impl Trace,
    ) -> Result<RunResult, SimError> {
        let mut sim = Sim::new(self, class, seed, trace)?;
        sim.run()?;
        let metrics = self
            .workload
            .metrics
            .iter()
            .map(|m| read(m, &sim.marks, &sim.counted, &sim.recorded))
            .collect::<Result<_, _>>()?;
        let single_times = |m: &Metric| single_times(m.reading, &sim.recorded);
        let single_times = self.workload.metrics.iter().map(single_times).collect();
        let end_ns = sim.w.now_ns;
        let energy_j = sim.energies_j();
        Ok(RunResult { metrics, single_times, end_ns, energy_j, counters: sim.w.counters })
    }
}

fn uses(workload: &Workload, which: impl Fn(&Op) -> bool) -> bool {
    workload.programs.iter().any(|p| p.ops.iter().any(&which))
}

/// Affinities that leave a CPU, at the start or at some time, and loops that a task can count.
fn check(workload: &Workload, online: &CpuSet, ever_online: &CpuSet) -> Result<(), SimError> {
    let usable = |task: &str, set: &CpuSet, online: &CpuSet| {
        if set.intersects(online) {
            return Ok(());
        }
        Err(SimError::Affinity {
            task: task.to_string(),
            found: set.to_string(),
            online: online.to_string(),
        })
    };
    for program in &workload.programs {
        let loops = loops::depth(&program.ops);
        if loops > MAX_LOOPS {
            return Err(SimError::Loops {
                program: program.name.clone(),
                found: loops,
                max: MAX_LOOPS,
            });
        }
        for op in &program.ops {
            if let Op::SetAffinity(set) = op {
                usable(&program.name, set, ever_online)?;
            }
        }
    }
    for clients in &workload.clients {
        usable("clients' interrupts", &clients.irq_cpus, online)?;
    }
    check_shared(workload)?;
    for spawn in &workload.spawns {
        if let Some(set) = &spawn.affinity {
            usable(&workload.programs[spawn.program.0 as usize].name, set, online)?;
        }
    }
    Ok(())
}

/// Queues that hold something, devices that serve, and barriers that someone comes to.
fn check_shared(workload: &Workload) -> Result<(), SimError> {
    let refuse =
        |field: String, found: String, expected| Err(SimError::Workload { field, found, expected });
    for (at, queue) in workload.queues.iter().enumerate() {
        if let Some(c) = queue.capacity
            && !(1..=c.messages).contains(&c.wake_writers_at)
        {
            let found = format!("{} of {} messages", c.wake_writers_at, c.messages);
            return refuse(
                format!("queue {at}: wake_writers_at"),
                found,
                "1 to the capacity, which is at least 1",
            );
        }
    }
    for (at, device) in workload.devices.iter().enumerate() {
        if device.slots == 0 || device.together == 0 {
            let found = format!("{} and {}", device.slots, device.together);
            return refuse(format!("device {at}: slots and together"), found, "at least 1 of each");
        }
    }
    match workload.barriers.iter().position(|&parties| parties == 0) {
        Some(at) => refuse(format!("barrier {at}: parties"), "0".to_string(), "at least 1"),
        None => Ok(()),
    }
}

fn read(
    metric: &Metric,
    marks: &[Option<u64>],
    counted: &[u64],
    recorded: &[Latencies],
) -> Result<f64, SimError> {
    let seconds = |from: workload::MarkId, to: workload::MarkId| {
        let (from, to) = (marks[from.index()]?, marks[to.index()]?);
        Some((to.checked_sub(from)?) as f64 / 1e9)
    };
    let missing = || SimError::Mark { metric: metric.name.clone() };
    let none = || SimError::NoTimes { metric: metric.name.clone() };
    match metric.reading {
        Reading::Seconds { from, to, scale } => Ok(seconds(from, to).ok_or_else(missing)? * scale),
        Reading::UnitsPerSecond { counter, from, to } => {
            Ok(counted[counter.index()] as f64 / seconds(from, to).ok_or_else(missing)?)
        }
        Reading::RecordsPerSecond { histogram, units, from, to } => {
            let count = recorded[histogram.index()].count();
            Ok(count as f64 * units / seconds(from, to).ok_or_else(missing)?)
        }
        Reading::BestPerSecond { histogram, units } => {
            let least_ns = recorded[histogram.index()].least_ns().ok_or_else(none)?;
            Ok(units / (least_ns.max(1) as f64 / 1e9))
        }
        Reading::MeanUs(histogram) => recorded[histogram.index()].mean_us().ok_or_else(none),
        Reading::TimesMs { histogram, scale } => {
            Ok(recorded[histogram.index()].mean_us().ok_or_else(none)? / 1e3 * scale)
        }
        Reading::Guests(_) => Err(missing()),
        Reading::PercentileUs { histogram, percent } => {
            recorded[histogram.index()].percentile_us(percent).ok_or_else(none)
        }
    }
}

fn single_times(reading: Reading, recorded: &[Latencies]) -> Vec<f64> {
    let Some((histogram, scale)) = reading.single_times() else { return vec![] };
    recorded[histogram.index()].single_ns().iter().map(|&ns| ns as f64 * scale).collect()
}

/// Idle states with the time that it takes to leave them: firmware may tell the kernel more of the deepest than it needs.
fn idle_states(machine: &Machine) -> Vec<IdleState> {
    let mut states = machine.idle_states.clone();
    let exit_us = machine.constants.value("deepest_idle_exit_us");
    if let (Some(deepest), Ok(us)) = (states.last_mut(), exit_us) {
        deepest.exit_latency_ns = (us * 1e3) as u64;
    }
    states
}
