//! Queues and tasks as a kernel has them.

use super::cfs_rq::{CfsRq, VirtualTime};
use super::entity::Entity;
use super::ids::EntityId;
use super::rq::RunQueue;
use super::weight::scale_load;
use crate::fair::track::util_est::UtilEst;
use crate::pelt::Pelt;
use crate::source::{Averages, QueueState, TaskState};
use crate::topology::Cpu;
use crate::world::TaskId;

/// The task of a pid; none for 0, the idle task.
pub(in crate::fair) fn task_of(pid: i64) -> Option<TaskId> {
    u32::try_from(pid).ok().filter(|&pid| pid > 0).map(TaskId)
}

fn entity_of(pid: i64) -> Option<EntityId> {
    task_of(pid).map(EntityId::from)
}

/// Averages alone: decisions read no sums.
fn averages(seen: &Averages) -> Pelt {
    Pelt {
        load_avg: seen.load,
        runnable_avg: seen.runnable,
        util_avg: seen.util,
        ..Pelt::default()
    }
}

impl Entity {
    /// A task as a kernel has it.
    pub(in crate::fair) fn seen(state: &TaskState) -> Entity {
        Entity {
            weight: state.weight,
            load: scale_load(state.weight),
            group: 0,
            idle: false,
            batch: false,
            runnable: 0,
            vruntime: state.vruntime,
            exec_start_ns: state.exec_start_ns,
            sum_exec_ns: state.sum_exec_ns,
            prev_sum_exec_ns: state.prev_sum_exec_ns,
            on_rq: state.on_rq != 0,
            deadline: state.deadline,
            rel_deadline: state.rel_deadline != 0,
            vlag: state.lag,
            slice_ns: state.slice_ns,
            custom_slice: state.custom_slice != 0,
            protected: state.protected,
            delayed: state.delayed != 0,
            attached: state.attached != 0,
            avg: averages(&state.averages),
            util_est: UtilEst::of(state.util_est_last, state.util_est),
            wakee_flips: state.wakee_flips,
            wakee_flip_decay: state.flip_decay,
            last_wakee: task_of(state.last_wakee),
            recent_used_cpu: state.recent_used_cpu as Cpu,
        }
    }
}

impl CfsRq {
    /// Takes over a queue as a kernel has it, with those who wait by their keys, the leftmost last.
    pub(in crate::fair) fn adopt(&mut self, state: &QueueState, waiting: Vec<(u64, EntityId)>) {
        self.set_waiting(waiting);
        self.curr = entity_of(state.current_fair);
        self.used_up = false;
        self.nr_queued = state.nr_queued;
        self.h_nr_queued = state.nr_queued;
        self.h_nr_delayed = state.nr_delayed;
        self.load = scale_load(state.weight);
        self.min_vruntime = state.min_vruntime;
        self.virtual_time = VirtualTime {
            weighted: state.weighted_vruntime,
            load: state.weight_waiting,
            zero: state.min_vruntime,
        };
        (self.next, self.last, self.skip) =
            (entity_of(state.next), entity_of(state.last), entity_of(state.skip));
        self.put = None;
        self.avg = averages(&state.averages);
        self.h_load = state.h_load;
        self.h_load_tick = state.h_load_tick;
        self.util_est = state.util_est;
    }
}

impl RunQueue {
    /// Takes over a CPU's idle times as a kernel has them.
    pub(in crate::fair) fn adopt(&mut self, state: &QueueState) {
        self.put = None;
        self.idle_since_ns = Some(state.idle_since_ns).filter(|&since_ns| since_ns > 0);
        self.avg_idle_ns = state.avg_idle_ns;
        self.wake_avg_idle_ns = state.wake_avg_idle_ns;
        self.wake_stamp = state.wake_stamp;
    }
}
