//! Small cores from `cpuN/small_core_siblings`, a file of the big-core study's kernels.

use super::cpus::have;
use super::odd::Sysfs;
use crate::cpuset::CpuSet;
use crate::files::CPU_DIR;
use crate::model::{Cpu, ThreadGroupProperty, ThreadGroups};

/// Thread groups of property 1, as far as the files tell: the siblings that they list, which are online ones, and each
/// CPU that none lists by itself. Empty where no CPU has the file.
pub(super) fn read(sysfs: &Sysfs, cpus: &[Cpu], online: &CpuSet) -> Vec<ThreadGroups> {
    let mut groups: Vec<CpuSet> = Vec::new();
    if !have(sysfs, online, "small_core_siblings") {
        return Vec::new();
    }
    for cpu in 0..cpus.len() {
        let place = format!("{CPU_DIR}/cpu{cpu}/small_core_siblings");
        let Some(set) = sysfs.cpu_list(&place) else { continue };
        let core = |c: usize| cpus.get(c).map(|c| c.core);
        if !set.contains(cpu) || set.iter().any(|c| core(c) != core(cpu)) {
            let expected = format!("CPU {cpu} and others of its core");
            sysfs.odd(&place, format!("`{set}`"), expected);
        } else if let Some(other) = groups.iter().find(|g| g.intersects(&set) && **g != set) {
            let found = format!("`{set}`, and {other} at another CPU");
            sysfs.odd(&place, found, "small cores without common CPUs");
        } else if !groups.contains(&set) {
            groups.push(set);
        }
    }
    let mut by_core: Vec<ThreadGroups> = Vec::new();
    for (number, cpu) in cpus.iter().enumerate() {
        let Some(group) = groups.iter().find(|g| g.contains(number)) else {
            continue;
        };
        match by_core.iter_mut().find(|tg| tg.core == cpu.core) {
            Some(tg) if tg.groups.contains(group) => (),
            Some(tg) => tg.groups.push(group.clone()),
            None => by_core.push(ThreadGroups {
                property: ThreadGroupProperty::L1,
                core: cpu.core,
                groups: vec![group.clone()],
            }),
        }
    }
    for tg in &mut by_core {
        let listed = tg.groups.iter().fold(CpuSet::EMPTY, |all, g| all | g);
        let of_core =
            |&(number, cpu): &(usize, &Cpu)| cpu.core == tg.core && !listed.contains(number);
        let left: Vec<usize> = cpus.iter().enumerate().filter(of_core).map(|(n, _)| n).collect();
        tg.groups.extend(left.into_iter().map(CpuSet::single));
    }
    by_core
}
