//! What can be wrong with an experiment, its results or where they go.

/// One error, saying the file, the place in it, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A file that cannot be read or written.
    #[error("{file}: {reason}")]
    Io {
        /// The file.
        file: String,
        /// The system's reason.
        reason: std::io::Error,
    },
    /// Text that is not the expected TOML.
    #[error("{file}: line {line}: {message}")]
    Toml {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The parser's message, which names the field and what was expected.
        message: String,
    },
    /// A field with an impossible value.
    #[error("{file}: {field}: found {found}, expected {expected}")]
    Field {
        /// The file.
        file: String,
        /// The field, with the variant or workload it belongs to.
        field: String,
        /// What was given.
        found: String,
        /// What is possible.
        expected: String,
    },
    /// Something the experiment names that another crate refuses.
    #[error("{file}: {field}: {reason}")]
    Refused {
        /// The file.
        file: String,
        /// The field.
        field: String,
        /// The other crate's error.
        reason: String,
    },
    /// A run that failed.
    #[error("workload `{workload}`, variant `{variant}`, run {run}: {reason}")]
    Run {
        /// The workload.
        workload: String,
        /// The variant.
        variant: String,
        /// The run, from 0.
        run: u32,
        /// The engine's reason.
        reason: String,
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
}
