//! A sched_ext scheduler on this computer: loaded, seen to be on, seen to have stayed, unloaded.
//!
//! `enable_seq` counts the schedulers that were enabled and grows last, after `state` says `enabled`. A scheduler stayed if the class
//! is enabled and the count is what it was after loading.

use crate::bpf::ENABLED_WITHIN;
use crate::computer::Computer;
use crate::process::{self, Process};
use crate::{HostError, bpf};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CLASS: &str = "/sys/kernel/sched_ext";
/// Where BPF objects are pinned.
const PINS: &str = "/sys/fs/bpf/schedscape";
/// How long it may take to be rid of one.
const GONE_WITHIN: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(20);
/// Lines of its own output that are kept.
const LINES: usize = 20;

/// How a scheduler is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loader {
    /// A program, with its arguments, that loads it and holds it.
    Program(Vec<OsString>),
    /// A BPF object, which bpftool registers.
    Object(PathBuf),
}

/// A scheduler that is on.
#[derive(Debug)]
pub struct Loaded {
    /// The name of its `sched_ext_ops`.
    pub ops: String,
    count: u64,
    /// Changes that were made before it was loaded.
    at: usize,
    program: Option<(Child, Process)>,
    output: PathBuf,
    /// The last line of the kernel's log before.
    logged: Option<String>,
}

/// What there is to say of a scheduler that did not stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// The kernel's log since it was loaded; empty where it may not be read.
    pub log: String,
    /// The last lines that the scheduler printed.
    pub said: String,
}

/// Whether the kernel has the class, and no scheduler is loaded.
///
/// # Errors
/// A kernel without the class, and a scheduler that is there already.
pub fn check(root: &Path, loader: &Loader) -> Result<(), HostError> {
    let lacks = |found: String, expected: &str| HostError::NotHere {
        field: "scheduler".to_owned(),
        found,
        expected: expected.to_owned(),
    };
    let state = root.join(CLASS.trim_start_matches('/')).join("state");
    match std::fs::read_to_string(&state) {
        Ok(state) if state.trim() == "disabled" => {}
        Ok(state) => {
            return Err(lacks(format!("the class {}", state.trim()), "no scheduler loaded"));
        }
        Err(_) => {
            let found = format!("no {}", state.display());
            return Err(lacks(found, "a kernel with the class sched_ext (CONFIG_SCHED_CLASS_EXT)"));
        }
    }
    if !process::is_root() {
        return Err(lacks("another user".to_owned(), "root, who may load schedulers"));
    }
    if let Loader::Object(_) = loader
        && !crate::launch::is_program("bpftool")
    {
        return Err(lacks(
            "no bpftool".to_owned(),
            "it, to register a BPF object (apt install bpftool)",
        ));
    }
    Ok(())
}

impl Loaded {
    /// Loads a scheduler; what it prints goes to a file in `work`.
    ///
    /// # Errors
    /// One that is not enabled in time, with what it and the kernel say.
    pub fn load(
        computer: &mut Computer,
        loader: &Loader,
        work: &Path,
    ) -> Result<Loaded, HostError> {
        let at = computer.changes();
        let output = work.join("scheduler.log");
        let before = count(computer)?;
        let logged = log().lines().last().map(str::to_owned);
        let program = match loader {
            Loader::Program(words) => Some(start(computer, words, &output)?),
            Loader::Object(file) => {
                computer.registers(PINS)?;
                bpf::register(file, &computer.path(PINS))?;
                None
            }
        };
        let ops = String::new();
        let mut loaded = Loaded { ops, count: before, at, program, output, logged };
        match loaded.wait(computer, before) {
            Ok(()) => Ok(loaded),
            Err(reason) => {
                let gone = loaded.gone();
                loaded.unload(computer)?;
                Err(HostError::NotEnabled { reason, gone })
            }
        }
    }

    fn wait(&mut self, computer: &Computer, before: u64) -> Result<(), String> {
        let since = Instant::now();
        loop {
            let (now, state) = (count(computer).map_err(|e| e.to_string())?, state(computer));
            if now != before && state == "enabled" {
                self.count = now;
                self.ops = read(computer, "root/ops").unwrap_or_default();
                return Ok(());
            }
            if now != before && state == "disabled" {
                return Err("the kernel threw the scheduler out before the run".to_owned());
            }
            if self.program.as_mut().is_some_and(|(child, _)| !matches!(child.try_wait(), Ok(None)))
            {
                return Err("the scheduler ended before it was enabled".to_owned());
            }
            if since.elapsed() > ENABLED_WITHIN {
                let seconds = ENABLED_WITHIN.as_secs();
                return Err(format!("not enabled within {seconds} s: the class is {state}"));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Whether it is still the one that was loaded; else what kernel and scheduler say.
    ///
    /// # Errors
    /// A class that cannot be read.
    pub fn stayed(&self, computer: &Computer) -> Result<Option<Gone>, HostError> {
        let stays = state(computer) == "enabled" && count(computer)? == self.count;
        Ok((!stays).then(|| self.gone()))
    }

    fn gone(&self) -> Gone {
        let said = std::fs::read(&self.output).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = said.lines().collect();
        Gone {
            log: after(&log(), self.logged.as_deref()),
            said: lines[lines.len().saturating_sub(LINES)..].join("\n"),
        }
    }

    /// Unloads it, and waits until the kernel is rid of it.
    ///
    /// # Errors
    /// One that stays.
    pub fn unload(self, computer: &mut Computer) -> Result<(), HostError> {
        // The end of a child is noticed by whoever waits for it.
        let waits = self.program.map(|(mut child, _)| std::thread::spawn(move || child.wait()));
        computer.undo_from(self.at)?;
        waits.map(|thread| thread.join());
        let since = Instant::now();
        while state(computer) != "disabled" {
            if since.elapsed() > GONE_WITHIN {
                let found = format!("the class {} after it was unloaded", state(computer));
                return Err(HostError::Scheduler(found));
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}

/// The kernel's log; empty where it may not be read.
fn log() -> String {
    let said = Command::new("dmesg").output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&said).into_owned()
}

/// What follows the line `last` in `log`; all of it where that line is no longer there. Lines begin with the time.
fn after(log: &str, last: Option<&str>) -> String {
    let lines: Vec<&str> = log.lines().collect();
    let begin = lines.iter().rposition(|line| Some(*line) == last).map_or(0, |at| at + 1);
    lines[begin..].join("\n")
}

fn start(
    computer: &mut Computer,
    words: &[OsString],
    output: &Path,
) -> Result<(Child, Process), HostError> {
    let program = || words.first().map_or(String::new(), |w| w.to_string_lossy().into_owned());
    let failed = |source| HostError::Start { program: program(), source };
    let file = File::create(output).map_err(HostError::io(output))?;
    let both = file.try_clone().map_err(HostError::io(output))?;
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "INT", "--"]).args(words).process_group(0);
    command.stdin(Stdio::null()).stdout(file).stderr(both);
    let mut child = command.spawn().map_err(failed)?;
    let Some(process) = Process::of(child.id() as i32) else {
        let status = child.wait().map_err(failed)?;
        return Err(HostError::Scheduler(format!("{} ended at once: {status}", program())));
    };
    if let Err(reason) = computer.started(process) {
        process::end(process)?;
        return Err(reason);
    }
    Ok((child, process))
}

fn read(computer: &Computer, file: &str) -> Result<String, HostError> {
    let path = computer.path(&format!("{CLASS}/{file}"));
    let text = std::fs::read_to_string(&path).map_err(HostError::io(&path))?;
    Ok(text.trim().to_owned())
}

fn state(computer: &Computer) -> String {
    read(computer, "state").unwrap_or_default()
}

fn count(computer: &Computer) -> Result<u64, HostError> {
    let text = read(computer, "enable_seq")?;
    text.parse().map_err(|_| {
        HostError::Scheduler(format!("{CLASS}/enable_seq: found `{text}`, expected a number"))
    })
}

/// The class's events, by their names in the kernel (`SCX_EV_...`); none where there is no scheduler.
///
/// # Errors
/// Lines that are none of a name and a number.
pub fn events(computer: &Computer) -> Result<Vec<(String, u64)>, HostError> {
    let Ok(text) = read(computer, "root/events") else { return Ok(vec![]) };
    let event = |line: &str| {
        let (name, number) = line.split_once(' ')?;
        Some((name.to_owned(), number.trim().parse().ok()?))
    };
    let bad = |line: &str| HostError::Scheduler(format!("{CLASS}/root/events: found `{line}`"));
    text.lines().map(|line| event(line).ok_or_else(|| bad(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_of_an_earlier_scheduler_is_left_out() {
        let log = "[1] a\n[2] disabled\n[3] b\n[4] c\n";
        assert_eq!(after(log, Some("[2] disabled")), "[3] b\n[4] c");
        assert_eq!(after(log, Some("[0] gone")), log.trim_end());
        assert_eq!(after("[1] a\n", Some("[1] a")), "");
    }
}
