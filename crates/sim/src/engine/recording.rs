//! What a run notes down for its metrics.

use crate::SimError;
use crate::latency::Latencies;
use workload::Workload;

/// By the workload's numbers.
#[derive(Debug)]
pub(crate) struct Recording {
    /// By histogram: times.
    pub(crate) recorded: Vec<Latencies>,
    /// By counter: units of work.
    pub(crate) counted: Vec<u64>,
    /// By mark: when it was passed last, in ns.
    pub(crate) marks: Vec<Option<u64>>,
}

impl Recording {
    pub(super) fn new(workload: &Workload) -> Result<Recording, SimError> {
        Ok(Recording {
            recorded: Latencies::of(workload)?,
            counted: vec![0; workload.counters as usize],
            marks: vec![None; workload.marks as usize],
        })
    }
}
