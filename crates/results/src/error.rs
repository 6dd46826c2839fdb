//! What can be wrong with results, or with where they are kept.

use definition::DefinitionError;
use std::path::Path;

/// One error, saying the file, the place in it, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A file that cannot be read or written.
    #[error("{file}: {reason}")]
    Io {
        /// The file.
        file: String,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// A result directory that is not one, or not one of this version.
    #[error("{file}: {place}: found {found}, expected {expected}")]
    Store {
        /// The file.
        file: String,
        /// Where in it.
        place: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// No study of that name.
    #[error("study: found `{found}`, expected one of {known}")]
    Study {
        /// What was given.
        found: String,
        /// The names that exist.
        known: String,
    },
    /// Text that names no engine.
    #[error("engine: found `{found}`, expected sim, host, vm, vm-icountN or vm-kvm")]
    Engine {
        /// The text.
        found: String,
    },
    /// The experiment of the results, or a study's.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// Samples that cannot be compared.
    #[error(transparent)]
    Stats(#[from] stats::StatsError),
}

impl ResultsError {
    /// A file of results that is not as it should be at `place`.
    pub fn store(file: &Path, place: &str, found: &str, expected: &str) -> ResultsError {
        ResultsError::Store {
            file: file.display().to_string(),
            place: place.to_string(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }

    /// A file that cannot be read or written.
    pub fn io(file: &Path, reason: std::io::Error) -> ResultsError {
        ResultsError::Io { file: file.display().to_string(), reason }
    }
}
