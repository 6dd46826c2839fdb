//! NUMA nodes from `/sys/devices/system/node`.

use super::odd::Sysfs;
use crate::cpuset::CpuSet;
use crate::files::{CPU_DIR, NODE_DIR};
use crate::model::Node;
use std::collections::BTreeSet;

/// Reads the nodes of a machine of `count` CPUs; their CPU sets are those of `cpulist`, online CPUs alone on most
/// architectures. Empty where sysfs has no nodes. A node without a directory to which a CPU's directory links is there
/// too: it is offline.
pub(super) fn read(sysfs: &Sysfs, count: usize, unknown: &mut Vec<String>) -> Vec<Node> {
    let shown = sysfs.numbered(NODE_DIR, "node");
    let mut nodes: Vec<Node> = Vec::new();
    for &id in &shown {
        let dir = format!("{NODE_DIR}/node{id}");
        let cpus = match sysfs.cpus(&dir, &["cpumap"], &["cpulist"]) {
            Some((_, cpus)) => cpus,
            None => {
                unknown.push(format!("CPUs of NUMA node {id}: sysfs does not list them."));
                CpuSet::EMPTY
            }
        };
        let taken = nodes.iter().fold(CpuSet::EMPTY, |taken, n| taken | &n.cpus) & &cpus;
        if !taken.is_empty() {
            unknown.push(format!("CPUs {taken} of NUMA node {id}: an earlier node has them too."));
        }
        let cpus = cpus - taken;
        nodes.push(Node { id, cpus, memory_kib: memory_kib(sysfs, id), distances: Vec::new() });
    }
    for id in linked(sysfs, &nodes, count) {
        unknown.push(format!("NUMA node {id}: sysfs has no directory of it; CPUs link to it."));
        nodes.push(Node { id, cpus: CpuSet::EMPTY, memory_kib: None, distances: Vec::new() });
    }
    nodes.sort_by_key(|node| node.id);
    set_distances(sysfs, &shown, &mut nodes, unknown);
    nodes
}

/// Nodes that are not among `nodes` and to which CPUs that none of these lists link; none where sysfs has no nodes.
fn linked(sysfs: &Sysfs, nodes: &[Node], count: usize) -> BTreeSet<u32> {
    if nodes.is_empty() {
        return BTreeSet::new();
    }
    let listed = nodes.iter().fold(CpuSet::EMPTY, |all, node| all | &node.cpus);
    let others = CpuSet::first_n(count) - listed;
    let mut ids: BTreeSet<u32> = others.iter().filter_map(|cpu| of_cpu(sysfs, cpu)).collect();
    ids.retain(|id| nodes.iter().all(|node| node.id != *id));
    ids
}

/// The node that the directory of `cpu` links to.
fn of_cpu(sysfs: &Sysfs, cpu: usize) -> Option<u32> {
    sysfs.numbered(&format!("{CPU_DIR}/cpu{cpu}"), "node").first().copied()
}

/// The number of each CPU's node: the one that lists it, else the one that it links to, else the first.
pub(super) fn of_cpus(
    sysfs: &Sysfs,
    nodes: &[Node],
    count: usize,
    unknown: &mut Vec<String>,
) -> Vec<u32> {
    let first = nodes.first().map_or(0, |n| n.id);
    let mut homeless = CpuSet::EMPTY;
    let mut all = Vec::with_capacity(count);
    for cpu in 0..count {
        let listed = nodes.iter().find(|n| n.cpus.contains(cpu)).map(|n| n.id);
        let known = |id: &u32| nodes.iter().any(|n| n.id == *id);
        all.push(listed.or_else(|| of_cpu(sysfs, cpu).filter(known)).unwrap_or_else(|| {
            homeless.insert(cpu);
            first
        }));
    }
    if nodes.is_empty() {
        unknown.push("NUMA nodes: sysfs has none; one node holds all CPUs.".to_string());
    } else if !homeless.is_empty() {
        unknown.push(format!(
            "NUMA node of CPUs {homeless}: sysfs names none; node {first} stands in."
        ));
    }
    all
}

/// The one node of a machine whose sysfs has none.
pub(super) fn only(cpus: CpuSet) -> Node {
    Node { id: 0, cpus, memory_kib: None, distances: vec![10] }
}

/// Fills in the distances, each node's own row first, then the other node's. What no row tells is what Linux takes where
/// firmware has no table (`LOCAL_DISTANCE`, `REMOTE_DISTANCE`).
fn set_distances(sysfs: &Sysfs, shown: &[u32], nodes: &mut [Node], unknown: &mut Vec<String>) {
    let rows: Vec<Option<Row>> = nodes.iter().map(|node| row(sysfs, node.id, shown)).collect();
    let told = |a: usize, b: &Node| {
        let row = rows[a].as_ref()?;
        row.iter().find(|(id, _)| *id == b.id).map(|&(_, distance)| distance)
    };
    let mut without = false;
    let distances: Vec<Vec<u32>> = (0..nodes.len())
        .map(|a| {
            let distance = |b: usize| {
                let known = told(a, &nodes[b]).or_else(|| told(b, &nodes[a]));
                without |= known.is_none() && a != b;
                known.unwrap_or(if a == b { 10 } else { 20 })
            };
            (0..nodes.len()).map(distance).collect()
        })
        .collect();
    // A lone node without the file has its local distance all the same.
    without |= rows.iter().any(Option::is_none) && nodes.len() == shown.len();
    if without {
        unknown.push("Distances of NUMA nodes: sysfs lacks some; 10 and 20 stand in.".to_string());
    }
    for (node, row) in nodes.iter_mut().zip(distances) {
        node.distances = row;
    }
}

/// Distances from a node, each with the node it is to.
type Row = Vec<(u32, u32)>;

/// The row that node `id` shows, a number for each node of `shown`; for each online or possible node where it has as
/// many numbers as there are of those.
fn row(sysfs: &Sysfs, id: u32, shown: &[u32]) -> Option<Row> {
    let place = format!("{NODE_DIR}/node{id}/distance");
    let text = sysfs.text(&place).filter(|text| !text.is_empty())?;
    let distances: Option<Vec<u32>> = text.split_whitespace().map(|d| d.parse().ok()).collect();
    let listed = |file: &str| -> Option<Vec<u32>> {
        let nodes = sysfs.cpu_list(&format!("{NODE_DIR}/{file}"))?;
        Some(nodes.iter().map(|node| node as u32).collect())
    };
    let row = distances.and_then(|distances| {
        let fits = |ids: &Vec<u32>| ids.len() == distances.len();
        let ids = Some(shown.to_vec()).filter(fits);
        let ids = ids.or_else(|| listed("online").filter(fits));
        let ids = ids.or_else(|| listed("possible").filter(fits))?;
        Some(ids.into_iter().zip(distances).collect())
    });
    if row.is_none() {
        sysfs.odd(&place, format!("`{text}`"), format!("{} numbers", shown.len()));
    }
    row
}

/// `MemTotal` of the node's `meminfo`.
fn memory_kib(sysfs: &Sysfs, id: u32) -> Option<u64> {
    let place = format!("{NODE_DIR}/node{id}/meminfo");
    let text = sysfs.text(&place).filter(|text| !text.is_empty())?;
    let Some(line) = text.lines().find(|l| l.contains("MemTotal:")) else {
        sysfs.odd(&place, "no line MemTotal", "one");
        return None;
    };
    let value = line.split_whitespace().rev().nth(1).and_then(|v| v.parse().ok());
    let kib = value.filter(|_| line.trim_end().ends_with(" kB"));
    if kib.is_none() {
        sysfs.odd(&place, format!("`{line}`"), "MemTotal in kB");
    }
    kib
}
