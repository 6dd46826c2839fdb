//! CPU lists, SMT and `topology/*`.

use super::{CPU_DIR, Files};
use crate::cpuset::CpuSet;
use crate::model::{Arch, Machine, ThreadGroupProperty};

/// What the kernel prints for a cluster or die that has no number: -1 as an `int`, which x86 holds in 16 bits
/// for clusters (`BAD_APICID` cut to `u16`).
const NO_ID: &str = "-1";
const NO_X86_CLUSTER: &str = "65535";

pub(super) fn add(machine: &Machine, files: &mut Files) {
    let possible = machine.possible();
    for (name, cpus) in [
        ("online", machine.online.clone()),
        ("offline", &possible - &machine.online),
        ("possible", possible.clone()),
        ("present", possible),
    ] {
        files.line(format!("{CPU_DIR}/{name}"), cpus);
    }
    if let Some(control) = &machine.smt_control {
        // On big cores `cpu_smt_mask()` is the small core, from 5.9 on.
        let threads = |cpu: usize| machine.pipeline_cpus(cpu) & &machine.online;
        let active = machine.online.iter().any(|cpu| threads(cpu).len() > 1);
        files.line(format!("{CPU_DIR}/smt/active"), u8::from(active));
        files.line(format!("{CPU_DIR}/smt/control"), control);
    }
    for (number, cpu) in machine.cpus.iter().enumerate() {
        let online = machine.online.contains(number);
        // x86 does not let CPU 0 go offline, so it has no such file there.
        if number > 0 || machine.arch != Arch::X86 {
            files.line(format!("{CPU_DIR}/cpu{number}/online"), u8::from(online));
        }
        if machine.arch == Arch::Powerpc {
            files.line(format!("{CPU_DIR}/cpu{number}/physical_id"), cpu.hw_id);
        }
        if online {
            files.known(format!("{CPU_DIR}/cpu{number}/cpu_capacity"), cpu.capacity);
            topology(machine, number, files);
        }
    }
}

fn topology(machine: &Machine, number: usize, files: &mut Files) {
    let cpu = &machine.cpus[number];
    let dir = format!("{CPU_DIR}/cpu{number}/topology");
    let set = |name: &str, old_name: Option<&str>, cpus: CpuSet, files: &mut Files| {
        let cpus = cpus & &machine.online;
        files.set(format!("{dir}/{name}"), format!("{dir}/{name}_list"), cpus.clone());
        if let Some(old) = old_name {
            files.set(format!("{dir}/{old}"), format!("{dir}/{old}_list"), cpus);
        }
    };
    let core = machine.core_cpus(number);
    set("core_cpus", Some("thread_siblings"), core.clone(), files);
    set("package_cpus", Some("core_siblings"), machine.package_cpus(number), files);
    for (name, cpus, id) in [
        ("book", machine.book_cpus(number), cpu.ids.book),
        ("drawer", machine.drawer_cpus(number), cpu.ids.drawer),
    ] {
        if let Some(cpus) = cpus {
            set(&format!("{name}_siblings"), None, cpus, files);
            files.known(format!("{dir}/{name}_id"), id);
        }
    }
    if has_dies(machine.arch) {
        set("die_cpus", None, machine.die_cpus(number), files);
    }
    if has_clusters(machine.arch) {
        // Without a cluster, x86 shows the core's threads (`match_l2c` falls back to `match_smt`), arm64 the CPU.
        let none = if machine.arch == Arch::X86 { core } else { CpuSet::single(number) };
        set("cluster_cpus", None, machine.cluster_cpus(number).unwrap_or(none), files);
        let id = cpu.ids.cluster.or(cpu.cluster).map(|id| id.to_string());
        let none = if machine.arch == Arch::X86 { NO_X86_CLUSTER } else { NO_ID };
        files.line(format!("{dir}/cluster_id"), id.as_deref().unwrap_or(none));
    }
    files.line(format!("{dir}/core_id"), cpu.ids.core.unwrap_or(cpu.core));
    files.line(format!("{dir}/physical_package_id"), cpu.package);
    if has_dies(machine.arch) {
        let id = die_id(machine, number).map(|id| id.to_string());
        files.line(format!("{dir}/die_id"), id.as_deref().unwrap_or(NO_ID));
    }
    small_core(machine, number, files);
}

/// POWER has no numbers for dies where there is one a package.
fn die_id(machine: &Machine, number: usize) -> Option<u32> {
    let cpu = &machine.cpus[number];
    let only =
        machine.arch == Arch::Powerpc && machine.die_cpus(number) == machine.package_cpus(number);
    cpu.ids.die.or((!only).then_some(cpu.die))
}

pub(super) fn has_dies(arch: Arch) -> bool {
    matches!(arch, Arch::X86 | Arch::Powerpc)
}

pub(super) fn has_clusters(arch: Arch) -> bool {
    matches!(arch, Arch::X86 | Arch::Arm64)
}

/// `small_core_siblings` of the big-core study, which is there only on big cores; sysfs lists go with masks in
/// pairs elsewhere, but the study has this list alone.
fn small_core(machine: &Machine, number: usize, files: &mut Files) {
    let core = machine.cpus[number].core;
    let is_big = machine
        .thread_groups
        .iter()
        .any(|tg| tg.core == core && tg.property == ThreadGroupProperty::L1 && tg.groups.len() > 1);
    let siblings = machine.small_core_siblings(number).filter(|_| is_big);
    files.known(format!("{CPU_DIR}/cpu{number}/small_core_siblings"), siblings);
}
