//! Policies that tasks ask the scheduler for.

/// A policy with its parameters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_OTHER`.
    #[default]
    Other,
    /// `SCHED_BATCH`: preempts nobody when it wakes.
    Batch,
    /// `SCHED_IDLE`: the weight of a few thousandths of a task.
    Idle,
    /// `SCHED_FIFO`.
    Fifo {
        /// 1 to 99.
        priority: u8,
    },
    /// `SCHED_RR`.
    RoundRobin {
        /// 1 to 99.
        priority: u8,
    },
    /// `SCHED_DEADLINE`.
    Deadline {
        /// What it gets in each period.
        runtime_ns: u64,
        /// Until when in the period.
        deadline_ns: u64,
        /// The period.
        period_ns: u64,
    },
}

impl Policy {
    /// Whether the fair class schedules it.
    pub fn is_fair(self) -> bool {
        matches!(self, Policy::Other | Policy::Batch | Policy::Idle)
    }
}

impl std::fmt::Display for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Policy::Other => f.write_str("SCHED_OTHER"),
            Policy::Batch => f.write_str("SCHED_BATCH"),
            Policy::Idle => f.write_str("SCHED_IDLE"),
            Policy::Fifo { priority } => write!(f, "SCHED_FIFO of priority {priority}"),
            Policy::RoundRobin { priority } => write!(f, "SCHED_RR of priority {priority}"),
            Policy::Deadline { runtime_ns, deadline_ns, period_ns } => write!(
                f,
                "SCHED_DEADLINE with a runtime of {} us, a deadline of {} us and a period of {} us",
                runtime_ns / 1000,
                deadline_ns / 1000,
                period_ns / 1000
            ),
        }
    }
}
