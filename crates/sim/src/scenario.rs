//! The simulator's front door: a machine, a kernel and a workload in a setting, run under a class, and what a run gives.
//!
//! `crate::setup` prepares and checks, `crate::engine` runs; metrics are read here from what a run recorded.

use crate::SimError;
use crate::class::Class;
use crate::engine::{Core, Modelled, Recording, Sim, Sourced};
use crate::fair::Fair;
use crate::inspect::{Inspector, Margins};
use crate::judge::{Agreement, Judge};
use crate::latency::Latencies;
use crate::rng::{Purpose, Stream};
use crate::rt::classes::Classes;
use crate::run::RunResult;
use crate::setup::Setup;
use crate::source::{Governing, Source};
use crate::topology::Topology;
use crate::trace::{NoTrace, Trace};
use kernel::Kernel;
use machine::Machine;
use setting::{HotplugStep, Setting};
use workload::{Metric, Policy, Reading, Workload};

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

    /// What a kernel's own cpufreq is told where its governors are to govern: to be done before [`Scenario::run_source`].
    pub fn governing(&self) -> Option<Governing> {
        self.setup.governed.as_ref().filter(|g| !g.by_model)?.governing()
    }

    /// Whether the model has what the scenario's control groups ask for.
    ///
    /// # Errors
    /// What the kernel would refuse, and what only a kernel's own code has: [`SimError::Groups`].
    pub fn check_groups(&self) -> Result<(), SimError> {
        self.setup.model_groups.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// One run under the fair class. The same seed gives the same result on any machine.
    pub fn run(&self, seed: u64) -> Result<RunResult, SimError> {
        self.run_traced(seed, &mut NoTrace)
    }

    /// The same run, watched by `trace`, which cannot change it.
    pub fn run_traced(&self, seed: u64, trace: &mut impl Trace) -> Result<RunResult, SimError> {
        let groups = self.setup.model_groups.as_ref().map_err(Clone::clone)?;
        let mut fair = Fair::with_groups(&self.setup.topo, &self.setup.kernel, &groups.class);
        if let Some(memory) = self.setup.memory.as_ref().filter(|_| self.setup.numa_balancing) {
            fair = fair.with_numa(memory);
        }
        if self.setup.policies.iter().all(|policy| policy.is_fair()) {
            return self.run_with(fair, seed, trace);
        }
        let (cpus, release) = (self.setup.topo.nr_cpus, self.setup.kernel.version);
        self.run_with(Classes::new(fair, cpus, release), seed, trace)
    }

    /// One run under another class, which must be as it is at boot. It has to keep to the affinities of tasks.
    pub fn run_with(
        &self,
        class: impl Class,
        seed: u64,
        trace: &mut impl Trace,
    ) -> Result<RunResult, SimError> {
        let expected = "no deadlines without a tree's code: the model has no such class";
        self.refuse_policies(expected, |policy| matches!(policy, Policy::Deadline { .. }))?;
        self.run_under(Modelled::new(class), seed, trace).map(|(result, _)| result)
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
        self.run_under(self.sourced(source, seed)?, seed, trace).map(|(result, _)| result)
    }

    /// The same, and the model's answer to each question that the tree's code decides.
    ///
    /// # Errors
    /// As [`Scenario::run_source`], and a library that tells no decisions.
    pub fn run_judged(
        &self,
        source: impl Source,
        seed: u64,
    ) -> Result<(RunResult, Agreement), SimError> {
        if !self.setup.hotplug.steps.is_empty() {
            return Err(SimError::SourceSetting {
                field: "hotplug",
                found: format!("{} steps", self.setup.hotplug.steps.len()),
                expected: "none where decisions are judged: domains stay as they are",
            });
        }
        if !self.setup.groups.is_empty() {
            return Err(SimError::SourceSetting {
                field: "groups",
                found: "some".to_string(),
                expected: "none where decisions are judged: records do not tell of groups",
            });
        }
        let expected = "none where decisions are judged: records do not tell them";
        self.refuse_policies(expected, |_| true)?;
        let core = self.sourced(source, seed)?.judged_by(Judge::new(&self.setup));
        let core = core.map_err(|reason| SimError::Source { reason })?;
        let (result, core) = self.run_under(core, seed, &mut NoTrace)?;
        Ok((result, core.agreement().unwrap_or_default()))
    }

    /// The same as [`Scenario::run_source`], checked for what a scheduler has to keep, which changes nothing of the run; a
    /// run too short for the workload's metrics will do.
    ///
    /// # Errors
    /// As [`Scenario::run_source`], and [`SimError::Broken`], which ends the run.
    pub fn run_inspected(&self, source: impl Source, seed: u64) -> Result<Margins, SimError> {
        if self.setup.shared {
            return Err(SimError::SourceSetting {
                field: "groups",
                found: "core_cookie or session".to_string(),
                expected: "none where invariants are checked: with cookies CPUs are idle on purpose",
            });
        }
        let tick_ns = source.tick_ns();
        let core = self.sourced(source, seed)?;
        let core = core.inspected_by(Inspector::new(self.setup.topo.nr_cpus, tick_ns));
        let mut trace = NoTrace;
        let mut sim = Sim::new(&self.setup, core, seed, &mut trace)?;
        sim.run()?;
        Ok(sim.core.margins().unwrap_or_default())
    }

    /// Refuses the policies that `other` tells where only `expected` will do.
    fn refuse_policies(
        &self,
        expected: &'static str,
        other: impl Fn(Policy) -> bool,
    ) -> Result<(), SimError> {
        let Some(found) = self.setup.policies.iter().find(|&&policy| other(policy)) else {
            return Ok(());
        };
        let field = "policies of tasks".to_string();
        Err(SimError::Workload { field, found: found.to_string(), expected })
    }

    fn sourced<S: Source>(&self, source: S, seed: u64) -> Result<Sourced<'_, S>, SimError> {
        let tick_ns = 1_000_000_000 / u64::from(self.setup.kernel.hz);
        if source.tick_ns() != tick_ns {
            return Err(SimError::SourceSetting {
                field: "hz",
                found: (1_000_000_000 / source.tick_ns()).to_string(),
                expected: "the variant's",
            });
        }
        let phase_ns = Stream::new(seed, Purpose::Start).below(tick_ns);
        Ok(Sourced::new(source, self.setup.topo.nr_cpus, phase_ns, seed))
    }

    fn run_under<K: Core>(
        &self,
        core: K,
        seed: u64,
        trace: &mut impl Trace,
    ) -> Result<(RunResult, K), SimError> {
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
        let (energy_j, power_w) = (sim.energies_j(), sim.power_w());
        let counters = sim.w.counters;
        Ok((RunResult { metrics, single_times, end_ns, energy_j, power_w, counters }, sim.core))
    }
}

fn read(
    metric: &Metric,
    Recording { recorded, counted, marks, .. }: &Recording,
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
        Reading::WithinPerSecond { histogram, within_ns, from, to } => {
            let count = recorded[histogram.index()].count_within(within_ns);
            Ok(count as f64 / seconds(from, to).ok_or_else(missing)?)
        }
        Reading::SumOfRates { histogram, units } => {
            let rates = recorded[histogram.index()].rates_per_s();
            Ok(units * rates.ok_or_else(none)?)
        }
        Reading::PercentOfTime { histogram, parties, from, to } => {
            let spent_s = recorded[histogram.index()].sum_ns() as f64 / 1e9;
            Ok(100.0 * spent_s / (parties * seconds(from, to).ok_or_else(missing)?))
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
