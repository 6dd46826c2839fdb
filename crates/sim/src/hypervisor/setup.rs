//! What a run starts with: vcores with their vcpus and operands, guests with what theirs share.

use super::Hypervisor;
use super::core::Thread;
use super::guest::GuestState;
use super::programs::{Memory, Program};
use crate::topology::Cpu;
use cache::{CacheError, Extent, LogControl, Logmpp, Mppr, SizeClass, Tables};
use workload::kvm::{GuestProgram, Vcore};

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

/// A guest of entry `entry`, and where what its vcpus share lies.
pub(super) fn new_guest(h: &Hypervisor, entry: u32, memory: &mut Memory<'_>) -> GuestState {
    let from_ns = h.guests.params.warmup_s * 1e9;
    let Some(guest) = h.guests.params.guest(entry) else { return GuestState::default() };
    let lines = |kib: f64| h.costs.lines(kib);
    let (code_kib, data_lines, array_lines, total_mib) = match &guest.program {
        GuestProgram::SysbenchMemory(p) => (p.event.code_kib, 0, 0, p.total_mib),
        GuestProgram::ApacheBench(p) => {
            let connections = u64::from(p.connections) * lines(p.connection_kib);
            (p.request.code_kib, connections + lines(p.page_kib), 0, 0.0)
        }
        GuestProgram::Stream(p) => {
            let array = lines(p.array_mib * 1024.0);
            (0.0, 3 * array, array, 0.0)
        }
        GuestProgram::Idle(p) => (p.work.code_kib, 0, 0, 0.0),
        GuestProgram::Chase(_) => (0.0, 0, 0, 0.0),
    };
    let mut state = GuestState::new(guest.vcpus, from_ns, total_mib);
    state.code = memory.region(lines(code_kib));
    state.data = memory.region(data_lines);
    state.array_lines = array_lines;
    state
}

pub(super) fn new_vcpus(
    h: &Hypervisor,
    of: &Vcore,
    guests: &[GuestState],
    thread: Thread,
    memory: &mut Memory<'_>,
) -> Vec<Vcpu> {
    let entry = h.guests.entries[of.guest as usize];
    let Some(guest) = h.guests.params.guest(entry) else { return Vec::new() };
    let state = &guests[of.guest as usize];
    let vcpus = of.first_vcpu..of.first_vcpu + of.vcpus;
    vcpus
        .map(|vcpu| Vcpu {
            program: Program::new(&guest.program, vcpu, guest.vcpus, state, memory),
            thread,
            ceded_until_ns: 0.0,
        })
        .collect()
}
