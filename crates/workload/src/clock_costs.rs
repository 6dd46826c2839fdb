//! The costs of benchmarks whose work is given in time of a thread alone.

use machine::constants::{Constants, MissingConstant};

/// What the program's steps cost on a machine, beside its system calls and its memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockCosts {
    /// Cycles in a us of the nominal clock.
    pub cycles_per_us: f64,
}

impl ClockCosts {
    /// From the constants of a machine.
    pub fn of(constants: &Constants) -> Result<ClockCosts, MissingConstant> {
        Ok(ClockCosts { cycles_per_us: constants.value("nominal_khz")? / 1e3 })
    }
}
