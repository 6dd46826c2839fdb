//! hwloc's synthetic strings: a machine as the arities of its levels.

mod attributes;
mod indexes;
mod level;
mod objects;
mod types;
mod words;

use super::Source;
use super::topology::Topology;
use crate::error::MachineError;

/// What a string describes.
pub(super) struct Read {
    pub(super) topology: Topology,
    /// What of it the model has no place for, one sentence each.
    pub(super) left_out: Vec<String>,
}

/// Reads a string.
pub(super) fn topology(spec: &str, source: &Source<'_>) -> Result<Read, MachineError> {
    let mut description = words::read(spec, source)?;
    types::complete(&mut description).map_err(|fault| source.error("levels", fault))?;
    let topology = objects::objects(&description, source)?;
    Ok(Read { topology, left_out: description.left_out() })
}

#[cfg(test)]
mod tests;
