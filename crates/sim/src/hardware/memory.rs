//! Caches and memory as numbers: who shares what, how large, how far, how fast.

use super::Handover;
use crate::SimError;
use crate::topology::{Cpu, Distance, Topology};
use machine::{CacheKind, Machine};

/// Cache levels that are modelled.
pub(crate) const MAX_LEVELS: usize = 4;

/// One data cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cache {
    pub(crate) size_bytes: f64,
    /// What a hit costs beyond the core cycles, at the nominal clock; 0 in the L1.
    pub(crate) hit_ns: f64,
    /// Whether that goes with the core's clock.
    pub(crate) at_core_clock: bool,
    /// Stands for its place among the others.
    first: Cpu,
    /// Whether it is the last on the way to memory.
    pub(crate) last_level: bool,
}

/// The memory system of a machine.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) line_bytes: f64,
    pub(crate) caches: Vec<Cache>,
    /// By CPU: its caches, L1 first.
    paths: Vec<Box<[u16]>>,
    /// By CPU: its node's index among the machine's nodes.
    pub(crate) node_of: Vec<u16>,
    /// By node: its number.
    pub(crate) node_ids: Vec<u32>,
    /// By node of the CPU and node of the memory, row by row.
    pub(crate) latency_ns: Vec<f64>,
    /// By node, in bytes a ns.
    pub(crate) bandwidth: Vec<f64>,
}

impl Memory {
    /// Reads what `machine` says of its caches and the constants for the levels and distances that it has.
    pub(crate) fn new(machine: &Machine, topo: &Topology) -> Result<Memory, SimError> {
        let (caches, by_index, line_bytes) = caches(machine)?;
        let paths: Vec<Box<[u16]>> = (0..machine.cpus.len())
            .map(|cpu| {
                let holds = |i: &usize| machine.caches[*i].cpus.contains(cpu);
                let data = (0..machine.caches.len()).filter(holds).filter_map(|i| by_index[i]);
                data.take(MAX_LEVELS).collect()
            })
            .collect();
        if let Some(&cpu) = topo.online.iter().find(|&&c| paths[c as usize].is_empty()) {
            return Err(no_cache(machine, cpu as usize, "none"));
        }
        let mut caches = caches;
        for path in &paths {
            if let Some(&last) = path.last() {
                caches[last as usize].last_level = true;
            }
        }
        let node_index = |id: u32| machine.nodes.iter().position(|n| n.id == id).unwrap_or(0);
        let node_of = machine.cpus.iter().map(|c| node_index(c.node) as u16).collect();
        let latency_ns = latencies(machine)?;
        Ok(Memory {
            line_bytes,
            caches,
            paths,
            node_of,
            node_ids: machine.nodes.iter().map(|n| n.id).collect(),
            latency_ns,
            bandwidth: bandwidth(machine)?,
        })
    }

    /// The caches of `cpu`, L1 first.
    pub(crate) fn path(&self, cpu: Cpu) -> &[u16] {
        &self.paths[cpu as usize]
    }

    /// How far from `cpu` a cache is that is not its own.
    pub(crate) fn distance(&self, topo: &Topology, cpu: Cpu, cache: u16) -> Distance {
        topo.distance(cpu, self.caches[cache as usize].first)
    }
}

fn no_cache(machine: &Machine, cpu: usize, found: &str) -> SimError {
    SimError::Caches { machine: machine.name.clone(), cpu, found: found.to_string() }
}

fn constant(machine: &Machine, name: &str) -> Result<f64, SimError> {
    let missing = |e| SimError::Constant { machine: machine.name.clone(), missing: e };
    machine.constants.value(name).map_err(missing)
}

/// The data caches, the number of each by its index in the model, and the line size of the first level.
type Numbered = (Vec<Cache>, Vec<Option<u16>>, f64);

fn caches(machine: &Machine) -> Result<Numbered, SimError> {
    let (mut caches, mut by_index, mut line_bytes) = (Vec::new(), Vec::new(), None);
    for cache in &machine.caches {
        let first = cache.cpus.first().filter(|_| cache.kind != CacheKind::Instruction);
        let Some(first) = first else {
            by_index.push(None);
            continue;
        };
        let size = cache.size_kib.ok_or_else(|| no_cache(machine, first, "no size"))?;
        let line = cache.line_bytes.ok_or_else(|| no_cache(machine, first, "no line size"))?;
        line_bytes = line_bytes.or(Some(f64::from(line)));
        by_index.push(Some(caches.len() as u16));
        caches.push(Cache {
            size_bytes: f64::from(size) * 1024.0,
            hit_ns: hit_ns(machine, cache.level)?,
            at_core_clock: cache.level <= 2 || llc_slower(machine).is_some(),
            first: first as Cpu,
            last_level: false,
        });
    }
    let line_bytes = line_bytes.ok_or_else(|| no_cache(machine, 0, "none"))?;
    Ok((caches, by_index, line_bytes))
}

/// How much longer what happens within a last-level cache takes at the nominal clock than it was measured to take at `llc_clock_khz`;
/// `None` where the core's clock does not matter there.
fn llc_slower(machine: &Machine) -> Option<f64> {
    let clock = |name| machine.constants.value(name).ok();
    Some(clock("llc_clock_khz")? / clock("nominal_khz")?)
}

/// The L1's latency is part of a program's core cycles; an L2 runs with the core's clock.
fn hit_ns(machine: &Machine, level: u8) -> Result<f64, SimError> {
    match level {
        0 | 1 => Ok(0.0),
        2 => Ok(constant(machine, "l2_latency_cycles")? / constant(machine, "nominal_khz")? * 1e6),
        _ => Ok(constant(machine, &format!("l{level}_latency_ns"))?
            * llc_slower(machine).unwrap_or(1.0)),
    }
}

/// Package of each node with CPUs; memory without CPUs is as far as another package.
fn packages(machine: &Machine) -> Vec<Option<u32>> {
    let package = |cpu: usize| machine.cpus.get(cpu).map(|c| c.package);
    machine.nodes.iter().map(|n| n.cpus.first().and_then(package)).collect()
}

fn latencies(machine: &Machine) -> Result<Vec<f64>, SimError> {
    let packages = packages(machine);
    let mut out = Vec::with_capacity(packages.len() * packages.len());
    for (i, from) in packages.iter().enumerate() {
        for (j, home) in packages.iter().enumerate() {
            let name = match (i == j, from.is_some() && from == home) {
                (true, _) => "memory_latency_ns",
                (false, true) => "memory_latency_package_ns",
                (false, false) => "memory_latency_remote_ns",
            };
            out.push(constant(machine, name)?);
        }
    }
    Ok(out)
}

/// The nodes of a package share its channels evenly; 1 GB/s is 1 byte a ns.
fn bandwidth(machine: &Machine) -> Result<Vec<f64>, SimError> {
    let of_package = constant(machine, "memory_package_gb_per_s")?;
    let packages = packages(machine);
    let sharing = |p: &Option<u32>| packages.iter().filter(|q| *q == p).count() as f64;
    Ok(packages.iter().map(|p| of_package / sharing(p)).collect())
}

/// Distances over which lines travel between caches.
pub(crate) fn handovers(
    machine: &Machine,
    topo: &Topology,
) -> Result<[Handover; Distance::COUNT], SimError> {
    let mut out = [Handover::default(); Distance::COUNT];
    for distance in topo.distances() {
        let Some(name) = distance.handover_constant() else { continue };
        let slower = llc_slower(machine).filter(|_| distance <= Distance::Llc);
        out[distance as usize] = Handover {
            ns: constant(machine, name)? * slower.unwrap_or(1.0),
            at_core_clock: slower.is_some(),
        };
    }
    Ok(out)
}
