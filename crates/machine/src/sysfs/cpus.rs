//! CPUs, cores and packages from `/sys/devices/system/cpu`.

use super::{nodes, packages};
use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::error::MachineError;
use crate::files::{CPU_DIR, Files};
use crate::model::{Cpu, Node, OsIds};

/// CPUs by number, and those online.
pub(super) struct Cpus {
    pub(super) cpus: Vec<Cpu>,
    pub(super) online: CpuSet,
}

/// Reads CPUs 0 to the last present one; `nodes` are the machine's NUMA nodes, possibly none.
pub(super) fn read(
    sysfs: &Files,
    nodes: &[Node],
    unknown: &mut Vec<String>,
) -> Result<Cpus, MachineError> {
    let present = present(sysfs)?;
    let count = present.last().map_or(0, |last| last + 1);
    let online = online(sysfs, present.clone(), unknown)?;
    describe_masks(sysfs, present, count, unknown)?;

    let siblings = siblings(sysfs, count)?;
    let without: CpuSet = (0..count).filter(|&c| siblings[c].is_none()).collect();
    if !without.is_empty() {
        unknown.push(format!(
            "Core and package of CPUs {without}: sysfs has no topology for them (offline CPUs have none); \
             each stands as a core of its own."
        ));
    }
    let cores = cores(&siblings);
    let node_of = nodes_of(sysfs, nodes, count, unknown)?;
    let packages = packages::read(sysfs, &siblings, &node_of, unknown)?;
    let hw_ids = hw_ids(sysfs, count, unknown)?;
    let clusters = groups(sysfs, count, online.clone(), "cluster")?;
    let dies = groups(sysfs, count, online.clone(), "die")?;
    let core_ids = ids(sysfs, count, "core_id")?;
    let told = have(sysfs, online.clone(), "cpu_capacity");
    let capacity = |cpu: usize| match told {
        true => sysfs.number(&format!("{CPU_DIR}/cpu{cpu}/cpu_capacity")),
        false => Ok(None),
    };
    let capacities = (0..count).map(capacity).collect::<Result<Vec<Option<u32>>, _>>()?;
    let cpus = (0..count).map(|cpu| Cpu {
        hw_id: hw_ids[cpu],
        core: cores[cpu].0,
        thread: cores[cpu].1,
        cluster: clusters.first[cpu],
        die: dies.first[cpu].unwrap_or_else(|| first_of(&packages, cpu)),
        package: packages[cpu],
        node: node_of[cpu],
        ids: OsIds { core: core_ids[cpu], cluster: clusters.id[cpu], die: dies.id[cpu] },
        capacity: capacities[cpu],
    });
    Ok(Cpus { cpus: cpus.collect(), online })
}

fn present(sysfs: &Files) -> Result<CpuSet, MachineError> {
    let present = match sysfs.cpu_list(&format!("{CPU_DIR}/present"))? {
        Some(present) => present,
        None => {
            let numbers = sysfs.numbered(CPU_DIR, "cpu")?;
            if let Some(&last) = numbers.last().filter(|&&n| n as usize >= MAX_CPUS) {
                let expected = format!("CPUs below {MAX_CPUS}");
                return Err(sysfs.error(CPU_DIR, format!("cpu{last}"), &expected));
            }
            numbers.into_iter().map(|n| n as usize).collect()
        }
    };
    match present.is_empty() {
        true => Err(sysfs.error(CPU_DIR, "no CPU", "at least one")),
        false => Ok(present),
    }
}

/// Online CPUs: the list, or the files of the CPUs themselves (kernels before 2.6.26 have no list; CPU 0 may have no
/// file).
fn online(
    sysfs: &Files,
    present: CpuSet,
    unknown: &mut Vec<String>,
) -> Result<CpuSet, MachineError> {
    let place = format!("{CPU_DIR}/online");
    if let Some(online) = sysfs.cpu_list(&place)? {
        if online.is_empty() || !online.is_subset(&present) {
            let expected = format!("at least one of the present CPUs {present}");
            return Err(sysfs.error(&place, format!("`{online}`"), &expected));
        }
        return Ok(online);
    }
    let mut online = CpuSet::EMPTY;
    let mut told = false;
    for cpu in present.iter() {
        let state = sysfs.number::<u32>(&format!("{CPU_DIR}/cpu{cpu}/online"))?;
        told |= state.is_some();
        if state != Some(0) {
            online.insert(cpu);
        }
    }
    if !told {
        unknown.push("Online CPUs: sysfs does not tell them; all present ones count.".to_string());
    }
    match online.is_empty() {
        true => Err(sysfs.error(&place, "no online CPU", "at least one")),
        false => Ok(online),
    }
}

/// Says which CPUs of the kernel's masks the model leaves out or makes up.
fn describe_masks(
    sysfs: &Files,
    present: CpuSet,
    count: usize,
    unknown: &mut Vec<String>,
) -> Result<(), MachineError> {
    let holes = CpuSet::first_n(count) - present;
    if !holes.is_empty() {
        unknown
            .push(format!("CPUs {holes}: they are not present; each stands as an offline core."));
    }
    if let Some(possible) = sysfs.cpu_list(&format!("{CPU_DIR}/possible"))? {
        let beyond = possible - CpuSet::first_n(count);
        if !beyond.is_empty() {
            unknown.push(format!("CPUs {beyond}: possible but not present, so they are left out."));
        }
    }
    Ok(())
}

/// Threads of each CPU's core, as far as sysfs tells; a CPU without topology files has those of a CPU that
/// counts it in.
fn siblings(sysfs: &Files, count: usize) -> Result<Vec<Option<CpuSet>>, MachineError> {
    const LISTS: &[&str] = &["core_cpus_list", "thread_siblings_list"];
    const MASKS: &[&str] = &["core_cpus", "thread_siblings"];
    let mut siblings = sets(sysfs, count, MASKS, LISTS)?;
    let known: Vec<CpuSet> = siblings.iter().flatten().cloned().collect();
    // By CPU: the last known core that holds it; a second one shows below.
    let mut core_of: Vec<Option<CpuSet>> = vec![None; count];
    for set in &known {
        set.iter().for_each(|cpu| core_of[cpu] = Some(set.clone()));
    }
    for (cpu, set) in siblings.iter_mut().enumerate() {
        let Some(set) = set else {
            *set = core_of[cpu].clone();
            continue;
        };
        if let Some(other) = set.iter().find_map(|c| core_of[c].clone().filter(|other| other != set)) {
            let place = format!("{CPU_DIR}/cpu{cpu}/topology");
            let found = format!("a core of CPUs {set} and one of {other}");
            return Err(sysfs.error(&place, found, "cores without common CPUs"));
        }
    }
    Ok(siblings)
}

/// By CPU: the set that the first of the files in its `topology` holds, without possible CPUs beyond `count`.
pub(super) fn sets(
    sysfs: &Files,
    count: usize,
    masks: &[&str],
    lists: &[&str],
) -> Result<Vec<Option<CpuSet>>, MachineError> {
    let existing = existing(sysfs, count)?;
    // A kernel has the same files for every CPU: those that the first CPU lacks are tried only where nothing else is.
    let (mut masks, mut all) = (masks.to_vec(), Vec::with_capacity(count));
    for cpu in 0..count {
        let set = set_of(sysfs, cpu, existing.clone(), &masks, lists)?;
        if cpu == 0 {
            let there = |mask: &&str| sysfs.is_file(&format!("{CPU_DIR}/cpu0/topology/{mask}"));
            let (present, absent): (Vec<&str>, Vec<&str>) = masks.iter().partition(|m| there(m));
            masks = [present, absent].concat();
        }
        all.push(set.map(|set| set & CpuSet::first_n(count)));
    }
    Ok(all)
}

/// The set that the first of the files in `cpu`'s `topology` holds.
fn set_of(
    sysfs: &Files,
    cpu: usize,
    existing: CpuSet,
    masks: &[&str],
    lists: &[&str],
) -> Result<Option<CpuSet>, MachineError> {
    match sysfs.cpus(&format!("{CPU_DIR}/cpu{cpu}/topology"), masks, lists)? {
        Some((place, set)) if !set.contains(cpu) || !set.is_subset(&existing) => {
            let expected = format!("CPU {cpu} and others out of {existing}");
            Err(sysfs.error(&place, format!("`{set}`"), &expected))
        }
        found => Ok(found.map(|(_, set)| set)),
    }
}

/// Whether `cpus` have `file` in their directories. A kernel gives it to all of them or to none, but that CPU 0 may lack
/// it, so the first and the last answer for the others.
pub(super) fn have(sysfs: &Files, cpus: CpuSet, file: &str) -> bool {
    let there = |cpu: usize| sysfs.is_file(&format!("{CPU_DIR}/cpu{cpu}/{file}"));
    [cpus.first(), cpus.last()].into_iter().flatten().any(there)
}

/// CPUs that sysfs may name: those that are possible, and CPUs 0 to `count - 1` in any case.
pub(super) fn existing(sysfs: &Files, count: usize) -> Result<CpuSet, MachineError> {
    let possible = sysfs.cpu_list(&format!("{CPU_DIR}/possible"))?;
    Ok(possible.map_or(CpuSet::EMPTY, |set| set) | CpuSet::first_n(count))
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

/// What sysfs says of each CPU's `cluster` or `die`.
struct Groups {
    /// Its lowest CPU, where the file that lists it holds the CPU and its id is none of those that stand for none.
    first: Vec<Option<u32>>,
    /// Its id.
    id: Vec<Option<u32>>,
}

fn groups(sysfs: &Files, count: usize, online: CpuSet, what: &str) -> Result<Groups, MachineError> {
    let dir = |cpu: usize| format!("{CPU_DIR}/cpu{cpu}/topology");
    let list = format!("{what}_cpus_list");
    let mask = format!("{what}_cpus");
    let existing = existing(sysfs, count)?;
    let mut groups = Groups { first: vec![None; count], id: vec![None; count] };
    if !have(sysfs, online, &format!("topology/{what}_id")) {
        return Ok(groups);
    }
    for cpu in 0..count {
        // Every kernel that has the sets has the id.
        let id = match number(sysfs, &format!("{}/{what}_id", dir(cpu)))? {
            Id::NoFile | Id::None => continue,
            Id::Number(id) => id,
        };
        groups.id[cpu] = Some(id);
        if id != NO_ID {
            let set = set_of(sysfs, cpu, existing.clone(), &[mask.as_str()], &[list.as_str()])?;
            groups.first[cpu] = set.and_then(|set| set.first()).map(|first| first as u32);
        }
    }
    Ok(groups)
}

/// Id that x86 shows where there is no cluster (`BAD_APICID`).
const NO_ID: u32 = 0xffff;

/// What a file with a number says.
enum Id {
    NoFile,
    /// -1.
    None,
    Number(u32),
}

fn number(sysfs: &Files, place: &str) -> Result<Id, MachineError> {
    match sysfs.number::<i64>(place)? {
        None => Ok(Id::NoFile),
        Some(-1) => Ok(Id::None),
        Some(id) => match u32::try_from(id) {
            Ok(id) => Ok(Id::Number(id)),
            Err(_) => Err(sysfs.error(place, format!("{id}"), "-1 to 2^32 - 1")),
        },
    }
}

/// The number in `topology/FILE` of each CPU; `None` where it is -1 or there is none.
pub(super) fn ids(
    sysfs: &Files,
    count: usize,
    file: &str,
) -> Result<Vec<Option<u32>>, MachineError> {
    (0..count)
        .map(|cpu| match number(sysfs, &format!("{CPU_DIR}/cpu{cpu}/topology/{file}"))? {
            Id::Number(id) => Ok(Some(id)),
            Id::None | Id::NoFile => Ok(None),
        })
        .collect()
}

fn nodes_of(
    sysfs: &Files,
    nodes: &[Node],
    count: usize,
    unknown: &mut Vec<String>,
) -> Result<Vec<u32>, MachineError> {
    let first = nodes.first().map_or(0, |n| n.id);
    let mut homeless = CpuSet::EMPTY;
    let mut all = Vec::with_capacity(count);
    for cpu in 0..count {
        let listed = nodes.iter().find(|n| n.cpus.contains(cpu)).map(|n| n.id);
        let of_cpu = match listed {
            Some(id) => Some(id),
            None => nodes::of_cpu(sysfs, cpu)?.filter(|id| nodes.iter().any(|n| n.id == *id)),
        };
        all.push(of_cpu.unwrap_or_else(|| {
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

/// Hardware ids: POWER has them in `physical_id`; elsewhere the CPU number stands in.
fn hw_ids(
    sysfs: &Files,
    count: usize,
    unknown: &mut Vec<String>,
) -> Result<Vec<u32>, MachineError> {
    let mut missing = CpuSet::EMPTY;
    let mut ids = Vec::with_capacity(count);
    for (cpu, number) in (0..count).zip(0u32..) {
        ids.push(match sysfs.number::<u32>(&format!("{CPU_DIR}/cpu{cpu}/physical_id"))? {
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
