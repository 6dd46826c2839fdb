//! Random machines for property tests of readers and writers.

mod parts;

use crate::constants::{Constant, Constants, Mark};
use crate::cpuset::CpuSet;
use crate::model::{
    Arch, CacheKind, Cppc, Cpu, Firmware, FrequencyPolicy, IdleState, Machine, OsIds,
};
use parts::{caches, nodes, thread_groups};
use proptest::prelude::*;
use proptest::sample::Index;

/// How many of each there are: the machine's frame.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    packages: usize,
    /// Dies of a package.
    dies: usize,
    /// Clusters of a die; 0 is none.
    clusters: usize,
    /// Cores of a cluster, or of a die without clusters.
    cores: usize,
    threads: usize,
    /// Whether CPU numbers pass all cores before they come to the second thread.
    cores_first: bool,
    power: bool,
}

impl Frame {
    fn cores(&self) -> usize {
        self.packages * self.dies * self.clusters.max(1) * self.cores
    }

    fn cpus(&self) -> usize {
        self.cores() * self.threads
    }

    /// Core in machine order, and thread in it, of a CPU.
    fn place(&self, cpu: usize) -> (usize, usize) {
        match self.cores_first {
            true => (cpu % self.cores(), cpu / self.cores()),
            false => (cpu / self.threads, cpu % self.threads),
        }
    }

    /// Number, in machine order, of the die, cluster and package of a core.
    fn die(&self, core: usize) -> usize {
        core / (self.cores * self.clusters.max(1))
    }

    fn cluster(&self, core: usize) -> usize {
        core / self.cores
    }

    fn package(&self, core: usize) -> usize {
        self.die(core) / self.dies
    }

    /// CPUs by the value of `of`, a function of the core.
    fn blocks(&self, of: impl Fn(usize) -> usize) -> Vec<CpuSet> {
        let mut sets = vec![CpuSet::EMPTY; (0..self.cores()).map(&of).max().unwrap_or(0) + 1];
        for cpu in 0..self.cpus() {
            sets[of(self.place(cpu).0)].insert(cpu);
        }
        sets
    }

    fn thread_sets(&self) -> Vec<CpuSet> {
        self.blocks(|core| core)
    }
}

/// What is drawn beside the frame.
#[derive(Debug, Clone)]
pub(crate) struct Draw {
    /// For sizes, kinds and whatever else just has to vary.
    seeds: Vec<u32>,
    offline: Vec<Index>,
    nodes_at: u8,
    memory_only: usize,
    ids: bool,
    catalog: bool,
    text: String,
}

impl Draw {
    fn seed(&self, place: usize) -> u32 {
        self.seeds[place % self.seeds.len()]
    }
}

fn frames() -> impl Strategy<Value = Frame> {
    let counts = (1usize..=4, 1usize..=3, 0usize..=4, 1usize..=16, 1usize..=8);
    (counts, any::<bool>(), any::<bool>()).prop_map(|(counts, cores_first, power)| {
        let (packages, dies, clusters, cores, threads) = counts;
        let frame = Frame { packages, dies, clusters, cores, threads, cores_first, power };
        match frame.cpus() {
            0..=1024 => frame,
            _ => Frame { clusters: 0, threads: threads.min(4), ..frame },
        }
    })
}

fn draws() -> impl Strategy<Value = Draw> {
    let numbers = (prop::collection::vec(any::<u32>(), 16), 0u8..4, 0usize..3);
    let offline = prop::collection::vec(any::<Index>(), 0..12);
    let flags = (any::<bool>(), any::<bool>());
    (numbers, offline, flags, ".{0,12}").prop_map(|(numbers, offline, flags, text)| {
        let ((seeds, nodes_at, memory_only), (ids, catalog)) = (numbers, flags);
        Draw { seeds, offline, nodes_at, memory_only, ids, catalog, text }
    })
}

/// Machines of 1 to 1024 CPUs that keep the model's rules: packages, dies, clusters, cores and threads in either
/// numbering, NUMA nodes at any level and without CPUs, caches at all levels, CPUs offline, and every other field
/// filled or empty. Numbers are those that readers give: cores in the order of their first CPUs, clusters and dies by
/// their first CPU. On POWER, cores of an even number of threads may have thread groups.
pub(crate) fn machines() -> impl Strategy<Value = Machine> {
    (frames(), draws()).prop_map(|(frame, draw)| machine(&frame, &draw))
}

fn machine(frame: &Frame, draw: &Draw) -> Machine {
    let cpus = cpus(frame, draw);
    let all = CpuSet::first_n(cpus.len());
    let mut online = all;
    for index in &draw.offline {
        online.remove(index.index(cpus.len()));
    }
    if online.is_empty() {
        online = CpuSet::single(0);
    }
    let mut machine = Machine {
        name: format!("m{}", draw.text),
        title: format!("{}\n<&\">\t", draw.text),
        arch: match (frame.power, draw.seed(0) % 3) {
            (true, _) => Arch::Powerpc,
            (_, 0) => Arch::X86,
            (_, 1) => Arch::Arm64,
            _ => Arch::Other,
        },
        cpus,
        online,
        caches: caches(frame, draw),
        nodes: Vec::new(),
        thread_groups: thread_groups(frame, draw),
        idle_states: idle_states(draw),
        policies: policies(frame, draw),
        cppc: cppc(frame, draw),
        vendor: draw.seed(1).is_multiple_of(2).then(|| format!("Genuine{}", draw.text)),
        smt_control: draw.seed(2).is_multiple_of(2).then(|| "on".to_string()),
        costs: None,
        firmware: [None, Some(Firmware::Acpi), Some(Firmware::DeviceTree)]
            [draw.seed(3) as usize % 3],
        constants: Constants::default(),
        unknown: vec![format!("Some: {}.", draw.text)],
    };
    machine.nodes = nodes(frame, draw, &mut machine.cpus);
    let value = f64::from(draw.seed(4)) / 7.0;
    let source = draw.text.clone();
    let (unit, mark) = ("ns".to_string(), Mark::Assumed);
    let constant = Constant { value, unit, mark, source, range: None };
    machine.constants.set("switch", constant);
    machine
}

fn cpus(frame: &Frame, draw: &Draw) -> Vec<Cpu> {
    let first = |sets: &[CpuSet], block: usize| sets[block].first().unwrap() as u32;
    let dies = frame.blocks(|core| frame.die(core));
    let clusters = frame.blocks(|core| frame.cluster(core));
    let id = |number: usize| draw.ids.then_some(number as u32 * 4);
    let cpu = |number: usize| {
        let (core, thread) = frame.place(number);
        let (die, cluster) = (frame.die(core), frame.cluster(core));
        Cpu {
            hw_id: number as u32 * (1 + draw.seed(5) % 3),
            core: core as u32,
            thread: thread as u32,
            cluster: (frame.clusters > 0).then(|| first(&clusters, cluster)),
            die: first(&dies, die),
            package: frame.package(core) as u32 * (1 + draw.seed(6) % 2),
            node: 0,
            ids: OsIds {
                core: id(core),
                cluster: id(cluster).filter(|_| frame.clusters > 0),
                die: id(die % frame.dies),
                ..OsIds::default()
            },
            capacity: match draw.seed(7) % 3 {
                0 => None,
                1 => Some(1024),
                _ => Some(if core % 2 == 0 { 1024 } else { 446 }),
            },
        }
    };
    (0..frame.cpus()).map(cpu).collect()
}

fn idle_states(draw: &Draw) -> Vec<IdleState> {
    let state = |n: u32| IdleState {
        name: format!("C{n}"),
        exit_latency_ns: u64::from(draw.seed(8)) * u64::from(n),
        target_residency_ns: u64::from(draw.seed(9)),
        mwait: draw.seed(8) % 2 == 1,
    };
    (0..draw.seed(8) % 3).map(state).collect()
}

fn policies(frame: &Frame, draw: &Draw) -> Vec<FrequencyPolicy> {
    let max_khz = u64::from(1_000_000 + draw.seed(10) % 4_000_000);
    let policy = |cpus: CpuSet| FrequencyPolicy {
        cpus,
        driver: draw.seed(10).is_multiple_of(2).then(|| "cppc_cpufreq".to_string()),
        min_khz: 800_000,
        max_khz,
        base_khz: draw.seed(11).is_multiple_of(2).then_some(max_khz / 2),
        available_khz: vec![800_000, max_khz],
    };
    let sets = if draw.seed(11).is_multiple_of(3) { frame.thread_sets() } else { Vec::new() };
    sets.into_iter().map(policy).collect()
}

fn cppc(frame: &Frame, draw: &Draw) -> Vec<Cppc> {
    let levels = |cpus: CpuSet| Cppc {
        cpus,
        highest_perf: u64::from(draw.seed(12)),
        nominal_perf: 200,
        lowest_nonlinear_perf: 100,
        lowest_perf: 10,
        reference_perf: draw.seed(13).is_multiple_of(2).then_some(200),
        nominal_mhz: draw.seed(13).is_multiple_of(3).then_some(2600),
        lowest_mhz: None,
    };
    let sets = if draw.seed(12).is_multiple_of(2) {
        frame.blocks(|c| frame.package(c))
    } else {
        Vec::new()
    };
    sets.into_iter().map(levels).collect()
}

/// Cache kinds of a level that no CPU has twice.
fn kinds(level: u8, draw: &Draw) -> Vec<CacheKind> {
    match (level, draw.seed(14) % 2) {
        (1, 0) => vec![CacheKind::Instruction, CacheKind::Data],
        (1, _) => vec![CacheKind::Data],
        _ => vec![CacheKind::Unified],
    }
}
