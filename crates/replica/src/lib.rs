//! A process in which a kernel's scheduler runs.
//!
//! A library that `tree` built is foreign code: it may loop, fault or stop the process. So nothing of it is ever loaded into the
//! program that a user runs. That starts itself again as a replica ([`ask`]), tells it by JSON on stdin what to load and what to do,
//! and reads the answer from its stdout ([`serve`]). A replica that dies takes nothing with it; what it said last is the error.
//!
//! This is the only crate with unsafe code: it loads a library (`library`) and serves the calls that the library makes
//! (`host`), both by the C interface that `abi.h` and `abi` describe.

mod abi;
mod decisions;
mod fault;
mod fork;
mod governors;
mod groups;
mod host;
mod library;
mod machine;
mod recent;
mod report;

pub use fork::forked;
pub use library::Running;

use ::machine::CpuSet;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use tree::Shape;

/// Exit code of a replica whose kernel stopped.
const STOPPED: i32 = 3;

/// Stands before last words where a runtime has said more before.
const LAST: char = '\u{1e}';

/// What a replica is to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The library.
    pub library: PathBuf,
    /// The machine.
    pub shape: Shape,
    /// Words for `sched/features`, such as `NO_WA_BIAS`.
    pub features: Vec<String>,
    /// Sysctls, such as `kernel.sched_rt_runtime_us`, and values to write.
    pub sysctls: Vec<(String, String)>,
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
    /// The sysctls of the scheduler and their values, a line each.
    pub sysctls: String,
    /// What the kernel warned of, and who called.
    pub warnings: Vec<(String, String)>,
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
    #[error("{what}: the kernel answers: {}", std::io::Error::from_raw_os_error(*number as i32))]
    Refused {
        /// What was asked.
        what: String,
        /// The error, as `errno` has it.
        number: i64,
    },
    /// A value that the kernel took for another.
    #[error("{file}: found {found}, the kernel makes {kept} of it")]
    Kept {
        /// The file.
        file: String,
        /// What was written.
        found: u64,
        /// What it shows.
        kept: String,
    },
    /// A write to a control group that the kernel refused.
    #[error("groups.{file}: found `{found}`, which the kernel refuses: {reason}")]
    Group {
        /// The group and its file, such as `web.cpu.max`.
        file: String,
        /// What was to be written.
        found: String,
        /// Why, by the name of its error.
        reason: String,
    },
    /// A kernel that stopped.
    #[error("the kernel stopped: {0}")]
    Stopped(String),
    /// A request or an answer that is none.
    #[error("replica: {0}")]
    Json(#[from] serde_json::Error),
}

/// Why a process has ended: what it said last, or its status where it said nothing.
pub fn last_words(said: &[u8], status: ExitStatus) -> String {
    let said = String::from_utf8_lossy(said);
    match said.rsplit(LAST).next().unwrap_or(&said).trim() {
        "" => status.to_string(),
        // Who hears it says that it is one.
        said => said.strip_prefix("error: ").unwrap_or(said).to_string(),
    }
}

/// Lets `program`, which serves with `arguments` and with `environment` beside its own, answer `request`.
///
/// # Errors
/// What the replica says, and its death.
pub fn ask(
    program: &Path,
    arguments: &[&str],
    environment: &[(String, OsString)],
    request: &Request,
) -> Result<Answer, ReplicaError> {
    let mut command = Command::new(program);
    command.args(arguments).envs(environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let text = serde_json::to_vec(request)?;
    let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(&text));
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(ReplicaError::Stopped(last_words(&output.stderr, output.status)));
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

/// What a library counts from now on, as [`Running::write_coverage`] writes it, goes below `dir`.
pub fn count_below(dir: &Path) {
    // SAFETY: a replica has one thread, so nobody else reads the environment meanwhile.
    unsafe { std::env::set_var("GCOV_PREFIX", dir) };
}

/// Loads `library` into this process, which has no other, and boots it on the machine of `shape`.
///
/// # Errors
/// A file that is no library of this version. A kernel that stops, or does not come back from a call, ends the process.
pub fn boot(library: &Path, shape: &Shape) -> Result<Running, ReplicaError> {
    fault::catch();
    fault::watch();
    Ok(library::Library::open(library)?.boot(machine::Boards::of(shape)))
}

/// What this process's kernel warned of so far, such as `WARN at kernel/sched/fair.c:123`, and the functions that called the first
/// time.
pub fn warnings() -> Vec<(String, String)> {
    host::warnings()
}

/// The same as text, to be told after an error: what was warned of before it.
pub fn before() -> String {
    host::before()
}

fn answer(request: &Request) -> Result<Answer, ReplicaError> {
    let mut kernel = boot(&request.library, &request.shape)?;
    let boot_log = host::take_log();
    let mut last_log = String::new();
    let mut online = CpuSet::first_n(request.shape.places.len());
    for &cpu in &request.offline {
        kernel.switch(cpu, false)?;
        online.remove(cpu as usize);
        last_log = host::take_log();
    }
    for (name, value) in &request.sysctls {
        kernel.write_sysctl(name, value)?;
    }
    for word in &request.features {
        kernel.write_debugfs("sched/features", word)?;
    }
    let features = kernel.read_debugfs("sched/features")?;
    let sysctls = kernel.sysctls()?;
    let release = kernel.release();
    let warnings = host::warnings();
    Ok(Answer { release, boot_log, last_log, features, sysctls, warnings, online })
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
            polling: None,
            reclaim_distance: 30,
        };
        let (features, sysctls, offline) = (vec![], vec![], vec![]);
        let request = Request { library: library.into(), shape, features, sysctls, offline };
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
        let environment = [("A".to_string(), "more\u{1e}BUG".into())];
        let asked = |script| ask(shell, &["-c", script], &environment, &request).unwrap_err();
        let error = asked("cat >/dev/null; echo \"$A\" >&2; exit 3");
        assert_eq!(error.to_string(), "the kernel stopped: BUG");
        let error = asked("cat >/dev/null; kill -SEGV $$");
        assert!(error.to_string().contains("signal: 11"), "{error}");
    }
}
