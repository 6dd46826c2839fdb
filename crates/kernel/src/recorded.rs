//! What a running kernel showed of its domains, as captured, and how it compares with a prediction.

pub mod debugfs;
pub mod log;
mod read;
pub mod schedstat;
mod steps;

pub use read::domains;
pub use steps::last_offline;

use machine::CpuSet;
use serde::Serialize;

/// One place where a recorded kernel and a prediction differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// CPU and line of the log, or file of debugfs.
    pub place: String,
    /// What the kernel showed; `None` where it showed nothing there.
    pub recorded: Option<String>,
    /// What was predicted; `None` where nothing was.
    pub predicted: Option<String>,
}

/// A group's CPUs where `text` is what stands before its capacity in the log, if they are one CPU.
fn single_cpu(text: &str) -> Option<usize> {
    let (_, span) = text.rsplit_once("{ span=")?;
    let span: CpuSet = span.split(' ').next()?.parse().ok()?;
    (span.len() == 1).then(|| span.first()).flatten()
}
