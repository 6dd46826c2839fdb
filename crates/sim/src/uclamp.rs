//! Utilisation clamps (`kernel/sched/core.c`, 5.3): tasks ask for at least or at most so much of a CPU, and a run queue has
//! the largest that its runnable tasks ask for.
//!
//! As in the kernel tasks are counted in buckets, of which each has the largest clamp since it was empty. Without task
//! groups and with the sysctls as they start, what a task asks for is what it gets.

use crate::rules::CoreRules;
use crate::topology::Cpu;
use crate::world::TaskId;
use workload::{Op, Workload};

/// Clamps of a full CPU (`SCHED_CAPACITY_SCALE`).
const FULL: u16 = 1024;
/// `CONFIG_UCLAMP_BUCKETS_COUNT`.
const BUCKETS: usize = 5;
/// `UCLAMP_BUCKET_DELTA`: 1024 by 5, rounded.
const BUCKET_WIDTH: u16 = 205;

/// Tasks whose clamps are near each other.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    tasks: u32,
    value: u16,
}

/// One of a queue's two clamps (`uclamp_rq`).
#[derive(Debug, Clone, Copy)]
struct QueueClamp {
    value: u16,
    buckets: [Bucket; BUCKETS],
}

fn bucket_of(value: u16) -> usize {
    usize::from(value / BUCKET_WIDTH).min(BUCKETS - 1)
}

impl QueueClamp {
    fn new(value: u16) -> QueueClamp {
        QueueClamp { value, buckets: [Bucket::default(); BUCKETS] }
    }

    /// `uclamp_rq_inc_id`; on a queue that was `idle` nothing is left of before (`uclamp_idle_reset`).
    fn inc(&mut self, value: u16, idle: bool) {
        let bucket = &mut self.buckets[bucket_of(value)];
        bucket.tasks += 1;
        if bucket.tasks == 1 || value > bucket.value {
            bucket.value = value;
        }
        self.value = if idle { value } else { self.value.max(value) };
    }

    /// `uclamp_rq_dec_id`; `idle_value` is for a queue without tasks (`uclamp_idle_value`).
    fn dec(&mut self, value: u16, idle_value: u16) {
        let bucket = &mut self.buckets[bucket_of(value)];
        bucket.tasks -= 1;
        if bucket.tasks == 0 && bucket.value >= self.value {
            let busy = self.buckets.iter().rev().find(|b| b.tasks > 0);
            self.value = busy.map_or(idle_value, |b| b.value);
        }
    }
}

/// The clamps of a queue.
#[derive(Debug, Clone)]
struct Queue {
    tasks: u32,
    min: QueueClamp,
    max: QueueClamp,
}

/// What a task asks for, and the queue that counts it.
#[derive(Debug, Clone, Copy)]
struct TaskClamps {
    min: u16,
    max: u16,
    counted: Option<Cpu>,
}

/// The clamps of all tasks and queues.
#[derive(Debug)]
pub(crate) struct Uclamp {
    tasks: Vec<TaskClamps>,
    queues: Vec<Queue>,
}

impl Uclamp {
    /// Clamps where the kernel has them and a program sets some (`sched_uclamp_used`).
    pub(crate) fn new(rules: &CoreRules, workload: &Workload, nr_cpus: usize) -> Option<Uclamp> {
        let mut ops = workload.programs.iter().flat_map(|p| &p.ops);
        let used = ops.any(|op| matches!(op, Op::SetUtilClamp { .. }));
        let queue = Queue { tasks: 0, min: QueueClamp::new(0), max: QueueClamp::new(FULL) };
        (rules.uclamp && used).then(|| Uclamp { tasks: Vec::new(), queues: vec![queue; nr_cpus] })
    }

    /// `uclamp_fork`: a task exists, with its parent's clamps.
    pub(crate) fn fork(&mut self, parent: Option<TaskId>) {
        let none = TaskClamps { min: 0, max: FULL, counted: None };
        let inherited = parent.map_or(none, |p| self.tasks[p.index()]);
        self.tasks.push(TaskClamps { counted: None, ..inherited });
    }

    /// `uclamp_rq_inc`: `task` is on the queue of `cpu`, whatever counted it before.
    pub(crate) fn inc(&mut self, task: TaskId, cpu: Cpu) {
        self.dec(task);
        let clamps = &mut self.tasks[task.index()];
        clamps.counted = Some(cpu);
        let queue = &mut self.queues[cpu as usize];
        let idle = queue.tasks == 0;
        queue.tasks += 1;
        queue.min.inc(clamps.min, idle);
        queue.max.inc(clamps.max, idle);
    }

    /// `uclamp_rq_dec`: `task` sleeps or is gone. A queue without tasks keeps the last upper clamp, so that what they
    /// leave does not speed it up.
    pub(crate) fn dec(&mut self, task: TaskId) {
        let clamps = &mut self.tasks[task.index()];
        let Some(cpu) = clamps.counted.take() else { return };
        let queue = &mut self.queues[cpu as usize];
        queue.tasks -= 1;
        queue.min.dec(clamps.min, 0);
        queue.max.dec(clamps.max, clamps.max);
    }

    /// The balancer moved a task; one that sleeps on its queue (delayed) is not counted.
    pub(crate) fn moved(&mut self, task: TaskId, to: Cpu) {
        if self.tasks[task.index()].counted.is_some() {
            self.inc(task, to);
        }
    }

    /// `__setscheduler_uclamp` of a running task.
    pub(crate) fn set(&mut self, task: TaskId, min: Option<u16>, max: Option<u16>) {
        let before = self.tasks[task.index()];
        self.dec(task);
        let clamps = &mut self.tasks[task.index()];
        clamps.min = min.unwrap_or(before.min).min(FULL);
        clamps.max = max.unwrap_or(before.max).min(FULL);
        if let Some(cpu) = before.counted {
            self.inc(task, cpu);
        }
    }

    /// Lower and upper clamp of a queue.
    pub(crate) fn of(&self, cpu: Cpu) -> (u64, u64) {
        let queue = &self.queues[cpu as usize];
        (u64::from(queue.min.value), u64::from(queue.max.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TaskId = TaskId(0);
    const B: TaskId = TaskId(1);
    const C: TaskId = TaskId(2);

    fn rules(major: u16, minor: u16) -> CoreRules {
        CoreRules::new(&kernel::Kernel::new(kernel::Version::new(major, minor)))
    }

    /// Three tasks on two CPUs, the first two with these clamps.
    fn three(a: (u16, u16), b: (u16, u16)) -> Uclamp {
        let queue = Queue { tasks: 0, min: QueueClamp::new(0), max: QueueClamp::new(FULL) };
        let mut u = Uclamp { tasks: Vec::new(), queues: vec![queue; 2] };
        for clamps in [a, b] {
            u.fork(None);
            let last = TaskId(u.tasks.len() as u32 - 1);
            u.set(last, Some(clamps.0), Some(clamps.1));
        }
        u.fork(None);
        u
    }

    #[test]
    fn a_queue_has_the_largest_clamps_of_its_tasks() {
        let mut u = three((100, 300), (500, 700));
        u.inc(A, 0);
        assert_eq!(u.of(0), (100, 300));
        u.inc(B, 0);
        assert_eq!(u.of(0), (500, 700));
        u.inc(C, 0);
        assert_eq!(u.of(0), (500, 1024), "a task without clamps may use all");
        u.dec(C);
        u.dec(B);
        assert_eq!(u.of(0), (100, 300));
        assert_eq!(u.of(1), (0, 1024));
    }

    #[test]
    fn an_idle_queue_keeps_the_last_upper_clamp_only() {
        let mut u = three((100, 300), (0, 200));
        u.inc(A, 0);
        u.dec(A);
        assert_eq!(u.of(0), (0, 300));
        u.inc(B, 0);
        assert_eq!(u.of(0), (0, 200), "what was kept does not outlive the next wake-up");
    }

    /// 205 to 409 are one bucket: its value does not fall before it is empty.
    #[test]
    fn a_bucket_keeps_its_largest_clamp() {
        let mut u = three((210, 1024), (400, 1024));
        u.inc(A, 0);
        u.inc(B, 0);
        u.dec(B);
        assert_eq!(u.of(0).0, 400);
        u.dec(A);
        u.inc(A, 0);
        assert_eq!(u.of(0).0, 210);
        let mut apart = three((204, 1024), (400, 1024));
        apart.inc(A, 0);
        apart.inc(B, 0);
        apart.dec(B);
        assert_eq!(apart.of(0).0, 204, "in a bucket of its own");
    }

    #[test]
    fn clamps_move_with_their_task_and_change_while_it_runs() {
        let mut u = three((600, 1024), (0, 1024));
        u.inc(A, 0);
        u.moved(A, 1);
        assert_eq!((u.of(0).0, u.of(1).0), (0, 600));
        u.set(A, Some(50), None);
        assert_eq!(u.of(1), (50, 1024));
        u.moved(B, 1);
        assert_eq!(u.queues[1].tasks, 1, "a task that sleeps is not counted");
        u.fork(Some(A));
        u.inc(TaskId(3), 0);
        assert_eq!(u.of(0), (50, 1024), "inherited");
    }

    #[test]
    fn clamps_are_there_from_5_3_on_and_where_they_are_used() {
        let mut w = Workload::default();
        assert!(Uclamp::new(&rules(6, 12), &w, 2).is_none());
        w.program("t", vec![Op::SetUtilClamp { min: Some(1), max: None }]);
        assert!(Uclamp::new(&rules(5, 2), &w, 2).is_none());
        assert!(Uclamp::new(&rules(5, 3), &w, 2).is_some());
    }
}
