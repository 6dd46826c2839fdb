//! What clock a core gets when it is asked for a P-state, and what that takes.
//!
//! A core whose request is P0 boosts: to a ceiling that falls with the number of active cores of its package (linearly
//! from `boost_khz` to `boost_all_cores_khz`) and with what is left of the package's power limit. Firmware decides anew
//! in slots; a request takes effect in the first slot after the transition time. Temperature has no part in it.
//!
//! A busy core takes `core_w x (f / nominal) ^ core_power_exponent`, with another exponent below the nominal clock, and more where several of
//! its threads are busy. While it waits for memory or for lines of others, it takes the part `core_stall_power_ratio` of that. An idle one
//! takes `core_shallow_w` or, in the deepest state, nothing beyond the package's floor `package_idle_w`. The uncore is in that floor, but for
//! what goes with the traffic of the package's memory (`memory_w_per_gb_per_s`).

use crate::SimError;
use crate::topology::{Cpu, Topology};
use machine::{CpuSet, Machine};
use std::collections::BTreeMap;

/// Steps in which boost clocks come, in kHz.
const STEP_KHZ: u32 = 25_000;

/// One core: what shares a clock.
#[derive(Debug)]
pub(crate) struct Core {
    /// Its online threads.
    pub(crate) cpus: Box<[Cpu]>,
    pub(crate) package: u16,
}

/// What a package did in a slot, as its firmware sees it.
#[derive(Debug)]
pub(crate) struct PackageLoad {
    /// Cores that were active, on average.
    pub(crate) active: f64,
    /// Busy threads of an active core.
    pub(crate) threads: f64,
    /// The part of their time in which they computed.
    pub(crate) activity: f64,
    /// What the traffic of the package's memory takes.
    pub(crate) memory_w: f64,
}

impl PackageLoad {
    /// One thread computes.
    pub(crate) const LEAST: PackageLoad =
        PackageLoad { active: 1.0, threads: 1.0, activity: 1.0, memory_w: 0.0 };
}

/// Clocks and power of a machine.
#[derive(Debug)]
pub(crate) struct ClockModel {
    /// P0, at which costs in cycles were taken.
    pub(crate) nominal_khz: u32,
    boost_khz: u32,
    boost_all_cores_khz: u32,
    /// How often firmware sets clocks.
    pub(crate) slot_ns: u64,
    /// From a request to the clock that it asks for, without the wait for a slot.
    pub(crate) transition_ns: u64,
    pub(crate) package_idle_w: f64,
    limit_w: f64,
    core_w: f64,
    core_smt_power_ratio: f64,
    core_stall_power_ratio: f64,
    core_shallow_w: f64,
    core_power_exponent: f64,
    core_power_exponent_low: f64,
    memory_w_per_gb_per_s: f64,
    pub(crate) cores: Vec<Core>,
    /// By CPU.
    pub(crate) core_of: Vec<u16>,
    /// By package: its cores.
    pub(crate) packages: Vec<Box<[u16]>>,
    /// By node: the package that its memory hangs on.
    package_of_node: Vec<u16>,
}

impl ClockModel {
    /// Reads the constants that `machine` needs for its clocks to move.
    pub(crate) fn new(machine: &Machine, topo: &Topology) -> Result<ClockModel, SimError> {
        let constant = |name: &str| {
            machine
                .constants
                .value(name)
                .map_err(|e| SimError::Constant { machine: machine.name.clone(), missing: e })
        };
        let khz = |name: &str| constant(name).map(|value| value as u32);
        let (nominal_khz, boost_khz) = (khz("nominal_khz")?, khz("boost_khz")?);
        let boost_all_cores_khz = khz("boost_all_cores_khz")?;
        for (field, found, least) in [
            ("boost_khz", boost_khz, nominal_khz),
            ("boost_all_cores_khz", boost_all_cores_khz, nominal_khz),
            ("boost_khz", boost_khz, boost_all_cores_khz),
        ] {
            if found < least {
                let machine = machine.name.clone();
                return Err(SimError::Boost { machine, field, found, least });
            }
        }
        let (cores, core_of) = cores(machine, topo);
        let nr_packages = cores.iter().map(|c| c.package as usize + 1).max().unwrap_or(1);
        let in_package = |p: usize| {
            (0..cores.len() as u16).filter(|&c| cores[c as usize].package as usize == p).collect()
        };
        Ok(ClockModel {
            nominal_khz,
            boost_khz,
            boost_all_cores_khz,
            slot_ns: (constant("frequency_slot_us")? * 1e3) as u64,
            transition_ns: (constant("frequency_transition_us")? * 1e3) as u64,
            package_idle_w: constant("package_idle_w")?,
            limit_w: constant("tdp_w")?,
            core_w: constant("core_w")?,
            core_smt_power_ratio: constant("core_smt_power_ratio")?,
            core_stall_power_ratio: constant("core_stall_power_ratio")?,
            core_shallow_w: constant("core_shallow_w")?,
            core_power_exponent: constant("core_power_exponent")?,
            core_power_exponent_low: constant("core_power_exponent_low")?,
            memory_w_per_gb_per_s: constant("memory_w_per_gb_per_s")?,
            package_of_node: package_of_node(machine, &cores, &core_of),
            packages: (0..nr_packages).map(in_package).collect(),
            cores,
            core_of,
        })
    }

    /// The package of `cpu`.
    pub(crate) fn package_of(&self, cpu: Cpu) -> usize {
        self.cores[self.core_of[cpu as usize] as usize].package as usize
    }

    /// What a core with `threads` busy threads takes at `khz` beyond the package's floor, in W. They compute for the part `activity` of
    /// their time, and wait for memory and lines in the rest.
    pub(crate) fn busy_w(&self, khz: u32, threads: u8, activity: f64) -> f64 {
        let clock = f64::from(khz) / f64::from(self.nominal_khz);
        let smt = if threads > 1 { self.core_smt_power_ratio } else { 1.0 };
        let exponent =
            if clock < 1.0 { self.core_power_exponent_low } else { self.core_power_exponent };
        self.core_w * smt * self.by_activity(activity) * libm::pow(clock, exponent)
    }

    /// What a node's package takes for so many bytes a ns from and to the node's memory, in W; and which package that is.
    pub(crate) fn memory_w(&self, node: usize, bytes_per_ns: f64) -> (usize, f64) {
        (self.package_of_node[node].into(), self.memory_w_per_gb_per_s * bytes_per_ns)
    }

    /// What an idle core takes beyond the package's floor, in W.
    pub(crate) fn idle_w(&self, deepest: bool) -> f64 {
        if deepest { 0.0 } else { self.core_shallow_w }
    }

    /// The highest clock of a package's cores while it does `load`.
    pub(crate) fn ceiling_khz(&self, package: usize, load: &PackageLoad) -> u32 {
        let cores = self.packages[package].len() as f64;
        let crowd = ((load.active - 1.0) / (cores - 1.0).max(1.0)).clamp(0.0, 1.0);
        let by_number = f64::from(self.boost_khz)
            - crowd * f64::from(self.boost_khz - self.boost_all_cores_khz);
        let smt = 1.0 + (load.threads - 1.0).clamp(0.0, 1.0) * (self.core_smt_power_ratio - 1.0);
        let left_w = (self.limit_w - self.package_idle_w - load.memory_w).max(0.0);
        let core_w = self.core_w * smt * self.by_activity(load.activity);
        let clock =
            libm::pow(left_w / load.active.max(1.0) / core_w, 1.0 / self.core_power_exponent);
        let by_power = clock * f64::from(self.nominal_khz);
        let step = by_number.min(by_power) as u32 / STEP_KHZ * STEP_KHZ;
        step.clamp(self.nominal_khz, self.boost_khz)
    }

    /// What a core takes that computes for the part `activity` of its time, by one that computes all the time.
    fn by_activity(&self, activity: f64) -> f64 {
        let waiting = self.core_stall_power_ratio;
        waiting + (1.0 - waiting) * activity
    }
}

/// By node: the package of its CPUs, 0 for a node without any.
fn package_of_node(machine: &Machine, cores: &[Core], core_of: &[u16]) -> Vec<u16> {
    let package = |cpu: usize| cores[core_of[cpu] as usize].package;
    machine.nodes.iter().map(|node| node.cpus.iter().next().map_or(0, package)).collect()
}

/// Cores in order of their first CPU, and each CPU's core.
fn cores(machine: &Machine, topo: &Topology) -> (Vec<Core>, Vec<u16>) {
    let mut numbers: BTreeMap<(u32, u32), u16> = BTreeMap::new();
    let mut sets: Vec<(CpuSet, u32)> = Vec::new();
    let mut core_of = Vec::with_capacity(machine.cpus.len());
    for (at, cpu) in machine.cpus.iter().enumerate() {
        let next = sets.len() as u16;
        let core = *numbers.entry((cpu.package, cpu.core)).or_insert(next);
        if core == next {
            sets.push((CpuSet::EMPTY, cpu.package));
        }
        sets[core as usize].0.insert(at);
        core_of.push(core);
    }
    let mut packages: Vec<u32> = sets.iter().map(|s| s.1).collect();
    packages.sort_unstable();
    packages.dedup();
    let number = |package: u32| packages.partition_point(|&p| p < package) as u16;
    let cores = sets
        .iter()
        .map(|&(ref set, package)| Core {
            cpus: (set & &topo.online_set).iter().map(|c| c as Cpu).collect(),
            package: number(package),
        })
        .collect();
    (cores, core_of)
}
