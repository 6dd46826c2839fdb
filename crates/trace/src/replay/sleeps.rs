//! Soft interrupts: who is behind a wake-up by one.
//!
//! The receiver of a message over loopback is woken by a soft interrupt that the sender runs as part of its own call. A packet from outside,
//! or an old-style timer, is handled in one that interrupts whoever runs. Both look alike in a trace. But the second kind also comes
//! while CPUs idle: names that are woken from there for a good part have no waker.

use crate::Comm;
use std::collections::HashMap;

/// With so large a part of wake-ups from idle CPUs, those on top of tasks are not the tasks' either.
const FROM_OUTSIDE: f64 = 0.25;

/// A wake-up by a soft interrupt on top of a task.
#[derive(Debug, Clone, Copy)]
pub(super) struct Soft {
    /// The task below, and the step that wakes.
    pub(super) waker: (usize, usize),
    /// The woken task.
    pub(super) woken: usize,
    /// Its sleep.
    pub(super) sleep: super::tasks::Sleep,
    /// When it was woken.
    pub(super) at_ns: u64,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct SoftInterrupts {
    pub(super) on_tasks: Vec<Soft>,
    /// By name of the woken task: on idle CPUs, and on top of tasks.
    counts: HashMap<Comm, [u64; 2]>,
}

impl SoftInterrupts {
    /// One on an idle CPU woke a task of this name.
    pub(super) fn on_idle(&mut self, woken: Comm) {
        self.counts.entry(woken).or_default()[0] += 1;
    }

    /// One on top of a task did.
    pub(super) fn on_task(&mut self, woken: Comm, soft: Soft) {
        self.counts.entry(woken).or_default()[1] += 1;
        self.on_tasks.push(soft);
    }

    /// Whether tasks of this name are woken from outside.
    pub(super) fn is_from_outside(&self, woken: &Comm) -> bool {
        let [idle, on_tasks] = self.counts.get(woken).copied().unwrap_or_default();
        idle as f64 >= FROM_OUTSIDE * (idle + on_tasks) as f64
    }
}
