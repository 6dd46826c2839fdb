//! What can go wrong on this computer.

use crate::scheduler::Gone;
use std::io;
use std::path::{Path, PathBuf};

/// One error: the file or the program, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// A file that cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A write that the kernel refuses.
    #[error("{path}: {source}, found when `{value}` was written")]
    Write {
        /// The file.
        path: PathBuf,
        /// What was written.
        value: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A file that does not hold what was written to it.
    #[error("{path}: found `{found}` after the write, expected `{expected}`")]
    NotHeld {
        /// The file.
        path: PathBuf,
        /// What it holds.
        found: String,
        /// What was written.
        expected: String,
    },
    /// Something that this computer does not have.
    #[error("{field}: found {found}, expected {expected}")]
    NotHere {
        /// The variant's field.
        field: String,
        /// What is here.
        found: String,
        /// What is needed.
        expected: String,
    },
    /// The settings of a run that did not end as it should.
    #[error(
        "{}: found settings of a run that was killed, expected none: `schedscape host restore` puts them back",
        .0.display()
    )]
    NotRestored(PathBuf),
    /// Another process changes settings now.
    #[error("{}: found another run that has this computer, expected none", .0.display())]
    InUse(PathBuf),
    /// A journal that is none.
    #[error("{path}: line {line}: found {found}, expected a change that was journaled")]
    Journal {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What it says.
        found: String,
    },
    /// A program that does not start.
    #[error("{program}: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A scheduler that did not come or did not stay.
    #[error("scheduler: {0}")]
    Scheduler(String),
    /// A scheduler that was not enabled, with what kernel and scheduler say.
    #[error("scheduler: {reason}")]
    NotEnabled {
        /// What happened.
        reason: String,
        /// What was said.
        gone: Gone,
    },
    /// Some settings that could not be put back, a line each.
    #[error("not put back: {}", .0.join("; "))]
    Left(Vec<String>),
    /// A signal ended it.
    #[error("interrupted")]
    Interrupted,
}

impl HostError {
    /// Wraps the reason why `path` cannot be read or written.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> HostError + '_ {
        |source| HostError::Io { path: path.to_owned(), source }
    }
}
