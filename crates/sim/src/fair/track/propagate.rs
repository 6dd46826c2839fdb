//! Load of tasks in groups, as it shows on the queues above (`propagate_entity_load_avg`).
//!
//! A group's entity ages as a task does, by whether it is queued and runs. When tasks come to a group's queue or leave it
//! for other CPUs, their averages come and go at once, and the entity above follows at its next update: it takes the
//! queue's utilisation and runnable average as they are, and changes its runnable time by that of the tasks.

use crate::fair::Fair;
use crate::fair::queue::cfs_rq::CfsRq;
use crate::fair::queue::ids::{EntityId, QueueId};

/// What an average may not be less than (`add_positive`).
fn add_positive(value: &mut u64, by: i64) {
    *value = value.saturating_add_signed(by);
}

impl CfsRq {
    /// `add_tg_cfs_propagate`.
    #[inline]
    pub(super) fn add_tg_cfs_propagate(&mut self, runnable_sum: i64) {
        if self.group != 0 {
            self.to_parent.propagate = true;
            self.to_parent.runnable_sum += runnable_sum;
        }
    }
}

impl Fair {
    /// `propagate_entity_load_avg` of an entity on `q`; whether it had something to tell.
    pub(super) fn propagate_entity_load_avg(&mut self, q: QueueId, id: EntityId) -> bool {
        let Some(below) = self.group_cfs_rq(id) else { return false };
        let told = &mut self.queues[below.index()].to_parent;
        if !std::mem::take(&mut told.propagate) {
            return false;
        }
        let runnable_sum = std::mem::take(&mut told.runnable_sum);
        self.queues[q.index()].add_tg_cfs_propagate(runnable_sum);
        self.update_tg_cfs_util(q, below, id);
        self.update_tg_cfs_runnable(q, below, id);
        self.update_tg_cfs_load(q, below, id, runnable_sum);
        self.touch_queue(q);
        true
    }

    /// `update_tg_cfs_util`.
    fn update_tg_cfs_util(&mut self, q: QueueId, below: QueueId, id: EntityId) {
        let util_avg = self.queues[below.index()].avg.util_avg;
        let (avg, own) = (&mut self.queues[q.index()].avg, &mut self.entities[id].avg);
        let sum = util_avg * avg.divider();
        add_positive(&mut avg.util_avg, util_avg as i64 - own.util_avg as i64);
        add_positive(&mut avg.util_sum, sum as i64 - own.util_sum as i64);
        (own.util_avg, own.util_sum) = (util_avg, sum);
    }

    /// `update_tg_cfs_runnable`.
    fn update_tg_cfs_runnable(&mut self, q: QueueId, below: QueueId, id: EntityId) {
        let runnable_avg = self.queues[below.index()].avg.runnable_avg;
        let (avg, own) = (&mut self.queues[q.index()].avg, &mut self.entities[id].avg);
        let sum = runnable_avg * avg.divider();
        add_positive(&mut avg.runnable_avg, runnable_avg as i64 - own.runnable_avg as i64);
        add_positive(&mut avg.runnable_sum, sum as i64 - own.runnable_sum as i64);
        (own.runnable_avg, own.runnable_sum) = (runnable_avg, sum);
    }

    /// `update_tg_cfs_load`: a queue that gains tasks is runnable for as long as they were, at most always; one that loses some
    /// keeps the mean of what is left.
    fn update_tg_cfs_load(&mut self, q: QueueId, below: QueueId, id: EntityId, change: i64) {
        if change == 0 {
            return;
        }
        let gone = &self.queues[below.index()];
        let mean = gone.avg.load_sum.checked_div(gone.weight()).unwrap_or(0);
        let (avg, entity) = (&mut self.queues[q.index()].avg, &mut self.entities[id]);
        let own = &mut entity.avg;
        let divider = avg.divider();
        let runnable_sum = match change > 0 {
            true => (own.load_sum + change.unsigned_abs()).min(divider),
            false => own.load_sum.min(mean),
        };
        let runnable_sum = runnable_sum.max(own.util_sum >> 10);
        let load_sum = entity.weight * runnable_sum;
        let load_avg = load_sum / divider;
        if load_avg == own.load_avg {
            return;
        }
        add_positive(&mut avg.load_avg, load_avg as i64 - own.load_avg as i64);
        add_positive(&mut avg.load_sum, load_sum as i64 - (entity.weight * own.load_sum) as i64);
        (own.load_sum, own.load_avg) = (runnable_sum, load_avg);
        self.rules.bound_load_sum(avg);
    }
}
