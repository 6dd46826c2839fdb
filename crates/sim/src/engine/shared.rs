//! What the tasks of a workload share, as it starts.
//!
//! All of it is there from the first event on; tasks find it by the workload's numbers. `queues`, `sync`, `spin_barrier`, `pools`
//! and `devices` have the rules of their kinds, and conditions are `sync`'s. `steps` sets flags and timers, and `partitions` sets
//! flags from outside.

use super::devices::DeviceState;
use super::pools::PoolState;
use super::queues::QueueState;
use super::sync::{BarrierState, LockState};
use super::wait::WaitList;
use crate::routes::Routes;
use workload::Workload;

/// Everything that tasks meet at, by the workload's numbers.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) flags: Vec<bool>,
    pub(super) queues: Vec<QueueState>,
    pub(super) locks: Vec<LockState>,
    pub(super) conds: Vec<WaitList>,
    pub(super) barriers: Vec<BarrierState>,
    pub(super) devices: Vec<DeviceState>,
    pub(super) pools: Vec<PoolState>,
    pub(super) routes: Routes,
    /// By timer: the point at which it was due last, once it runs.
    pub(super) timers: Vec<Option<u64>>,
}

impl Shared {
    pub(super) fn new(workload: &Workload, nr_cpus: usize) -> Shared {
        Shared {
            flags: vec![false; workload.flags as usize],
            queues: workload.queues.iter().map(QueueState::new).collect(),
            locks: vec![LockState::default(); workload.locks as usize],
            conds: vec![WaitList::default(); workload.conds as usize],
            barriers: vec![BarrierState::default(); workload.barriers.len()],
            devices: workload.devices.iter().map(DeviceState::new).collect(),
            pools: vec![PoolState::default(); workload.pools.len()],
            routes: Routes::new(workload.connections, nr_cpus),
            timers: vec![None; workload.timers as usize],
        }
    }
}
