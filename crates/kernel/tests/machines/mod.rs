//! Hand-built machines.

use machine::{
    Arch, Cache, CacheKind, Constants, Cpu, CpuSet, Machine, Node, Origin, OsIds,
    ThreadGroupProperty, ThreadGroups,
};

/// A machine whose nodes have equal cores; CPUs number threads, then cores, then nodes.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// Distance from each node to each node.
    pub distances: Vec<Vec<u32>>,
    pub cores_a_node: usize,
    pub threads_a_core: usize,
    /// Small cores of a core, their threads interleaved; 0 for no thread groups by property 1.
    pub small_cores: usize,
    /// L2 groups of a core, their threads interleaved; 0 for no thread groups by property 2.
    pub l2_groups: usize,
    /// Neighbouring cores of a node that point at one L2 cache node; 0 for no L2 cache nodes.
    pub cores_an_l2: usize,
    /// Neighbouring cores of a node that form a cluster; 0 for no clusters.
    pub cores_a_cluster: usize,
    /// Nodes of a package; 0 counts as 1.
    pub nodes_a_package: usize,
}

impl Shape {
    pub fn machine(&self) -> Machine {
        let (threads, cores) = (self.threads_a_core, self.cores_a_node);
        let a_node = threads * cores;
        let count = a_node * self.distances.len();
        let cpu = |i: usize| Cpu {
            hw_id: i as u32,
            core: (i / threads) as u32,
            thread: (i % threads) as u32,
            cluster: self.cluster(i),
            die: self.package(i),
            package: self.package(i),
            node: (i / a_node) as u32,
            ids: OsIds::default(),
            capacity: None,
        };
        let node = |(n, distances): (usize, &Vec<u32>)| Node {
            id: n as u32,
            cpus: (n * a_node..(n + 1) * a_node).collect(),
            memory_kib: None,
            distances: distances.clone(),
        };
        let mut thread_groups = self.groups(ThreadGroupProperty::L1, self.small_cores);
        thread_groups.extend(self.groups(ThreadGroupProperty::L2, self.l2_groups));
        Machine {
            name: "hand-built".into(),
            title: String::new(),
            arch: Arch::Powerpc,
            cpus: (0..count).map(cpu).collect(),
            online: CpuSet::first_n(count),
            caches: self.l2_caches(),
            nodes: self.distances.iter().enumerate().map(node).collect(),
            thread_groups,
            idle_states: vec![],
            policies: Vec::new(),
            cppc: Vec::new(),
            vendor: None,
            smt_control: None,
            costs: None,
            firmware: None,
            constants: Constants::default(),
            unknown: vec![],
        }
    }

    /// Cluster of CPU `i`: the number of its first CPU.
    fn cluster(&self, i: usize) -> Option<u32> {
        let a_node = self.threads_a_core * self.cores_a_node;
        let within = (i % a_node).checked_div(self.cores_a_cluster * self.threads_a_core)?;
        let first = i / a_node * a_node + within * self.cores_a_cluster * self.threads_a_core;
        Some(first as u32)
    }

    fn package(&self, i: usize) -> u32 {
        let node = i / (self.threads_a_core * self.cores_a_node);
        (node / self.nodes_a_package.max(1)) as u32
    }

    /// `ways` interleaved groups of every core's threads.
    fn groups(&self, property: ThreadGroupProperty, ways: usize) -> Vec<ThreadGroups> {
        let cores = self.cores_a_node * self.distances.len();
        let all = (0..cores).filter(|_| ways > 0).map(|core| {
            let first = core * self.threads_a_core;
            let group = |g| (first + g..first + self.threads_a_core).step_by(ways).collect();
            ThreadGroups { property, core: core as u32, groups: (0..ways).map(group).collect() }
        });
        all.collect()
    }

    fn l2_caches(&self) -> Vec<Cache> {
        let a_node = self.threads_a_core * self.cores_a_node;
        let node_cache = |node: usize, first: usize| Cache {
            level: 2,
            kind: CacheKind::Unified,
            size_kib: None,
            line_bytes: None,
            ways: None,
            cpus: (node * a_node + first..(node + 1) * a_node)
                .take(self.cores_an_l2 * self.threads_a_core)
                .collect(),
            origin: Origin::Firmware,
        };
        let step = self.cores_an_l2 * self.threads_a_core;
        let nodes = (0..self.distances.len()).filter(|_| step > 0);
        let firsts = |n| (0..a_node).step_by(step.max(1)).map(move |first| node_cache(n, first));
        nodes.flat_map(firsts).collect()
    }
}
