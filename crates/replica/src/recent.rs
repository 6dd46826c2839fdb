//! The last events before a kernel's end, for the message that tells of it.

use sim::source::Event;
use std::cell::UnsafeCell;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// Events that are kept.
const KEPT: usize = 12;

/// When and on which CPU something happened; the time is the kernel's.
#[derive(Clone, Copy)]
struct Recent {
    at_ns: u64,
    cpu: u32,
    event: Event,
}

struct Ring {
    kept: [Option<Recent>; KEPT],
    next: usize,
}

struct Shared(UnsafeCell<Ring>);

// SAFETY: a library tells of events and dies on one thread, the replica's only one, and does not tell while `told` runs.
unsafe impl Sync for Shared {}

static RING: Shared = Shared(UnsafeCell::new(Ring { kept: [None; KEPT], next: 0 }));
/// The time of the turn that lasts.
static NOW_NS: AtomicU64 = AtomicU64::new(0);
/// The time at which the run began.
static BEGAN_NS: AtomicU64 = AtomicU64::new(0);

/// A run begins; what the boot did is forgotten.
pub(crate) fn begins(at_ns: u64) {
    BEGAN_NS.store(at_ns, Ordering::Relaxed);
    // SAFETY: see `Shared`.
    unsafe { *RING.0.get() = Ring { kept: [None; KEPT], next: 0 } };
}

/// A turn begins.
pub(crate) fn turn(now_ns: u64) {
    NOW_NS.store(now_ns, Ordering::Relaxed);
}

/// Something happened on `cpu`. Timers and interrupts are left out: there are many, and they follow from the rest.
pub(crate) fn note(cpu: u32, event: Event) {
    if matches!(event, Event::Timer { .. } | Event::Interrupt { .. } | Event::Util { .. }) {
        return;
    }
    let at_ns = NOW_NS.load(Ordering::Relaxed);
    // SAFETY: see `Shared`.
    let ring = unsafe { &mut *RING.0.get() };
    ring.kept[ring.next % KEPT] = Some(Recent { at_ns, cpu, event });
    ring.next += 1;
}

/// The last events, a line each, oldest first; nothing where there were none.
pub(crate) fn told() -> String {
    // SAFETY: see `Shared`.
    let ring = unsafe { &*RING.0.get() };
    let began_ns = BEGAN_NS.load(Ordering::Relaxed);
    let mut text = String::new();
    for at in ring.next.saturating_sub(KEPT)..ring.next {
        let Some(recent) = ring.kept[at % KEPT] else { continue };
        if text.is_empty() {
            text.push_str("the last events:\n");
        }
        let ms = recent.at_ns.saturating_sub(began_ns) as f64 / 1e6;
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  {ms:.6} ms CPU {}: {}", recent.cpu, words(recent.event));
    }
    text
}

fn words(event: Event) -> String {
    match event {
        Event::Switch { previous, next, .. } => {
            format!("switch from {} to {}", task(previous), task(next))
        }
        Event::Waking { pid, by_interrupt: false, .. } => format!("wakes {}", task(pid)),
        Event::Waking { pid, .. } => format!("wakes {} from an interrupt", task(pid)),
        Event::Wakeup { pid, onto_idle: true } => format!("{} can run on an idle CPU", task(pid)),
        Event::Wakeup { pid, .. } => format!("{} can run", task(pid)),
        Event::WakeupNew { pid, to, .. } => format!("{} begins on CPU {to}", task(pid)),
        Event::Migrate { pid, to, pushed: false } => format!("{} moves to CPU {to}", task(pid)),
        Event::Migrate { pid, to, .. } => format!("{} is pushed to CPU {to}", task(pid)),
        Event::Switched { answer: 0 } => "a CPU was switched".to_string(),
        Event::Switched { answer } => format!("a CPU was not switched: {answer}"),
        Event::Clock { khz, .. } => format!("asks for {khz} kHz"),
        Event::Refused { pid, error } => format!("{} is refused: {error}", task(pid)),
        Event::Timer { .. } | Event::Interrupt { .. } | Event::Util { .. } => String::new(),
    }
}

fn task(pid: i64) -> String {
    if pid == 0 { "idle".to_string() } else { format!("task {pid}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_events_are_told_in_order() {
        begins(1_000_000);
        assert_eq!(told(), "");
        for nth in 0..20 {
            turn(1_000_000 + nth * 500_000);
            note(3, Event::Switch { cpu: 3, previous: 0, next: nth as i64 });
        }
        note(3, Event::Timer { cpu: 3, at_ns: None });
        note(1, Event::Migrate { pid: 7, to: 2, pushed: false });
        let told = told();
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(lines.len(), KEPT + 1, "{told}");
        assert_eq!(lines[1], "  4.500000 ms CPU 3: switch from idle to task 9");
        assert_eq!(lines[KEPT], "  9.500000 ms CPU 1: task 7 moves to CPU 2");
    }
}
