//! A kernel tree's own scheduler, built as a shared library.
//!
//! [`Trees`] knows trees by name: a tree as it is checked out, perhaps with patches. [`Trees::build`] makes the library in four
//! steps. A farm of links stands in for the tree, which is never written to, with one architecture more (`arch`: headers, boot,
//! interrupts, stacks, a clock, in C) and the patched files in place of links (`farm`). The tree's own build system compiles
//! `kernel/sched`, `kernel/time` and what they need for that architecture (`make`). What the objects want and nothing has comes
//! from a list that says why it may be empty or constant; a function that is not in it stops a run with its name (`symbols`).
//! Last, all of it is linked (`link`).
//!
//! A library serves as long as what it was made of stays the same: every file that the compiler read, the configuration, the
//! compiler, and the files of this crate.
//!
//! This crate builds. It never loads a library; the crate `replica` does, in a process of its own. [`Shape`] is the machine as a
//! library is told of it.

mod arch;
mod build;
mod conditions;
mod content;
pub mod coverage;
mod farm;
pub mod image;
mod link;
mod lock;
mod make;
mod sanitizer;
mod seed;
mod shape;
mod symbols;
mod tools;
mod trees;
mod without;

pub use build::Library;
pub use sanitizer::Sanitizer;
pub use shape::{Level, Place, Shape};
pub use tools::{Tool, missing_tools};
pub use trees::{Tree, Trees, release_of as release};
pub use without::expected_without;

use std::path::{Path, PathBuf};

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A file or directory that cannot be read or written.
    #[error("{}: {source}", file.display())]
    Io {
        /// Which one.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Something that is given and is not what it should be.
    #[error("{place}: found {found}, expected {expected}")]
    Found {
        /// A file, an option or a name.
        place: String,
        /// What is there.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// Programs that building needs.
    #[error("building from a kernel's tree needs {programs}; install: {packages}")]
    Tools {
        /// Those that are missing.
        programs: String,
        /// The packages that have them.
        packages: String,
    },
    /// What a program of the build said last.
    #[error("{what} failed:\n{said}")]
    Failed {
        /// The step.
        what: String,
        /// The lines that say why.
        said: String,
    },
    /// Symbols that the list of symbols does not have as they are used.
    #[error("nobody provides {0}")]
    Symbols(String),
    /// Domains that cannot be built for the machine.
    #[error(transparent)]
    Domains(#[from] kernel::KernelError),
}

impl TreeError {
    pub(crate) fn io(file: &Path) -> impl FnOnce(std::io::Error) -> TreeError {
        move |source| TreeError::Io { file: file.to_owned(), source }
    }

    pub(crate) fn found(
        place: impl ToString,
        found: impl ToString,
        expected: impl ToString,
    ) -> TreeError {
        let [place, found, expected] = [place.to_string(), found.to_string(), expected.to_string()];
        TreeError::Found { place, found, expected }
    }
}
