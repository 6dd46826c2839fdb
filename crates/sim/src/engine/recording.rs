//! What a run notes down for its metrics.
//!
//! `steps` sets marks and counts units of work, and `Sim::record` adds times to the histograms that are open. The run
//! itself never reads any of it; `crate::scenario` turns it into metrics at the end.

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
