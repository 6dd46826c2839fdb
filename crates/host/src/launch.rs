//! A command, from its start to its end.
//!
//! util-linux and coreutils start it (`chrt`, `nice`, `taskset`), under the names that users know; what they set is read back before
//! the command begins. A shell then waits: counters are opened for it, the clock starts, and it becomes the command. So nothing
//! but the command is measured. Its output goes to files, since a pipe would wake a reader while it runs.

use crate::HostError;
use crate::perf::Counters;
use crate::process::{self, Process};
use machine::CpuSet;
use nix::sched::{sched_getaffinity, sched_setaffinity};
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage};
use nix::unistd::{AccessFlags, Pid, access};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Says that it is ready, waits for a line, and becomes the command.
const SHELL: &str = "\
printf r
read -r _ || exit 126
out=$1 err=$2 dir=$3
shift 3
cd \"$dir\" || exit 127
exec \"$@\" </dev/null >\"$out\" 2>\"$err\"
";
/// How often it is looked at whether somebody wants the run to end.
const POLL: Duration = Duration::from_millis(50);
/// Most of an output that is read.
const LONGEST: u64 = 64 << 20;
/// Policies as `chrt` has them, with their numbers in `/proc/PID/stat`.
const POLICIES: [(&str, u64); 5] =
    [("other", 0), ("fifo", 1), ("rr", 2), ("batch", 3), ("idle", 5)];

/// A command and how it runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Launch {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Its directory.
    pub directory: PathBuf,
    /// Variables besides those of this process.
    pub env: BTreeMap<OsString, OsString>,
    /// CPUs that it may use.
    pub cpus: Option<CpuSet>,
    /// Its nice value.
    pub nice: Option<i8>,
    /// Its policy, as `chrt` has it, and its priority, 0 for policies without.
    pub policy: Option<(&'static str, u32)>,
    /// The directory of its control group.
    pub group: Option<PathBuf>,
    /// When it is ended.
    pub timeout: Duration,
}

/// What this user may ask of the scheduler.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    /// The nice value of this process.
    nice: i32,
    /// Whether all is allowed (`CAP_SYS_NICE`).
    all: bool,
    lowest_nice: i32,
    priority: u64,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Its exit code; none where a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it took too long and was ended.
    pub is_late: bool,
    /// From start to end.
    pub wall: Duration,
    /// In user mode: it and what it waited for.
    pub user: Duration,
    /// The same in the kernel.
    pub sys: Duration,
    /// What it printed.
    pub stdout: String,
    /// What it printed to standard error.
    pub stderr: String,
    /// What [`Counters`] counted, in their order.
    pub counters: Vec<u64>,
}

impl Ended {
    /// Why it is not a run that went well with `exit_code`, in words.
    pub fn failure(&self, exit_code: i32) -> Option<String> {
        let said =
            [&self.stderr, &self.stdout].into_iter().find_map(|text| text.trim().lines().last());
        let said = said.map_or(String::new(), |line| format!(": {line}"));
        if self.is_late {
            return Some(format!(
                "still running after {:.1} s, and ended{said}",
                self.wall.as_secs_f64()
            ));
        }
        match (self.code, self.signal) {
            (Some(code), _) if code == exit_code => None,
            (Some(code), _) => Some(format!("exit code {code}, expected {exit_code}{said}")),
            (None, signal) => Some(format!("ended by signal {}{said}", signal.unwrap_or_default())),
        }
    }
}

/// What a launch asks while the command waits to begin.
pub type Begun<'a> = &'a mut dyn FnMut(Process) -> Result<(), HostError>;

impl Launch {
    /// Runs it in the directory `work`, which holds its output, with `counters` open, until it ends, is late, or `stop` is set.
    /// `begun` hears of the process before it begins.
    ///
    /// # Errors
    /// A program that does not start, settings that it does not have then, and an interruption.
    pub fn run(
        &self,
        work: &Path,
        counters: &Counters,
        stop: &AtomicBool,
        begun: Begun<'_>,
    ) -> Result<Ended, HostError> {
        let (out, err) = (work.join("stdout"), work.join("stderr"));
        let mut child = self.start(&out, &err)?;
        let process = Process::of(child.id() as i32);
        let begins = self.begin(&mut child, process, begun);
        let (Ok(process), Some(mut go)) = (begins.as_ref(), child.stdin.take()) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(begins.err().unwrap_or(HostError::Interrupted));
        };
        let mut open = counters.open(process.pid);
        let before = getrusage(UsageWho::RUSAGE_CHILDREN);
        let (told, hears) = channel();
        let started = Instant::now();
        let (status, is_late) = std::thread::scope(|scope| {
            let (process, timeout) = (*process, self.timeout);
            let guard = scope.spawn(move || watch(process, timeout, stop, &hears));
            let status = go.write_all(b"\n").and_then(|()| {
                drop(go);
                child.wait()
            });
            let wall = started.elapsed();
            let _ = told.send(());
            (status.map(|status| (status, wall)), guard.join().unwrap_or(Why::Ended))
        });
        let (status, wall) = status.map_err(|source| self.failed(source))?;
        // What it started and left is not to run beside the next command.
        process::end(*process)?;
        if matches!(is_late, Why::Stopped) {
            return Err(HostError::Interrupted);
        }
        let after = getrusage(UsageWho::RUSAGE_CHILDREN);
        let since = |of: fn(&nix::sys::resource::Usage) -> nix::sys::time::TimeVal| {
            let us = |usage: &nix::Result<nix::sys::resource::Usage>| {
                usage.as_ref().map_or(0, |u| nix::sys::time::TimeValLike::num_microseconds(&of(u)))
            };
            Duration::from_micros(us(&after).saturating_sub(us(&before)).max(0) as u64)
        };
        Ok(Ended {
            code: status.code(),
            signal: ExitStatus::signal(&status),
            is_late: matches!(is_late, Why::Late),
            wall,
            user: since(nix::sys::resource::Usage::user_time),
            sys: since(nix::sys::resource::Usage::system_time),
            stdout: text(&out)?,
            stderr: text(&err)?,
            counters: open.read(),
        })
    }

    /// Whether this user may give a command its nice value and policy.
    ///
    /// # Errors
    /// What takes root, or a limit that this user does not have.
    pub fn check(&self) -> Result<(), HostError> {
        let limit = |of| getrlimit(of).map_or(0, |(soft, _)| soft);
        let own = Allowed {
            nice: own_nice(),
            all: process::may_schedule(),
            // In the limit's own numbers, 40 is the nice value -20.
            lowest_nice: 20 - i32::try_from(limit(Resource::RLIMIT_NICE)).unwrap_or(40).min(40),
            priority: limit(Resource::RLIMIT_RTPRIO),
        };
        self.allowed(own)
    }

    fn allowed(&self, own: Allowed) -> Result<(), HostError> {
        let refuse = |field: &str, found: String, expected: String| {
            Err(HostError::NotHere { field: field.to_owned(), found, expected })
        };
        if let Some(nice) = self.nice.map(i32::from)
            && !own.all
            && nice < own.nice.min(own.lowest_nice)
        {
            let least = own.nice.min(own.lowest_nice);
            return refuse("host.nice", nice.to_string(), format!("at least {least}, or root"));
        }
        if let Some((policy, priority)) = self.policy
            && !own.all
            && u64::from(priority) > own.priority
        {
            let found = format!("{policy} with priority {priority}");
            let expected = format!("at most {} (ulimit -r), or root", own.priority);
            return refuse("host.policy", found, expected);
        }
        Ok(())
    }

    /// The words that start the shell.
    fn words(&self, out: &Path, err: &Path) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        let mut add = |more: &[&str]| words.extend(more.iter().map(OsString::from));
        // What is left when this process is killed does not outlive it.
        add(&["setpriv", "--pdeathsig", "KILL", "--"]);
        if let Some((policy, priority)) = self.policy {
            add(&["chrt", &format!("--{policy}"), &priority.to_string()]);
        }
        if let Some(nice) = self.nice {
            add(&["nice", "-n", &(i32::from(nice) - own_nice()).to_string()]);
        }
        if let Some(cpus) = &self.cpus {
            add(&["taskset", "-c", &cpus.to_string()]);
        }
        add(&["sh", "-c", SHELL, "sh"]);
        words.extend([out, err, self.directory.as_path()].map(OsString::from));
        words.extend(self.argv.iter().cloned());
        words
    }

    fn start(&self, out: &Path, err: &Path) -> Result<Child, HostError> {
        let words = self.words(out, err);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).envs(&self.env);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command.spawn().map_err(|source| HostError::Start {
            program: words[0].to_string_lossy().into_owned(),
            source,
        })
    }

    /// Waits until the shell is ready, puts it into its group, and reads back what was set.
    fn begin(
        &self,
        child: &mut Child,
        process: Option<Process>,
        begun: Begun<'_>,
    ) -> Result<Process, HostError> {
        let mut ready = [0];
        let said = child.stdout.as_mut().map(|out| out.read_exact(&mut ready));
        let Some((process, true)) = process.zip(Some(matches!(said, Some(Ok(()))))) else {
            let mut reason = String::new();
            if let Some(err) = &mut child.stderr {
                let _ = err.read_to_string(&mut reason);
            }
            return Err(self.failed(std::io::Error::other(reason.trim().to_owned())));
        };
        if let Some(group) = &self.group {
            let tasks = group.join("cgroup.procs");
            let value = process.pid.to_string();
            std::fs::write(&tasks, &value).map_err(|source| HostError::Write {
                path: tasks,
                value,
                source,
            })?;
        }
        self.read_back(process)?;
        begun(process)?;
        Ok(process)
    }

    fn failed(&self, source: std::io::Error) -> HostError {
        let program = self.argv.first().map_or(String::new(), |p| p.to_string_lossy().into_owned());
        HostError::Start { program, source }
    }

    fn read_back(&self, process: Process) -> Result<(), HostError> {
        let wrong = |field: &str, found: String, expected: String| {
            Err(HostError::NotHere { field: field.to_owned(), found, expected })
        };
        if let Some(cpus) = &self.cpus {
            let found = sched_getaffinity(Pid::from_raw(process.pid));
            let is_in =
                |cpu: &usize| found.as_ref().is_ok_and(|set| set.is_set(*cpu).unwrap_or(false));
            let found: CpuSet = (0..nix::sched::CpuSet::count()).filter(is_in).collect();
            if found != *cpus {
                return wrong("host.cpus", found.to_string(), cpus.to_string());
            }
        }
        let field = |nth| process::field(process.pid, nth);
        if let Some(nice) = self.nice {
            let found = field(19).map_or(0, |text: String| text.parse().unwrap_or(0));
            if found != i32::from(nice) {
                return wrong(
                    "host.nice",
                    found.to_string(),
                    format!("{nice}, which may need root"),
                );
            }
        }
        if let Some((policy, priority)) = self.policy {
            let number = |nth| field(nth).and_then(|text| text.parse::<u64>().ok());
            let wanted = POLICIES.iter().find(|(name, _)| *name == policy).map(|p| p.1);
            if number(41) != wanted || number(40) != Some(u64::from(priority)) {
                let found = format!("policy {:?}, priority {:?}", number(41), number(40));
                return wrong("host.policy", found, format!("{policy} with priority {priority}"));
            }
        }
        Ok(())
    }
}

/// Binds this process, and what it starts from now on, to `cpu`; whether that went well.
pub fn bind_self(cpu: usize) -> bool {
    let mut set = nix::sched::CpuSet::new();
    set.set(cpu).is_ok() && sched_setaffinity(Pid::from_raw(0), &set).is_ok()
}

/// Whether `name` is a program in one of the directories of `PATH`.
pub fn is_program(name: &str) -> bool {
    let dirs = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&dirs).any(|dir| access(&dir.join(name), AccessFlags::X_OK).is_ok())
}

/// Why a watch ended.
enum Why {
    Ended,
    Late,
    Stopped,
}

/// Ends the process group of a command that is late or no longer wanted.
fn watch(process: Process, timeout: Duration, stop: &AtomicBool, ended: &Receiver<()>) -> Why {
    let started = Instant::now();
    loop {
        match ended.recv_timeout(POLL) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Why::Ended,
            Err(RecvTimeoutError::Timeout) => {}
        }
        let why = match (stop.load(Ordering::Relaxed), started.elapsed() > timeout) {
            (true, _) => Why::Stopped,
            (false, true) => Why::Late,
            (false, false) => continue,
        };
        let _ = process::end(process);
        return why;
    }
}

/// The nice value of this process, to which `nice -n` adds.
fn own_nice() -> i32 {
    process::field(std::process::id() as i32, 19).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn text(path: &Path) -> Result<String, HostError> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    match file {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(String::new()),
        file => file
            .and_then(|f| f.take(LONGEST).read_to_end(&mut bytes))
            .map_err(HostError::io(path))?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests;
