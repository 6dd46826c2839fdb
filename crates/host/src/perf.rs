//! Counters of a command and of all that it starts (`perf_event_open`).
//!
//! Which events this computer has, and this user may count, is found out once. Hardware events that count user mode only, because
//! `kernel.perf_event_paranoid` allows no more, have a name of their own: they are another quantity.

use perf_event::events::{Event, Hardware, Software};
use perf_event::{Builder, Counter as Open, ReadFormat};
use workload::Counter;

/// An event with its name and what it is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Hardware(Hardware),
    Software(Software),
}

const EVENTS: [(&str, &str, Kind); 9] = [
    ("cycles", "cycles of the CPUs", Kind::Hardware(Hardware::CPU_CYCLES)),
    ("instructions", "instructions", Kind::Hardware(Hardware::INSTRUCTIONS)),
    ("cache_references", "accesses of the last cache", Kind::Hardware(Hardware::CACHE_REFERENCES)),
    ("cache_misses", "misses of the last cache", Kind::Hardware(Hardware::CACHE_MISSES)),
    ("branch_misses", "mispredicted branches", Kind::Hardware(Hardware::BRANCH_MISSES)),
    ("task_clock_ns", "time that its tasks ran", Kind::Software(Software::TASK_CLOCK)),
    ("switches", "switches away from its tasks", Kind::Software(Software::CONTEXT_SWITCHES)),
    ("migrations", "moves of its tasks to another CPU", Kind::Software(Software::CPU_MIGRATIONS)),
    ("page_faults", "page faults", Kind::Software(Software::PAGE_FAULTS)),
];

/// An event that can be counted here.
#[derive(Debug, Clone, Copy)]
struct Found {
    name: &'static str,
    help: &'static str,
    kind: Kind,
    /// Whether the kernel's part may be counted, too.
    with_kernel: bool,
}

/// The events that can be counted here.
#[derive(Debug, Clone)]
pub struct Counters {
    found: Vec<Found>,
    /// What cannot be counted and why, a line each.
    pub missing: Vec<String>,
}

impl Counters {
    /// No events.
    pub fn none() -> Counters {
        Counters { found: vec![], missing: vec![] }
    }

    /// Tries all events.
    pub fn find() -> Counters {
        let mut all = Counters::none();
        let mut refused: Vec<(String, Vec<&str>)> = Vec::new();
        for (name, help, kind) in EVENTS {
            let opens = |with_kernel| opened(kind, with_kernel, 0).err();
            match (opens(true), opens(false)) {
                (None, _) => all.found.push(Found { name, help, kind, with_kernel: true }),
                (Some(_), None) => all.found.push(Found { name, help, kind, with_kernel: false }),
                (Some(_), Some(reason)) => {
                    let reason = words(&reason);
                    match refused.iter_mut().find(|(r, _)| *r == reason) {
                        Some((_, names)) => names.push(name),
                        None => refused.push((reason, vec![name])),
                    }
                }
            }
        }
        all.missing =
            refused.iter().map(|(r, names)| format!("{}: {r}", names.join(", "))).collect();
        let user = all.found.iter().filter(|f| !f.with_kernel).map(|f| f.name).collect::<Vec<_>>();
        if !user.is_empty() {
            let reason = "in user mode only: kernel.perf_event_paranoid allows no more";
            all.missing.push(format!("{}: {reason}", user.join(", ")));
        }
        all
    }

    /// What is counted, in the order of values.
    pub fn schema(&self) -> Vec<Counter> {
        let of = |found: &Found| {
            let Found { name, help, with_kernel, .. } = *found;
            let name = format!("{name}{}", if with_kernel { "" } else { "_user" });
            let help = format!("{help}{} (perf)", if with_kernel { "" } else { " in user mode" });
            match found.kind {
                Kind::Software(Software::TASK_CLOCK) => Counter::ns(&name, &help),
                _ => Counter::number(&name, &help),
            }
        };
        self.found.iter().map(of).collect()
    }

    /// Counters of the process `pid` and of what it will start, from when it becomes another program on.
    pub fn open(&self, pid: i32) -> OpenCounters {
        OpenCounters(self.found.iter().map(|f| opened(f.kind, f.with_kernel, pid).ok()).collect())
    }
}

/// Open counters.
#[derive(Debug)]
pub struct OpenCounters(Vec<Option<Open>>);

impl OpenCounters {
    /// Their values, scaled to the whole time where the hardware had fewer counters than events.
    pub fn read(&mut self) -> Vec<u64> {
        let read = |open: &mut Option<Open>| {
            let data = open.as_mut()?.read_full().ok()?;
            let (enabled, running) = (data.time_enabled()?, data.time_running()?);
            Some(match running.is_zero() {
                true => 0,
                false => (data.count() as f64 * enabled.div_duration_f64(running)).round() as u64,
            })
        };
        self.0.iter_mut().map(|open| read(open).unwrap_or(0)).collect()
    }
}

/// Why an event cannot be counted.
fn words(reason: &std::io::Error) -> String {
    match reason.kind() {
        std::io::ErrorKind::NotFound => "this computer has no such events".to_owned(),
        std::io::ErrorKind::PermissionDenied => "kernel.perf_event_paranoid forbids it".to_owned(),
        _ => reason.to_string(),
    }
}

fn opened(kind: Kind, with_kernel: bool, pid: i32) -> std::io::Result<Open> {
    match kind {
        Kind::Hardware(event) => open(event, with_kernel, pid),
        Kind::Software(event) => open(event, with_kernel, pid),
    }
}

fn open<E: Event>(event: E, with_kernel: bool, pid: i32) -> std::io::Result<Open> {
    let mut builder = Builder::new(event);
    builder.inherit(true).enable_on_exec(true).exclude_hv(true).exclude_kernel(!with_kernel);
    builder.read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
    builder.observe_pid(pid).any_cpu().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_counted_or_named() {
        let counters = Counters::find();
        let schema = counters.schema();
        let missing = counters.missing.join("; ");
        for (name, _, _) in EVENTS {
            let counted = schema.iter().any(|c| c.name.trim_end_matches("_user") == name);
            assert!(counted || missing.contains(name), "{name}: {missing}");
        }
        assert_eq!(counters.open(0).read().len(), schema.len());
    }
}
