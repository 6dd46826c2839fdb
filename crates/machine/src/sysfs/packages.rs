//! Packages from `topology/package_cpus` and `physical_package_id`.

use super::cpus::{Existing, ids};
use super::odd::Sysfs;
use super::siblings::sets;
use crate::cpuset::CpuSet;
use std::collections::BTreeMap;

/// Package number of each CPU; `siblings` are the CPUs of each one's core, `node_of` its NUMA node.
///
/// CPUs are in one package where sysfs lists them together, or gives them one id where it has no lists. The number is
/// the id. Where an id stands for several lists, or no CPU has one and lists hold more than a core (s390), packages have
/// the numbers of their first CPUs. Where there is neither (-1, or no file), it is that of the core's or node's other
/// CPUs, else the number of the NUMA node.
pub(super) fn read(
    sysfs: &Sysfs,
    existing: &Existing,
    siblings: &[Option<CpuSet>],
    node_of: &[u32],
    unknown: &mut Vec<String>,
) -> Vec<u32> {
    const MASKS: &[&str] = &["package_cpus", "core_siblings"];
    const LISTS: &[&str] = &["package_cpus_list", "core_siblings_list"];
    let lists = sets(sysfs, existing, MASKS, LISTS);
    let ids = ids(sysfs, siblings.len(), "physical_package_id");
    let numbered = ids.iter().any(Option::is_some);
    // Kernels for POWER7 list a core's threads and give no id: such lists are no packages.
    let wider = lists.iter().zip(siblings).any(|(list, core)| list.is_some() && list != core);
    let by_id = if numbered { one_list_an_id(&lists, &ids) } else { !wider };
    let mut told: Vec<Option<u32>> = if by_id {
        ids
    } else {
        let why = if numbered { "one id stands for several in sysfs" } else { "sysfs has none" };
        unknown.push(format!("Numbers of packages: {why}; they have their first CPU's."));
        lists.iter().map(|list| Some(list.as_ref()?.first()? as u32)).collect()
    };
    let missing: CpuSet =
        (0..told.len()).filter(|&c| told[c].is_none() && siblings[c].is_some()).collect();
    if !missing.is_empty() {
        unknown.push(format!(
            "Number of the package of CPUs {missing}: sysfs has none; the NUMA node's stands in."
        ));
    }
    let known = told.clone();
    for (cpu, package) in told.iter_mut().enumerate().filter(|(_, package)| package.is_none()) {
        let core = siblings[cpu].as_ref().and_then(|set| set.iter().find_map(|c| known[c]));
        let near =
            || (0..known.len()).find_map(|c| known[c].filter(|_| node_of[c] == node_of[cpu]));
        *package = core.or_else(near).or(Some(node_of[cpu]));
    }
    told.into_iter().zip(node_of).map(|(package, &node)| package.unwrap_or(node)).collect()
}

/// Whether every id belongs to just one list.
fn one_list_an_id(lists: &[Option<CpuSet>], ids: &[Option<u32>]) -> bool {
    let mut list_of: BTreeMap<u32, &CpuSet> = BTreeMap::new();
    lists.iter().zip(ids).all(|(list, id)| match (list, id) {
        (Some(list), Some(id)) => *list_of.entry(*id).or_insert(list) == list,
        _ => true,
    })
}
