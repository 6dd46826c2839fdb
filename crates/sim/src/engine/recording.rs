//! What a run notes down for its metrics.
//!
//! `steps` sets marks and counts units of work, and `Sim::record` adds times to the histograms that are open. The run
//! itself never reads any of it; `crate::scenario` turns it into metrics at the end.

use super::Sim;
use super::core::Core;
use crate::SimError;
use crate::latency::Latencies;
use crate::trace::Trace;
use workload::{MarkId, Workload};

/// By the workload's numbers.
#[derive(Debug)]
pub(crate) struct Recording {
    /// By histogram: times.
    pub(crate) recorded: Vec<Latencies>,
    /// By counter: units of work.
    pub(crate) counted: Vec<u64>,
    /// By mark: when it was passed last, in ns.
    pub(crate) marks: Vec<Option<u64>>,
    /// Energy of all packages when the measured time began and when it ended, in J; so far it has not.
    measured_j: [Option<f64>; 2],
}

impl Recording {
    pub(super) fn new(workload: &Workload) -> Result<Recording, SimError> {
        Ok(Recording {
            recorded: Latencies::of(workload)?,
            counted: vec![0; workload.counters as usize],
            marks: vec![None; workload.marks as usize],
            measured_j: [None; 2],
        })
    }

    /// Energy in J of the measured time, and its length in ns.
    fn measured(&self, workload: &Workload) -> Option<(f64, u64)> {
        let (from, to) = workload.measured?;
        let at = |mark: MarkId| self.marks[mark.0 as usize];
        let [before_j, after_j] = self.measured_j;
        let ns = at(to)?.checked_sub(at(from)?).filter(|&ns| ns > 0)?;
        Some((after_j? - before_j?, ns))
    }
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// A task passes `mark`.
    pub(super) fn mark(&mut self, mark: MarkId) {
        self.recording.marks[mark.0 as usize] = Some(self.w.now_ns);
        let Some((from, to)) = self.setup.workload.measured else { return };
        if mark == from || mark == to {
            let joules = self.energies_j().iter().sum();
            self.recording.measured_j[usize::from(mark == to)] = Some(joules);
        }
    }

    /// Mean power of all packages over the measured time, or over the run so far if the workload does not say what is measured or has not
    /// come to its end; in W. `None` where clocks are not modelled.
    pub(crate) fn power_w(&mut self) -> Option<f64> {
        let energies_j = self.energies_j();
        if energies_j.is_empty() {
            return None;
        }
        let run = (energies_j.iter().sum(), self.w.now_ns);
        let (joules, ns) = self.recording.measured(&self.setup.workload).unwrap_or(run);
        Some(joules / (ns as f64 / 1e9))
    }
}
