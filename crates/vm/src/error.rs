//! What can go wrong with a guest.

use std::path::{Path, PathBuf};

/// Why there is no guest, or no answer from it.
#[derive(Debug, thiserror::Error)]
pub enum VmError {
    /// A file of the cache or of a result that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A program of the host that is not there or does not start.
    #[error("{program}: {source}; install it with: {install}")]
    Program {
        /// Its name.
        program: String,
        /// What the system says.
        source: std::io::Error,
        /// A command that installs it.
        install: String,
    },
    /// A program of the host that failed.
    #[error("{program} failed ({status}): {message}")]
    Failed {
        /// Its name.
        program: String,
        /// How it ended.
        status: String,
        /// The last of what it said.
        message: String,
    },
    /// No archive to derive other suites' sources from.
    #[error(
        "apt's sources: found no archive of Debian's main component, expected one (apt-get indextargets)"
    )]
    NoArchive,
    /// A kernel that no fetched suite has.
    #[error(
        "kernel {wanted} for {arch}: found {found}, expected one of these or a suite with it: schedscape vm fetch --suite NAME --arch {arch}"
    )]
    NoKernel {
        /// What was asked for.
        wanted: String,
        /// Architecture, in Debian's name.
        arch: &'static str,
        /// Releases that are there.
        found: String,
    },
    /// A package that a suite does not have.
    #[error("package {package}: not in {suite} for {arch}")]
    NoPackage {
        /// Its name.
        package: String,
        /// The suite.
        suite: String,
        /// Architecture, in Debian's name.
        arch: &'static str,
    },
}

impl VmError {
    /// An error of the system about `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> VmError {
        let path = path.to_owned();
        move |source| VmError::Io { path, source }
    }
}
