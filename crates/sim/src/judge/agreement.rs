//! How often a model and a kernel decided the same.

use crate::source::Decision;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Differences that are kept for each kind.
const KEPT: usize = 20;

/// A kind of decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The CPU for a task that wakes.
    Wakeup,
    /// The CPU for a new task.
    Fork,
    /// The CPU for a task that execs.
    Exec,
    /// The task that runs next.
    Pick,
    /// Whether a task that was just queued preempts the running one.
    Preemption,
    /// Whether it is a CPU's turn to balance.
    Turn,
    /// The busiest group.
    Group,
    /// The busiest queue of a group.
    Queue,
}

impl Kind {
    /// All, in the order of tables.
    pub const ALL: [Kind; 8] = [
        Kind::Wakeup,
        Kind::Fork,
        Kind::Exec,
        Kind::Pick,
        Kind::Preemption,
        Kind::Turn,
        Kind::Group,
        Kind::Queue,
    ];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Kind::Wakeup => "wake-up",
            Kind::Fork => "fork",
            Kind::Exec => "exec",
            Kind::Pick => "pick",
            Kind::Preemption => "preemption",
            Kind::Turn => "turn to balance",
            Kind::Group => "busiest group",
            Kind::Queue => "busiest queue",
        })
    }
}

/// Decisions of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Compared.
    pub all: u64,
    /// Decided the same.
    pub same: u64,
}

impl Count {
    /// Adds others.
    pub fn add(&mut self, other: Count) {
        self.all += other.all;
        self.same += other.same;
    }

    /// Share of the same, from 0 to 1; `None` where nothing was compared.
    pub fn share(self) -> Option<f64> {
        (self.all > 0).then(|| self.same as f64 / self.all as f64)
    }
}

/// A decision that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// What was decided.
    pub kind: Kind,
    /// What the kernel decided.
    pub kernel: i64,
    /// What the model decided.
    pub model: i64,
    /// What it was decided from.
    pub from: String,
}

/// How often two decided the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// By kind.
    pub counts: BTreeMap<Kind, Count>,
    /// The first differences of each kind.
    pub differences: Vec<Difference>,
}

impl Agreement {
    pub(super) fn note(&mut self, kind: Kind, made: &Decision, model: i64) {
        let count = self.counts.entry(kind).or_default();
        let same = model == made.answer;
        count.add(Count { all: 1, same: same.into() });
        if !same && count.all - count.same <= KEPT as u64 {
            let from = told(made);
            self.differences.push(Difference { kind, kernel: made.answer, model, from });
        }
    }

    /// Adds another run's.
    pub fn add(&mut self, other: Agreement) {
        for (kind, count) in other.counts {
            self.counts.entry(kind).or_default().add(count);
        }
        for difference in other.differences {
            let kept = self.differences.iter().filter(|d| d.kind == difference.kind).count();
            if kept < KEPT {
                self.differences.push(difference);
            }
        }
    }
}

/// What a decision was made from, as one who reads the kernel's code wants it.
fn told(made: &Decision) -> String {
    let q = &made.question;
    let mut text = format!("{q:?}\n");
    for task in &made.tasks {
        if [q.task, q.current_task].contains(&task.pid) || task.state.cpu == q.cpu {
            text += &format!("  task {} {:?}\n", task.pid, task.state);
        }
    }
    for (cpu, queue) in made.queues.iter().enumerate() {
        let s = &queue.state;
        if s.nr_running > 0 || s.averages.load > 0 || cpu as u32 == q.cpu {
            let queued = |pid: i64| queue.waiting.contains(&pid) || s.current_fair == pid;
            let load: u64 =
                made.tasks.iter().filter(|t| queued(t.pid)).map(|t| t.state.averages.load).sum();
            let tasks = &queue.waiting;
            text += &format!("  CPU {cpu} {s:?} load of tasks {load} waiting {tasks:?}\n");
        }
    }
    text
}
