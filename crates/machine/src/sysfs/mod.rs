//! Machines from sysfs: this computer, or a copy of another one's `/sys/devices/system`.

mod caches;
mod cpus;
mod frequency;
mod idle;
mod nodes;
mod odd;
mod packages;
mod siblings;
mod small_cores;

use crate::constants::Constants;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::files::{CPU_DIR, Files};
use crate::model::{Arch, Machine};
use odd::Sysfs;
use std::path::Path;

/// Reads the machine of architecture `arch` whose `sys/devices/system/{cpu,node}` lies below `root` (`/` is
/// this computer). What sysfs does not tell, offline CPUs' cores above all, is in [`Machine::unknown`]; so is every file
/// that cannot be read or contradicts its format or other files, which counts as absent.
///
/// # Errors
/// A root without CPUs, or with more than [`MAX_CPUS`](crate::MAX_CPUS).
pub fn read(root: &Path, arch: Arch) -> Result<Machine, MachineError> {
    let name = match root.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => "host".to_string(),
    };
    read_files(&Files::Directory(root.to_path_buf()), arch, &name)
}

/// As [`read`], from wherever the files are; `name` is the machine's.
pub(crate) fn read_files(sysfs: &Files, arch: Arch, name: &str) -> Result<Machine, MachineError> {
    let mut unknown = Vec::new();
    let seen = Sysfs::new(sysfs);
    let existing = cpus::existing(&seen, &mut unknown)?;
    let (count, online) = (existing.count, &existing.online);
    let mut nodes = nodes::read(&seen, count, &mut unknown);
    let cpus::Cpus { cpus, siblings } = cpus::read(&seen, &existing, &nodes, &mut unknown);
    let caches = caches::read(&seen, &existing, &siblings, &mut unknown);
    let idle_states = idle::read(&seen, online, &mut unknown);
    let policies = frequency::policies(&seen, count, online, &mut unknown);
    let cppc = frequency::cppc(&seen, online);
    let thread_groups = small_cores::read(&seen, &cpus, online);
    let smt_control = seen.text(&format!("{CPU_DIR}/smt/control"));
    if arch == Arch::Powerpc && thread_groups.is_empty() {
        unknown.push(
            "ibm,thread-groups: sysfs does not show them, save by which CPUs share a cache."
                .to_string(),
        );
    }
    if nodes.is_empty() {
        nodes.push(nodes::only(CpuSet::first_n(cpus.len())));
    }
    for node in &mut nodes {
        node.cpus = (0..cpus.len()).filter(|&c| cpus[c].node == node.id).collect();
    }
    unknown.extend(seen.into_notes());
    Ok(Machine {
        title: format!("{} CPUs, from sysfs below {}", cpus.len(), sysfs.root()),
        name: name.to_string(),
        arch,
        cpus,
        online: existing.online,
        caches,
        nodes,
        thread_groups,
        idle_states,
        policies,
        cppc,
        vendor: None,
        smt_control,
        costs: None,
        firmware: None,
        constants: Constants::default(),
        unknown,
    })
}

/// Architecture by the name that `uname -m`, Rust or hwloc has for it; `None` for a word that names none. 32-bit Arm
/// is none that [`Arch`] tells apart: its kernel builds other domains than arm64's.
pub(crate) fn arch_named(name: &str) -> Option<Arch> {
    match name {
        "ppc" | "ppc64" | "ppc64le" | "powerpc64" => Some(Arch::Powerpc),
        "aarch64" | "arm64" => Some(Arch::Arm64),
        "x86_64" | "i386" | "i486" | "i586" | "i686" => Some(Arch::X86),
        "arm" | "armv6l" | "armv7l" | "armv8l" | "ia64" | "riscv64" | "s390x" | "loongarch64" => {
            Some(Arch::Other)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
