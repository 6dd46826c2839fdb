//! KVM HV on POWER8: partitions whose vcores are tasks of the host, and what is left of a vcore's cache contents when it comes
//! back.
//!
//! Two models run side by side. The host is the engine's: the threads of vcores are tasks under the fair class, with its
//! wake-ups, balancing, ticks and daemons. What vcpus do is followed line by line, in each core's caches, from one event of
//! the host to the next: between events nothing changes who runs where, so that the two never disagree. Partitions on
//! different cores meet in the bandwidth of memory, and through what they send each other; rounds of 8 us bound how late one
//! sees the other.
//!
//! The host keeps only the first thread of each core (or subcore) online, as KVM HV wants it. A vcore in its partition has the
//! core's other threads for its vcpus. Whatever the host does on a CPU takes the vcore out of its partition first: an exit. At each
//! exit the engine logs the caches (`kvmppc_start_saving_l2_cache`), at each entry it aborts the log and restores
//! (`kvmppc_start_restoring_l2_cache`), as the kernel has it in 3.17. Host code touches lines of its own meanwhile.
//!
//! Left out: TLBs and page tables; where a partition's memory lies (all of it is as near as a core's own node); caches of other
//! cores and the L4 behind the local L3; the scheduler within partitions (a program's threads stay on their vcpus); interrupts
//! of the partition's own timer, which need no exit; devices.

mod core;
mod costs;
mod host;
mod partition;
mod programs;
mod readings;
mod run;
mod setup;
mod share;
pub mod sweep;
#[cfg(test)]
mod tests;

use self::core::refused;
use crate::setup::Setup;
use crate::{RunResult, SimError};
use ::cache::{Sampling, SizeClass};
use costs::Costs;
use kernel::{Kernel, MechanismId};
use machine::{CpuSet, Machine};
use setting::{Prefetch, Rate, Setting};
use workload::Workload;
use workload::kvm::Partitions;

/// A host with partitions, prepared for running.
#[derive(Debug)]
pub struct Hypervisor {
    host: Setup,
    partitions: Partitions,
    costs: Costs,
    sampling: Sampling,
    /// What is logged, if anything is.
    class: Option<SizeClass>,
    rate: Rate,
    log_ns: f64,
    /// By core: its online CPUs, one a subcore.
    cores: Vec<Vec<usize>>,
    /// By core: its node, by number from 0.
    packages: Vec<usize>,
    machine: String,
}

impl Hypervisor {
    /// Prepares the partitions of `workload` on `machine`, whose host runs `kernel`.
    ///
    /// # Errors
    /// Constants or caches that the machine lacks, subcores that it cannot have, a setting with hotplug or governors, and
    /// what [`crate::Scenario::new`] refuses.
    pub fn new(
        machine: &Machine,
        kernel: &Kernel,
        workload: Workload,
        setting: &Setting,
    ) -> Result<Hypervisor, SimError> {
        let refuse = |field, found: &str, expected: &str| SimError::Partitions {
            field,
            found: found.to_string(),
            expected: expected.to_string(),
        };
        let mut workload = workload;
        let Some(partitions) = workload.partitions.take() else {
            return Err(refuse("workload", "none", "a workload with partitions"));
        };
        if !setting.hotplug.is_empty() || setting.frequency.is_some() {
            let expected = "a variant without them, as partitions are not followed through either";
            return Err(refuse("variant", "hotplug or a governor", expected));
        }
        let costs = Costs::new(machine)?;
        let subcores = partitions.params.subcores_per_core;
        if subcores > costs.most_subcores {
            let (found, most) = (subcores.to_string(), costs.most_subcores);
            let expected = format!("at most {most} on `{}`", machine.name);
            return Err(refuse("subcores_per_core", &found, &expected));
        }
        let bad = refused(&machine.name);
        let sampling = Sampling::one_in(partitions.params.one_set_in).map_err(&bad)?;
        let (host, cores) = host_cpus(machine, subcores)?;
        park(&mut workload, &host.online);
        let log_ns = setting.prefetch.log_cycles.map_or(costs.log_ns, |c| c / costs.ghz);
        let class = match kernel.has(MechanismId::L2PrefetchEngine) {
            true if kernel.has(MechanismId::L3PrefetchEngine) => Some(SizeClass::L2AndL3),
            true => Some(SizeClass::L2),
            false => None,
        };
        if class.is_none() && setting.prefetch != Prefetch::default() {
            let expected = "it with the mechanism l2-prefetch-engine";
            return Err(refuse("prefetch", "it without the engine", expected));
        }
        let hypervisor = Hypervisor {
            packages: packages(machine, &cores),
            host: Setup::new(&host, kernel, workload, &Setting::default())?,
            partitions,
            sampling,
            class,
            rate: setting.prefetch.rate,
            log_ns,
            cores,
            costs,
            machine: machine.name.clone(),
        };
        // What cannot be shows before the first run.
        hypervisor.tables().map_err(&bad)?;
        self::core::Core::new(&hypervisor.costs, log_ns, sampling).map_err(&bad)?;
        Ok(hypervisor)
    }

    /// One run. The same seed gives the same result on any machine.
    ///
    /// # Errors
    /// What the engine refuses, and metrics of which the run measured nothing.
    pub fn run(&self, seed: u64) -> Result<RunResult, SimError> {
        run::run(self, seed)
    }

    /// Empty tables, one for each vcore.
    fn tables(&self) -> Result<::cache::Tables, ::cache::CacheError> {
        let class = self.class.unwrap_or(SizeClass::L2);
        let bytes = self.costs.table_bytes(class);
        ::cache::Tables::new(TABLES, class, bytes, self.sampling, self.partitions.vcores.len())
    }
}

/// Real address of the first log table. Nothing depends on it.
const TABLES: u64 = 0x1_0000_0000;

/// The machine as its host has it, and by core the CPUs that are online: the first thread of each subcore.
fn host_cpus(machine: &Machine, subcores: u32) -> Result<(Machine, Vec<Vec<usize>>), SimError> {
    let mut cores: Vec<Vec<usize>> = Vec::new();
    let mut online = CpuSet::EMPTY;
    for first in 0..machine.cpus.len() {
        let core = machine.core_cpus(first);
        if core.first() != Some(first) {
            continue;
        }
        let of_subcore = (core.len() / subcores as usize).max(1);
        let cpus: Vec<usize> = core.iter().step_by(of_subcore).collect();
        cpus.iter().for_each(|&cpu| online.insert(cpu));
        cores.push(cpus);
    }
    let host = machine.with_online(online).map_err(|e| SimError::Partitions {
        field: "machine",
        found: e.to_string(),
        expected: "one with a thread on each subcore".to_string(),
    })?;
    Ok((host, cores))
}

/// Threads bound to CPUs that the host does not have online sleep (`kthread_park`).
fn park(workload: &mut Workload, online: &CpuSet) {
    workload.spawns.retain(|s| s.affinity.as_ref().is_none_or(|set| set.intersects(online)));
}

fn packages(machine: &Machine, cores: &[Vec<usize>]) -> Vec<usize> {
    let of = |cpu: &usize| {
        let package = machine.package_cpus(*cpu).first().unwrap_or(0);
        cores.iter().position(|c| c.contains(&package)).unwrap_or(0)
    };
    cores.iter().map(|cpus| cpus.first().map_or(0, of)).collect()
}
