//! One machine out of what firmware says and what sysfs showed.

use crate::error::MachineError;
use crate::model::{Cpu, Machine, OsIds};

/// `tables` (firmware) with what only `seen` (sysfs at `root`) tells: online CPUs, memory, frequencies, idle states, ids.
///
/// # Errors
/// Online CPUs that the firmware's tables do not know.
pub(super) fn merge(tables: Machine, seen: Machine, root: &str) -> Result<Machine, MachineError> {
    let mut merged = tables.with_online(seen.online.clone()).map_err(|e| MachineError::File {
        file: root.to_string(),
        found: e.to_string(),
        expected: "CPUs that the firmware's tables know".to_string(),
    })?;
    for (cpu, seen) in merged.cpus.iter_mut().zip(&seen.cpus) {
        fill(cpu, seen);
    }
    if nodes_differ(&merged, &seen) {
        // What the kernel shows is right: firmware may not name nodes at all, or the kernel refuse its table.
        merged.nodes = seen.nodes.clone();
        for (cpu, seen) in merged.cpus.iter_mut().zip(&seen.cpus) {
            (cpu.node, cpu.package, cpu.die) = (seen.node, seen.package, seen.die);
        }
    }
    for node in &mut merged.nodes {
        let same = seen.nodes.iter().find(|n| n.id == node.id);
        node.memory_kib = same.and_then(|n| n.memory_kib).or(node.memory_kib);
    }
    if merged.caches.is_empty() {
        merged.caches = seen.caches.clone();
    }
    for cache in &mut merged.caches {
        let same = seen.caches.iter().find(|c| {
            (c.level, c.kind) == (cache.level, cache.kind) && c.cpus.intersects(&cache.cpus)
        });
        if let Some(same) = same {
            cache.size_kib = cache.size_kib.or(same.size_kib);
            cache.line_bytes = cache.line_bytes.or(same.line_bytes);
            cache.ways = cache.ways.or(same.ways);
        }
    }
    if merged.idle_states.is_empty() {
        merged.idle_states = seen.idle_states;
    }
    let unknown = std::mem::take(&mut merged.unknown);
    merged.unknown = unknown.into_iter().filter(|s| !answered(s, &merged)).collect();
    merged.unknown.extend(seen.unknown.into_iter().filter(|s| s.starts_with("Frequencies:")));
    Ok(Machine {
        name: seen.name,
        title: seen.title,
        policies: seen.policies,
        cppc: seen.cppc,
        vendor: seen.vendor,
        smt_control: seen.smt_control,
        costs: None,
        firmware: seen.firmware,
        ..merged
    })
}

/// Whether an online CPU is with others in its node, or the nodes are others.
fn nodes_differ(tables: &Machine, seen: &Machine) -> bool {
    let ids = |m: &Machine| m.nodes.iter().map(|n| (n.id, &n.cpus & &m.online)).collect::<Vec<_>>();
    ids(tables) != ids(seen)
}

fn fill(cpu: &mut Cpu, seen: &Cpu) {
    cpu.ids = OsIds {
        core: seen.ids.core.or(cpu.ids.core),
        cluster: seen.ids.cluster.or(cpu.ids.cluster),
        die: seen.ids.die.or(cpu.ids.die),
        book: seen.ids.book.or(cpu.ids.book),
        drawer: seen.ids.drawer.or(cpu.ids.drawer),
    };
    cpu.capacity = seen.capacity.or(cpu.capacity);
}

/// Whether a sentence of the firmware's reader no longer holds in `merged`.
fn answered(sentence: &str, merged: &Machine) -> bool {
    let about = |subject: &str| sentence.starts_with(subject);
    about("Frequencies:")
        || (about("Idle states:") && !merged.idle_states.is_empty())
        || (about("Caches") && !merged.caches.is_empty())
}
