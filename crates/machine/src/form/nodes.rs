//! NUMA nodes.

use super::{Files, NODE_DIR, number_list};
use crate::model::{Machine, Node};

pub(super) fn add(machine: &Machine, files: &mut Files) {
    let list = |keep: &dyn Fn(&Node) -> bool| {
        number_list(machine.nodes.iter().filter(|n| keep(n)).map(|n| n.id))
    };
    files.line(format!("{NODE_DIR}/online"), list(&|_| true));
    files.line(format!("{NODE_DIR}/has_cpu"), list(&|n| n.cpus.intersects(&machine.online)));
    if machine.nodes.iter().all(|n| n.memory_kib.is_some()) {
        let has_memory = list(&|n| n.memory_kib.is_some_and(|kib| kib > 0));
        files.line(format!("{NODE_DIR}/has_memory"), has_memory);
    }
    for node in &machine.nodes {
        let place = |name: &str| format!("{NODE_DIR}/node{}/{name}", node.id);
        files.set(place("cpumap"), place("cpulist"), &node.cpus & &machine.online);
        if !node.distances.is_empty() {
            let distances: Vec<String> = node.distances.iter().map(u32::to_string).collect();
            files.line(place("distance"), distances.join(" "));
        }
        // The first line of the file, which alone the model knows.
        let total =
            node.memory_kib.map(|kib| format!("Node {} MemTotal:       {kib:8} kB", node.id));
        files.known(place("meminfo"), total);
    }
}
