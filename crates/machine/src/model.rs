//! The machine model: one type that every reader fills and every other crate reads.

use crate::constants::Constants;
use crate::costs::CostTable;
use crate::cpuset::CpuSet;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Processor architecture, which decides the topology levels a kernel builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arch {
    /// POWER, 64 bit.
    Powerpc,
    /// 64-bit Arm.
    Arm64,
    /// x86, 32 or 64 bit.
    X86,
    /// Any other, or one that the source does not name: such a machine can be shown, but no kernel's domains are
    /// known for it.
    Other,
}

/// Firmware's description of a machine that its kernel boots from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Firmware {
    /// ACPI tables.
    Acpi,
    /// A flattened device tree.
    DeviceTree,
}

/// Numbers by which the kernel's topology files call a CPU's core, cluster and die; `None` where the source does not
/// tell them. Unlike [`Cpu::core`] they need not be unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct OsIds {
    /// `core_id`.
    pub core: Option<u32>,
    /// `cluster_id`.
    pub cluster: Option<u32>,
    /// `die_id`.
    pub die: Option<u32>,
    /// `book_id` of s390.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub book: Option<u32>,
    /// `drawer_id` of s390.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawer: Option<u32>,
}

/// A logical CPU (hardware thread). Its number is its index in [`Machine::cpus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// Hardware thread id: `ibm,ppc-interrupt-server#s`, APIC id, MPIDR.
    pub hw_id: u32,
    /// Core number, unique over the machine. On POWER the device tree's CPU node, so a big core is one core.
    pub core: u32,
    /// Position among the core's threads, from 0.
    pub thread: u32,
    /// Cluster of cores, unique over the machine: what the kernel's `cluster_cpus` shows (cores that share an L2 on
    /// x86, the PPTT's or device tree's cluster on arm64); `None` where the source names none.
    pub cluster: Option<u32>,
    /// Die, unique over the machine; the package where the source names none.
    pub die: u32,
    /// Package (socket, chip) number.
    pub package: u32,
    /// NUMA node number ([`Node::id`]).
    pub node: u32,
    /// Numbers in the kernel's topology files.
    pub ids: OsIds,
    /// Capacity at the highest frequency, 1024 for the machine's largest CPU (`cpu_capacity` in sysfs), where known.
    pub capacity: Option<u32>,
}

/// What a cache holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CacheKind {
    /// Instructions only.
    Instruction,
    /// Data only.
    Data,
    /// Both.
    Unified,
}

/// Who says so: what a kernel can see differs from what we know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Firmware tables or sysfs; a kernel on the machine sees it.
    Firmware,
    /// A catalog file adds it from published documents; a kernel does not see it.
    Catalog,
}

/// One cache and the CPUs that share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1, 2, 3 …
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Size in KiB, where known.
    pub size_kib: Option<u32>,
    /// Line size in bytes, where known.
    pub line_bytes: Option<u32>,
    /// Ways of associativity, where known; 0 is fully associative.
    pub ways: Option<u32>,
    /// CPUs that share it.
    pub cpus: CpuSet,
    /// Whether a kernel on the machine sees it.
    pub origin: Origin,
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Node number, as in `/sys/devices/system/node/nodeN`.
    pub id: u32,
    /// Its CPUs, online or not; empty for a memory-only node.
    pub cpus: CpuSet,
    /// Memory in KiB, where known.
    pub memory_kib: Option<u64>,
    /// Distance to each node, in the order of [`Machine::nodes`]; 10 is local.
    pub distances: Vec<u32>,
}

/// What threads of one group share, by the number firmware uses for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThreadGroupProperty {
    /// 1: L1 cache, translation cache and instruction data flow. These groups are the small cores.
    L1,
    /// 2: the L2 cache.
    L2,
    /// Any other number; kept, and used by no kernel that schedscape knows.
    Other(u32),
}

/// One array of `ibm,thread-groups`: how one core's threads fall into groups by one property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadGroups {
    /// What the threads of a group share.
    pub property: ThreadGroupProperty,
    /// The core whose device-tree node carries the property.
    pub core: u32,
    /// The groups in the order of the property; disjoint, together the whole core.
    pub groups: Vec<CpuSet>,
}

/// An idle state that firmware offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleState {
    /// Name, as in `/sys/devices/system/cpu/cpuN/cpuidle/stateM/name`.
    pub name: String,
    /// Time to leave it, in ns.
    pub exit_latency_ns: u64,
    /// Shortest stay that pays, in ns.
    pub target_residency_ns: u64,
    /// Whether a CPU waits there by `MWAIT`: a write of its `TIF_NEED_RESCHED` ends it, and no interrupt is sent.
    #[serde(default)]
    pub mwait: bool,
}

/// CPUs that share a clock, and what it can do: a cpufreq policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrequencyPolicy {
    /// Its CPUs (`related_cpus`).
    pub cpus: CpuSet,
    /// `scaling_driver`, where known.
    pub driver: Option<String>,
    /// Lowest frequency in kHz (`cpuinfo_min_freq`).
    pub min_khz: u64,
    /// Highest frequency in kHz (`cpuinfo_max_freq`).
    pub max_khz: u64,
    /// Frequency that holds under any load, in kHz (`base_frequency`), where known.
    pub base_khz: Option<u64>,
    /// Frequencies that can be asked for, in kHz, in the order of `scaling_available_frequencies`; empty where the
    /// driver has no table.
    pub available_khz: Vec<u64>,
}

/// Performance levels of CPUs by ACPI's CPPC, on its abstract scale (`acpi_cppc` in sysfs).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cppc {
    /// CPUs with these values.
    pub cpus: CpuSet,
    /// `highest_perf`.
    pub highest_perf: u64,
    /// `nominal_perf`.
    pub nominal_perf: u64,
    /// `lowest_nonlinear_perf`.
    pub lowest_nonlinear_perf: u64,
    /// `lowest_perf`.
    pub lowest_perf: u64,
    /// `reference_perf`, where known.
    pub reference_perf: Option<u64>,
    /// `nominal_freq` in MHz, where known and not 0.
    pub nominal_mhz: Option<u64>,
    /// `lowest_freq` in MHz, where known and not 0.
    pub lowest_mhz: Option<u64>,
}

/// A machine. CPU sets hold possible CPUs; [`Machine::online`] says which of them run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    /// Short name, as in the catalog.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// Architecture.
    pub arch: Arch,
    /// CPUs by number.
    pub cpus: Vec<Cpu>,
    /// CPUs that are online.
    pub online: CpuSet,
    /// Caches, by level, kind and first CPU.
    pub caches: Vec<Cache>,
    /// NUMA nodes by number.
    pub nodes: Vec<Node>,
    /// `ibm,thread-groups` of every core that has it (POWER).
    pub thread_groups: Vec<ThreadGroups>,
    /// Idle states, the shallowest first.
    pub idle_states: Vec<IdleState>,
    /// cpufreq policies by first CPU; empty where the source has none.
    pub policies: Vec<FrequencyPolicy>,
    /// CPPC levels by first CPU; empty where the source has none.
    pub cppc: Vec<Cppc>,
    /// The processor's vendor as `/proc/cpuinfo` names it (`vendor_id` on x86), where known.
    pub vendor: Option<String>,
    /// `smt/control` in sysfs: `on`, `off`, `forceoff`, `notsupported`, `notimplemented`; where known.
    pub smt_control: Option<String>,
    /// What the kernel boots from, where known.
    pub firmware: Option<Firmware>,
    /// What things cost here.
    pub constants: Constants,
    /// Counted costs in place of those that come with schedscape.
    #[serde(skip)]
    pub costs: Option<Arc<CostTable>>,
    /// What the machine's source cannot tell, one sentence each.
    pub unknown: Vec<String>,
}

/// A set of online CPUs that the machine cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OnlineError {
    /// CPUs that do not exist.
    #[error("online: found CPUs {found}, expected CPUs out of {possible}")]
    Unknown {
        /// The CPUs that do not exist, as a list.
        found: String,
        /// The machine's CPUs, as a list.
        possible: String,
    },
    /// No CPU left.
    #[error("online: found no CPU, expected at least one")]
    Empty,
    /// An SMT mode of 0 or beyond the widest core.
    #[error("smt: found {found}, expected 1 to {widest}")]
    Smt {
        /// The mode asked for.
        found: u32,
        /// Threads of the widest core.
        widest: u32,
    },
}

impl Machine {
    /// All CPUs, online or not.
    pub fn possible(&self) -> CpuSet {
        CpuSet::first_n(self.cpus.len())
    }

    /// CPUs for which `same` holds, out of all possible ones.
    fn cpus_where(&self, same: impl Fn(&Cpu) -> bool) -> CpuSet {
        self.cpus.iter().enumerate().filter(|(_, c)| same(c)).map(|(i, _)| i).collect()
    }

    /// Threads of `cpu`'s core (a big core counts as one), online or not.
    pub fn core_cpus(&self, cpu: usize) -> CpuSet {
        let core = self.cpus[cpu].core;
        self.cpus_where(|c| c.core == core)
    }

    /// CPUs of `cpu`'s cluster, online or not, where there is one.
    pub fn cluster_cpus(&self, cpu: usize) -> Option<CpuSet> {
        let cluster = self.cpus[cpu].cluster?;
        Some(self.cpus_where(|c| c.cluster == Some(cluster)))
    }

    /// CPUs of `cpu`'s die, online or not.
    pub fn die_cpus(&self, cpu: usize) -> CpuSet {
        let die = self.cpus[cpu].die;
        self.cpus_where(|c| c.die == die)
    }

    /// CPUs of `cpu`'s package, online or not.
    pub fn package_cpus(&self, cpu: usize) -> CpuSet {
        let package = self.cpus[cpu].package;
        self.cpus_where(|c| c.package == package)
    }

    /// CPUs of `cpu`'s book, online or not, where there is one (s390): several packages.
    pub fn book_cpus(&self, cpu: usize) -> Option<CpuSet> {
        let ids = self.cpus[cpu].ids;
        ids.book?;
        Some(self.cpus_where(|c| (c.ids.drawer, c.ids.book) == (ids.drawer, ids.book)))
    }

    /// CPUs of `cpu`'s drawer, online or not, where there is one (s390): several books.
    pub fn drawer_cpus(&self, cpu: usize) -> Option<CpuSet> {
        let drawer = self.cpus[cpu].ids.drawer?;
        Some(self.cpus_where(|c| c.ids.drawer == Some(drawer)))
    }

    /// CPUs of `cpu`'s NUMA node, online or not.
    pub fn node_cpus(&self, cpu: usize) -> CpuSet {
        let node = self.cpus[cpu].node;
        self.cpus_where(|c| c.node == node)
    }

    /// The threads that firmware puts into one group with `cpu` by `property`, online or not.
    pub fn thread_group(&self, cpu: usize, property: ThreadGroupProperty) -> Option<CpuSet> {
        self.thread_groups
            .iter()
            .filter(|tg| tg.property == property)
            .flat_map(|tg| &tg.groups)
            .find(|group| group.contains(cpu))
            .cloned()
    }

    /// Small-core siblings of `cpu`, as the big-core study's sysfs file `small_core_siblings` lists them:
    /// online threads of the same small core, or `None` where firmware names no thread groups.
    pub fn small_core_siblings(&self, cpu: usize) -> Option<CpuSet> {
        Some(self.thread_group(cpu, ThreadGroupProperty::L1)? & &self.online)
    }

    /// CPUs that share a pipeline with `cpu`: its small core where firmware names one, else its core.
    pub fn pipeline_cpus(&self, cpu: usize) -> CpuSet {
        self.thread_group(cpu, ThreadGroupProperty::L1).unwrap_or_else(|| self.core_cpus(cpu))
    }

    /// Core numbers in ascending order.
    pub fn cores(&self) -> Vec<u32> {
        let mut cores: Vec<u32> = self.cpus.iter().map(|c| c.core).collect();
        cores.sort_unstable();
        cores.dedup();
        cores
    }

    /// The same machine with just `online` online.
    pub fn with_online(&self, online: CpuSet) -> Result<Machine, OnlineError> {
        if online.is_empty() {
            return Err(OnlineError::Empty);
        }
        let possible = self.possible();
        if !online.is_subset(&possible) {
            return Err(OnlineError::Unknown {
                found: (online - &possible).to_string(),
                possible: possible.to_string(),
            });
        }
        Ok(Machine { online, ..self.clone() })
    }

    /// The same machine in SMT mode `threads`, as `ppc64_cpu --smt=N` leaves it: of each core the first
    /// `threads` threads online, the others not.
    pub fn with_smt(&self, threads: u32) -> Result<Machine, OnlineError> {
        let widest = self.cpus.iter().map(|c| c.thread + 1).max().unwrap_or(0);
        if threads == 0 || threads > widest {
            return Err(OnlineError::Smt { found: threads, widest });
        }
        self.with_online(self.cpus_where(|c| c.thread < threads))
    }
}

/// Puts caches into the order of [`Machine::caches`].
pub(crate) fn sort_caches(caches: &mut [Cache]) {
    caches.sort_by_key(|c| (c.level, c.kind, c.cpus.first(), c.cpus.last()));
}
