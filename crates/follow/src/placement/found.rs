//! What comes of a comparison of wake-ups.

use serde::Serialize;

/// Differences that are kept.
const KEPT: usize = 50;

/// Wake-ups that were compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// All.
    pub all: u64,
    /// The same CPU.
    pub same_cpu: u64,
    /// The same last-level cache.
    pub same_llc: u64,
}

impl Count {
    /// Adds others.
    pub fn add(&mut self, other: Count) {
        self.all += other.all;
        self.same_cpu += other.same_cpu;
        self.same_llc += other.same_llc;
    }

    /// Shares of the same CPU and of the same cache, from 0 to 1; `None` without wake-ups.
    pub fn shares(self) -> Option<(f64, f64)> {
        let of = |part: u64| part as f64 / self.all as f64;
        (self.all > 0).then(|| (of(self.same_cpu), of(self.same_llc)))
    }
}

/// A wake-up that the model decides otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// When, in ns of the trace's clock.
    pub at_ns: u64,
    /// The woken task, as NAME-PID.
    pub task: String,
    /// Who ran on the waker's CPU.
    pub waker: String,
    /// The waker's CPU.
    pub cpu: u32,
    /// The CPU on which the task last ran.
    pub previous: u32,
    /// Whether the waker was about to sleep, where that is known.
    pub sync: Option<bool>,
    /// The kernel's choice.
    pub kernel: u32,
    /// The model's.
    pub model: u32,
    /// By CPU: tasks on its queue, the running one included, and woken ones on their way to it.
    pub queues: Vec<(u32, u32)>,
}

/// What came of the comparison. Each wake-up counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Placements {
    /// Wake-ups whose inputs the trace determines.
    pub determined: Count,
    /// Those that loads decide (`wake_affine_weight`), which are rebuilt from the trace.
    pub by_load: Count,
    /// Those that depend on how far the search looks, whose limit is rebuilt from the trace.
    pub by_search: Count,
    /// Those that depend on whether the waker is about to sleep (`WF_SYNC`), which only a probe tells. Every pair of names is taken
    /// the way that fits more of its wake-ups.
    pub by_sync: Count,
    /// Those that depend on what tasks remember from before the trace: at the first wake-up the CPU before the last (`recent_used_cpu`), and
    /// always how often they changed whom they wake (`wakee_flips`), where no probe tells.
    pub by_memory: Count,
    /// Those of tasks that never left a CPU: they may be bound to it.
    pub perhaps_bound: Count,
    /// Those of tasks that may still have been on their CPU or its queue, so that no CPU was chosen.
    pub perhaps_queued: Count,
    /// Those during which another CPU changed what the answer depends on.
    pub raced: Count,
    /// Where the trace did not fit the state ([`sim::follow::Follower::repairs`]).
    pub repairs: u64,
    /// The first wake-ups that are determined and differ.
    pub differences: Vec<Difference>,
}

impl Placements {
    /// Names of the rows and their counts, the determined ones first.
    pub fn rows(&self) -> [(&'static str, Count); 8] {
        [
            ("determined by the trace", self.determined),
            ("by loads", self.by_load),
            ("by how far searches look", self.by_search),
            ("by the waker's sleep", self.by_sync),
            ("by what was before", self.by_memory),
            ("perhaps bound", self.perhaps_bound),
            ("perhaps still queued", self.perhaps_queued),
            ("changed meanwhile", self.raced),
        ]
    }

    /// All wake-ups.
    pub fn all(&self) -> Count {
        let mut all = Count::default();
        self.rows().into_iter().for_each(|(_, count)| all.add(count));
        all
    }

    pub(super) fn differs(&mut self, difference: impl FnOnce() -> Difference) {
        if self.differences.len() < KEPT {
            self.differences.push(difference());
        }
    }
}
