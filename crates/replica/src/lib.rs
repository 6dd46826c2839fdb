//! A process in which a kernel's scheduler runs.
//!
//! A library that `tree` built is foreign code: it may loop, fault or stop the process. So nothing of it is ever loaded into the
//! program that a user runs. That starts itself again as a replica ([`ask`]), tells it by JSON on stdin what to load and what to do,
//! and reads the answer from its stdout ([`serve`]). A replica that dies takes nothing with it; what it said last is the error.
//!
//! This is the only crate with unsafe code: it loads a library (`library`) and serves the calls that the library makes
//! (`host`), both by the C interface that `abi.h` and `abi` describe.

mod abi;
mod fault;
mod fork;
mod host;
mod library;
mod machine;

pub use fork::forked;
pub use library::Running;

use ::machine::CpuSet;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tree::Shape;

/// Exit code of a replica whose kernel stopped.
const STOPPED: i32 = 3;

/// What a replica is to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The library.
    pub library: PathBuf,
    /// The machine.
    pub shape: Shape,
    /// Words for `sched/features`, such as `NO_WA_BIAS`.
    pub features: Vec<String>,
    /// CPUs that go offline after boot, in this order.
    pub offline: Vec<u32>,
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The kernel's release, without its sublevel.
    pub release: String,
    /// What it logged while it booted with all CPUs.
    pub boot_log: String,
    /// What it logged as the last CPU went offline; nothing where none did.
    pub last_log: String,
    /// `sched/features` at the end.
    pub features: String,
    /// Warnings of the kernel.
    pub warnings: u64,
    /// CPUs online at the end.
    pub online: CpuSet,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ReplicaError {
    /// A process that cannot be started or talked to.
    #[error("replica: {0}")]
    Process(#[from] std::io::Error),
    /// A library that cannot be loaded.
    #[error("{}: {reason}", file.display())]
    Library {
        /// The file.
        file: PathBuf,
        /// What the loader says, or the version that it has.
        reason: String,
    },
    /// A request that the kernel refused, by its own error number.
    #[error("{what}: the kernel answers {number}")]
    Refused {
        /// What was asked.
        what: String,
        /// The error, negative.
        number: i64,
    },
    /// A kernel that stopped.
    #[error("the kernel stopped: {0}")]
    Stopped(String),
    /// A request or an answer that is none.
    #[error("replica: {0}")]
    Json(#[from] serde_json::Error),
}

/// Lets `program`, which serves with `arguments`, answer `request`.
///
/// # Errors
/// What the replica says, and its death.
pub fn ask(program: &Path, arguments: &[&str], request: &Request) -> Result<Answer, ReplicaError> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let text = serde_json::to_vec(request)?;
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(&text));
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_string();
    if !output.status.success() {
        let last = if said.is_empty() { output.status.to_string() } else { said };
        return Err(ReplicaError::Stopped(last));
    }
    written?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Serves one request from `from` to `to`.
///
/// # Errors
/// What keeps it from an answer. A kernel that stops ends the process.
pub fn serve(mut from: impl Read, mut to: impl Write) -> Result<(), ReplicaError> {
    let mut text = String::new();
    from.read_to_string(&mut text)?;
    let request: Request = serde_json::from_str(&text)?;
    let answer = answer(&request)?;
    to.write_all(&serde_json::to_vec(&answer)?)?;
    Ok(())
}

/// Loads `library` into this process, which has no other, and boots it on the machine of `shape`.
///
/// # Errors
/// A file that is no library of this version. A kernel that stops ends the process.
pub fn boot(library: &Path, shape: &Shape) -> Result<Running, ReplicaError> {
    fault::catch();
    let running = library::Library::open(library)?.boot(machine::Boards::of(shape));
    host::take_log();
    Ok(running)
}

/// Where this process's kernel warned so far, such as `kernel/sched/fair.c:123`, and the functions that called the first time.
pub fn warnings() -> Vec<(String, String)> {
    host::warnings()
}

fn answer(request: &Request) -> Result<Answer, ReplicaError> {
    let library = library::Library::open(&request.library)?;
    let boards = machine::Boards::of(&request.shape);
    let mut kernel = library.boot(boards);
    let boot_log = host::take_log();
    let mut last_log = String::new();
    let mut online = CpuSet::first_n(request.shape.places.len());
    for &cpu in &request.offline {
        kernel.switch(cpu, false)?;
        online.remove(cpu as usize);
        last_log = host::take_log();
    }
    for word in &request.features {
        kernel.write_debugfs("sched/features", word)?;
    }
    let features = kernel.read_debugfs("sched/features")?;
    let release = kernel.release();
    Ok(Answer {
        release,
        boot_log,
        last_log,
        features,
        warnings: host::warnings().len() as u64,
        online,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(library: &str) -> Vec<u8> {
        let shape = Shape {
            places: vec![],
            distances: vec![],
            levels: vec![],
            idle_states: vec![],
            reclaim_distance: None,
        };
        let request = Request { library: library.into(), shape, features: vec![], offline: vec![] };
        serde_json::to_vec(&request).unwrap()
    }

    #[test]
    fn what_is_no_library_is_refused() {
        let error = serve(&request("/nowhere.so")[..], Vec::new()).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere.so: "), "{error}");
        assert!(serve(&b"{"[..], Vec::new()).is_err());
    }

    #[test]
    fn a_replica_that_dies_is_an_error_with_its_last_words() {
        let request: Request = serde_json::from_slice(&request("/nowhere.so")).unwrap();
        let shell = Path::new("/bin/sh");
        let error =
            ask(shell, &["-c", "cat >/dev/null; echo BUG >&2; exit 3"], &request).unwrap_err();
        assert_eq!(error.to_string(), "the kernel stopped: BUG");
        let error = ask(shell, &["-c", "cat >/dev/null; kill -SEGV $$"], &request).unwrap_err();
        assert!(error.to_string().contains("signal: 11"), "{error}");
    }
}
