//! Small machines for tests.

use machine::{
    Arch, Cache, CacheKind, Constants, Cpu, CpuSet, Machine, Node, Origin, OsIds,
    ThreadGroupProperty, ThreadGroups,
};

/// A machine without caches, nodes or groups: CPUs by (core, thread, package, node).
pub(crate) fn bare(cpus: impl IntoIterator<Item = (u32, u32, u32, u32)>) -> Machine {
    let cpu = |(i, (core, thread, package, node))| Cpu {
        hw_id: i,
        core,
        thread,
        cluster: None,
        die: package,
        package,
        node,
        ids: OsIds::default(),
        capacity: None,
    };
    let cpus: Vec<Cpu> = (0..).zip(cpus).map(cpu).collect();
    Machine {
        name: "test".to_string(),
        title: "A machine".to_string(),
        arch: Arch::Powerpc,
        online: CpuSet::first_n(cpus.len()),
        cpus,
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
    }
}

pub(crate) fn cache(level: u8, kind: CacheKind, size_kib: u32, cpus: &str) -> Cache {
    let cpus = cpus.parse().unwrap();
    let origin = Origin::Firmware;
    Cache { level, kind, size_kib: Some(size_kib), line_bytes: Some(128), ways: None, cpus, origin }
}

pub(crate) fn node(id: u32, cpus: &str, distances: &[u32]) -> Node {
    let distances = distances.to_vec();
    Node { id, cpus: cpus.parse().unwrap(), memory_kib: Some(16 << 20), distances }
}

/// Two big cores of two interleaved small cores each.
pub(crate) fn big_cores() -> Machine {
    let mut m = bare((0..16).map(|i| (i / 8 * 8, i % 8, 0, 0)));
    for (core, small) in [(0, ["0,2,4,6", "1,3,5,7"]), (8, ["8,10,12,14", "9,11,13,15"])] {
        for cpus in small {
            m.caches.push(cache(1, CacheKind::Instruction, 32, cpus));
            m.caches.push(cache(1, CacheKind::Data, 32, cpus));
        }
        let groups = small.map(|cpus| cpus.parse().unwrap()).to_vec();
        m.thread_groups.push(ThreadGroups { property: ThreadGroupProperty::L1, core, groups });
    }
    m.caches.push(cache(2, CacheKind::Unified, 512, "0-7"));
    m.caches.push(Cache { origin: Origin::Catalog, ..cache(3, CacheKind::Unified, 10240, "0-7") });
    m.caches.push(Cache { size_kib: None, ..cache(2, CacheKind::Unified, 0, "8-15") });
    m.nodes.push(node(0, "0-15", &[10]));
    m
}
