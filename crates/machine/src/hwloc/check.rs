//! Whether a machine's parts agree: annotations of a file can contradict its tree and each other.

use crate::cpuset::CpuSet;
use crate::error::Fault;
use crate::model::{Machine, ThreadGroups};

/// Gives the field that is wrong, what is there and what would do.
pub(super) fn check(machine: &Machine) -> Result<(), (&'static str, Fault)> {
    check_nodes(machine).map_err(|fault| ("nodes", fault))?;
    check_cores(machine).map_err(|fault| ("cpus", fault))?;
    for cache in &machine.caches {
        check_set(&cache.cpus, machine).map_err(|fault| ("caches", fault))?;
    }
    for policy in &machine.policies {
        check_set(&policy.cpus, machine).map_err(|fault| ("policies", fault))?;
    }
    for cppc in &machine.cppc {
        check_set(&cppc.cpus, machine).map_err(|fault| ("cppc", fault))?;
    }
    for groups in &machine.thread_groups {
        check_groups(groups, machine).map_err(|fault| ("thread_groups", fault))?;
    }
    Ok(())
}

/// `set` holds CPUs, and only the machine's.
fn check_set(set: &CpuSet, machine: &Machine) -> Result<(), Fault> {
    match !set.is_empty() && set.is_subset(&machine.possible()) {
        true => Ok(()),
        false => {
            let expected = format!("at least one of {}", machine.possible());
            Err(Fault::new(format!("CPUs `{set}`"), expected))
        }
    }
}

/// Each CPU is in the set of its node and in no other, and distances are a square.
fn check_nodes(machine: &Machine) -> Result<(), Fault> {
    let ids: Vec<u32> = machine.nodes.iter().map(|n| n.id).collect();
    if ids.is_empty() || !ids.is_sorted_by(|a, b| a < b) {
        return Err(Fault::new(format!("nodes {ids:?}"), "nodes in ascending order"));
    }
    let mut left = machine.possible();
    for node in &machine.nodes {
        let own = machine.cpus.iter().enumerate().filter(|(_, c)| c.node == node.id);
        let own: CpuSet = own.map(|(cpu, _)| cpu).collect();
        if node.cpus != own {
            let found = format!("CPUs `{}` in node {}", node.cpus, node.id);
            return Err(Fault::new(found, format!("`{own}`, the CPUs that name this node")));
        }
        if node.distances.len() != ids.len() {
            let found = format!("{} distances of node {}", node.distances.len(), node.id);
            return Err(Fault::new(found, ids.len().to_string()));
        }
        left = left - own;
    }
    match left.is_empty() {
        true => Ok(()),
        false => Err(Fault::new(format!("CPUs {left} in other nodes"), format!("nodes {ids:?}"))),
    }
}

/// No two threads of a core have one position.
fn check_cores(machine: &Machine) -> Result<(), Fault> {
    let mut threads: Vec<(u32, u32)> = machine.cpus.iter().map(|c| (c.core, c.thread)).collect();
    threads.sort_unstable();
    for pair in threads.windows(2) {
        if let [a, b] = pair
            && a == b
        {
            let found = format!("two CPUs that are thread {} of core {}", a.1, a.0);
            return Err(Fault::new(found, "a position for each thread"));
        }
    }
    Ok(())
}

/// The groups are disjoint and together a core.
fn check_groups(groups: &ThreadGroups, machine: &Machine) -> Result<(), Fault> {
    let core = machine.cpus.iter().enumerate().filter(|(_, c)| c.core == groups.core);
    let core: CpuSet = core.map(|(cpu, _)| cpu).collect();
    let together = groups.groups.iter().fold(CpuSet::EMPTY, |set, group| set | group);
    let threads: usize = groups.groups.iter().map(CpuSet::len).sum();
    match !core.is_empty() && together == core && threads == core.len() {
        true => Ok(()),
        false => {
            let found = format!("groups of CPUs {:?} for core {}", groups.groups, groups.core);
            Err(Fault::new(found, format!("each of its CPUs `{core}` once")))
        }
    }
}
