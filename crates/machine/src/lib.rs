//! What a machine is: CPUs, cores, small cores, caches, NUMA nodes, idle states, and the constants
//! that say what things cost on it. Readers turn firmware tables and sysfs into this model; the catalog
//! holds named machines as data files.

pub mod acpi;
pub mod catalog;
pub mod constants;
pub mod costs;
pub mod cpuset;
pub mod devicetree;
pub mod distance;
pub mod error;
mod files;
pub mod form;
pub mod hwloc;
pub mod layout;
pub mod model;
mod order;
pub mod qemu;
mod resolve;
pub mod snapshot;
pub mod sysfs;
#[cfg(test)]
mod testing;
mod wrong;

pub use constants::{Constant, ConstantRange, Constants, Mark};
pub use cpuset::{CpuSet, MAX_CPUS};
pub use error::MachineError;
pub use model::{
    Arch, Cache, CacheKind, Cppc, Cpu, Firmware, FrequencyPolicy, IdleState, Machine, Node, Origin,
    OsIds, ThreadGroupProperty, ThreadGroups,
};
pub use resolve::{HOST, resolve, resolve_snapshot};
pub use snapshot::Snapshot;
pub use wrong::Wrong;
