//! Policies of a case's tasks.

use crate::draw::{Draw, phase};
use crate::{Event, Policy, Task};

impl Draw<'_> {
    /// A policy of the fair class.
    pub(crate) fn fair_policy(&mut self) -> Policy {
        match self.below(4) {
            _ if !self.policies => Policy::Other,
            0 => Policy::Batch,
            1 => Policy::Idle,
            _ => Policy::Other,
        }
    }

    /// Few tasks of a higher class that run for a little and sleep for longer, so that others can be judged.
    pub(crate) fn urgent(&mut self, at: u32) -> Task {
        let run_us = self.time_us(50, 2000);
        let sleep_us = run_us * self.between(6, 20);
        let policy = match self.below(3) {
            0 => Policy::Fifo(self.between(1, 99)),
            1 => Policy::RoundRobin(self.between(1, 99)),
            // It may need more than it gets.
            _ => Policy::Deadline { runtime_us: run_us.max(100), period_us: 8 * run_us.max(100) },
        };
        let events = vec![Event::Run(run_us), Event::Sleep(sleep_us)];
        let task = self.task(format!("urgent{at}"), 2, vec![phase(events)]);
        let cpus = match policy {
            Policy::Deadline { .. } => vec![],
            _ => task.cpus,
        };
        Task { policy, nice: 0, slice_us: 0, cpus, clamps: None, ..task }
    }
}

impl Policy {
    /// rt-app's fields, where it is not what tasks have by themselves, and whether nice value and slice count.
    pub(crate) fn fields(self) -> (Vec<String>, bool) {
        let named = |name: &str| format!("\"policy\": \"{name}\"");
        let priority = |priority: u32| format!("\"priority\": {priority}");
        match self {
            Policy::Other => (vec![], true),
            Policy::Batch => (vec![named("SCHED_BATCH")], true),
            Policy::Idle => (vec![named("SCHED_IDLE")], true),
            Policy::Fifo(of) => (vec![named("SCHED_FIFO"), priority(of)], false),
            Policy::RoundRobin(of) => (vec![named("SCHED_RR"), priority(of)], false),
            Policy::Deadline { runtime_us, period_us } => {
                let times = format!("\"dl-runtime\": {runtime_us}, \"dl-period\": {period_us}");
                (vec![named("SCHED_DEADLINE"), times], false)
            }
        }
    }
}
