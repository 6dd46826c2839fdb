//! CPUs, cores and packages from `/sys/devices/system/cpu`.

use super::files::Sysfs;
use super::nodes;
use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::error::MachineError;
use crate::model::{Cpu, Node, OsIds};

pub(super) const DIR: &str = "sys/devices/system/cpu";

/// CPUs by number, those online, and what sysfs leaves open.
pub(super) struct Cpus {
    pub(super) cpus: Vec<Cpu>,
    pub(super) online: CpuSet,
    pub(super) unknown: Vec<String>,
}

/// Reads CPUs 0 to the last present one; `nodes` are the machine's NUMA nodes, possibly none.
pub(super) fn read(sysfs: &Sysfs<'_>, nodes: &[Node]) -> Result<Cpus, MachineError> {
    let mut unknown = Vec::new();
    let present = present(sysfs)?;
    let count = present.last().map_or(0, |last| last + 1);
    let online = online(sysfs, present, &mut unknown)?;
    describe_masks(sysfs, present, count, &mut unknown)?;

    let siblings = siblings(sysfs, count)?;
    let without: CpuSet = (0..count).filter(|&c| siblings[c].is_none()).collect();
    if !without.is_empty() {
        unknown.push(format!(
            "Core and package of CPUs {without}: sysfs has no topology for them (offline CPUs have none); \
             each stands as a core of its own."
        ));
    }
    let cores = cores(&siblings);
    let node_of = nodes_of(sysfs, nodes, count, &mut unknown)?;
    let packages = packages(sysfs, &siblings, &node_of, &mut unknown)?;
    let hw_ids = hw_ids(sysfs, count, &mut unknown)?;
    let clusters = groups(sysfs, count, "cluster")?;
    let dies = groups(sysfs, count, "die")?;
    let cpus = (0..count).map(|cpu| Cpu {
        hw_id: hw_ids[cpu],
        core: cores[cpu].0,
        thread: cores[cpu].1,
        cluster: clusters[cpu],
        die: dies[cpu].unwrap_or_else(|| first_of(&packages, cpu)),
        package: packages[cpu],
        node: node_of[cpu],
        ids: OsIds::default(),
        capacity: None,
    });
    Ok(Cpus { cpus: cpus.collect(), online, unknown })
}

fn present(sysfs: &Sysfs<'_>) -> Result<CpuSet, MachineError> {
    let present = match sysfs.cpu_list(&format!("{DIR}/present"))? {
        Some(present) => present,
        None => {
            let numbers = sysfs.numbered(DIR, "cpu")?;
            if let Some(&last) = numbers.last().filter(|&&n| n as usize >= MAX_CPUS) {
                let expected = format!("CPUs below {MAX_CPUS}");
                return Err(sysfs.error(DIR, format!("cpu{last}"), &expected));
            }
            numbers.into_iter().map(|n| n as usize).collect()
        }
    };
    match present.is_empty() {
        true => Err(sysfs.error(DIR, "no CPU", "at least one")),
        false => Ok(present),
    }
}

fn online(
    sysfs: &Sysfs<'_>,
    present: CpuSet,
    unknown: &mut Vec<String>,
) -> Result<CpuSet, MachineError> {
    let place = format!("{DIR}/online");
    match sysfs.cpu_list(&place)? {
        Some(online) if !online.is_empty() && online.is_subset(&present) => Ok(online),
        Some(online) => {
            let expected = format!("at least one of the present CPUs {present}");
            Err(sysfs.error(&place, format!("`{online}`"), &expected))
        }
        None => {
            unknown
                .push("Online CPUs: sysfs has no such list; all present ones count.".to_string());
            Ok(present)
        }
    }
}

/// Says which CPUs of the kernel's masks the model leaves out or makes up.
fn describe_masks(
    sysfs: &Sysfs<'_>,
    present: CpuSet,
    count: usize,
    unknown: &mut Vec<String>,
) -> Result<(), MachineError> {
    let holes = CpuSet::first_n(count) - present;
    if !holes.is_empty() {
        unknown
            .push(format!("CPUs {holes}: they are not present; each stands as an offline core."));
    }
    if let Some(possible) = sysfs.cpu_list(&format!("{DIR}/possible"))? {
        let beyond = possible - CpuSet::first_n(count);
        if !beyond.is_empty() {
            unknown.push(format!("CPUs {beyond}: possible but not present, so they are left out."));
        }
    }
    Ok(())
}

/// Threads of each CPU's core, as far as sysfs tells; a CPU without topology files has those of a CPU that
/// counts it in.
fn siblings(sysfs: &Sysfs<'_>, count: usize) -> Result<Vec<Option<CpuSet>>, MachineError> {
    let mut siblings: Vec<Option<CpuSet>> = Vec::with_capacity(count);
    for cpu in 0..count {
        let place = format!("{DIR}/cpu{cpu}/topology/core_cpus_list");
        let old_place = format!("{DIR}/cpu{cpu}/topology/thread_siblings_list");
        let (place, set) = match sysfs.cpu_list(&place)? {
            Some(set) => (place, Some(set)),
            None => (old_place.clone(), sysfs.cpu_list(&old_place)?),
        };
        if let Some(set) = set.filter(|s| !s.contains(cpu) || !s.is_subset(&CpuSet::first_n(count)))
        {
            let expected = format!("CPU {cpu} and others below {count}");
            return Err(sysfs.error(&place, format!("`{set}`"), &expected));
        }
        siblings.push(set);
    }
    let known: Vec<CpuSet> = siblings.iter().flatten().copied().collect();
    for (cpu, set) in siblings.iter_mut().enumerate() {
        match set {
            None => *set = known.iter().find(|s| s.contains(cpu)).copied(),
            Some(set) => {
                if let Some(other) = known.iter().find(|s| s.intersects(set) && *s != set) {
                    let place = format!("{DIR}/cpu{cpu}/topology");
                    let found = format!("a core of CPUs {set} and one of {other}");
                    return Err(sysfs.error(&place, found, "cores without common CPUs"));
                }
            }
        }
    }
    Ok(siblings)
}

/// Core number and position in the core of each CPU; cores are numbered by their first CPU.
fn cores(siblings: &[Option<CpuSet>]) -> Vec<(u32, u32)> {
    let mut cores: Vec<(u32, u32)> = Vec::with_capacity(siblings.len());
    let mut next = 0;
    for (cpu, set) in siblings.iter().enumerate() {
        let earlier = |set: &CpuSet| set.iter().take_while(|&c| c < cpu).zip(1..).last();
        match set.as_ref().and_then(earlier) {
            Some((sibling, thread)) => cores.push((cores[sibling].0, thread)),
            None => {
                cores.push((next, 0));
                next += 1;
            }
        }
    }
    cores
}

/// The lowest CPU of `cpu`'s package, which numbers its die where sysfs names none.
fn first_of(packages: &[u32], cpu: usize) -> u32 {
    packages.iter().zip(0..).find(|(p, _)| **p == packages[cpu]).map_or(0, |(_, first)| first)
}

/// Number of each CPU's `cluster` or `die` (its lowest CPU), where sysfs names one: the file lists the CPU itself
/// and its id is neither -1 nor 65535, which stand for none.
fn groups(sysfs: &Sysfs<'_>, count: usize, what: &str) -> Result<Vec<Option<u32>>, MachineError> {
    (0..count)
        .map(|cpu| {
            let dir = format!("{DIR}/cpu{cpu}/topology");
            let id = sysfs.number::<i64>(&format!("{dir}/{what}_id"))?;
            if matches!(id, Some(-1 | 0xffff)) {
                return Ok(None);
            }
            let place = format!("{dir}/{what}_cpus_list");
            let Some(set) = sysfs.cpu_list(&place)? else { return Ok(None) };
            if !set.contains(cpu) || !set.is_subset(&CpuSet::first_n(count)) {
                let expected = format!("CPU {cpu} and others below {count}");
                return Err(sysfs.error(&place, format!("`{set}`"), &expected));
            }
            Ok(set.first().map(|first| first as u32))
        })
        .collect()
}

fn nodes_of(
    sysfs: &Sysfs<'_>,
    nodes: &[Node],
    count: usize,
    unknown: &mut Vec<String>,
) -> Result<Vec<u32>, MachineError> {
    let first = nodes.first().map_or(0, |n| n.id);
    let mut homeless = CpuSet::EMPTY;
    let mut all = Vec::with_capacity(count);
    for cpu in 0..count {
        let listed = nodes.iter().find(|n| n.cpus.contains(cpu)).map(|n| n.id);
        let linked = nodes::of_cpu(sysfs, cpu)?.filter(|id| nodes.iter().any(|n| n.id == *id));
        all.push(listed.or(linked).unwrap_or_else(|| {
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
    Ok(all)
}

/// Package of each CPU. Without one in sysfs (-1 or no file) it is that of the core's or node's other CPUs,
/// else the number of the NUMA node.
fn packages(
    sysfs: &Sysfs<'_>,
    siblings: &[Option<CpuSet>],
    node_of: &[u32],
    unknown: &mut Vec<String>,
) -> Result<Vec<u32>, MachineError> {
    let mut told: Vec<Option<u32>> = Vec::with_capacity(siblings.len());
    for cpu in 0..siblings.len() {
        let place = format!("{DIR}/cpu{cpu}/topology/physical_package_id");
        told.push(match sysfs.number::<i64>(&place)? {
            None | Some(-1) => None,
            Some(id) => match u32::try_from(id) {
                Ok(id) => Some(id),
                Err(_) => return Err(sysfs.error(&place, format!("{id}"), "-1 to 2^32 - 1")),
            },
        });
    }
    let missing: CpuSet =
        (0..told.len()).filter(|&c| told[c].is_none() && siblings[c].is_some()).collect();
    if !missing.is_empty() {
        unknown
            .push(format!("Package of CPUs {missing}: sysfs names none; the NUMA node stands in."));
    }
    let stand_in = |cpu: usize| {
        let core = siblings[cpu].and_then(|set| set.iter().find_map(|c| told[c]));
        let near = (0..told.len()).find_map(|c| told[c].filter(|_| node_of[c] == node_of[cpu]));
        core.or(near).unwrap_or(node_of[cpu])
    };
    Ok((0..told.len()).map(|cpu| told[cpu].unwrap_or_else(|| stand_in(cpu))).collect())
}

/// Hardware ids: POWER has them in `physical_id`; elsewhere the CPU number stands in.
fn hw_ids(
    sysfs: &Sysfs<'_>,
    count: usize,
    unknown: &mut Vec<String>,
) -> Result<Vec<u32>, MachineError> {
    let mut missing = CpuSet::EMPTY;
    let mut ids = Vec::with_capacity(count);
    for (cpu, number) in (0..count).zip(0u32..) {
        ids.push(match sysfs.number::<u32>(&format!("{DIR}/cpu{cpu}/physical_id"))? {
            Some(id) => id,
            None => {
                missing.insert(cpu);
                number
            }
        });
    }
    if !missing.is_empty() {
        unknown.push(format!(
            "Hardware ids of CPUs {missing}: sysfs does not tell them; the CPU number stands in."
        ));
    }
    Ok(ids)
}
