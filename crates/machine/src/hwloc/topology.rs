//! What hwloc says about a machine, as a list of objects.

use crate::cpuset::CpuSet;
use crate::model::{CacheKind, Origin};
use std::fmt;

/// Type of an object, as far as the machine model has a use for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Machine,
    Package,
    Die,
    Cluster,
    /// A group that is no cluster.
    Group,
    Cache(u8, CacheKind),
    Core,
    Pu,
    Node,
}

impl Kind {
    /// Whether both are one type to hwloc, which has one type for data and unified caches.
    pub(super) fn same_type(self, other: Kind) -> bool {
        let instructions = |kind| kind == CacheKind::Instruction;
        match (self, other) {
            (Kind::Cache(a, of_a), Kind::Cache(b, of_b)) => {
                a == b && instructions(of_a) == instructions(of_b)
            }
            _ => self == other,
        }
    }
}

impl fmt::Display for Kind {
    /// The name in the attribute `type`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Machine => f.pad("Machine"),
            Kind::Package => f.pad("Package"),
            Kind::Die => f.pad("Die"),
            Kind::Cluster | Kind::Group => f.pad("Group"),
            Kind::Cache(level, CacheKind::Instruction) => write!(f, "L{level}iCache"),
            Kind::Cache(level, _) => write!(f, "L{level}Cache"),
            Kind::Core => f.pad("Core"),
            Kind::Pu => f.pad("PU"),
            Kind::Node => f.pad("NUMANode"),
        }
    }
}

/// One object.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) kind: Kind,
    pub(super) os_index: Option<u32>,
    /// `cpuset`.
    pub(super) online: CpuSet,
    /// `complete_cpuset`.
    pub(super) cpus: CpuSet,
    /// Bytes of a cache or of a node's memory, where told.
    pub(super) bytes: Option<u64>,
    pub(super) line_bytes: Option<u32>,
    /// Ways of associativity; 0 is fully associative.
    pub(super) ways: Option<u32>,
    pub(super) origin: Origin,
    /// `CPUVendor`.
    pub(super) vendor: Option<String>,
}

impl Object {
    /// An object of `kind` with `cpus`, of which `online` run.
    pub(super) fn new(kind: Kind, cpus: CpuSet, online: CpuSet) -> Object {
        Object {
            kind,
            os_index: None,
            online: &cpus & online,
            cpus,
            bytes: None,
            line_bytes: None,
            ways: None,
            origin: Origin::Firmware,
            vendor: None,
        }
    }
}

/// Distances between NUMA nodes.
#[derive(Debug, Clone)]
pub(super) struct Distances {
    /// Node numbers.
    pub(super) nodes: Vec<u32>,
    /// One row a node.
    pub(super) values: Vec<u32>,
}

/// `<cpukind>`: CPUs of one kind.
#[derive(Debug, Clone)]
pub(super) struct CpuKind {
    pub(super) cpus: CpuSet,
    pub(super) capacity: Option<u32>,
    pub(super) max_mhz: Option<u64>,
    pub(super) base_mhz: Option<u64>,
}

/// A whole topology.
#[derive(Debug, Clone)]
pub(super) struct Topology {
    /// The objects; the first is the machine.
    pub(super) objects: Vec<Object>,
    /// Names and values of the machine's and the topology's `<info>`.
    pub(super) infos: Vec<(String, String)>,
    pub(super) distances: Option<Distances>,
    pub(super) cpu_kinds: Vec<CpuKind>,
    /// `allowed_cpuset` of the machine.
    pub(super) allowed: Option<CpuSet>,
}

impl Topology {
    /// Objects of one kind.
    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(move |o| o.kind == kind)
    }

    /// Value of the first `<info>` called `name`.
    pub(super) fn info(&self, name: &str) -> Option<&str> {
        self.infos.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}
