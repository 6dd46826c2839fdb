//! Topology levels (`sched_domain_topology_level`): what an architecture and the NUMA distances offer, lowest first.

use crate::KernelError;
use crate::config::Kernel;
use crate::flags::SdFlags;
use crate::{numa, powerpc};
use machine::{Arch, CpuSet, Machine};

/// One topology level of a whole machine.
#[derive(Debug, Clone)]
pub struct Level {
    /// Name as the kernel prints it.
    pub name: &'static str,
    /// Flags that describe the topology (`tl->sd_flags`).
    pub flags: SdFlags,
    /// By CPU: the CPUs of its domain at this level (`tl->mask`), online ones only.
    pub masks: Vec<CpuSet>,
    /// Distance of a NUMA level (`SDTL_OVERLAP`); its domains may overlap.
    pub numa_distance: Option<u32>,
}

/// The levels of `machine` under `kernel`, and `cpu_smt_mask()` by CPU.
pub fn levels(
    machine: &Machine,
    kernel: &Kernel,
) -> Result<(Vec<Level>, Vec<CpuSet>), KernelError> {
    let (mut levels, smt_mask) = match machine.arch {
        Arch::Powerpc => powerpc::levels(machine, kernel),
        other => {
            return Err(KernelError::Arch {
                machine: machine.name.clone(),
                found: format!("{other:?}").to_lowercase(),
            });
        }
    };
    levels.extend(numa::levels(machine));
    Ok((levels, smt_mask))
}
