//! Estimated utilisation (`util_est`): what a task used in its last activations, remembered over its sleep.
//!
//! `util_est_enqueue` adds a task's estimate to the sum of its queue and notes what it added; `util_est_dequeue` takes
//! just that off again. `util_est_update` notes what a task that goes to sleep or exits has used, unless load tracking
//! has not touched the task since the last time, and lets the average follow: from 5.5 on at once where it grows, else
//! by a quarter. The average stays where the difference is below a percent, where the task used more than its CPU has,
//! and from 6.8 on where it had to wait. Up to 6.7 the last utilisation counts beside the average.
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
    /// Utilisation at the end of the last activation; 0 from 6.8 on, which keeps the average alone.
    enqueued: u64,
    /// Its average over activations, of which the last counts a quarter.
    ewma: u64,
    /// What the task counts for in its queue's sum.
    counted: u64,
    /// Whether load tracking has not touched the task since the estimate was noted (`UTIL_AVG_UNCHANGED`).
    unchanged: bool,
}

impl UtilEst {
    /// An estimate by its parts: the utilisation of the last activation and the average.
    pub(in crate::fair) fn of(enqueued: u64, ewma: u64) -> UtilEst {
        UtilEst { enqueued, ewma, ..UtilEst::default() }
    }

    /// `_task_util_est`.
    pub(in crate::fair) fn estimate(self) -> u64 {
        self.ewma.max(self.enqueued)
    }

    /// Load tracking has changed the task's averages (`cfs_se_util_change`).
    pub(in crate::fair) fn util_changed(&mut self) {
        self.unchanged = false;
    }

    /// Up to 6.7, after an activation that used `util`. `None` where nothing is noted: the difference is below the
    /// margin, or the task used more than its CPU has.
    fn with_both(self, util: u64, capacity: u64, fast_up: bool) -> Option<UtilEst> {
        let next = UtilEst { enqueued: util, ..self };
        if fast_up && self.ewma < util {
            return Some(UtilEst { ewma: util, ..next });
        }
        if self.ewma.abs_diff(util) < MARGIN {
            return (fast_up && self.enqueued.abs_diff(util) >= MARGIN).then_some(next);
        }
        (util <= capacity).then_some(UtilEst { ewma: (3 * self.ewma + util) >> 2, ..next })
    }

    /// The same from 6.8 on. The average also stays where the task had to wait for its CPU.
    fn with_last(self, util: u64, runnable: u64, capacity: u64) -> Option<UtilEst> {
        if self.ewma <= util {
            return Some(UtilEst { ewma: util, ..self });
        }
        if self.ewma - util < MARGIN {
            return Some(self);
        }
        if util > capacity {
            return None;
        }
        let waited = util + MARGIN < runnable;
        Some(if waited { self } else { UtilEst { ewma: (3 * self.ewma + util) >> 2, ..self } })
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

    /// `util_est_update` of a task that goes to sleep.
    pub(in crate::fair) fn util_est_update(&mut self, w: &World, task: TaskId) {
        let entity = &mut self.entities[task.index()];
        if !self.rules.util_est || entity.util_est.unchanged {
            return;
        }
        let capacity = w.topo.capacity[w.tasks[task.index()].cpu as usize];
        let (util, runnable) = (entity.avg.util_avg, entity.avg.runnable_avg);
        let estimate = entity.util_est;
        let next = if self.rules.util_est_single {
            estimate.with_last(util, runnable, capacity)
        } else {
            estimate.with_both(util, capacity, self.rules.util_est_fastup)
        };
        if let Some(next) = next {
            entity.util_est = UtilEst { unchanged: true, ..next };
        }
    }

    /// `task_util_est`: the larger of a task's utilisation and its estimate.
    pub(in crate::fair) fn task_util_est(&self, task: TaskId) -> u64 {
        let entity = &self.entities[task.index()];
        entity.avg.util_avg.max(entity.util_est.estimate())
    }
}
