//! Events.

use super::RtAppError;
use super::ast::{Action, Event, Timer};
use super::fields::Item;
use super::memory;

/// rt-app's name of a resource that an event does not name.
const UNNAMED: &str = "unknown";

/// Names of events, each before those that it begins with.
const NAMES: [&str; 20] = [
    "lock", "unlock", "wait", "signal", "broad", "sync", "sleep", "runtime", "run", "timer",
    "suspend", "resume", "memrun", "mem", "iorun", "yield", "barrier", "fork", "sem_post",
    "sem_wait",
];

fn name_of(key: &str) -> Option<&'static str> {
    NAMES.into_iter().find(|name| key.starts_with(name))
}

/// Whether a key is an event: it begins with an event's name.
pub(super) fn is_event(key: &str) -> bool {
    name_of(key).is_some()
}

/// An event whose key [`is_event`].
pub(super) fn read(item: &Item<'_>) -> Result<Event, RtAppError> {
    let us = || item.count(0, "µs");
    let bytes = || item.count(0, "a number of bytes");
    let named = |what: &str| item.string(what);
    let mutex = || named("the name of a mutex");
    let condition = || named("the name of a condition variable");
    let semaphore = || named("the name of a semaphore");
    let action = match name_of(item.key) {
        Some("run") => Action::Run { us: us()? },
        Some("runtime") => Action::Runtime { us: us()? },
        Some("sleep") => Action::Sleep { us: us()? },
        Some("mem") => Action::Mem { bytes: bytes()? },
        Some("iorun") => Action::IoRun { bytes: bytes()? },
        Some("memrun") => Action::MemRun(memory::read(item)?),
        Some("timer") => Action::Timer(timer(item)?),
        Some("lock") => Action::Lock { mutex: mutex()? },
        Some("unlock") => Action::Unlock { mutex: mutex()? },
        Some("signal") => Action::Signal { condition: condition()? },
        Some("broad") => Action::Broadcast { condition: condition()? },
        Some("wait") => {
            let (condition, mutex) = condition_and_mutex(item)?;
            Action::Wait { condition, mutex }
        }
        Some("sync") => {
            let (condition, mutex) = condition_and_mutex(item)?;
            Action::Sync { condition, mutex }
        }
        Some("barrier") => Action::Barrier { name: named("the name of a barrier")? },
        Some("suspend") => Action::Suspend { name: item.as_string() },
        Some("resume") => Action::Resume { name: named("the name of a task")? },
        Some("sem_post") => Action::SemPost { name: semaphore()? },
        Some("sem_wait") => Action::SemWait { name: semaphore()? },
        Some("fork") => Action::Fork { task: named("the name of a task")? },
        Some("yield") => Action::Yield,
        _ => return Err(item.error("no event", &NAMES.join(", "))),
    };
    Ok(Event { key: item.key.to_string(), line: item.line(), action })
}

fn condition_and_mutex(item: &Item<'_>) -> Result<(String, String), RtAppError> {
    let mut fields = item.fields("an object with `ref` and `mutex`")?;
    let condition = fields.get("ref", |i| i.string("the name of a condition variable"))?;
    let mutex = fields.get("mutex", |i| i.string("the name of a mutex"))?;
    fields.finish("`ref` or `mutex`")?;
    Ok((condition.unwrap_or_else(unnamed), mutex.unwrap_or_else(unnamed)))
}

fn unnamed() -> String {
    UNNAMED.to_string()
}

fn timer(item: &Item<'_>) -> Result<Timer, RtAppError> {
    let mut fields = item.fields("an object with `ref` and `period`")?;
    let name = fields.get("ref", |i| i.string("the name of a timer"))?.unwrap_or_else(unnamed);
    let period_us = fields.get("period", |i| i.count(0, "µs"))?.unwrap_or(0);
    let mode = fields.get("mode", |i| i.one_of(&[("relative", false), ("absolute", true)]))?;
    fields.finish("`ref`, `period` or `mode`")?;
    Ok(Timer { name, period_us, absolute: mode.unwrap_or(false) })
}
