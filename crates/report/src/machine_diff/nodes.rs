//! NUMA nodes, their memory and distances.

use super::{Diff, shown};
use crate::machine_words::{kib, list_text};
use machine::{Machine, Node};
use std::collections::BTreeMap;

pub(super) fn nodes(diff: &mut Diff<'_>) {
    let (a, b) = (by_id(diff.a), by_id(diff.b));
    for (id, node) in a.iter().filter(|(id, _)| !b.contains_key(id)) {
        diff.push("NUMA nodes", &format!("node {id}"), Some(summary(node)), None);
    }
    for (id, node) in b.iter().filter(|(id, _)| !a.contains_key(id)) {
        diff.push("NUMA nodes", &format!("node {id}"), None, Some(summary(node)));
    }
    for (id, a) in &a {
        let Some(b) = b.get(id) else { continue };
        let cpus =
            |n: &Node| if n.cpus.is_empty() { "none".to_string() } else { n.cpus.to_string() };
        diff.value("NUMA nodes", &format!("CPUs of node {id}"), cpus(a), cpus(b));
        let memory = |n: &Node| shown(n.memory_kib.map(kib).as_ref());
        diff.value("NUMA nodes", &format!("memory of node {id}"), memory(a), memory(b));
    }
    distances(diff);
}

fn by_id(machine: &Machine) -> BTreeMap<u32, &Node> {
    machine.nodes.iter().map(|n| (n.id, n)).collect()
}

fn summary(node: &Node) -> String {
    let memory = node.memory_kib.map_or_else(String::new, |m| format!(", {}", kib(m)));
    match node.cpus.is_empty() {
        true => format!("no CPU{memory}"),
        false => format!("CPUs {}{memory}", list_text(&node.cpus)),
    }
}

/// Distances between nodes that both machines have: a line for each change, with the pairs that it is of.
fn distances(diff: &mut Diff<'_>) {
    let (a, b) = (distances_of(diff.a), distances_of(diff.b));
    let mut changes: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let (ids_a, ids_b) = (by_id(diff.a), by_id(diff.b));
    let both = || ids_a.keys().filter(|id| ids_b.contains_key(id));
    for from in both() {
        for to in both() {
            let (a, b) = (a.get(&(*from, *to)), b.get(&(*from, *to)));
            if a != b {
                changes.entry((shown(a), shown(b))).or_default().push(format!("{from} to {to}"));
            }
        }
    }
    for ((a, b), pairs) in changes {
        let what = match pairs.len() {
            1..=4 => format!("node {}", pairs.join(", ")),
            count => format!("node {} ... {count} pairs", pairs[..3].join(", ")),
        };
        diff.push("distances", &what, Some(a), Some(b));
    }
}

fn distances_of(machine: &Machine) -> BTreeMap<(u32, u32), u32> {
    let ids = || machine.nodes.iter().map(|n| n.id);
    let row = |from: &Node| {
        let from_id = from.id;
        ids().zip(from.distances.clone()).map(move |(to, d)| ((from_id, to), d)).collect::<Vec<_>>()
    };
    machine.nodes.iter().flat_map(row).collect()
}
