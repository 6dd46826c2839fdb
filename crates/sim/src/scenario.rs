//! A machine, a kernel and a workload prepared for running, and what a run gives.

use crate::SimError;
use crate::class::Class;
use crate::counters::Counters;
use crate::engine::Sim;
use crate::fair::Fair;
use crate::hardware::Hardware;
use crate::topology::Topology;
use crate::trace::{NoTrace, Trace};
use crate::world::MAX_LOOPS;
use kernel::{Kernel, Version};
use machine::{CpuSet, IdleState, Machine};
use workload::{Op, Reading, Workload};

/// Everything that replicas of one variant share.
#[derive(Debug)]
pub struct Scenario {
    pub(crate) topo: Topology,
    pub(crate) hw: Hardware,
    pub(crate) idle_states: Vec<IdleState>,
    pub(crate) kernel: Kernel,
    pub(crate) workload: Workload,
}

/// What one run gives.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// Metrics in the workload's order.
    pub metrics: Vec<f64>,
    /// Counters.
    pub counters: Counters,
    /// Length of the run in simulated time, in ns.
    pub end_ns: u64,
}

impl Scenario {
    /// Prepares `workload` for `machine` under `kernel`.
    pub fn new(
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
    ) -> Result<Scenario, SimError> {
        if kernel.version < Version::new(4, 18) {
            return Err(SimError::Kernel { found: kernel.version.to_string() });
        }
        if machine.idle_states.is_empty() {
            return Err(SimError::IdleStates { machine: machine.name.clone() });
        }
        let domains = kernel::build(machine, kernel)?;
        let topo = Topology::new(machine, &domains);
        let hw = Hardware::new(machine, &topo)?;
        check(&workload, machine.online)?;
        Ok(Scenario {
            topo,
            hw,
            idle_states: machine.idle_states.clone(),
            kernel: kernel.clone(),
            workload,
        })
    }

    /// The workload.
    pub fn workload(&self) -> &Workload {
        &self.workload
    }

    /// What the scenario's machine looks like to a class.
    pub fn topology(&self) -> &Topology {
        &self.topo
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
        let mut sim = Sim::new(self, class, seed, trace);
        sim.run()?;
        let metrics = self
            .workload
            .metrics
            .iter()
            .map(|m| {
                read(&m.reading, &sim.marks, &sim.counted)
                    .ok_or_else(|| SimError::Mark { metric: m.name.clone() })
            })
            .collect::<Result<_, _>>()?;
        Ok(RunResult { metrics, end_ns: sim.w.now_ns, counters: sim.w.counters })
    }
}

/// Affinities that leave a CPU, and loops that a task can count.
fn check(workload: &Workload, online: CpuSet) -> Result<(), SimError> {
    let usable = |task: &str, set: CpuSet| {
        if set.intersects(&online) {
            return Ok(());
        }
        Err(SimError::Affinity {
            task: task.to_string(),
            found: set.to_string(),
            online: online.to_string(),
        })
    };
    for program in &workload.programs {
        let loops = program.ops.iter().filter(|op| matches!(op, Op::Loop { .. })).count();
        if loops > MAX_LOOPS {
            return Err(SimError::Loops {
                program: program.name.clone(),
                found: loops,
                max: MAX_LOOPS,
            });
        }
        for op in &program.ops {
            if let Op::SetAffinity(set) = op {
                usable(&program.name, *set)?;
            }
        }
    }
    for spawn in &workload.spawns {
        if let Some(set) = spawn.affinity {
            usable(&workload.programs[spawn.program.0 as usize].name, set)?;
        }
    }
    Ok(())
}

fn read(reading: &Reading, marks: &[Option<u64>], counted: &[u64]) -> Option<f64> {
    let seconds = |from: workload::MarkId, to: workload::MarkId| {
        let (from, to) = (marks[from.0 as usize]?, marks[to.0 as usize]?);
        Some((to.checked_sub(from)?) as f64 / 1e9)
    };
    match *reading {
        Reading::Seconds { from, to, scale } => Some(seconds(from, to)? * scale),
        Reading::UnitsPerSecond { counter, from, to } => {
            Some(counted[counter.0 as usize] as f64 / seconds(from, to)?)
        }
    }
}
