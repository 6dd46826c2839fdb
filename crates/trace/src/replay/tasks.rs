//! A task of a trace, and the program that it becomes.

use crate::Comm;
use workload::{HistogramId, MarkId, Op, QueueId, Since, Work};

/// Less work than this, in cycles, is none.
const NO_WORK: f64 = 0.5;

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// On a CPU.
    Runs,
    /// On a queue, or on its way to one.
    Waits,
    /// Asleep; how its program ends the sleep is not known yet.
    Sleeps,
}

/// A sleep whose end is not known yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sleep {
    /// The step that becomes the sleep.
    pub(super) step: usize,
    /// When it began; none for a task that slept before the trace.
    pub(super) since_ns: Option<u64>,
    /// Whether nothing but what the task waits for ends it.
    pub(super) uninterruptible: bool,
}

/// How a task comes into being.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Origin {
    /// It was there when the trace began, on this CPU, running or queued if so.
    There { cpu: usize, runs: bool },
    /// Another task forked it.
    Forked,
    /// It came in the middle, from somewhere that the trace does not tell.
    Came { at_ns: u64, cpu: usize },
}

/// A task.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) comm: Comm,
    pub(super) prio: i32,
    pub(super) origin: Origin,
    /// The CPU that it belongs to.
    pub(super) bound: Option<usize>,
    pub(super) queue: QueueId,
    pub(super) place: Place,
    pub(super) sleep: Option<Sleep>,
    /// When the last wake-up began, and on which CPU.
    pub(super) woken: Option<(u64, usize)>,
    /// A wake-up that came while it was still on its way to sleep: by which task, and on which CPU.
    pub(super) early: Option<(Option<usize>, usize)>,
    /// Synchronous wake-ups of it by tasks, and all of those.
    pub(super) sync: [u64; 2],
    pub(super) ops: Vec<Op>,
    /// Work that is not in a step yet.
    cycles: f64,
}

impl Life {
    pub(super) fn new(comm: Comm, prio: i32, origin: Origin, queue: QueueId) -> Life {
        let bound = crate::inspect::is_of_one_cpu(&comm);
        let cpu = match origin {
            Origin::There { cpu, .. } | Origin::Came { cpu, .. } => Some(cpu),
            Origin::Forked => None,
        };
        Life {
            comm,
            prio,
            origin,
            bound: cpu.filter(|_| bound),
            queue,
            place: Place::Waits,
            sleep: None,
            woken: None,
            early: None,
            sync: [0, 0],
            ops: Vec::new(),
            cycles: 0.0,
        }
    }

    /// It did so much work.
    pub(super) fn work(&mut self, cycles: f64) {
        self.cycles += cycles;
    }

    /// Does a step after the work so far; its number.
    pub(super) fn step(&mut self, op: Op) -> usize {
        self.flush();
        self.ops.push(op);
        self.ops.len() - 1
    }

    fn flush(&mut self) {
        if self.cycles >= NO_WORK {
            self.ops.push(Op::Compute(Work::fixed(self.cycles)));
            self.cycles = 0.0;
        }
    }

    /// Falls asleep, taken to wait for a message until something else is known.
    pub(super) fn falls_asleep(&mut self, since_ns: Option<u64>, uninterruptible: bool) {
        let step = self.step(Op::Receive(self.queue));
        self.ops.push(record(Since::Message));
        self.place = Place::Sleeps;
        self.sleep = Some(Sleep { step, since_ns, uninterruptible });
    }

    /// The sleep at `step` was one of its own, of this length.
    pub(super) fn slept(&mut self, sleep: Sleep, op: Op) {
        let on_timer = matches!(op, Op::Sleep { .. });
        self.ops[sleep.step] = op;
        self.ops[sleep.step + 1] =
            if on_timer { record(Since::Due) } else { Op::Compute(Work::fixed(0.0)) };
    }

    /// Whether its wake-ups are synchronous.
    pub(super) fn is_sync(&self) -> bool {
        2 * self.sync[0] > self.sync[1]
    }

    /// The program's steps, with a last one that notes the end. A sleep that nothing ends is none.
    pub(super) fn finish(&mut self, end: MarkId) -> Vec<Op> {
        match self.sleep.take() {
            Some(sleep) => self.ops.truncate(sleep.step),
            None => self.flush(),
        }
        if !self.ops.is_empty() {
            self.ops.push(Op::Mark(end));
        }
        std::mem::take(&mut self.ops)
    }
}

/// The step that records how long the task's last wake-up took.
fn record(since: Since) -> Op {
    Op::Record { histogram: HistogramId(0), since }
}
