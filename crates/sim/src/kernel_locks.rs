//! Locks of the kernel that CPUs wait for, but for those of queues between tasks, which are where these are.
//!
//! How long each is held was counted (`machine::costs::Parts`): instructions, at the pace of the CPU that holds it, and lines, at the
//! distance from which they come. Who waits spins: it burns its core's cycles and slows its siblings.

use crate::spin_lock::{Claim, SpinLock};
use crate::topology::{Cpu, Topology};
use crate::world::World;
use machine::costs::Work;

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct KernelLocks {
    /// By CPU: its run queue's.
    pub(crate) queues: Vec<SpinLock>,
    /// The list of all processes and their numbers (`tasklist_lock`, `pidmap_lock`).
    pub(crate) processes: SpinLock,
}

impl KernelLocks {
    /// All free.
    pub(crate) fn new(topo: &Topology) -> KernelLocks {
        KernelLocks {
            queues: vec![SpinLock::default(); topo.nr_cpus],
            processes: SpinLock::default(),
        }
    }
}

impl World<'_> {
    /// `cpu` holds the lock of the run queue of `of` for `held`.
    pub(crate) fn hold_queue(&mut self, cpu: Cpu, of: Cpu, held: Work) {
        let from = self.queue_lines.writer(of);
        self.hold_lock(cpu, from, held, |locks| &mut locks.queues[of as usize]);
    }

    /// `cpu` holds the locks that all forks and ends of processes take.
    pub(crate) fn hold_process_locks(&mut self, cpu: Cpu, held: Work) {
        self.hold_lock(cpu, cpu, held, |locks| &mut locks.processes);
    }

    fn hold_lock(
        &mut self,
        cpu: Cpu,
        from: Cpu,
        held: Work,
        which: impl FnOnce(&mut KernelLocks) -> &mut SpinLock,
    ) {
        if held == Work::default() {
            return;
        }
        let claim = self.claim(cpu, from, held);
        let mut locks = std::mem::take(&mut self.locks);
        let wait_ns = self.take_lock(which(&mut locks), claim);
        self.locks = locks;
        self.spin(cpu, wait_ns);
    }

    /// What `cpu` wants of a lock after all that it still has to do: to hold it for `held`, whose lines come from `from`.
    pub(crate) fn claim(&self, cpu: Cpu, from: Cpu, held: Work) -> Claim {
        let c = &self.cpus[cpu as usize];
        let rate = if c.rate > 0.0 { c.rate } else { self.hw.cycles_per_ns };
        let lines_ns = held.lines * self.hw.line_ratio * self.line_ns(cpu, from);
        let hold_ns = self.hw.kernel_cycles(held.instructions) / rate + lines_ns;
        let at_ns = self.now_ns + (c.debt / rate) as u64;
        Claim { cpu, at_ns, hold_ns: hold_ns as u64 }
    }

    /// Takes a lock; how long the claimant waits.
    pub(crate) fn take_lock(&self, lock: &mut SpinLock, claim: Claim) -> u64 {
        lock.take(claim, |holder| self.line_ns(claim.cpu, holder) as u64)
    }

    /// `cpu` spins for so long, or stands still for a line that others hold up.
    pub(crate) fn spin(&mut self, cpu: Cpu, wait_ns: u64) {
        if wait_ns == 0 {
            return;
        }
        self.counters.lock_waits += 1;
        self.counters.lock_wait_ns += wait_ns;
        let rate = self.cpus[cpu as usize].rate;
        self.charge(cpu, wait_ns as f64 * rate);
    }

    /// A line from `from` to `cpu`, in ns at the clock of `cpu`.
    pub(crate) fn line_ns(&self, cpu: Cpu, from: Cpu) -> f64 {
        if cpu == from {
            return 0.0;
        }
        let distance = self.topo.distance(from, cpu);
        let clock = self.cpus[cpu as usize].clock;
        let ns = self.hw.handover_ns(distance);
        if self.hw.at_core_clock(distance) { ns / clock } else { ns }
    }
}
