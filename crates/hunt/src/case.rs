//! What a case is.

use crate::Shape;
use std::collections::BTreeMap;

/// A case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The machine.
    pub shape: Shape,
    /// Ticks a second.
    pub hz: u32,
    /// Whether the background of an idle server runs.
    pub background: bool,
    /// Length of the run.
    pub duration_ms: u32,
    /// Seed of the run.
    pub seed: u64,
    /// Tasks, no two of the same name.
    pub tasks: Vec<Task>,
    /// Control groups, those above first.
    pub groups: Vec<Group>,
    /// CPUs that go and come, in order.
    pub hotplug: Vec<Step>,
    /// Features of the scheduler, by name.
    pub features: BTreeMap<String, bool>,
    /// Files below `sched/` of debugfs.
    pub debug: BTreeMap<String, u64>,
}

/// Threads of one program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Threads at the start; 0 for one that is only forked.
    pub instances: u32,
    /// Policy.
    pub policy: Policy,
    /// Nice value.
    pub nice: i32,
    /// Slice in us; 0 for the kernel's.
    pub slice_us: u32,
    /// CPUs that it may use; empty for all.
    pub cpus: Vec<u32>,
    /// Clamps of utilisation.
    pub clamps: Option<(u32, u32)>,
    /// How often all phases are run; none for ever.
    pub loops: Option<u32>,
    /// What it does.
    pub phases: Vec<Phase>,
}

/// A policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_OTHER`.
    Other,
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`.
    Idle,
    /// `SCHED_FIFO` with a priority.
    Fifo(u32),
    /// `SCHED_RR` with a priority.
    RoundRobin(u32),
    /// `SCHED_DEADLINE`.
    Deadline {
        /// Runtime in us.
        runtime_us: u32,
        /// Period and deadline in us.
        period_us: u32,
    },
}

/// A control group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    /// Its path below the root.
    pub path: String,
    /// Names of its tasks; none where groups are below.
    pub tasks: Vec<String>,
    /// `cpu.weight`.
    pub weight: Option<u32>,
    /// `cpu.max`: quota and period in us.
    pub max: Option<(u32, u32)>,
    /// `cpu.idle`.
    pub idle: bool,
    /// `cpuset.cpus`; empty for those of the group above.
    pub cpus: Vec<u32>,
}

/// A part of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// How often.
    pub loops: u32,
    /// Another nice value from here on.
    pub nice: Option<i32>,
    /// CPUs that it may use here; empty for the task's.
    pub cpus: Vec<u32>,
    /// In order.
    pub events: Vec<Event>,
}

/// What a thread does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Works for so many us of an undisturbed CPU.
    Run(u32),
    /// Sleeps for so many us.
    Sleep(u32),
    /// Waits for the next multiple of so many us.
    Timer(u32),
    /// `sched_yield`.
    Yield,
    /// Works for so many us with a mutex.
    Locked(String, u32),
    /// Posts a semaphore.
    Post(String),
    /// Waits for a semaphore.
    Wait(String),
    /// Waits for all that name the barrier.
    Barrier(String),
    /// Starts a thread of the task.
    Fork(String),
}

/// A CPU goes offline or comes online.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// When, from the run's start.
    pub at_ms: u32,
    /// The CPU.
    pub cpu: u32,
    /// Whether it comes.
    pub online: bool,
}

impl Case {
    /// How large it is, for people.
    pub fn size(&self) -> String {
        let of = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let threads = self.tasks.iter().map(|t| t.instances as usize).sum();
        format!(
            "{} on {}, {}, {} ms",
            of(threads, "thread"),
            of(self.shape.cpus() as usize, "CPU"),
            of(self.hotplug.len(), "step") + " of hotplug",
            self.duration_ms
        )
    }
}
