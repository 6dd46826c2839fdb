//! What operations take by the table of a machine's architecture, as sums to compare with.

use machine::Machine;
use machine::costs::{CostTable, Operation, Peer, Side};
use std::sync::Arc;

/// A table, and how long an instruction takes.
pub struct Counted {
    table: Arc<CostTable>,
    instruction_ns: f64,
}

impl Counted {
    pub fn of(machine: &Machine) -> Counted {
        let constant = |name: &str| machine.constants.value(name).expect("a constant");
        let table = machine::costs::nearest(machine.arch, (6, 12)).expect("a table");
        let ghz = constant("nominal_khz") / 1e6;
        Counted { table, instruction_ns: constant("kernel_cycles_per_instruction") / ghz }
    }

    /// Instructions of a side, in ns.
    pub fn ns(&self, name: &str, peer: Peer, side: fn(&Operation) -> Option<Side>) -> f64 {
        self.side(name, peer, false, side)
    }

    fn side(
        &self,
        name: &str,
        peer: Peer,
        threads: bool,
        side: fn(&Operation) -> Option<Side>,
    ) -> f64 {
        let operation = self.table.operation(name, peer, threads).expect("an operation");
        side(operation).expect("a side").kernel_instructions * self.instruction_ns
    }

    /// A switch to another process or thread.
    pub fn switch_ns(&self, threads: bool) -> f64 {
        let one = self.ns("pipe", Peer::Alternating, |o| o.take);
        let yields = |threads| self.side("yield", Peer::SameCpu, threads, |o| o.own);
        self.ns("pipe", Peer::SameCpu, |o| o.take) - one - yields(false) + yields(threads)
    }

    /// Both ends of a message, which find room and data.
    pub fn message_ns(&self, name: &str) -> f64 {
        self.ns(name, Peer::Alternating, |o| o.give) + self.ns(name, Peer::Alternating, |o| o.take)
    }

    /// What a message on one CPU takes more whose reader slept, without the switch.
    pub fn wakeup_ns(&self, name: &str) -> f64 {
        let whole =
            self.ns(name, Peer::SameCpu, |o| o.give) + self.ns(name, Peer::SameCpu, |o| o.take);
        whole - self.message_ns(name) - self.switch_ns(false)
    }
}
