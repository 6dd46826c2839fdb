//! Regular machines from counts: so many packages of so many cores of so many threads, and what they share.
//!
//! One builder for everything that describes a machine by its shape: the catalog's files, QEMU's command lines.

mod nodes;
mod span;

pub use nodes::{Distances, Nodes, Place};
pub use span::Span;
pub(crate) use span::sharers;

use crate::constants::Constants;
use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::error::{Fault, MachineError};
use crate::model::{
    Arch, Cache, CacheKind, Cpu, Machine, Origin, OsIds, ThreadGroupProperty, ThreadGroups,
    sort_caches,
};
use serde::Deserialize;

/// How many units of a kind are in one of the next larger kind; packages are in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Packages (sockets, chips) of the machine.
    pub packages: u32,
    /// Dies of a package.
    pub dies: u32,
    /// Clusters of a die.
    pub clusters: u32,
    /// Modules of a cluster.
    pub modules: u32,
    /// Cores of a module.
    pub cores: u32,
    /// Threads of a core.
    pub threads: u32,
}

impl Counts {
    /// Cores of a cluster.
    pub fn cluster_cores(&self) -> u32 {
        self.modules.saturating_mul(self.cores)
    }

    /// Cores of a die.
    pub fn die_cores(&self) -> u32 {
        self.clusters.saturating_mul(self.cluster_cores())
    }

    /// Cores of a package.
    pub fn package_cores(&self) -> u32 {
        self.dies.saturating_mul(self.die_cores())
    }

    /// CPUs of the machine; `None` where a count is 0 or the product is beyond [`MAX_CPUS`].
    fn cpus(&self) -> Option<u32> {
        let all = [self.packages, self.dies, self.clusters, self.modules, self.cores, self.threads];
        let product = all.iter().try_fold(1u32, |product, &n| product.checked_mul(n))?;
        (product > 0 && product as usize <= MAX_CPUS).then_some(product)
    }
}

/// How CPUs are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Threads of a core side by side, as hypervisors and POWER firmware number them.
    ThreadsAdjacent,
    /// First thread 0 of every core of the machine, then thread 1 of every core, as firmware of x86 servers lists them.
    ThreadsApart,
}

/// How hardware threads are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HwIds {
    /// By place: the threads of the first core, those of the second …
    Place,
    /// APIC ids: one bit field for each kind of unit, just wide enough for its count.
    Apic,
    /// MPIDR of cores as QEMU numbers them: affinity level 0 counts to 16, level 1 counts on.
    Mpidr,
    /// PIR of POWER's bare metal: 8 bits below the chip's number, threads of a chip by place.
    Pir,
}

/// How the threads of each core fall into groups by one property (`ibm,thread-groups`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    /// What the threads of a group share.
    pub property: ThreadGroupProperty,
    /// Groups of a core.
    pub groups: u32,
    /// Whether neighbouring threads are in different groups (even and odd threads of two groups), or a group is
    /// a run of neighbours.
    pub interleaved: bool,
}

/// Caches of one level and kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheShape {
    /// 1, 2, 3 …
    pub level: u8,
    /// What they hold.
    pub kind: CacheKind,
    /// Size in KiB, where known.
    pub size_kib: Option<u32>,
    /// Line size in bytes, where known.
    pub line_bytes: Option<u32>,
    /// Ways of associativity, where known.
    pub ways: Option<u32>,
    /// Which CPUs share one.
    pub shared_by: Span,
    /// Whether a kernel on the machine sees them.
    pub origin: Origin,
}

/// A regular machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Architecture.
    pub arch: Arch,
    /// Units of each kind.
    pub counts: Counts,
    /// CPU numbers.
    pub order: Order,
    /// Hardware thread ids.
    pub hw_ids: HwIds,
    /// Cores of what the kernel shows as a cluster; `None` where it shows none.
    pub cluster_cores: Option<u32>,
    /// Whether the kernel tells dies apart; otherwise the package is the die.
    pub dies_shown: bool,
    /// NUMA nodes.
    pub nodes: Nodes,
    /// Thread groups of every core.
    pub thread_groups: Vec<Grouping>,
    /// Caches.
    pub caches: Vec<CacheShape>,
    /// Capacity of CPUs, where known; sets must not overlap.
    pub capacities: Vec<(CpuSet, u32)>,
}

impl Layout {
    /// The machine of this shape, all CPUs online. `file` names the source in errors.
    ///
    /// # Errors
    /// Counts of 0, more than [`MAX_CPUS`] CPUs, and units that do not divide those they are said to divide.
    pub fn build(&self, file: &str, name: &str, title: &str) -> Result<Machine, MachineError> {
        let fail = |field: &str, found: String, expected: &str| MachineError::Field {
            file: file.to_string(),
            field: field.to_string(),
            found,
            expected: expected.to_string(),
        };
        let Some(count) = self.counts.cpus() else {
            let expected = format!("1 to {MAX_CPUS} CPUs");
            return Err(fail("topology", format!("{:?}", self.counts), &expected));
        };
        if let Some(cores) = self.cluster_cores
            && (cores == 0 || !self.counts.package_cores().is_multiple_of(cores))
        {
            let expected = "a divisor of the package's cores";
            return Err(fail("clusters", format!("{cores} cores a cluster"), expected));
        }
        let mut machine = Machine {
            name: name.to_string(),
            title: title.to_string(),
            arch: self.arch,
            cpus: self.cpus(count),
            online: CpuSet::first_n(count as usize),
            caches: Vec::new(),
            nodes: Vec::new(),
            thread_groups: Vec::new(),
            idle_states: Vec::new(),
            policies: Vec::new(),
            cppc: Vec::new(),
            vendor: None,
            smt_control: None,
            costs: None,
            firmware: None,
            constants: Constants::default(),
            unknown: Vec::new(),
        };
        self.set_capacities(&mut machine).map_err(|f| fail("capacities", f.found, &f.expected))?;
        for (i, grouping) in self.thread_groups.iter().enumerate() {
            let groups = self.groups(&machine, grouping).ok_or_else(|| {
                let found =
                    format!("{} groups of {} threads", grouping.groups, self.counts.threads);
                fail(&format!("thread_groups[{i}]"), found, "groups of equal size")
            })?;
            machine.thread_groups.extend(groups);
        }
        nodes::add(&mut machine, &self.nodes)
            .map_err(|(field, f)| fail(&field, f.found, &f.expected))?;
        for (i, cache) in self.caches.iter().enumerate() {
            add_cache(&mut machine, cache)
                .map_err(|f| fail(&format!("cache[{i}].shared_by"), f.found, &f.expected))?;
        }
        sort_caches(&mut machine.caches);
        Ok(machine)
    }

    /// CPUs by number, all on node 0.
    fn cpus(&self, count: u32) -> Vec<Cpu> {
        let threads = self.counts.threads;
        let cores = count / threads;
        let number_of = |core: u32, thread: u32| match self.order {
            Order::ThreadsAdjacent => core * threads + thread,
            Order::ThreadsApart => thread * cores + core,
        };
        let mut cpus: Vec<(u32, Cpu)> = Vec::with_capacity(count as usize);
        for (core, thread) in (0..cores).flat_map(|c| (0..threads).map(move |t| (c, t))) {
            // A unit is numbered by its lowest CPU, which is thread 0 of its first core.
            let first_of = |unit_cores: u32| number_of(core / unit_cores * unit_cores, 0);
            let package_cores = self.counts.package_cores();
            let die = if self.dies_shown { self.counts.die_cores() } else { package_cores };
            let cpu = Cpu {
                hw_id: self.hw_id(core, thread),
                core,
                thread,
                cluster: self.cluster_cores.map(first_of),
                die: first_of(die),
                package: core / package_cores,
                node: 0,
                ids: OsIds::default(),
                capacity: None,
            };
            cpus.push((number_of(core, thread), cpu));
        }
        cpus.sort_by_key(|(number, _)| *number);
        cpus.into_iter().map(|(_, cpu)| cpu).collect()
    }

    fn hw_id(&self, core: u32, thread: u32) -> u32 {
        let counts = &self.counts;
        let package = core / counts.package_cores();
        match self.hw_ids {
            HwIds::Place => core * counts.threads + thread,
            HwIds::Mpidr => {
                let place = core * counts.threads + thread;
                ((place / 16) << 8) | (place % 16)
            }
            HwIds::Pir => {
                let inner = core % counts.package_cores();
                (package << 8) | (inner * counts.threads + thread)
            }
            HwIds::Apic => {
                let fields = [
                    (package, counts.packages),
                    (core / counts.die_cores() % counts.dies, counts.dies),
                    (core / counts.cluster_cores() % counts.clusters, counts.clusters),
                    (core / counts.cores % counts.modules, counts.modules),
                    (core % counts.cores, counts.cores),
                    (thread, counts.threads),
                ];
                let bits = |n: u32| n.next_power_of_two().trailing_zeros();
                fields.iter().fold(0, |id, &(number, of)| (id << bits(of)) | number)
            }
        }
    }

    fn set_capacities(&self, machine: &mut Machine) -> Result<(), Fault> {
        for &(ref cpus, capacity) in &self.capacities {
            for cpu in cpus.iter() {
                match machine.cpus.get_mut(cpu) {
                    Some(c) if c.capacity.is_none() => c.capacity = Some(capacity),
                    _ => {
                        let found = format!("CPU {cpu}");
                        let expected = "CPUs of the machine, each once";
                        return Err(Fault::new(found, expected));
                    }
                }
            }
        }
        Ok(())
    }

    /// The groups of every core; `None` where they cannot be of equal size.
    fn groups(&self, machine: &Machine, grouping: &Grouping) -> Option<Vec<ThreadGroups>> {
        let (threads, groups) = (self.counts.threads, grouping.groups);
        if groups == 0 || !threads.is_multiple_of(groups) {
            return None;
        }
        let group_of = |thread: u32| match grouping.interleaved {
            true => thread % groups,
            false => thread / (threads / groups),
        };
        let mut sets: Vec<Vec<CpuSet>> = Vec::new();
        sets.resize_with((machine.cpus.len() as u32 / threads) as usize, || {
            vec![CpuSet::EMPTY; groups as usize]
        });
        for (number, cpu) in machine.cpus.iter().enumerate() {
            sets[cpu.core as usize][group_of(cpu.thread) as usize].insert(number);
        }
        let of_core = |(core, groups)| ThreadGroups { property: grouping.property, core, groups };
        Some((0..).zip(sets).map(of_core).collect())
    }
}

/// Adds a cache for each set of CPUs that shares one; `shape.shared_by` says which.
pub(crate) fn add_cache(machine: &mut Machine, shape: &CacheShape) -> Result<(), Fault> {
    let sets = sharers(machine, shape.shared_by)?;
    machine.caches.extend(sets.into_iter().map(|cpus| Cache {
        level: shape.level,
        kind: shape.kind,
        size_kib: shape.size_kib,
        line_bytes: shape.line_bytes,
        ways: shape.ways,
        cpus,
        origin: shape.origin,
    }));
    Ok(())
}

#[cfg(test)]
mod tests;
