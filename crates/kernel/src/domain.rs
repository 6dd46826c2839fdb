//! Sched domains and groups as a kernel leaves them after attaching.

use crate::flags::SdFlags;
use machine::CpuSet;
use serde::Serialize;

/// A group of a sched domain: the CPUs of one child domain, or one CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Its CPUs.
    pub span: CpuSet,
    /// CPUs that may balance for the group (`group_balance_mask`).
    pub mask: CpuSet,
    /// CPU whose `sched_group_capacity` the group uses; the number the log prints first.
    pub id: usize,
    /// Capacity, 1024 for one full CPU.
    pub capacity: u64,
    /// Flags of the child domain that the group stands for (`sched_group::flags`, kernels from 5.16 on;
    /// `groups_flags` in debugfs).
    pub flags: SdFlags,
}

/// One sched domain of one CPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Domain {
    /// Level name: SMT, CLS, CACHE, MC, DIE, PKG, NODE, NUMA.
    pub name: &'static str,
    /// Index among the machine's levels, counted from 0 before any degenerates (`sd->level`).
    pub level: usize,
    /// Its CPUs.
    pub span: CpuSet,
    /// Flags.
    pub flags: SdFlags,
    /// Groups in the kernel's order, beginning with the CPU's own.
    pub groups: Vec<Group>,
    /// Percent by which the busiest must exceed the local group.
    pub imbalance_pct: u32,
    /// Failed attempts before cache-hot tasks move.
    pub cache_nice_tries: u32,
    /// Shortest balance interval in ms: the CPUs of the level's mask, which may hold more than the span (see
    /// [`crate::build::build_after_offline`]).
    pub min_interval_ms: u32,
    /// Longest balance interval in ms.
    pub max_interval_ms: u32,
    /// Factor on the interval while the CPU is busy.
    pub busy_factor: u32,
    /// Tasks up to which a NUMA domain tolerates an imbalance (`sd->imb_numa_nr`, kernels from 5.18 on); 0 below the
    /// node's level and in older kernels.
    pub imb_numa_nr: u32,
    /// `rq->cpu_load` index while busy, for kernels that have one (before 5.3).
    pub busy_idx: u8,
    /// `rq->cpu_load` index while idle, for kernels that have one (before 5.3).
    pub idle_idx: u8,
}

/// The sched domains of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Domains {
    /// CPUs for which domains were built: the online ones.
    pub cpus: CpuSet,
    /// By CPU number: domains from the lowest up; empty for offline CPUs and where all levels degenerate.
    pub by_cpu: Vec<Vec<Domain>>,
    /// Capacity of each CPU (`cpu_capacity_orig`), 1024 for a full one; 0 for offline CPUs.
    pub capacity: Vec<u64>,
    /// `cpu_smt_mask()` of each CPU: the online threads that the kernel takes for one core when it looks for
    /// idle cores. Not always the SMT domain.
    pub smt_mask: Vec<CpuSet>,
}

impl Domains {
    /// The CPUs that share `cpu`'s last-level cache as the scheduler sees it (`sd_llc`): the span of the
    /// highest domain with `SHARE_LLC`, or the CPU alone.
    pub fn llc(&self, cpu: usize) -> CpuSet {
        self.by_cpu[cpu]
            .iter()
            .rev()
            .find(|d| d.flags.contains(SdFlags::SHARE_LLC))
            .map_or(CpuSet::single(cpu), |d| d.span.clone())
    }
}
