//! Estimated utilisation (`util_est`): what a task used in its last activations, remembered over its sleep.
//!
//! `util_est_enqueue` adds a task's estimate to the sum of its queue and notes what it added; `util_est_dequeue` takes
//! just that off again. `util_est_update` then notes what a task that goes to sleep or exits has used, and lets the
//! average follow: from 5.5 on at once where it grows, else by a quarter. The average stays where the difference is
//! below a percent, where the task used more than its CPU has, and (with `runnable_avg`) where it had to wait.
//!
//! Without the mechanism nothing is counted, and estimates stay zero. Every change of a queue's sum is told to
//! balancing's sums (`touch`). `entity` and `eevdf` say when a task joins and leaves. PELT averages are `load`'s and
//! only read here.

use crate::fair::Fair;
use crate::topology::Cpu;
use crate::world::{TaskId, World};

/// Changes below this (1 % of 1024) leave the average as it is (`UTIL_EST_MARGIN`).
const MARGIN: u64 = 10;

/// One task's estimate (`struct util_est`).
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::fair) struct UtilEst {
    /// Utilisation at the end of the last activation.
    enqueued: u64,
    /// Its average over activations, of which the last counts a quarter.
    ewma: u64,
    /// What the task counts for in its queue's sum.
    counted: u64,
}

impl UtilEst {
    /// `_task_util_est`.
    pub(in crate::fair) fn estimate(self) -> u64 {
        self.ewma.max(self.enqueued)
    }
}

impl Fair {
    /// `util_est_enqueue`.
    pub(in crate::fair) fn util_est_enqueue(&mut self, cpu: Cpu, task: TaskId) {
        if self.rules.util_est {
            let estimate = &mut self.entities[task.index()].util_est;
            estimate.counted = estimate.estimate();
            self.queues[cpu as usize].util_est += estimate.counted;
            self.sums.touch(cpu);
        }
    }

    /// `util_est_dequeue`.
    pub(in crate::fair) fn util_est_dequeue(&mut self, cpu: Cpu, task: TaskId) {
        let counted = std::mem::take(&mut self.entities[task.index()].util_est.counted);
        let rq = &mut self.queues[cpu as usize];
        rq.util_est = rq.util_est.saturating_sub(counted);
        self.sums.touch(cpu);
    }

    /// `util_est_update` of a task that goes to sleep. Growth counts at once from 5.5 on (`UTIL_EST_FASTUP`).
    pub(in crate::fair) fn util_est_update(&mut self, w: &World, task: TaskId) {
        if !self.rules.util_est {
            return;
        }
        let capacity = w.topo.capacity[w.tasks[task.index()].cpu as usize];
        let fast_up = self.rules.util_est_fastup;
        let entity = &mut self.entities[task.index()];
        let (util, runnable) = (entity.avg.util_avg, entity.avg.runnable_avg);
        let estimate = &mut entity.util_est;
        let before = estimate.ewma;
        estimate.enqueued = util;
        if fast_up && before < util {
            estimate.ewma = util;
            return;
        }
        let waited = self.rules.runnable_avg && util + MARGIN < runnable;
        if before.abs_diff(util) < MARGIN || util > capacity || waited {
            return;
        }
        estimate.ewma = (3 * before + util) / 4;
    }

    /// `task_util_est`: the larger of a task's utilisation and its estimate.
    pub(in crate::fair) fn task_util_est(&self, task: TaskId) -> u64 {
        let entity = &self.entities[task.index()];
        entity.avg.util_avg.max(entity.util_est.estimate())
    }
}
