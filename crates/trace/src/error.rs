//! Errors of reading and writing timelines.

/// An error. The message says the place, what was found and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The output cannot be written.
    #[error("{0}")]
    Output(#[from] std::io::Error),
    /// The input cannot be read.
    #[error("{0}")]
    Input(std::io::Error),
    /// A line that is not ftrace text.
    #[error("line {line}: {field}: found {found:?}, expected {expected}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// The part that is wrong.
        field: &'static str,
        /// What was found; only the beginning if it is long.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A part of a binary file that is none.
    #[error("{field}: found {found}, expected {expected}")]
    File {
        /// The part.
        field: &'static str,
        /// What was found; only the beginning if it is long.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A record of a CPU that the machine does not have.
    #[error("trace: found CPU {found}, expected a machine of {cpus} CPUs")]
    Cpu {
        /// The CPU.
        found: u32,
        /// CPUs of the machine.
        cpus: usize,
    },
    /// A trace that makes no workload.
    #[error("trace: found {found} tasks of the fair class, expected 1 to 65534")]
    Replay {
        /// Tasks.
        found: usize,
    },
    /// A recording without any event that timelines show.
    #[error(
        "trace: found none of sched_switch, sched_waking, sched_wakeup, sched_wakeup_new, sched_migrate_task, cpu_frequency and cpu_idle, expected a recording with some"
    )]
    NoEvents,
}
