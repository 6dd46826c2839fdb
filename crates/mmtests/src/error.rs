//! Errors of reading results.

/// Results that cannot be read. The message says the file, what was found and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MmtestsError {
    /// A file or directory that cannot be used.
    #[error("{file}: found {found}, expected {expected}")]
    File {
        /// Its path.
        file: String,
        /// What is there.
        found: String,
        /// What would do.
        expected: String,
    },
    /// A line of a log.
    #[error("{file}:{line}: found {found}, expected {expected}")]
    Line {
        /// The log's path.
        file: String,
        /// The line's number, from 1.
        line: usize,
        /// What is there.
        found: String,
        /// What would do.
        expected: String,
    },
}
