//! What an experiment asks: the file, and the machine, kernels and workloads that it names.
//!
//! [`ExperimentFile`] is the file as data. [`Plan`] finds what the file names: it reads the machine, switches the kernels'
//! mechanisms and builds workloads. Nothing here runs anything.

mod by_source;
mod error;
pub mod file;
mod plan;
pub mod replay;
mod wrong;

pub use by_source::{PATCHES, ShippedPatch};
pub use error::DefinitionError;
pub use file::{ExperimentFile, SourceEntry, toml_of};
pub use plan::Plan;

use std::path::Path;

/// The folder that holds `path`.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
