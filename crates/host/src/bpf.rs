//! BPF objects with a `sched_ext_ops`, which bpftool registers and pins.

use crate::HostError;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The program.
const BPFTOOL: &str = "bpftool";

/// How long the kernel may take to enable a scheduler.
pub(crate) const ENABLED_WITHIN: Duration = Duration::from_secs(120);
/// How long a scheduler may stay whose pins are gone. A killed command leaves a bpftool behind that may still be enabling it. It holds the
/// map meanwhile, and ends when it finds nowhere to pin the link.
const GONE_WITHIN: Duration = ENABLED_WITHIN;
const POLL: Duration = Duration::from_millis(50);

/// Registers the object `file`; the directory `pins` of the BPF file system holds what keeps it registered.
///
/// # Errors
/// What bpftool or the kernel says.
pub fn register(file: &Path, pins: &Path) -> Result<(), HostError> {
    std::fs::create_dir_all(pins).map_err(HostError::io(pins))?;
    let words = ["struct_ops", "register"].map(OsStr::new);
    run(&[&words[..], &[file.as_os_str(), pins.as_os_str()]].concat()).map(|_| ())
}

/// Unregisters what `pins` holds, and schedulers that no link holds.
///
/// # Errors
/// What bpftool says, and a directory that stays.
pub fn unregister(pins: &Path) -> Result<(), HostError> {
    if pins.exists() {
        std::fs::remove_dir_all(pins).map_err(HostError::io(pins))?;
    }
    // One that a link holds refuses to be unregistered (`bpf_struct_ops_map_delete_elem`) and goes after the link.
    let since = Instant::now();
    loop {
        let listed = run(&["struct_ops", "list"].map(OsStr::new))?;
        let unregister = |id| run(&["struct_ops", "unregister", "id", id].map(OsStr::new));
        match schedulers(&listed).into_iter().map(unregister).find_map(Result::err) {
            None => return Ok(()),
            Some(reason) if since.elapsed() > GONE_WITHIN => return Err(reason),
            Some(_) => std::thread::sleep(POLL),
        }
    }
}

/// Numbers of the schedulers in lines such as `12: plain_ops sched_ext_ops`.
fn schedulers(listed: &str) -> Vec<&str> {
    listed.lines().filter_map(id_of).collect()
}

fn id_of(line: &str) -> Option<&str> {
    let (id, rest) = line.split_once(": ")?;
    let is_scheduler = rest.split_whitespace().any(|word| word == "sched_ext_ops");
    (is_scheduler && id.chars().all(|c| c.is_ascii_digit())).then_some(id)
}

fn run(words: &[&OsStr]) -> Result<String, HostError> {
    let output = Command::new(BPFTOOL).args(words).output();
    let output =
        output.map_err(|source| HostError::Start { program: BPFTOOL.to_owned(), source })?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(HostError::Scheduler(format!("bpftool: {}", said.trim().replace('\n', "; "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedulers_are_told_from_other_operations() {
        let listed = "7: cubictcp tcp_congestion_ops\n12: plain_ops sched_ext_ops\nrubbish\n";
        assert_eq!(schedulers(listed), ["12"]);
    }
}
