//! How far apart CPUs are, as a cache line travels.

use crate::{CacheKind, CpuSet, Machine};

/// How far apart two CPUs are. A machine has those that its cores, clusters, caches, nodes and packages tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Distance {
    /// The same CPU.
    SameCpu,
    /// Threads of one pipeline: a small core, or a core without small cores.
    Smt,
    /// Small cores of one big core.
    BigCore,
    /// Cores of one cluster.
    Cluster,
    /// Cores or clusters that share a last-level cache.
    Llc,
    /// Last-level caches of one NUMA node.
    Node,
    /// NUMA nodes of one package.
    Package,
    /// Different packages.
    Remote,
}

impl Distance {
    /// Number of distances.
    pub const COUNT: usize = 8;
    /// Every distance, nearest first.
    pub const ALL: [Distance; Distance::COUNT] = [
        Distance::SameCpu,
        Distance::Smt,
        Distance::BigCore,
        Distance::Cluster,
        Distance::Llc,
        Distance::Node,
        Distance::Package,
        Distance::Remote,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Distance::SameCpu => "same_cpu",
            Distance::Smt => "smt",
            Distance::BigCore => "big_core",
            Distance::Cluster => "cluster",
            Distance::Llc => "llc",
            Distance::Node => "node",
            Distance::Package => "package",
            Distance::Remote => "remote",
        }
    }

    /// The machine constant for handing a cache line over this distance; none within a CPU.
    pub fn handover_constant(self) -> Option<&'static str> {
        match self {
            Distance::SameCpu => None,
            Distance::Smt => Some("handover_smt_ns"),
            Distance::BigCore => Some("handover_big_core_ns"),
            Distance::Cluster => Some("handover_cluster_ns"),
            Distance::Llc => Some("handover_llc_ns"),
            Distance::Node => Some("handover_node_ns"),
            Distance::Package => Some("handover_package_ns"),
            Distance::Remote => Some("handover_remote_ns"),
        }
    }
}

/// What a CPU is part of, each by a number.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The first CPU of its pipeline.
    pipeline: u16,
    core: u32,
    /// `None` where the machine has no clusters.
    cluster: Option<u32>,
    /// Its last-level cache in hardware, whether or not a kernel sees it; `None` where none is known.
    cache: Option<u32>,
    node: u32,
    package: u32,
}

/// The distances between a machine's CPUs.
#[derive(Debug)]
pub struct Distances {
    places: Box<[Place]>,
}

impl Distances {
    /// Those of `machine`.
    pub fn new(machine: &Machine) -> Distances {
        let places = machine.cpus.iter().enumerate().map(|(number, cpu)| Place {
            pipeline: machine.pipeline_cpus(number).first().map_or(number, |first| first) as u16,
            core: cpu.core,
            cluster: cpu.cluster,
            cache: last_level_cache(machine, number),
            node: cpu.node,
            package: cpu.package,
        });
        Distances { places: places.collect() }
    }

    /// How far apart two of its CPUs are.
    ///
    /// # Panics
    /// A CPU that the machine does not have.
    pub fn between(&self, a: usize, b: usize) -> Distance {
        if a == b {
            return Distance::SameCpu;
        }
        let (a, b) = (&self.places[a], &self.places[b]);
        if a.pipeline == b.pipeline {
            Distance::Smt
        } else if a.core == b.core {
            Distance::BigCore
        } else if a.cluster.is_some() && a.cluster == b.cluster {
            Distance::Cluster
        } else if a.cache.is_some() && a.cache == b.cache {
            Distance::Llc
        } else if a.node == b.node {
            Distance::Node
        } else if a.package == b.package {
            Distance::Package
        } else {
            Distance::Remote
        }
    }
}

/// The CPU's cache of the highest level, by its index among the machine's caches.
fn last_level_cache(machine: &Machine, cpu: usize) -> Option<u32> {
    let holds = |set: &CpuSet| set.contains(cpu);
    let caches = machine.caches.iter().enumerate();
    let last = caches
        .filter(|(_, c)| c.kind != CacheKind::Instruction && holds(&c.cpus))
        .max_by_key(|(_, c)| c.level)?;
    Some(last.0 as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distances(name: &str, pairs: &[(usize, Distance)]) {
        let machine = crate::catalog::load(name).unwrap();
        let distances = Distances::new(&machine);
        for &(cpu, wanted) in pairs {
            assert_eq!(distances.between(0, cpu), wanted, "{name}: CPU {cpu}");
            assert_eq!(distances.between(cpu, 0), wanted, "{name}: CPU {cpu}");
        }
    }

    #[test]
    fn machines_have_the_distances_that_their_topology_tells() {
        use Distance::*;
        distances("power9-big-core", &[(0, SameCpu), (2, Smt), (1, BigCore), (8, Node)]);
        distances("kunpeng920-2node", &[(0, SameCpu), (3, Cluster), (4, Llc), (24, Package)]);
        distances(
            "kunpeng920-4node",
            &[(0, SameCpu), (3, Cluster), (4, Llc), (24, Package), (48, Remote)],
        );
        distances(
            "epyc-7742-2s-nps4",
            &[(0, SameCpu), (128, Smt), (3, Llc), (4, Node), (16, Package), (64, Remote)],
        );
    }
}
