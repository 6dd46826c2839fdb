//! Cores from the lists of sibling threads in each CPU's `topology`.

use super::cpus::Existing;
use super::odd::Sysfs;
use crate::cpuset::CpuSet;
use crate::files::CPU_DIR;

/// Threads of each CPU's core, as far as sysfs tells; a CPU without topology files has those of a CPU that
/// counts it in.
///
/// Where CPUs contradict each other, online ones come before others and lower ones first: a CPU whose list crosses an
/// earlier one belongs to the core that counts it in, else to none.
pub(super) fn siblings(sysfs: &Sysfs, existing: &Existing) -> Vec<Option<CpuSet>> {
    const LISTS: &[&str] = &["core_cpus_list", "thread_siblings_list"];
    const MASKS: &[&str] = &["core_cpus", "thread_siblings"];
    let lists = sets(sysfs, existing, MASKS, LISTS);
    let mut core_of: Vec<Option<CpuSet>> = vec![None; existing.count];
    let offline = CpuSet::first_n(existing.count) - &existing.online;
    for cpu in existing.online.iter().chain(offline.iter()) {
        let Some(set) = &lists[cpu] else { continue };
        match set.iter().find_map(|c| core_of[c].as_ref()) {
            Some(earlier) if earlier == set => (),
            Some(earlier) => {
                let place = format!("{CPU_DIR}/cpu{cpu}/topology");
                let found = format!("a core of CPUs {set} and one of {earlier}");
                sysfs.odd(&place, found, "cores without common CPUs");
            }
            None => set.iter().for_each(|c| core_of[c] = Some(set.clone())),
        }
    }
    core_of
}

/// By CPU: the set that the first of the files in its `topology` holds, without possible CPUs beyond the machine's.
pub(super) fn sets(
    sysfs: &Sysfs,
    existing: &Existing,
    masks: &[&str],
    lists: &[&str],
) -> Vec<Option<CpuSet>> {
    // A kernel has the same files for every CPU: those that the first CPU lacks are tried only where nothing else is.
    let (mut masks, mut all) = (masks.to_vec(), Vec::with_capacity(existing.count));
    for cpu in 0..existing.count {
        let dir = format!("{CPU_DIR}/cpu{cpu}/topology");
        let set = sysfs.cpus(&dir, &masks, lists);
        if cpu == 0 {
            let there = |mask: &&str| sysfs.is_file(&format!("{CPU_DIR}/cpu0/topology/{mask}"));
            let (present, absent): (Vec<&str>, Vec<&str>) = masks.iter().partition(|m| there(m));
            masks = [present, absent].concat();
        }
        all.push(set.and_then(|(place, set)| existing.checked(sysfs, &place, cpu, set)));
    }
    all
}

/// Core number and position in the core of each CPU; cores are numbered by their first CPU.
pub(super) fn cores(siblings: &[Option<CpuSet>]) -> Vec<(u32, u32)> {
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
