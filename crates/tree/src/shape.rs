//! A machine as a library is told of it: places of CPUs, distances of nodes, and the level table of its architecture.

use crate::TreeError;
use kernel::cpuidle::{Polling, polling};
use kernel::{Kernel, SdFlags, reclaim_distance};
use machine::{Arch, CacheKind, CpuSet, IdleState, Machine};
use serde::{Deserialize, Serialize};

/// Levels that the kernel adds itself, from the distances of nodes.
const OF_NUMA: [&str; 2] = ["NODE", "NUMA"];

/// One CPU. Masks hold offline CPUs too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Number of its core.
    pub core: u32,
    /// Number of its cluster, its core's where there is none.
    pub cluster: u32,
    /// Number of its package.
    pub package: u32,
    /// Its node, by position.
    pub node: u32,
    /// `arch_scale_cpu_capacity`.
    pub capacity: u64,
    /// Size of its last-level cache; 0 where it is not known, and on powerpc, whose kernels have no `cacheinfo`.
    pub llc_bytes: u64,
    /// `cpu_smt_mask`.
    pub smt: CpuSet,
    /// CPUs of the cluster.
    pub cluster_cpus: CpuSet,
    /// CPUs of the package.
    pub package_cpus: CpuSet,
    /// CPUs of the last-level cache.
    pub llc: CpuSet,
}

/// One level of the architecture's table, lowest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// As the kernel prints it.
    pub name: String,
    /// `SD_SHARE_CPUCAPACITY`.
    pub shares_capacity: bool,
    /// `SD_CLUSTER`.
    pub shares_cluster: bool,
    /// `SD_SHARE_LLC`, before 6.8 `SD_SHARE_PKG_RESOURCES`.
    pub shares_llc: bool,
    /// `SD_ASYM_PACKING`.
    pub asym_packing: bool,
    /// By CPU.
    pub masks: Vec<CpuSet>,
}

/// The machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// By CPU.
    pub places: Vec<Place>,
    /// By node and node.
    pub distances: Vec<Vec<u32>>,
    /// Without NUMA's, which the kernel adds.
    pub levels: Vec<Level>,
    /// The shallowest first.
    pub idle_states: Vec<IdleState>,
    /// How the first of them polls, if it does.
    pub polling: Option<Polling>,
    /// `node_reclaim_distance`: a library is built without the header in which an architecture says it.
    pub reclaim_distance: u32,
}

impl Shape {
    /// `machine`, with all CPUs online, as its architecture describes it to `kernel`.
    ///
    /// # Errors
    /// An architecture whose levels are not modelled, and levels that do not fit together.
    pub fn of(machine: &Machine, kernel: &Kernel) -> Result<Shape, TreeError> {
        let machine = &Machine { online: machine.possible(), ..machine.clone() };
        let (levels, smt) = kernel::levels::levels(machine, kernel)?;
        let capacity = kernel::build(machine, kernel)?.capacity;
        let levels = levels
            .into_iter()
            .filter(|l| !OF_NUMA.contains(&l.name))
            .map(level)
            .collect::<Vec<_>>();
        let llc = levels.iter().rev().find(|l| l.shares_llc);
        let first = |cpus: &CpuSet| cpus.first().unwrap_or(0) as u32;
        let place = |cpu: usize| {
            let core = machine.core_cpus(cpu);
            let cluster_cpus = machine.cluster_cpus(cpu).unwrap_or_else(|| core.clone());
            let package_cpus = machine.package_cpus(cpu);
            let node = machine.nodes.iter().position(|n| n.cpus.contains(cpu)).unwrap_or(0);
            Place {
                core: first(&core),
                cluster: first(&cluster_cpus),
                package: first(&package_cpus),
                node: node as u32,
                capacity: capacity[cpu],
                llc_bytes: llc_bytes(machine, cpu),
                smt: smt[cpu].clone(),
                llc: llc.map_or_else(|| CpuSet::single(cpu), |l| l.masks[cpu].clone()),
                cluster_cpus,
                package_cpus,
            }
        };
        Ok(Shape {
            places: (0..machine.cpus.len()).map(place).collect(),
            distances: match machine.nodes.is_empty() {
                true => vec![vec![10]],
                false => machine.nodes.iter().map(|n| n.distances.clone()).collect(),
            },
            levels,
            idle_states: machine.idle_states.clone(),
            polling: polling(machine, kernel),
            reclaim_distance: reclaim_distance(machine, kernel),
        })
    }
}

/// Size of the largest cache level that holds data for `cpu`, as sysfs would show it.
fn llc_bytes(machine: &Machine, cpu: usize) -> u64 {
    let holds = |c: &&machine::Cache| c.cpus.contains(cpu) && c.kind != CacheKind::Instruction;
    let last = machine.caches.iter().filter(holds).max_by_key(|c| c.level);
    let kib = last.filter(|_| machine.arch != Arch::Powerpc).and_then(|c| c.size_kib);
    kib.map_or(0, |kib| u64::from(kib) << 10)
}

fn level(from: kernel::levels::Level) -> Level {
    Level {
        name: from.name.to_string(),
        shares_capacity: from.flags.contains(SdFlags::SHARE_CPUCAPACITY),
        shares_cluster: from.flags.contains(SdFlags::CLUSTER),
        shares_llc: from.flags.contains(SdFlags::SHARE_LLC),
        asym_packing: from.flags.contains(SdFlags::ASYM_PACKING),
        masks: from.masks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::Version;

    #[test]
    fn the_levels_of_a_power9_under_6_12() {
        let machine = machine::resolve("power9-big-core").unwrap();
        let shape = Shape::of(&machine, &Kernel::new(Version::new(6, 12))).unwrap();
        let names: Vec<&str> = shape.levels.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["SMT", "CACHE", "PKG"]);
        assert_eq!(shape.places[1].smt.to_string(), "1,3,5,7");
        assert_eq!(shape.places[1].llc.to_string(), "0-7");
        let json = serde_json_free(&shape);
        assert_eq!(json, shape);
    }

    #[test]
    fn reclaim_distances_are_the_architectures() {
        for (name, release, distance) in [
            ("power10", (6, 12), 10),
            ("kunpeng920-4node", (6, 12), 30),
            ("epyc-7742-2s-nps1", (6, 12), 32),
            ("epyc-7742-2s-nps1", (5, 3), 30),
        ] {
            let kernel = Kernel::new(Version::new(release.0, release.1));
            let shape = Shape::of(&machine::resolve(name).unwrap(), &kernel).unwrap();
            assert_eq!(shape.reclaim_distance, distance, "{name}");
        }
    }

    /// Through a form that a process can be told in.
    fn serde_json_free(shape: &Shape) -> Shape {
        toml::from_str(&toml::to_string(shape).unwrap()).unwrap()
    }
}
