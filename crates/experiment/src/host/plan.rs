//! What a user asks of the engine beside the experiment.

use std::path::PathBuf;
use std::time::Duration;

use super::realise::HostScheduler;
use vm::Workers;

/// When runs end that go on until they are precise enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Until {
    /// Half the width, in percent, that the interval of every change may have.
    pub percent: f64,
    /// Time after which no further block begins.
    pub budget: Duration,
}

/// How the engine runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The root of this computer's files.
    pub root: PathBuf,
    /// The journal of changes.
    pub journal: PathBuf,
    /// Our programs for benchmarks that no package has, where one needs them.
    pub workers: Option<Workers>,
    /// The variants that this boot runs; all if empty.
    pub only: Vec<String>,
    /// By variant: its sched_ext scheduler, where it has one.
    pub schedulers: Vec<Option<HostScheduler>>,
    /// Whether runs go on, and until when.
    pub until: Option<Until>,
    /// Runs of each side of the trial of the baseline against itself; none for as many as suits the experiment.
    pub trial_runs: Option<u32>,
    /// Whether each command's own wake-ups are counted by distance, which takes time at each.
    pub wakeups: bool,
    /// Rest before each run, in which other load is noticed.
    pub rest: Duration,
    /// When a benchmark's program is ended.
    pub limit: Duration,
}
