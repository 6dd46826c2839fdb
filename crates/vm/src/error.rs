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
    /// No QEMU that is new enough.
    #[error(
        "QEMU for {arch}: found none of version 9.2 or newer, expected one on the PATH or: schedscape vm fetch --arch {arch}"
    )]
    NoQemu {
        /// Architecture of the guest, in Debian's name.
        arch: &'static str,
    },
    /// No KVM for a guest.
    #[error(
        "KVM: found {found}, expected guests of this computer's architecture and a /dev/kvm that boots them; without --accel, QEMU translates"
    )]
    NoKvm {
        /// What is in the way.
        found: String,
    },
    /// No programs for guests.
    #[error("programs of {arch} guests: found none, expected: schedscape vm fetch --arch {arch}")]
    NoPrograms {
        /// Architecture of the guest, in Debian's name.
        arch: &'static str,
    },
    /// A guest that failed.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// A machine of an architecture that guests cannot have.
    #[error("{machine}: found another architecture, expected x86, arm64 or powerpc")]
    NoBoard {
        /// Its name.
        machine: String,
    },
    /// A machine that QEMU cannot be.
    #[error(
        "{machine}: found {found}, expected the same number everywhere, as QEMU's machines have it"
    )]
    Irregular {
        /// Its name.
        machine: String,
        /// What differs.
        found: String,
    },
    /// A clock that guests of the machine cannot have.
    #[error("{machine}: a clock slower by a factor: found {found}, expected at most {most}")]
    Clock {
        /// Its name.
        machine: String,
        /// The factor.
        found: u32,
        /// The largest.
        most: u32,
    },
    /// A machine's description that cannot be read or edited.
    #[error(transparent)]
    Machine(#[from] machine::MachineError),
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
    /// A program or a library that a tree of unpacked packages lacks.
    #[error("{by}: found no {library}, expected it among the unpacked packages")]
    NoLibrary {
        /// What is missing.
        library: String,
        /// What needs it.
        by: String,
    },
    /// A program or a library that cannot be read as one.
    #[error("{}: found {found}, expected a whole 64-bit ELF file", path.display())]
    Elf {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
    },
    /// A file that is given and is not what it should be.
    #[error("{}: found {found}, expected {expected}", path.display())]
    Found {
        /// The file.
        path: PathBuf,
        /// What it is.
        found: String,
        /// What it should be.
        expected: String,
    },
    /// A scheduler that cannot be built.
    #[error("{name}: found {found}, expected {expected}")]
    Scheduler {
        /// Its crate.
        name: String,
        /// What is in the way.
        found: String,
        /// What would do.
        expected: String,
    },
    /// No compiler for the guests' own worker, or for a kernel.
    #[error("compiler for {arch}: {reason}; install one with: {install}")]
    NoCompiler {
        /// Architecture, in Debian's name.
        arch: &'static str,
        /// Why none could be fetched.
        reason: Box<VmError>,
        /// A command that installs one.
        install: String,
    },
}

/// How a guest failed, with the last lines of its console.
#[derive(Debug, thiserror::Error)]
#[error("guest: {what}\n{}", last_lines(console))]
pub struct GuestError {
    /// What happened.
    pub what: GuestFault,
    /// The last lines of its console.
    pub console: Vec<String>,
}

/// What can happen to a guest.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuestFault {
    /// It said nothing for too long.
    #[error("silent for {silent_s} s, expected a line at least that often")]
    Silent {
        /// For how long.
        silent_s: u64,
    },
    /// It took too long in all.
    #[error("not done after {limit_s} s")]
    Slow {
        /// The limit.
        limit_s: u64,
    },
    /// Its kernel panicked.
    #[error("kernel panic: {0}")]
    Panic(String),
    /// It ran out of memory.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// QEMU ended before the guest was done.
    #[error("QEMU ended early ({status}): {said}")]
    Ended {
        /// How.
        status: String,
        /// The last of what QEMU said.
        said: String,
    },
    /// A file did not arrive as it was sent.
    #[error(transparent)]
    Torn(#[from] crate::frames::Torn),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

/// The lines as a quotation.
fn last_lines(lines: &[String]) -> String {
    if lines.is_empty() {
        return "  (nothing on its console)".to_owned();
    }
    lines.iter().map(|line| format!("  | {line}")).collect::<Vec<_>>().join("\n")
}

impl VmError {
    /// An error of the system about `path`.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> VmError {
        let path = path.to_owned();
        move |source| VmError::Io { path, source }
    }
}
