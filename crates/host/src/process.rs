//! Processes that have to be gone: by process group, and by control group.

use crate::HostError;
use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::path::Path;
use std::time::{Duration, Instant};

/// Whether this process is root's.
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// The number of `CAP_SYS_NICE`.
const SYS_NICE: u32 = 23;

/// Whether this process may give any nice value and any policy.
pub(crate) fn may_schedule() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    effective.is_some_and(|all| all & (1 << SYS_NICE) != 0)
}

/// How long a process may take to end after a signal.
const GRACE: Duration = Duration::from_secs(5);
/// How often that is looked at.
const POLL: Duration = Duration::from_millis(10);

/// The leader of a process group. The start time tells it from a later process of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since boot.
    pub started: u64,
}

impl Process {
    /// The process `pid`, if there is one.
    pub fn of(pid: i32) -> Option<Process> {
        Some(Process { pid, started: started(pid)? })
    }

    /// Whether it is there and not only waited for.
    pub fn lives(self) -> bool {
        started(self.pid) == Some(self.started) && !is_zombie(self.pid)
    }
}

/// The fields of `/proc/PID/stat` after the name, which may hold anything: the first is the state, field 3.
fn stat(pid: i32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(')')?.1.to_owned())
}

/// Field `nth` of `/proc/PID/stat` as proc(5) counts them, from 3 on.
pub(crate) fn field(pid: i32, nth: usize) -> Option<String> {
    Some(stat(pid)?.split_whitespace().nth(nth.checked_sub(3)?)?.to_owned())
}

fn started(pid: i32) -> Option<u64> {
    field(pid, 22)?.parse().ok()
}

fn is_zombie(pid: i32) -> bool {
    stat(pid).is_none_or(|stat| stat.trim_start().starts_with('Z'))
}

/// Ends the process group of `process`: asked first, killed if it does not. One that is gone is nothing to end.
///
/// # Errors
/// A group that stays.
pub fn end(process: Process) -> Result<(), HostError> {
    if started(process.pid).is_some_and(|started| started != process.started) {
        return Ok(());
    }
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        if !signalled(process.pid, Some(signal))? {
            return Ok(());
        }
        let since = Instant::now();
        while since.elapsed() < GRACE {
            if !signalled(process.pid, None)? {
                return Ok(());
            }
            std::thread::sleep(POLL);
        }
    }
    Err(HostError::NotHere {
        field: "process".to_owned(),
        found: format!("the group of {}, which does not end", process.pid),
        expected: "none".to_owned(),
    })
}

/// Sends `signal` to a process group, or only asks for it. Whether one of it is left that is not only waited for.
fn signalled(group: i32, signal: Option<Signal>) -> Result<bool, HostError> {
    match killpg(Pid::from_raw(group), signal) {
        // A leader that nobody waits for yet keeps its group.
        Ok(()) => Ok(!is_zombie(group) || has_others(group)),
        Err(Errno::ESRCH) => Ok(false),
        Err(e) => {
            Err(HostError::Start { program: format!("process group {group}"), source: e.into() })
        }
    }
}

/// Whether a process other than the leader is in the process group.
fn has_others(group: i32) -> bool {
    let Ok(all) = std::fs::read_dir("/proc") else { return false };
    let pids = all.filter_map(|e| e.ok()?.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|&pid| pid != group).any(|pid| {
        let of = field(pid, 5).and_then(|text| text.parse().ok());
        of == Some(group) && !is_zombie(pid)
    })
}

/// Moves all tasks of the control group `from` to the group `to`.
///
/// # Errors
/// What the kernel refuses, but for tasks that ended meanwhile.
pub fn empty_group(from: &Path, to: &Path) -> Result<(), HostError> {
    let tasks = from.join("cgroup.procs");
    let all = std::fs::read_to_string(&tasks).map_err(HostError::io(&tasks))?;
    let target = to.join("cgroup.procs");
    for pid in all.lines() {
        match std::fs::write(&target, pid) {
            Err(e) if e.raw_os_error() != Some(Errno::ESRCH as i32) => {
                return Err(HostError::Write { path: target, value: pid.to_owned(), source: e });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    #[test]
    fn a_group_ends_with_all_that_it_started() {
        // The shell ignores what asks it to end, and so does its child.
        let script = "trap '' INT TERM; sleep 100 & wait";
        let mut child = Command::new("sh").args(["-c", script]).process_group(0).spawn().unwrap();
        let process = Process::of(child.id() as i32).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        assert!(process.lives());
        let waits = std::thread::spawn(move || child.wait());
        end(process).unwrap();
        waits.join().unwrap().unwrap();
        assert!(!process.lives() && !has_others(process.pid));
        end(process).unwrap();
    }

    #[test]
    fn another_process_of_the_same_number_is_left_alone() {
        let me = Process::of(std::process::id() as i32).unwrap();
        assert!(me.lives());
        let other = Process { started: me.started + 1, ..me };
        assert!(!other.lives());
        end(other).unwrap();
    }
}
