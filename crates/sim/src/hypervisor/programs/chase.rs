//! A pointer chase over a working set.

use super::Memory;
use crate::hypervisor::core::At;
use cache::{Chase, Kind};
use workload::kvm;

/// A vcpu that loads line after line, each load waiting for the one before.
#[derive(Debug, Clone)]
pub(crate) struct Chaser {
    chase: Chase,
    /// Loads that an access stands for, and their core cycles.
    factor: f64,
    cycles: f64,
    /// Accesses of the core at the end of the last lap, where that lap cost nothing but its cycles.
    settled: Option<u64>,
    /// Accesses of this lap, and whether all were free.
    lap: u32,
    free: bool,
}

impl Chaser {
    /// A chase over the working set that starts at line `first`.
    pub(crate) fn new(p: &kvm::Chase, first: u64, memory: &mut Memory<'_>) -> Chaser {
        let lines = memory.costs.lines(p.working_set_kib);
        let seed = memory.draws.below(1 << 32);
        let factor = f64::from(memory.sampling.factor());
        Chaser {
            chase: Chase::new(first, lines, memory.sampling, seed),
            factor,
            cycles: p.load_cycles * factor,
            settled: None,
            lap: 0,
            free: true,
        }
    }

    /// Loads until `until_ns`: how many.
    pub(crate) fn run(&mut self, at: &mut At<'_>, until_ns: f64) -> f64 {
        let mut accesses = 0.0;
        while at.thread.now_ns < until_ns {
            if self.lap == 0 && self.settled.is_some_and(|seen| at.undisturbed(seen)) {
                let left = (until_ns - at.thread.now_ns) / (self.cycles * at.core.cycle_ns);
                let laps = (left / f64::from(self.chase.lines().max(1))).floor();
                if laps >= 1.0 {
                    let skipped = laps * f64::from(self.chase.lines().max(1));
                    at.compute(skipped * self.cycles);
                    accesses += skipped;
                    continue;
                }
            }
            at.compute(self.cycles);
            self.free &= at.access(self.chase.next_line(), Kind::Read, 1.0);
            accesses += 1.0;
            self.lap += 1;
            if self.lap >= self.chase.lines() {
                self.settled = self.free.then_some(at.core.accesses);
                (self.lap, self.free) = (0, true);
            }
        }
        accesses * self.factor
    }
}
