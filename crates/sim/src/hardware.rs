//! What things cost: from a machine's constants to cycles and rates.
//!
//! A running thread gets `frequency x share(k)` cycles a ns, where `k` threads of its pipeline (its small core,
//! where the machine has small cores) are busy. Kernel work is core work too: a constant in ns is what it takes a
//! thread alone on its core, and a busy sibling slows it like everything else. What a task's computation costs
//! beyond core cycles (memory, contended lines) is in ns, and neither clock nor siblings change it.

mod clocks;
mod memory;

use crate::SimError;
use crate::topology::{Distance, Topology};
pub(crate) use clocks::ClockModel;
use machine::Machine;
pub(crate) use memory::{MAX_LEVELS, Memory};

/// Costs in cycles unless named otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Hardware {
    /// Cycles a ns of a thread alone on its pipeline.
    pub cycles_per_ns: f64,
    /// Rate in cycles a ns by number of busy threads on the pipeline, from 0 (unused) up.
    rate: Vec<f64>,
    /// One `read` or `write` of a pipe, without wake-up or sleep.
    pub pipe_cycles: f64,
    /// One `read` or `write` of a socket, without wake-up or sleep.
    pub socket_cycles: f64,
    /// The network's soft interrupt for one packet, up to the receiver's socket.
    pub softirq_cycles: f64,
    /// One atomic read-modify-write on a line that the CPU has.
    pub atomic_cycles: f64,
    /// Entry to and return from any other short system call.
    pub syscall_cycles: f64,
    /// `fork` or `clone` on the parent's side.
    pub fork_cycles: f64,
    /// `execve` up to the first user instruction.
    pub exec_cycles: f64,
    /// A context switch: `schedule()`, address space, registers.
    pub switch_cycles: f64,
    /// A context switch within an address space, also back to it through idle.
    pub thread_switch_cycles: f64,
    /// `try_to_wake_up` on the waker's side, without the search for a CPU.
    pub wakeup_cycles: f64,
    /// Interrupt from a CPU's tick or timer.
    pub tick_cycles: f64,
    /// Looking at one CPU while searching for an idle one.
    pub scan_cycles: f64,
    /// Looking at one CPU while balancing.
    pub balance_cycles: f64,
    /// From sending an inter-processor interrupt to its arrival, in ns.
    pub ipi_ns: u64,
    /// From setting `TIF_NEED_RESCHED` to a polling idle loop seeing it, in ns.
    pub poll_ns: u64,
    /// Taking an interrupt that another CPU sent.
    pub ipi_handler_cycles: f64,
    /// Lines that waker and woken both touch.
    wakeup_lines: f64,
    /// Handing over a line, in ns, by [`Distance`].
    handover_ns: [f64; Distance::COUNT],
}

impl Hardware {
    /// Reads the constants that `machine` needs for the distances and pipelines of `topology`.
    pub fn new(machine: &Machine, topology: &Topology) -> Result<Hardware, SimError> {
        let constant = |name: &str| {
            machine
                .constants
                .value(name)
                .map_err(|e| SimError::Constant { machine: machine.name.clone(), missing: e })
        };
        let ghz = constant("nominal_khz")? / 1e6;
        let ns = |name: &str| Ok::<f64, SimError>(constant(name)? * ghz);
        let mut rate = vec![0.0, ghz];
        for busy in 2..=topology.widest_pipeline() {
            rate.push(ghz * constant(&format!("smt_share_{busy}"))?);
        }
        Ok(Hardware {
            cycles_per_ns: ghz,
            rate,
            pipe_cycles: ns("pipe_ns")?,
            socket_cycles: ns("socket_ns")?,
            softirq_cycles: ns("softirq_ns")?,
            atomic_cycles: ns("atomic_ns")?,
            syscall_cycles: ns("syscall_ns")?,
            fork_cycles: ns("fork_ns")?,
            exec_cycles: ns("exec_ns")?,
            switch_cycles: ns("context_switch_ns")?,
            thread_switch_cycles: ns("thread_switch_ns")?,
            wakeup_cycles: ns("wakeup_ns")?,
            tick_cycles: ns("tick_ns")?,
            scan_cycles: ns("scan_cpu_ns")?,
            balance_cycles: ns("balance_cpu_ns")?,
            ipi_ns: constant("ipi_ns")? as u64,
            poll_ns: constant("poll_ns")? as u64,
            ipi_handler_cycles: ns("ipi_handler_ns")?,
            wakeup_lines: constant("wakeup_lines")?,
            handover_ns: memory::handovers(machine, topology)?,
        })
    }

    /// Cycles a ns of one thread while `busy` threads of its pipeline are busy.
    pub fn rate(&self, busy: usize) -> f64 {
        self.rate[busy.min(self.rate.len() - 1)]
    }

    /// Handing over one line, in ns.
    pub fn handover_ns(&self, distance: Distance) -> f64 {
        self.handover_ns[distance as usize]
    }

    /// Cycles to fetch one line that was written at `distance`.
    pub fn handover_cycles(&self, distance: Distance) -> f64 {
        self.handover_ns(distance) * self.cycles_per_ns
    }

    /// Cycles to read a message of `lines` lines that was written at `distance`, line by line.
    pub fn message_cycles(&self, distance: Distance, lines: f64) -> f64 {
        lines * self.handover_cycles(distance)
    }

    /// Cycles that a woken task spends on fetching what its waker at `distance` wrote.
    pub fn wakeup_fetch_cycles(&self, distance: Distance) -> f64 {
        self.message_cycles(distance, self.wakeup_lines)
    }

    /// `cycles` of a thread alone, in ns.
    pub fn ns(&self, cycles: f64) -> u64 {
        (cycles / self.cycles_per_ns) as u64
    }
}
