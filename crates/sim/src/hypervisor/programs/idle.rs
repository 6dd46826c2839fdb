//! A vcpu that sleeps, works a little and sleeps again.

use super::{Memory, PathRun, Stop};
use crate::hypervisor::core::At;
use crate::hypervisor::partition::PartitionState;
use crate::rng::{Purpose, Stream};
use workload::Spread;
use workload::kvm::Idle;

/// The vcpu.
#[derive(Debug)]
pub(crate) struct Sleeper {
    work: PathRun,
    period_ns: f64,
    draws: Stream,
    /// When its timer was due, while it works.
    due_ns: Option<f64>,
    /// When it is due next.
    next_ns: f64,
}

impl Sleeper {
    pub(super) fn new(p: &Idle, partition: &PartitionState, memory: &mut Memory<'_>) -> Sleeper {
        let mut draws = Stream::new(memory.draws.below(u64::MAX), Purpose::Partitions);
        let period_ns = p.period_ms * 1e6;
        let next_ns = draws.draw(period_ns, Spread::Exponential);
        let work = PathRun::new(&p.work, partition.code, memory);
        Sleeper { work, period_ns, draws, due_ns: None, next_ns }
    }

    pub(super) fn run(
        &mut self,
        at: &mut At<'_>,
        partition: &mut PartitionState,
        until_ns: f64,
    ) -> Stop {
        while at.thread.now_ns < until_ns {
            let Some(due_ns) = self.due_ns else {
                if self.next_ns > at.thread.now_ns {
                    return Stop::Cede(self.next_ns);
                }
                self.due_ns = Some(self.next_ns);
                self.work.begin([None; 2]);
                continue;
            };
            if self.work.run(at, until_ns) {
                partition.note_idle(at.thread.now_ns, at.thread.now_ns - due_ns);
                self.due_ns = None;
                let sleep_ns = self.draws.draw(self.period_ns, Spread::Exponential);
                self.next_ns = at.thread.now_ns + sleep_ns;
            }
        }
        Stop::Time
    }
}
