//! Machine and sched domains in the form that the simulator walks: lists of 16-bit CPU numbers, ids by CPU.

use kernel::{Domain, Domains, SdFlags};
pub use machine::distance::Distance;
use machine::distance::Distances;
use machine::{CpuSet, Machine};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A CPU number.
pub type Cpu = u16;

/// A group of a domain.
#[derive(Debug)]
pub struct Group {
    /// Its CPUs, ascending.
    pub cpus: Box<[Cpu]>,
    /// The same as a set.
    pub span: CpuSet,
    /// CPUs that may balance for it.
    pub mask: Box<[Cpu]>,
    /// Capacity.
    pub capacity: u64,
    /// Capacity of its smallest CPU.
    pub min_capacity: u64,
    /// Capacity of its largest CPU.
    pub max_capacity: u64,
    /// Cores, as `cpu_smt_mask()` has them (`sg->cores`).
    pub cores: u32,
    /// Flags of the child domain that the group stands for.
    pub flags: SdFlags,
    /// Number of the state that the group shares with the same group of other CPUs (`sched_group_capacity`), below
    /// [`Topology::nr_group_states`].
    pub state: usize,
    /// Number of the group with its flags, below [`Topology::nr_views`]: domains see the same group with different
    /// ones where a child of theirs degenerated.
    pub view: usize,
}

/// A sched domain of one CPU.
#[derive(Debug)]
pub struct SimDomain {
    /// Its CPUs.
    pub span: CpuSet,
    /// Number of CPUs.
    pub weight: u32,
    /// Flags.
    pub flags: SdFlags,
    /// Groups, the CPU's own first; one group is the same for all CPUs that see it.
    pub groups: Box<[Arc<Group>]>,
    /// [`Group::view`] of each, which is what balancing looks at first.
    pub views: Box<[u32]>,
    /// The CPUs of its groups where each is one CPU of the same kind as the others; else none.
    pub single_cpus: Box<[Cpu]>,
    /// Last-level caches of its CPUs, by number.
    pub llcs: Box<[u16]>,
    /// CPUs that an attempt looks at, those in several groups once for each.
    pub looked: usize,
    /// Capacity of all groups.
    pub capacity: u64,
    /// Tunables as [`kernel::Domain`] has them.
    pub imbalance_pct: u64,
    /// See [`kernel::Domain`].
    pub cache_nice_tries: u32,
    /// See [`kernel::Domain`].
    pub min_interval_ms: u64,
    /// See [`kernel::Domain`].
    pub max_interval_ms: u64,
    /// See [`kernel::Domain`].
    pub busy_factor: u64,
    /// See [`kernel::Domain`].
    pub busy_idx: usize,
    /// See [`kernel::Domain`].
    pub idle_idx: usize,
    /// Whether the child domain carries `PREFER_SIBLING`.
    pub child_prefers_sibling: bool,
    /// See [`kernel::Domain`].
    pub imb_numa_nr: u32,
}

/// CPUs that share a last-level cache as the scheduler sees it.
#[derive(Debug)]
pub struct Llc {
    /// Its CPUs, ascending.
    pub cpus: Box<[Cpu]>,
}

/// Everything that does not change while the same CPUs are online. Pipelines, their numbers and distances never do.
#[derive(Debug)]
pub struct Topology {
    /// Possible CPUs.
    pub nr_cpus: usize,
    /// Online CPUs, ascending.
    pub online: Box<[Cpu]>,
    /// The same as a set.
    pub online_set: CpuSet,
    /// By CPU: the CPUs of its node, online or not (`cpumask_of_node`).
    pub node_cpus: Vec<CpuSet>,
    /// By CPU: domains from the lowest up.
    pub domains: Vec<Box<[SimDomain]>>,
    /// Number of distinct groups.
    pub nr_group_states: usize,
    /// Number of distinct groups with their flags.
    pub nr_views: usize,
    /// Last-level caches.
    pub llcs: Vec<Llc>,
    /// By CPU: index into [`Topology::llcs`].
    pub llc_of: Vec<u16>,
    /// By CPU: whether it has an `sd_llc` at all.
    pub has_llc_domain: Vec<bool>,
    /// By CPU: its place in its LLC's list.
    pub llc_position: Vec<u16>,
    /// By CPU: the CPUs of its CLS domain, ascending, where it has one.
    pub cluster: Vec<Option<Box<[Cpu]>>>,
    /// By CPU: `cpu_smt_mask()`, ascending.
    pub smt: Vec<Box<[Cpu]>>,
    /// By CPU: capacity, 1024 for a full one.
    pub capacity: Vec<u64>,
    /// By CPU: pipeline number.
    pub pipeline_of: Vec<u16>,
    /// By pipeline: its online CPUs.
    pub pipelines: Vec<Box<[Cpu]>>,
    /// By CPU and CPU: how far apart they are.
    apart: Box<[Distance]>,
    /// By CPU and CPU: the lowest of the first's domains that holds the second; [`NO_LEVEL`] if none does.
    lowest: Box<[u8]>,
}

/// No domain.
const NO_LEVEL: u8 = u8::MAX;

fn list(set: &CpuSet) -> Box<[Cpu]> {
    set.iter().map(|c| c as Cpu).collect()
}

/// Numbers the distinct sets in order of appearance: the number of each CPU's set, and the sets.
fn number(sets: &[CpuSet]) -> (Vec<u16>, Vec<CpuSet>) {
    let mut distinct: Vec<CpuSet> = Vec::new();
    let ids = sets
        .iter()
        .map(|set| match distinct.iter().position(|d| d == set) {
            Some(at) => at as u16,
            None => {
                distinct.push(set.clone());
                distinct.len() as u16 - 1
            }
        })
        .collect();
    (ids, distinct)
}

fn apart(machine: &Machine) -> Box<[Distance]> {
    let (distances, nr) = (Distances::new(machine), machine.cpus.len());
    (0..nr * nr).map(|at| distances.between(at / nr, at % nr)).collect()
}

fn lowest(built: &Domains) -> Box<[u8]> {
    let nr = built.by_cpu.len();
    let mut all = vec![NO_LEVEL; nr * nr];
    for (cpu, chain) in built.by_cpu.iter().enumerate() {
        // Lower levels come last and stay.
        for (level, domain) in chain.iter().enumerate().rev() {
            domain.span.iter().for_each(|other| all[cpu * nr + other] = level as u8);
        }
    }
    all.into()
}

impl Topology {
    /// Prepares `machine` with the domains that a kernel built on it.
    pub fn new(machine: &Machine, built: &Domains) -> Topology {
        let cpus = 0..machine.cpus.len();
        let (llc_of, llcs) = number(&cpus.clone().map(|c| built.llc(c)).collect::<Vec<_>>());
        let pipelines: Vec<CpuSet> = cpus.clone().map(|c| machine.pipeline_cpus(c)).collect();
        let (pipeline_of, pipelines) = number(&pipelines);
        let position =
            |c: usize| llcs[llc_of[c] as usize].iter().position(|x| x == c).unwrap_or(0) as u16;
        let mut numbers = Numbers::default();
        let domains = built
            .by_cpu
            .iter()
            .map(|chain| sim_domains(chain, built, &llcs, &mut numbers))
            .collect();
        Topology {
            nr_cpus: machine.cpus.len(),
            online: list(&machine.online),
            online_set: machine.online.clone(),
            node_cpus: cpus.clone().map(|c| machine.node_cpus(c)).collect(),
            domains,
            nr_group_states: numbers.states.len(),
            nr_views: numbers.groups.len(),
            has_llc_domain: cpus.clone().map(|c| built.llc(c).len() > 1).collect(),
            llc_position: cpus.clone().map(position).collect(),
            llcs: llcs.iter().map(|s| Llc { cpus: list(s) }).collect(),
            llc_of,
            cluster: built.by_cpu.iter().map(|chain| cluster(chain)).collect(),
            smt: built.smt_mask.iter().map(list).collect(),
            capacity: built.capacity.clone(),
            pipelines: pipelines.iter().map(|p| list(&(p & &machine.online))).collect(),
            apart: apart(machine),
            lowest: lowest(built),
            pipeline_of,
        }
    }

    /// How far apart two CPUs are.
    pub fn distance(&self, a: Cpu, b: Cpu) -> Distance {
        self.apart[a as usize * self.nr_cpus + b as usize]
    }

    /// By CPU: the level of the lowest domain of `cpu` that holds it; [`NO_LEVEL`] where no domain does.
    pub(crate) fn lowest_levels(&self, cpu: Cpu) -> &[u8] {
        &self.lowest[cpu as usize * self.nr_cpus..][..self.nr_cpus]
    }

    /// The distances that occur between online CPUs.
    pub fn distances(&self) -> Vec<Distance> {
        let mut found: Vec<Distance> = self
            .online
            .iter()
            .flat_map(|&a| self.online.iter().map(move |&b| self.distance(a, b)))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Threads of the widest pipeline.
    pub fn widest_pipeline(&self) -> usize {
        self.pipelines.iter().map(|p| p.len()).max().unwrap_or(1)
    }

    /// Whether `a` and `b` share a cluster, or where `a` has none a last-level cache (`cpus_share_resources`).
    pub fn share_cluster(&self, a: Cpu, b: Cpu) -> bool {
        match &self.cluster[a as usize] {
            Some(cluster) => cluster.contains(&b),
            None => self.share_cache(a, b),
        }
    }

    /// CPUs of the last-level cache of `cpu`, ascending.
    pub fn llc(&self, cpu: Cpu) -> &[Cpu] {
        &self.llcs[self.llc_of[cpu as usize] as usize].cpus
    }

    /// Whether `a` and `b` share a last-level cache (`cpus_share_cache`).
    pub fn share_cache(&self, a: Cpu, b: Cpu) -> bool {
        self.llc_of[a as usize] == self.llc_of[b as usize]
    }
}

fn cluster(chain: &[Domain]) -> Option<Box<[Cpu]>> {
    chain.iter().find(|d| d.name == "CLS").map(|d| list(&d.span))
}

/// Groups seen so far and their numbers.
#[derive(Default)]
struct Numbers {
    /// By level and the CPU whose `sched_group_capacity` they use.
    states: BTreeMap<(usize, usize), usize>,
    /// By view.
    groups: Vec<Arc<Group>>,
    /// By state and flags.
    views: BTreeMap<(usize, u32), Vec<usize>>,
}

impl Numbers {
    /// The group as domains at `level` share it.
    fn shared(&mut self, group: &kernel::Group, level: usize, all: &Domains) -> Arc<Group> {
        let next = self.states.len();
        let state = *self.states.entry((level, group.id)).or_insert(next);
        let known = self.views.entry((state, group.flags.bits())).or_default();
        let mask = list(&group.mask);
        let same =
            |g: &Group| g.span == group.span && g.mask == mask && g.capacity == group.capacity;
        if let Some(&view) = known.iter().find(|&&view| same(&self.groups[view])) {
            return Arc::clone(&self.groups[view]);
        }
        let view = self.groups.len();
        known.push(view);
        let new = Arc::new(sim_group(group, all, state, view));
        self.groups.push(Arc::clone(&new));
        new
    }
}

fn sim_group(group: &kernel::Group, all: &Domains, state: usize, view: usize) -> Group {
    let capacities = || group.span.iter().map(|c| all.capacity[c]);
    let first_of_core = |c: &usize| (&all.smt_mask[*c] & &group.span).first() == Some(*c);
    Group {
        cpus: list(&group.span),
        span: group.span.clone(),
        mask: list(&group.mask),
        capacity: group.capacity,
        min_capacity: capacities().min().unwrap_or(group.capacity),
        max_capacity: capacities().max().unwrap_or(group.capacity),
        cores: group.span.iter().filter(first_of_core).count() as u32,
        flags: group.flags,
        state,
        view,
    }
}

fn single_cpus(domain: &Domain) -> Box<[Cpu]> {
    let asymmetric = SdFlags::ASYM_PACKING | SdFlags::ASYM_CPUCAPACITY;
    match domain.groups.iter().all(|g| g.span.len() == 1) && !domain.flags.intersects(asymmetric) {
        true => list(&domain.span),
        false => Box::default(),
    }
}

fn sim_domains(
    chain: &[Domain],
    all: &Domains,
    llcs: &[CpuSet],
    numbers: &mut Numbers,
) -> Box<[SimDomain]> {
    let mut domains = Vec::with_capacity(chain.len());
    for (level, d) in chain.iter().enumerate() {
        let child = level.checked_sub(1).map(|below| &chain[below]);
        let groups = d.groups.iter().map(|g| numbers.shared(g, d.level, all));
        domains.push(sim_domain(d, child, llcs, groups.collect()));
    }
    domains.into_boxed_slice()
}

fn sim_domain(
    d: &Domain,
    child: Option<&Domain>,
    llcs: &[CpuSet],
    groups: Box<[Arc<Group>]>,
) -> SimDomain {
    let touched = |at: &u16| llcs[*at as usize].intersects(&d.span);
    SimDomain {
        span: d.span.clone(),
        weight: d.span.len() as u32,
        flags: d.flags,
        views: groups.iter().map(|g| g.view as u32).collect(),
        groups,
        single_cpus: single_cpus(d),
        llcs: (0..llcs.len() as u16).filter(touched).collect(),
        looked: d.groups.iter().map(|g| g.span.len()).sum(),
        capacity: d.groups.iter().map(|g| g.capacity).sum(),
        imbalance_pct: u64::from(d.imbalance_pct),
        cache_nice_tries: d.cache_nice_tries,
        min_interval_ms: u64::from(d.min_interval_ms),
        max_interval_ms: u64::from(d.max_interval_ms),
        busy_factor: u64::from(d.busy_factor),
        busy_idx: usize::from(d.busy_idx),
        idle_idx: usize::from(d.idle_idx),
        child_prefers_sibling: child.is_some_and(|c| c.flags.contains(SdFlags::PREFER_SIBLING)),
        imb_numa_nr: d.imb_numa_nr,
    }
}
