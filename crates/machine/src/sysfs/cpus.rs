//! CPUs, cores and packages from `/sys/devices/system/cpu`.

use super::odd::Sysfs;
use super::siblings::{cores, siblings};
use super::{nodes, packages};
use crate::cpuset::{CpuSet, MAX_CPUS};
use crate::error::MachineError;
use crate::files::CPU_DIR;
use crate::model::{Cpu, Node, OsIds};

/// CPUs by number, those online, and the threads of each one's core as far as sysfs tells.
pub(super) struct Cpus {
    pub(super) cpus: Vec<Cpu>,
    pub(super) siblings: Vec<Option<CpuSet>>,
}

/// Which CPUs there are.
pub(super) struct Existing {
    /// CPUs 0 to `count - 1` make the machine.
    pub(super) count: usize,
    pub(super) online: CpuSet,
    /// CPUs that sysfs may name: the possible ones, and those of the machine in any case.
    named: CpuSet,
}

impl Existing {
    /// `set`, which the file `place` of `cpu` holds, without CPUs that are none of the machine's; `None`, and a note,
    /// where it leaves out `cpu` itself.
    pub(super) fn checked(
        &self,
        sysfs: &Sysfs,
        place: &str,
        cpu: usize,
        set: CpuSet,
    ) -> Option<CpuSet> {
        if !set.contains(cpu) {
            let expected = format!("CPU {cpu} and others out of {}", self.named);
            sysfs.odd(place, format!("`{set}`"), expected);
            return None;
        }
        if !set.is_subset(&self.named) {
            let beyond = &set - &self.named;
            sysfs.note(place, format!("CPUs {beyond} do not exist; they are left out."));
        }
        Some(set & CpuSet::first_n(self.count))
    }
}

/// Finds the CPUs from 0 to the last present one.
///
/// # Errors
/// No CPU, and more than [`MAX_CPUS`].
pub(super) fn existing(sysfs: &Sysfs, unknown: &mut Vec<String>) -> Result<Existing, MachineError> {
    let present = present(sysfs)?;
    let count = present.last().map_or(0, |last| last + 1);
    let online = online(sysfs, &present, unknown);
    let holes = CpuSet::first_n(count) - &present;
    if !holes.is_empty() {
        unknown
            .push(format!("CPUs {holes}: they are not present; each stands as an offline core."));
    }
    let mut named = CpuSet::first_n(count);
    if let Some(possible) = sysfs.cpu_list(&format!("{CPU_DIR}/possible")) {
        let beyond = &possible - &named;
        if !beyond.is_empty() {
            unknown.push(format!("CPUs {beyond}: possible but not present, so they are left out."));
        }
        named |= possible;
    }
    Ok(Existing { count, online, named })
}

/// Reads the CPUs; `nodes` are the machine's NUMA nodes, possibly none.
pub(super) fn read(
    sysfs: &Sysfs,
    existing: &Existing,
    nodes: &[Node],
    unknown: &mut Vec<String>,
) -> Cpus {
    let count = existing.count;
    let siblings = siblings(sysfs, existing);
    let without: CpuSet = (0..count).filter(|&c| siblings[c].is_none()).collect();
    if !without.is_empty() {
        unknown.push(format!(
            "Core and package of CPUs {without}: sysfs has no topology for them (offline CPUs have none); \
             each stands as a core of its own."
        ));
    }
    let cores = cores(&siblings);
    let node_of = nodes::of_cpus(sysfs, nodes, count, unknown);
    let packages = packages::read(sysfs, existing, &siblings, &node_of, unknown);
    let hw_ids = hw_ids(sysfs, count, unknown);
    let clusters = groups(sysfs, existing, "cluster");
    let dies = groups(sysfs, existing, "die");
    let core_ids = ids(sysfs, count, "core_id");
    // s390 alone has these.
    let container_ids =
        |file: &str| match have(sysfs, &existing.online, &format!("topology/{file}")) {
            true => ids(sysfs, count, file),
            false => vec![None; count],
        };
    let (books, drawers) = (container_ids("book_id"), container_ids("drawer_id"));
    let told = have(sysfs, &existing.online, "cpu_capacity");
    let capacity = |cpu: usize| match told {
        true => sysfs.number(&format!("{CPU_DIR}/cpu{cpu}/cpu_capacity")),
        false => None,
    };
    let cpus = (0..count).map(|cpu| Cpu {
        hw_id: hw_ids[cpu],
        core: cores[cpu].0,
        thread: cores[cpu].1,
        cluster: clusters.first[cpu],
        die: dies.first[cpu].unwrap_or_else(|| first_of(&packages, cpu)),
        package: packages[cpu],
        node: node_of[cpu],
        ids: OsIds {
            core: core_ids[cpu],
            cluster: clusters.id[cpu],
            die: dies.id[cpu],
            book: books[cpu],
            drawer: drawers[cpu],
        },
        capacity: capacity(cpu),
    });
    Cpus { cpus: cpus.collect(), siblings }
}

/// Present CPUs: the list, or the directories of the CPUs.
fn present(sysfs: &Sysfs) -> Result<CpuSet, MachineError> {
    let files = sysfs.strict();
    let place = format!("{CPU_DIR}/present");
    let list = files.cpu_list(&place);
    if let Ok(Some(present)) = &list
        && !present.is_empty()
    {
        return Ok(present.clone());
    }
    let numbers = files.numbered(CPU_DIR, "cpu")?;
    if let Some(&last) = numbers.last().filter(|&&n| n as usize >= MAX_CPUS) {
        let expected = format!("CPUs below {MAX_CPUS}");
        return Err(files.error(CPU_DIR, format!("cpu{last}"), &expected));
    }
    let present: CpuSet = numbers.into_iter().map(|n| n as usize).collect();
    match (present.is_empty(), list) {
        (true, Err(odd)) => Err(odd),
        (true, Ok(_)) => Err(files.error(CPU_DIR, "no CPU", "at least one")),
        (false, list) => {
            if list.is_err() {
                // Notes it.
                sysfs.cpu_list(&place);
            }
            Ok(present)
        }
    }
}

/// Online CPUs: the list, or the files of the CPUs themselves (kernels before 2.6.26 have no list; CPU 0 may have no
/// file; older ones have empty files).
fn online(sysfs: &Sysfs, present: &CpuSet, unknown: &mut Vec<String>) -> CpuSet {
    let place = format!("{CPU_DIR}/online");
    if let Some(listed) = sysfs.cpu_list(&place) {
        let online = &listed & present;
        if online != listed || online.is_empty() {
            let expected = format!("at least one of the present CPUs {present}");
            sysfs.odd(&place, format!("`{listed}`"), expected);
        }
        if !online.is_empty() {
            return online;
        }
    }
    let mut online = CpuSet::EMPTY;
    let mut told = false;
    for cpu in present.iter() {
        let state = sysfs.number::<u32>(&format!("{CPU_DIR}/cpu{cpu}/online"));
        told |= state.is_some();
        if state != Some(0) {
            online.insert(cpu);
        }
    }
    if told && !online.is_empty() {
        return online;
    }
    unknown.push("Online CPUs: sysfs does not tell them; all present ones count.".to_string());
    present.clone()
}

/// Whether `cpus` have `file` in their directories. A kernel gives it to all of them or to none, but that CPU 0 may lack
/// it, so the first and the last answer for the others.
pub(super) fn have(sysfs: &Sysfs, cpus: &CpuSet, file: &str) -> bool {
    let there = |cpu: usize| sysfs.is_file(&format!("{CPU_DIR}/cpu{cpu}/{file}"));
    [cpus.first(), cpus.last()].into_iter().flatten().any(there)
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

fn groups(sysfs: &Sysfs, existing: &Existing, what: &str) -> Groups {
    let list = format!("{what}_cpus_list");
    let mask = format!("{what}_cpus");
    let count = existing.count;
    let mut groups = Groups { first: vec![None; count], id: vec![None; count] };
    if !have(sysfs, &existing.online, &format!("topology/{what}_id")) {
        return groups;
    }
    for cpu in 0..count {
        let dir = format!("{CPU_DIR}/cpu{cpu}/topology");
        // Every kernel that has the sets has the id.
        let Some(id) = id(sysfs, &format!("{dir}/{what}_id")) else { continue };
        groups.id[cpu] = Some(id);
        if id != NO_ID
            && let Some((place, set)) = sysfs.cpus(&dir, &[&mask], &[&list])
        {
            let set = existing.checked(sysfs, &place, cpu, set);
            groups.first[cpu] = set.and_then(|set| set.first()).map(|first| first as u32);
        }
    }
    groups
}

/// Id that x86 shows where there is no cluster (`BAD_APICID`).
const NO_ID: u32 = 0xffff;

/// The number in a file; `None` where it is -1 or there is none.
fn id(sysfs: &Sysfs, place: &str) -> Option<u32> {
    let number = sysfs.number::<i64>(place).filter(|&number| number != -1)?;
    let id = u32::try_from(number).ok();
    if id.is_none() {
        sysfs.odd(place, number, "-1 to 2^32 - 1");
    }
    id
}

/// The number in `topology/FILE` of each CPU; `None` where it is -1 or there is none.
pub(super) fn ids(sysfs: &Sysfs, count: usize, file: &str) -> Vec<Option<u32>> {
    (0..count).map(|cpu| id(sysfs, &format!("{CPU_DIR}/cpu{cpu}/topology/{file}"))).collect()
}

/// Hardware ids: POWER has them in `physical_id`; elsewhere the CPU number stands in.
fn hw_ids(sysfs: &Sysfs, count: usize, unknown: &mut Vec<String>) -> Vec<u32> {
    let mut missing = CpuSet::EMPTY;
    let mut ids = Vec::with_capacity(count);
    for (cpu, number) in (0..count).zip(0u32..) {
        let id = sysfs.number::<u32>(&format!("{CPU_DIR}/cpu{cpu}/physical_id"));
        if id.is_none() {
            missing.insert(cpu);
        }
        ids.push(id.unwrap_or(number));
    }
    if !missing.is_empty() {
        unknown.push(format!(
            "Hardware ids of CPUs {missing}: sysfs does not tell them; the CPU number stands in."
        ));
    }
    ids
}
