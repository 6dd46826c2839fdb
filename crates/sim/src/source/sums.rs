//! What a queue of a kernel says of itself, beside the same as counted from the tasks in it.
//!
//! The structs are those of the C interface, field by field, so that a library fills them in place.

use super::Averages;

/// Words of a task's mask that are told (`SC_MASK_WORDS`).
pub const MASK_WORDS: usize = 4;

/// A queue's sums (`struct sc_sums`): each number, and what the library counted.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Sums {
    pub nr_running: u64,
    pub counted_running: u64,
    pub servers: u64,
    pub nr_queued: u64,
    pub counted_queued: u64,
    pub listed: u64,
    pub counted_listed: u64,
    pub weight: u64,
    pub counted_weight: u64,
    pub weight_waiting: u64,
    pub counted_weight_waiting: u64,
    pub weighted_vruntime: i64,
    pub counted_weighted_vruntime: i64,
    pub averages: Averages,
    pub avg_idle_ns: u64,
    pub wakeup_pending: u32,
    pub active: u32,
    pub group: u32,
    pub outranked: u32,
}

/// A task in a queue of the fair class (`struct sc_queued`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Queued {
    pub pid: i64,
    pub running: u32,
    pub delayed: u32,
    pub attached: u32,
    pub weight: u64,
    pub slice_ns: u64,
    pub sum_exec_ns: u64,
    pub load_avg: u64,
    pub util_avg: u64,
    pub mask: [u64; MASK_WORDS],
    pub group: u32,
    pub depth: u32,
    pub parts: u64,
    pub quota_ns: u64,
    pub period_ns: u64,
    pub throttled: u64,
}

impl Queued {
    /// Whether the kernel lets the task run on `cpu`; CPUs that the mask has no room for count as such.
    pub fn may_use(&self, cpu: usize) -> bool {
        self.mask.get(cpu / 64).is_none_or(|word| word >> (cpu % 64) & 1 == 1)
    }
}
