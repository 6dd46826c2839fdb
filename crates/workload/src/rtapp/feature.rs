//! What rt-app's files can ask for and simulations do not have: deadlines those by the model.

use serde::{Deserialize, Serialize};

/// Something that is refused unless it is to be ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// `SCHED_BATCH`: ignored, it is `SCHED_OTHER`.
    SchedBatch,
    /// `SCHED_IDLE`: ignored, it is `SCHED_OTHER`.
    SchedIdle,
    /// `SCHED_RR`: ignored, it is `SCHED_OTHER` at nice 0.
    SchedRr,
    /// `SCHED_FIFO`: ignored, it is `SCHED_OTHER` at nice 0.
    SchedFifo,
    /// `SCHED_DEADLINE`: ignored, it is `SCHED_OTHER` at nice 0.
    SchedDeadline,
    /// `taskgroup` other than the root: ignored, all tasks are in the root group.
    Taskgroup,
    /// `nodes_membind`.
    NodesMembind,
    /// `mem`, which is simulated where the machine has caches and their constants: ignored, it takes no time.
    Mem,
    /// `memrun`, which is simulated where the machine has caches and their constants: ignored, it takes no time.
    Memrun,
    /// `iorun`: ignored, it takes no time.
    Iorun,
    /// `pi_enabled`: ignored, mutexes inherit no priority.
    PiEnabled,
}

impl Feature {
    /// Its name in `ignore` lists.
    pub fn name(self) -> &'static str {
        match self {
            Feature::SchedBatch => "sched_batch",
            Feature::SchedIdle => "sched_idle",
            Feature::SchedRr => "sched_rr",
            Feature::SchedFifo => "sched_fifo",
            Feature::SchedDeadline => "sched_deadline",
            Feature::Taskgroup => "taskgroup",
            Feature::NodesMembind => "nodes_membind",
            Feature::Mem => "mem",
            Feature::Memrun => "memrun",
            Feature::Iorun => "iorun",
            Feature::PiEnabled => "pi_enabled",
        }
    }
}

/// A feature that a file asks for and that was left out, as allowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ignored {
    /// What.
    pub feature: Feature,
    /// Where: keys from the root.
    pub path: String,
}
