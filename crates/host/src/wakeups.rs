//! Wake-ups of a command by waking CPU and the CPU where the woken task runs, counted in the kernel by tracepoints.
//!
//! `/proc/schedstat` counts for the whole computer. Here a trace instance of our own, which follows the command and what it starts
//! (`set_event_pid`, `event-fork`), joins `sched_waking`, whose CPU is the waker's, with the `sched_wakeup` of the same task, whose
//! `target_cpu` is where it goes, and counts the pairs (histogram triggers; kernel documentation, `trace/histogram`). Nothing is
//! written to a buffer, but each wake-up takes longer, so it is done only where it is asked for.

use crate::HostError;
use crate::computer::Computer;
use crate::process::Process;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
const INSTANCE: &str = "instances/schedscape";
const EVENT: &str = "schedscape_wakeup";
const FIELDS: &str = "schedscape_wakeup unsigned int waker; int target";
/// By event: its histogram.
const TRIGGERS: [(&str, &str); 3] = [
    ("sched/sched_waking", "hist:keys=pid:waker=common_cpu:size=16384"),
    (
        "sched/sched_wakeup",
        "hist:keys=pid:w=$waker:onmatch(sched.sched_waking).schedscape_wakeup($w,target_cpu):size=16384",
    ),
    ("synthetic/schedscape_wakeup", "hist:keys=waker,target:size=16384"),
];

/// How often which CPU woke a task that went to which CPU.
pub type Pairs = BTreeMap<(usize, usize), u64>;

/// The counting of wake-ups, from now until its undo in the journal.
#[derive(Debug)]
pub struct Wakeups {
    instance: PathBuf,
}

impl Wakeups {
    /// Begins to count.
    ///
    /// # Errors
    /// No tracefs that this user may write, and a kernel without histogram triggers.
    pub fn begin(computer: &mut Computer) -> Result<Wakeups, HostError> {
        let lacks = |found: String, expected: &str| HostError::NotHere {
            field: "--wakeups".to_owned(),
            found,
            expected: expected.to_owned(),
        };
        let is_there = |dir: &&&str| computer.path(dir).join("events/sched").exists();
        let Some(dir) = TRACEFS.iter().find(is_there) else {
            return Err(lacks(
                format!("no {}", TRACEFS[0]),
                "tracefs, and a user who may write it",
            ));
        };
        let tracefs = computer.path(dir);
        let synthetic = tracefs.join("synthetic_events");
        if !synthetic.exists() {
            let found = format!("no {}", synthetic.display());
            return Err(lacks(found, "a kernel with histogram triggers (CONFIG_HIST_TRIGGERS)"));
        }
        computer.traces(dir)?;
        let instance = tracefs.join(INSTANCE);
        append(&synthetic, FIELDS)?;
        std::fs::create_dir(&instance).map_err(HostError::io(&instance))?;
        write(&instance.join("options/event-fork"), "1")?;
        // Nobody has this number, so nothing is counted before a command begins.
        write(&instance.join("set_event_pid"), "0")?;
        for (event, trigger) in TRIGGERS {
            write(&instance.join("events").join(event).join("trigger"), trigger)?;
        }
        Ok(Wakeups { instance })
    }

    /// Follows `process` and what it will start, and nobody else.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn follow(&self, process: Process) -> Result<(), HostError> {
        write(&self.instance.join("set_event_pid"), &process.pid.to_string())
    }

    /// What was counted until now.
    ///
    /// # Errors
    /// A histogram that is not of its form.
    pub fn read(&self) -> Result<Pairs, HostError> {
        let path = self.instance.join("events/synthetic").join(EVENT).join("hist");
        let text = std::fs::read_to_string(&path).map_err(HostError::io(&path))?;
        parse(&text).map_err(|line| HostError::NotHere {
            field: path.display().to_string(),
            found: format!("`{line}`"),
            expected: "waker, target and hitcount".to_owned(),
        })
    }
}

/// Takes away what [`Wakeups::begin`] made in the directory `tracefs`, as far as it got.
///
/// # Errors
/// What the kernel refuses.
pub(crate) fn end(tracefs: &Path) -> Result<(), HostError> {
    let instance = tracefs.join(INSTANCE);
    if instance.exists() {
        for (event, trigger) in TRIGGERS.iter().rev() {
            let file = instance.join("events").join(event).join("trigger");
            let is_set = |text: String| text.lines().any(|line| line.starts_with("hist:"));
            if std::fs::read_to_string(&file).is_ok_and(is_set) {
                append(&file, &format!("!{trigger}"))?;
            }
        }
        std::fs::remove_dir(&instance).map_err(HostError::io(&instance))?;
    }
    let synthetic = tracefs.join("synthetic_events");
    let has = std::fs::read_to_string(&synthetic).is_ok_and(|text| text.contains(EVENT));
    if has { append(&synthetic, &format!("!{EVENT}")) } else { Ok(()) }
}

fn write(path: &Path, value: &str) -> Result<(), HostError> {
    std::fs::write(path, value).map_err(|source| refused(path, value, source))
}

fn append(path: &Path, value: &str) -> Result<(), HostError> {
    let file = std::fs::OpenOptions::new().append(true).open(path);
    let written = file.and_then(|mut file| std::io::Write::write_all(&mut file, value.as_bytes()));
    written.map_err(|source| refused(path, value, source))
}

fn refused(path: &Path, value: &str, source: std::io::Error) -> HostError {
    HostError::Write { path: path.to_owned(), value: value.to_owned(), source }
}

/// Lines such as `{ waker:          0, target:          1 } hitcount:         12`; the error is a line that is none.
fn parse(text: &str) -> Result<Pairs, String> {
    let pair = |line: &str| {
        let (keys, count) = line.strip_prefix("{ ")?.split_once(" } hitcount:")?;
        let (waker, target) = keys.split_once(", ")?;
        let number = |text: &str, name: &str| text.strip_prefix(name)?.trim().parse::<usize>().ok();
        Some(((number(waker, "waker:")?, number(target, "target:")?), count.trim().parse().ok()?))
    };
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| pair(line).ok_or_else(|| line.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_histogram_is_read() {
        let text = "# event histogram\n#\n\n{ waker:          0, target:          1 } hitcount:          3\n\
                    { waker:          2, target:          2 } hitcount:         12\n\nTotals:\n    Hits: 15\n";
        assert_eq!(parse(text).unwrap(), [((0, 1), 3), ((2, 2), 12)].into());
        assert!(parse("{ waker: x, target: 1 } hitcount: 3\n").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(?s)[{} a-z0-9:,\n]{0,200}") {
            let _ = parse(&text);
        }
    }
}
