//! What a run starts with: vcores with their vcpus and operands, partitions with what theirs share.

use super::Hypervisor;
use super::core::Thread;
use super::partition::PartitionState;
use super::programs::{Memory, Program};
use crate::topology::Cpu;
use cache::{CacheError, Extent, LogControl, Logmpp, Mppr, SizeClass, Tables};
use workload::kvm::{PartitionProgram, Vcore};

/// A virtual CPU.
#[derive(Debug)]
pub(super) struct Vcpu {
    pub(super) program: Program,
    pub(super) thread: Thread,
    /// When it goes on; before `ceded_until` it has ceded.
    pub(super) ceded_until_ns: f64,
}

/// A virtual core.
#[derive(Debug)]
pub(super) struct VcoreState {
    pub(super) of: Vcore,
    pub(super) vcpus: Vec<Vcpu>,
    /// The CPU on which it ran last.
    pub(super) cpu: Cpu,
    /// Its thread sleeps, or is about to.
    pub(super) asleep: bool,
    /// The operands that log and restore its caches.
    pub(super) log: u64,
    pub(super) restore: u64,
    /// Whether anything was logged.
    pub(super) logged: bool,
}

/// The operands with which the host logs and restores the caches of vcore `number`.
pub(super) fn operands(
    h: &Hypervisor,
    tables: &Tables,
    number: usize,
) -> Result<(u64, u64), CacheError> {
    let Some(table) = tables.address(number) else { return Ok((0, 0)) };
    let control = match h.class {
        Some(SizeClass::L2) => LogControl::L2,
        Some(SizeClass::L2AndL3) => LogControl::L2AndL3,
        None => LogControl::NoOp,
    };
    let restore = Mppr { table, extent: Extent::UntilEnd, rate: h.rate };
    Ok((Logmpp { table, control }.encode()?, restore.encode()))
}

/// A partition of entry `entry`, and where what its vcpus share lies.
pub(super) fn new_partition(h: &Hypervisor, entry: u32, memory: &mut Memory<'_>) -> PartitionState {
    let from_ns = h.partitions.params.warmup_s * 1e9;
    let Some(partition) = h.partitions.params.partition(entry) else {
        return PartitionState::default();
    };
    let lines = |kib: f64| h.costs.lines(kib);
    let (code_kib, data_lines, array_lines, total_mib) = match &partition.program {
        PartitionProgram::SysbenchMemory(p) => (p.event.code_kib, 0, 0, p.total_mib),
        PartitionProgram::ApacheBench(p) => {
            let connections = u64::from(p.connections) * lines(p.connection_kib);
            (p.request.code_kib, connections + lines(p.page_kib), 0, 0.0)
        }
        PartitionProgram::Stream(p) => {
            let array = lines(p.array_mib * 1024.0);
            (0.0, 3 * array, array, 0.0)
        }
        PartitionProgram::Idle(p) => (p.work.code_kib, 0, 0, 0.0),
        PartitionProgram::Chase(_) => (0.0, 0, 0, 0.0),
    };
    let mut state = PartitionState::new(partition.vcpus, from_ns, total_mib);
    state.code = memory.region(lines(code_kib));
    state.data = memory.region(data_lines);
    state.array_lines = array_lines;
    state
}

pub(super) fn new_vcpus(
    h: &Hypervisor,
    of: &Vcore,
    partitions: &[PartitionState],
    thread: Thread,
    memory: &mut Memory<'_>,
) -> Vec<Vcpu> {
    let entry = h.partitions.entries[of.partition as usize];
    let Some(partition) = h.partitions.params.partition(entry) else { return Vec::new() };
    let state = &partitions[of.partition as usize];
    let vcpus = of.first_vcpu..of.first_vcpu + of.vcpus;
    vcpus
        .map(|vcpu| Vcpu {
            program: Program::new(&partition.program, vcpu, partition.vcpus, state, memory),
            thread,
            ceded_until_ns: 0.0,
        })
        .collect()
}
