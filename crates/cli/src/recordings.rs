//! Recordings that the command line names.

use crate::Failure;
use std::path::Path;
use trace::{Read, Recording, Sink};

/// Passes all of the recording `path` to `sink`.
pub fn read(path: &Path, sink: &mut impl Sink) -> Result<Read, Failure> {
    let read = Recording::open(path).and_then(|recording| recording.read(sink));
    Ok(read.map_err(|e| format!("{}: {e}", path.display()))?)
}
