//! Which CPUs share something.

use crate::cpuset::CpuSet;
use crate::error::Fault;
use crate::model::{Cpu, Machine, ThreadGroupProperty};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A kind of unit whose CPUs share a cache, a clock or a NUMA node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// One CPU.
    Thread,
    /// Threads of a small core (thread groups of property 1).
    SmallCore,
    /// Threads of a core; a big core counts as one.
    Core,
    /// Threads of so many neighbouring cores, as of a core complex (CCX) of 4.
    Cores(u32),
    /// CPUs of a cluster.
    Cluster,
    /// CPUs of a die.
    Die,
    /// CPUs of a package.
    Package,
    /// CPUs of a NUMA node.
    Node,
    /// All CPUs.
    Machine,
}

/// The sets into which `span` divides the CPUs of `machine`, by first CPU.
///
/// # Errors
/// A CPU without small core or cluster, and runs of cores that do not divide a package's cores.
pub(crate) fn sharers(machine: &Machine, span: Span) -> Result<Vec<CpuSet>, Fault> {
    let by = |id: &dyn Fn(usize, &Cpu) -> u32| {
        let mut sets: BTreeMap<u32, CpuSet> = BTreeMap::new();
        for (number, cpu) in machine.cpus.iter().enumerate() {
            sets.entry(id(number, cpu)).or_default().insert(number);
        }
        let mut sets: Vec<CpuSet> = sets.into_values().collect();
        sets.sort_by_key(CpuSet::first);
        Ok(sets)
    };
    match span {
        Span::Thread => Ok((0..machine.cpus.len()).map(CpuSet::single).collect()),
        Span::SmallCore => small_cores(machine),
        Span::Core => by(&|_, c| c.core),
        Span::Cores(cores) => {
            let whole = sharers(machine, Span::Package)?.iter().all(|package| {
                let mut held: Vec<u32> = package.iter().map(|c| machine.cpus[c].core).collect();
                held.sort_unstable();
                held.dedup();
                held.len().is_multiple_of(cores as usize)
                    && held.first().is_none_or(|first| first.is_multiple_of(cores))
            });
            if cores == 0 || !whole {
                return Err(Fault::new(
                    format!("runs of {cores} cores"),
                    "a divisor of each package's cores",
                ));
            }
            by(&|_, c| c.core / cores)
        }
        Span::Cluster => {
            if machine.cpus.iter().any(|c| c.cluster.is_none()) {
                return Err(Fault::new("cluster", "a machine with clusters"));
            }
            by(&|number, c| c.cluster.unwrap_or(number as u32))
        }
        Span::Die => by(&|_, c| c.die),
        Span::Package => by(&|_, c| c.package),
        Span::Node => by(&|_, c| c.node),
        Span::Machine => by(&|_, _| 0),
    }
}

fn small_cores(machine: &Machine) -> Result<Vec<CpuSet>, Fault> {
    let mut sets: Vec<CpuSet> = Vec::new();
    let mut seen = CpuSet::EMPTY;
    for cpu in machine.possible().iter() {
        let Some(group) = machine.thread_group(cpu, ThreadGroupProperty::L1) else {
            return Err(Fault::new("small-core", "a machine with ibm,thread-groups"));
        };
        if !seen.contains(cpu) {
            seen |= &group;
            sets.push(group);
        }
    }
    Ok(sets)
}
