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
pub(crate) use clocks::{ClockModel, PackageLoad};
use machine::Machine;
use machine::costs::{Channel, Parts, nearest};
pub(crate) use memory::{MAX_LEVELS, Memory};
use workload::QueueKind;

/// Costs in cycles unless named otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Hardware {
    /// Cycles a ns of a thread alone on its pipeline.
    pub cycles_per_ns: f64,
    /// Rate in cycles a ns by number of busy threads on the pipeline, from 0 (unused) up.
    rate: Vec<f64>,
    /// What the kernel's own work takes, in instructions and lines.
    pub kernel: Parts,
    /// Cycles of an instruction of the kernel.
    pub kernel_cpi: f64,
    /// What a line takes of a hand-over where the kernel waits for several: they overlap.
    pub(crate) line_ratio: f64,
    /// One atomic read-modify-write on a line that the CPU has.
    pub atomic_cycles: f64,
    /// Interrupt from a CPU's tick or timer.
    pub tick_cycles: f64,
    /// From sending an inter-processor interrupt to its arrival, in ns.
    pub ipi_ns: u64,
    /// From setting `TIF_NEED_RESCHED` to a polling idle loop seeing it, in ns.
    pub poll_ns: u64,
    handovers: [Handover; Distance::COUNT],
    /// How far the nearest other core is, or thread where there is one core.
    pub(crate) nearest_core: Distance,
    /// The kernel's work takes no time: what programs do has it already ([`workload::Workload::has_kernel_work`]).
    pub(crate) kernel_is_free: bool,
}

/// Handing over a line.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Handover {
    /// In ns of cores at the nominal clock.
    pub(crate) ns: f64,
    /// Whether it goes with the core's clock, as within a last-level cache that has that clock. Else it takes its time.
    pub(crate) at_core_clock: bool,
}

/// Time for lines on their way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Travel {
    /// Cycles of the core, whatever its clock.
    pub(crate) core_cycles: f64,
    /// Time at the fabric's clock, in cycles of the core's nominal one.
    pub(crate) fabric_cycles: f64,
}

impl Travel {
    /// Cycles of a core at `clock`, in terms of the nominal one.
    pub(crate) fn cycles(self, clock: f64) -> f64 {
        self.core_cycles + self.fabric_cycles * clock
    }

    pub(crate) fn add(&mut self, more: Travel) {
        self.core_cycles += more.core_cycles;
        self.fabric_cycles += more.fabric_cycles;
    }
}

/// Work of a core without lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Effort {
    /// One atomic operation of the program.
    Atomic,
    /// Instructions of the kernel.
    Kernel(f64),
}

/// What was counted on the machine's architecture, and a kernel near `release` (major, minor).
///
/// # Errors
/// An architecture without counts, a table that lacks some.
pub(crate) fn counted(machine: &Machine, release: (u16, u16)) -> Result<Parts, SimError> {
    let shipped = || nearest(machine.arch, release);
    let table = machine.costs.clone().map_or_else(shipped, Ok);
    let table = table.map_err(|reason| SimError::Costs {
        machine: machine.name.clone(),
        reason: reason.to_string(),
    })?;
    Parts::of(&table).map_err(|missing| SimError::Count { machine: machine.name.clone(), missing })
}

fn nearest_core(topology: &Topology) -> Distance {
    let all = topology.distances();
    let core = all.iter().find(|d| **d > Distance::Smt).or(all.last());
    core.copied().unwrap_or(Distance::SameCpu)
}

impl Hardware {
    /// Reads the constants that `machine` needs for the distances and pipelines of `topology`, and what was counted near `release`.
    pub fn new(
        machine: &Machine,
        topology: &Topology,
        release: (u16, u16),
    ) -> Result<Hardware, SimError> {
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
        let atomic_cycles = ns("atomic_ns")?;
        let kernel = counted(machine, release)?;
        Ok(Hardware {
            cycles_per_ns: ghz,
            rate,
            atomic_cycles,
            kernel,
            kernel_cpi: constant("kernel_cycles_per_instruction")?,
            line_ratio: constant("kernel_line_ratio")?,
            tick_cycles: ns("tick_ns")?,
            ipi_ns: constant("ipi_ns")? as u64,
            poll_ns: constant("poll_ns")? as u64,
            handovers: memory::handovers(machine, topology)?,
            nearest_core: nearest_core(topology),
            kernel_is_free: false,
        })
    }

    /// Cycles a ns of one thread while `busy` threads of its pipeline are busy.
    pub fn rate(&self, busy: usize) -> f64 {
        self.rate[busy.min(self.rate.len() - 1)]
    }

    /// What passes messages in queues of `kind`.
    pub fn channel(&self, kind: QueueKind) -> &Channel {
        match kind {
            QueueKind::Pipe => &self.kernel.pipe,
            QueueKind::Socket => &self.kernel.unix,
            QueueKind::Loopback => &self.kernel.tcp,
            QueueKind::Futex => &self.kernel.futex,
        }
    }

    /// Cycles of `instructions` of the kernel.
    pub fn kernel_cycles(&self, instructions: f64) -> f64 {
        instructions * self.kernel_cpi
    }

    /// What a send takes that finds room, but for its lines.
    pub fn send(&self, kind: QueueKind) -> Effort {
        self.end(kind, self.channel(kind).send.instructions)
    }

    /// What a read takes that finds a message, but for its lines.
    pub fn receive(&self, kind: QueueKind) -> Effort {
        self.end(kind, self.channel(kind).receive.instructions)
    }

    /// A word in memory changes without the kernel.
    fn end(&self, kind: QueueKind, instructions: f64) -> Effort {
        match kind {
            QueueKind::Futex => Effort::Atomic,
            _ => Effort::Kernel(instructions),
        }
    }

    /// Handing over one line, in ns of cores at the nominal clock.
    pub fn handover_ns(&self, distance: Distance) -> f64 {
        self.handovers[distance as usize].ns
    }

    /// Whether that takes the same number of the core's cycles at any clock.
    pub fn at_core_clock(&self, distance: Distance) -> bool {
        self.handovers[distance as usize].at_core_clock
    }

    /// Cycles of the nominal clock to fetch one line that was written at `distance`.
    pub fn handover_cycles(&self, distance: Distance) -> f64 {
        self.handover_ns(distance) * self.cycles_per_ns
    }

    /// So many hand-overs over `distance`, one after the other.
    pub(crate) fn travel(&self, distance: Distance, handovers: f64) -> Travel {
        let cycles = handovers * self.handover_cycles(distance);
        match self.at_core_clock(distance) {
            true => Travel { core_cycles: cycles, fabric_cycles: 0.0 },
            false => Travel { core_cycles: 0.0, fabric_cycles: cycles },
        }
    }

    /// `cycles` of a thread alone, in ns.
    pub fn ns(&self, cycles: f64) -> u64 {
        (cycles / self.cycles_per_ns) as u64
    }
}
