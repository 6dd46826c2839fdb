//! Machines from sysfs: this computer, or a copy of another one's `/sys/devices/system`.

mod caches;
mod cpus;
mod files;
mod idle;
mod nodes;

use crate::constants::Constants;
use crate::cpuset::CpuSet;
use crate::error::MachineError;
use crate::model::{Arch, Machine};
use files::Sysfs;
use std::path::Path;

/// Reads the machine of architecture `arch` whose `sys/devices/system/{cpu,node}` lies below `root` (`/` is
/// this computer). What sysfs does not tell, offline CPUs' cores above all, is in [`Machine::unknown`].
///
/// # Errors
/// A root without CPUs, and files that cannot be read or contradict their format or each other.
pub fn read(root: &Path, arch: Arch) -> Result<Machine, MachineError> {
    let sysfs = Sysfs { root };
    let mut nodes = nodes::read(&sysfs)?;
    let cpus::Cpus { cpus, online, mut unknown } = cpus::read(&sysfs, &nodes)?;
    let caches = caches::read(&sysfs, cpus.len(), &mut unknown)?;
    let idle_states = idle::read(&sysfs, &online, &mut unknown)?;
    if arch == Arch::Powerpc {
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
    let name = match root.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => "host".to_string(),
    };
    Ok(Machine {
        title: format!("{} CPUs, from sysfs below {}", cpus.len(), root.display()),
        name,
        arch,
        cpus,
        online,
        caches,
        nodes,
        thread_groups: Vec::new(),
        idle_states,
        policies: Vec::new(),
        cppc: Vec::new(),
        vendor: None,
        smt_control: None,
        firmware: None,
        constants: Constants::default(),
        unknown,
    })
}

/// Architecture of the computer that this program was built for.
///
/// # Errors
/// An architecture that [`Arch`] does not have.
pub fn host_arch() -> Result<Arch, MachineError> {
    arch_named(std::env::consts::ARCH).ok_or_else(|| MachineError::Spec {
        spec: "host".to_string(),
        found: format!("architecture {}", std::env::consts::ARCH),
        expected: "powerpc64, aarch64 or x86_64".to_string(),
    })
}

/// Architecture by the name that `uname -m` or Rust has for it.
pub(crate) fn arch_named(name: &str) -> Option<Arch> {
    match name {
        "ppc64" | "ppc64le" | "powerpc64" => Some(Arch::Powerpc),
        "aarch64" | "arm64" => Some(Arch::Arm64),
        "x86_64" => Some(Arch::X86),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
