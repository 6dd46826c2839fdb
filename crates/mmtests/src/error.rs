//! What can be wrong with results.

/// Results that cannot be read. Every message says file, what was found there and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MmtestsError {
    /// A file or directory as a whole.
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
