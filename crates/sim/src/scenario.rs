//! The simulator's front door: a machine, a kernel and a workload in a setting, run under a class, and what a run gives.
//!
//! `crate::setup` prepares and checks, `crate::engine` runs; metrics are read here from what a run recorded.

use crate::SimError;
use crate::class::Class;
use crate::engine::{Core, Modelled, Recording, Sim, Sourced};
use crate::fair::Fair;
use crate::latency::Latencies;
use crate::rng::{Purpose, Stream};
use crate::run::RunResult;
use crate::setup::Setup;
use crate::source::Source;
use crate::topology::Topology;
use crate::trace::{NoTrace, Trace};
use kernel::Kernel;
use machine::Machine;
use setting::{HotplugStep, Setting};
use workload::{Metric, Reading, Workload};

/// A prepared variant, ready to run with any number of seeds.
#[derive(Debug)]
pub struct Scenario {
    pub(crate) setup: Setup,
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
        Ok(Scenario { setup: Setup::new(machine, kernel, workload, setting)? })
    }

    /// The workload.
    pub fn workload(&self) -> &Workload {
        &self.setup.workload
    }

    /// What the scenario's machine looks like to a class at the start.
    pub fn topology(&self) -> &Topology {
        &self.setup.topo
    }

    /// What it looks like after hotplug step `step`, from 0; `None` where there are fewer.
    pub fn topology_after(&self, step: usize) -> Option<&Topology> {
        self.setup.hotplug.steps.get(step).map(|s| self.setup.hotplug.topology(s))
    }

    /// One run under the fair class. The same seed gives the same result on any machine.
    pub fn run(&self, seed: u64) -> Result<RunResult, SimError> {
        self.run_traced(seed, &mut NoTrace)
    }

    /// The same run, watched by `trace`, which cannot change it.
    pub fn run_traced(&self, seed: u64, trace: &mut impl Trace) -> Result<RunResult, SimError> {
        self.run_with(Fair::new(&self.setup.topo, &self.setup.kernel), seed, trace)
    }

    /// One run under another class, which must be as it is at boot. It has to keep to the affinities of tasks.
    pub fn run_with(
        &self,
        class: impl Class,
        seed: u64,
        trace: &mut impl Trace,
    ) -> Result<RunResult, SimError> {
        self.run_under(Modelled::new(class), seed, trace)
    }

    /// One run under the code of a kernel tree, which has just booted on the scenario's machine.
    ///
    /// # Errors
    /// As [`Scenario::run`], and [`SimError::SourceSetting`] for what a tree's code cannot do yet.
    pub fn run_source(
        &self,
        source: impl Source,
        seed: u64,
        trace: &mut impl Trace,
    ) -> Result<RunResult, SimError> {
        if !self.setup.hotplug.steps.is_empty() {
            return Err(SimError::SourceSetting {
                field: "hotplug",
                found: format!("{} steps", self.setup.hotplug.steps.len()),
                expected: "none: CPUs go offline before the run, as with `smt`",
            });
        }
        let tick_ns = 1_000_000_000 / u64::from(self.setup.kernel.hz);
        if source.tick_ns() != tick_ns {
            return Err(SimError::SourceSetting {
                field: "hz",
                found: (1_000_000_000 / source.tick_ns()).to_string(),
                expected: "the variant's",
            });
        }
        let phase_ns = Stream::new(seed, Purpose::Start).below(tick_ns);
        let core = Sourced::new(source, self.setup.topo.nr_cpus, phase_ns, seed);
        self.run_under(core, seed, trace)
    }

    fn run_under(
        &self,
        core: impl Core,
        seed: u64,
        trace: &mut impl Trace,
    ) -> Result<RunResult, SimError> {
        let mut sim = Sim::new(&self.setup, core, seed, trace)?;
        sim.run()?;
        let metrics = self
            .setup
            .workload
            .metrics
            .iter()
            .map(|m| read(m, &sim.recording))
            .collect::<Result<_, _>>()?;
        let single_times = |m: &Metric| single_times(m.reading, &sim.recording.recorded);
        let single_times = self.setup.workload.metrics.iter().map(single_times).collect();
        let end_ns = sim.w.now_ns;
        let energy_j = sim.energies_j();
        Ok(RunResult { metrics, single_times, end_ns, energy_j, counters: sim.w.counters })
    }
}

fn read(
    metric: &Metric,
    Recording { recorded, counted, marks }: &Recording,
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
        Reading::Partitions(_) => Err(missing()),
        Reading::PercentileUs { histogram, percent } => {
            recorded[histogram.index()].percentile_us(percent).ok_or_else(none)
        }
    }
}

fn single_times(reading: Reading, recorded: &[Latencies]) -> Vec<f64> {
    let Some((histogram, scale)) = reading.single_times() else { return vec![] };
    recorded[histogram.index()].single_ns().iter().map(|&ns| ns as f64 * scale).collect()
}
