//! What a guest runs for a benchmark: the real program where Debian has it, else our worker.
//!
//! Results have the names and units that the simulated workload's metrics have, so that both can be laid side by side.
//! Parameters are the experiment's own, however slow the guest is; what a program does otherwise than the workload that
//! is modelled after it stands in [`Program::notes`].

mod dbench;
mod fleet;
mod output;
mod own;
pub mod rtapp;
mod scheduler;
pub mod together;

pub use output::Output;

use crate::{VmError, Workers};
use machine::CpuSet;
use std::io;
use std::path::Path;
use workload::Benchmark;
use workload::rtapp::RtAppError;
use workload::together::figure;

/// Where the worker is in a guest.
pub(crate) const WORKER: &str = "bin/worker";
/// Where the program is that has what fleets run.
const FLEET: &str = "bin/fleet";
/// What binds a command to CPUs.
const BIND: &str = "taskset -c";
/// The same of our worker.
const WORKER_CPUS: &str = " cpus=";
/// What binds the threads of OpenMP programs.
const OPENMP_BIND: &str = "OMP_PROC_BIND=";
/// What binds the copies of a program.
const COPIES_BOUND: &str = " bound=1";
/// The key under which rt-app's files name the CPUs of a thread.
const RT_APP_CPUS: &str = "\"cpus\"";
/// In commands: the directory below which [`Program::files`] are; guests have them in their root.
const FILES: &str = "${FILES:-}";
/// In commands: a directory for what they write.
const SCRATCH: &str = "${SCRATCH:-/tmp}";
/// Files that a program with many connections has open: as many as it may, where that is fewer.
const MANY_FILES: &str = "ulimit -n 65536 2>/dev/null || ulimit -n \"$(ulimit -H -n)\" || exit 1\n";

/// What a guest runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Debian packages that hold it; none for the worker alone.
    pub packages: Vec<&'static str>,
    /// Paths of programs in the packages, whose libraries go along.
    pub programs: Vec<&'static str>,
    /// Further files for the guest, by path without a leading slash.
    pub files: Vec<(String, FileSource)>,
    /// A script for a POSIX shell. `FILES` is the directory below which the files are, empty in guests, and `SCRATCH` one
    /// for what it writes. Its standard output is what [`Program::values`] takes; an exit code other than 0
    /// is a failed run.
    pub command: String,
    /// How numbers come out.
    pub output: Output,
    /// What it does otherwise than the modelled workload, a line each, for the user.
    pub notes: Vec<String>,
    /// The same where it runs in a guest.
    pub guest_notes: Vec<String>,
}

/// Where a file for a guest comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSource {
    /// The text itself.
    Text(String),
    /// Our [worker](crate::Workers), a program.
    Worker,
    /// Our program of what fleets run.
    Fleet,
    /// A file of the packages.
    Package {
        /// Its path in the tree.
        path: &'static str,
        /// The first and the last of its lines that are taken, counted from 1; all where absent.
        lines: Option<(usize, usize)>,
    },
}

impl FileSource {
    /// What the file holds, for guests with the unpacked packages `tree` and our programs `workers`.
    ///
    /// # Errors
    /// What cannot be read.
    pub fn content(&self, tree: &Path, workers: &Workers) -> Result<Vec<u8>, VmError> {
        let read = |path: &Path| std::fs::read(path).map_err(VmError::io(path));
        match self {
            FileSource::Text(text) => Ok(text.clone().into_bytes()),
            FileSource::Worker => read(&workers.worker),
            FileSource::Fleet => read(&workers.fleet),
            FileSource::Package { path, lines } => {
                let path = tree.join(path);
                let whole = read(&path)?;
                let Some((first, last)) = *lines else { return Ok(whole) };
                let lines = whole.split_inclusive(|&byte| byte == b'\n');
                let taken = (first.saturating_sub(1), (last + 1).saturating_sub(first));
                Ok(lines.skip(taken.0).take(taken.1).collect::<Vec<_>>().concat())
            }
        }
    }

    /// Whether it is one of our programs.
    pub fn is_ours(&self) -> bool {
        matches!(self, FileSource::Worker | FileSource::Fleet)
    }

    /// Its permissions.
    pub fn mode(&self) -> u32 {
        match self {
            FileSource::Worker | FileSource::Fleet => 0o755,
            FileSource::Text(_) | FileSource::Package { .. } => 0o644,
        }
    }
}

/// Why a benchmark has no program for guests.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Untranslated {
    /// Guests cannot have what it needs, or nobody wrote a program for them.
    #[error("{benchmark}: not in a guest: {reason}")]
    Never {
        /// Its name in experiment files.
        benchmark: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// A file that cannot be read.
    #[error("{file}: {reason}")]
    File {
        /// The file.
        file: String,
        /// The reader's reason.
        reason: String,
    },
    /// A file that two programs want with other contents, so that they cannot run at once.
    #[error("together: found two parts with a file {file} of their own, expected one such part")]
    Twice {
        /// Its path.
        file: String,
    },
    /// A file for rt-app that is none.
    #[error(transparent)]
    RtApp(#[from] RtAppError),
    /// Something that Debian's program does not have.
    #[error("{file}: {path}: found {found}, expected what rt-app 1.0 knows")]
    Newer {
        /// The file.
        file: String,
        /// Keys from the root.
        path: String,
        /// What it does not know.
        found: &'static str,
    },
}

/// How a guest numbers CPUs of the machine.
#[derive(Clone, Copy)]
struct Numbering<'a>(&'a dyn Fn(CpuSet) -> CpuSet);

impl Numbering<'_> {
    /// The guest's numbers of the machine's `cpus`.
    fn of(self, cpus: CpuSet) -> CpuSet {
        (self.0)(cpus)
    }

    /// `command` bound to the machine's `cpus`, to all where absent.
    fn bound(self, cpus: Option<CpuSet>, command: &str) -> String {
        match cpus {
            Some(cpus) => format!("{BIND} {} {command}", self.of(cpus)),
            None => command.to_owned(),
        }
    }
}

/// What a guest runs for `benchmark`, whose files `read` gives. `guest_cpus` says how a guest numbers CPUs of the
/// machine; those in files of rt-app are the guest's own.
///
/// # Errors
/// A benchmark that has no program for guests, and a file that cannot be read or asks for what the program cannot do.
pub fn translate(
    benchmark: &Benchmark,
    read: &dyn Fn(&str) -> io::Result<String>,
    guest_cpus: &dyn Fn(CpuSet) -> CpuSet,
) -> Result<Program, Untranslated> {
    let numbers = Numbering(guest_cpus);
    match benchmark {
        Benchmark::Ebizzy(params) => Ok(own::ebizzy(params, numbers)),
        Benchmark::FalseSharing(params) => Ok(own::false_sharing(params, numbers)),
        Benchmark::Stream(params) if params.threads.is_some() => Ok(fleet::stream(params, numbers)),
        Benchmark::Stream(params) => Ok(own::stream(params, numbers)),
        Benchmark::Service(params) => fleet::service(params, numbers),
        Benchmark::Oltp(params) => Ok(fleet::oltp(params, numbers)),
        Benchmark::Parallel(params) => Ok(fleet::parallel(params, numbers)),
        Benchmark::Copies(params) => Ok(fleet::copies(params, numbers)),
        Benchmark::Pipeline(params) => Ok(fleet::pipeline(params, numbers)),
        Benchmark::Build(params) => Ok(fleet::build(params, numbers)),
        Benchmark::Noisy(params) => Ok(fleet::noisy(params, numbers)),
        Benchmark::Schbench(params) => Ok(own::schbench(params, numbers)),
        Benchmark::Netperf(params) => Ok(own::netperf(params, numbers)),
        Benchmark::SchedPipe(params) => Ok(scheduler::sched_pipe(params, numbers)),
        Benchmark::Hackbench(params) => Ok(scheduler::hackbench(params, numbers)),
        Benchmark::Dbench(params) => Ok(dbench::dbench(params, numbers)),
        Benchmark::Tbench(params) => Ok(dbench::tbench(params, numbers)),
        Benchmark::RtApp(params) => rtapp::translate(params, read),
        other => Err(Untranslated::Never {
            benchmark: other.name(),
            reason: other.not_in_guests().unwrap_or("no program for guests is written for it"),
        }),
    }
}

impl Program {
    /// Whether tasks of it are bound to CPUs.
    pub fn is_bound(&self) -> bool {
        let names_cpus = |file: &FileSource| match file {
            FileSource::Text(text) => text.contains(RT_APP_CPUS),
            FileSource::Worker | FileSource::Fleet | FileSource::Package { .. } => false,
        };
        let bound = [BIND, WORKER_CPUS, OPENMP_BIND, COPIES_BOUND]
            .iter()
            .any(|how| self.command.contains(how));
        bound || self.files.iter().any(|(_, file)| names_cpus(file))
    }

    /// Results out of the command's standard output, by names of the workload's metrics, in their units.
    ///
    /// # Errors
    /// An output that is not as the program's, in words.
    pub fn values(&self, stdout: &str) -> Result<Vec<(String, f64)>, String> {
        self.output.read(stdout)
    }
}

#[cfg(test)]
mod tests;
