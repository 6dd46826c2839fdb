//! What can be wrong with an rt-app file.

/// One error, saying the file, the place in it, what was found and what was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RtAppError {
    /// Text that is not what json-c reads.
    #[error("{file}: line {line}, column {column}: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// A key or a value outside the grammar.
    #[error("{file}: line {line}, column {column}: {path}: found {found}, expected {expected}")]
    Field {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Keys from the root, as in `tasks.thread0.phases.p1.run`.
        path: String,
        /// What was given.
        found: String,
        /// What is possible.
        expected: String,
    },
    /// A workload that cannot be run.
    #[error("{file}: {path}: found {found}, expected {expected}")]
    Refused {
        /// The file.
        file: String,
        /// Keys from the root.
        path: String,
        /// What was given.
        found: String,
        /// What is possible.
        expected: String,
    },
    /// Something that no simulation has.
    #[error("{file}: {path}: {feature} is not simulated; `ignore = [\"{feature}\"]` leaves it out")]
    NotSimulated {
        /// The file.
        file: String,
        /// Keys from the root.
        path: String,
        /// What, by its name in `ignore` lists.
        feature: &'static str,
    },
}
