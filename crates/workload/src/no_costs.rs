//! The costs of benchmarks that have none of their own.

use machine::constants::{Constants, MissingConstant};

/// What the program's steps cost on a machine: nothing that its system calls and its memory do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCosts;

impl NoCosts {
    /// From the constants of a machine, of which none is needed.
    pub fn of(_: &Constants) -> Result<NoCosts, MissingConstant> {
        Ok(NoCosts)
    }
}
