//! The real-time class (`kernel/sched/rt.c`): `SCHED_FIFO` and `SCHED_RR`, as load that takes CPUs away from the fair class.
//!
//! The waiting task of highest priority runs, those of one priority in the order of coming; a round-robin task goes behind its
//! equals after [`RR_TIMESLICE_NS`]. A woken task stays on its CPU unless one there runs that it does not preempt: then it
//! goes where the least urgent task runs, near its last CPU first (`find_lowest_rq`). A CPU whose real-time tasks become less
//! urgent pulls a waiting one from elsewhere (`pull_rt_task`). Tasks have at most 95 % of each second of a CPU
//! ([`budget`]).
//!
//! [`classes`] puts this class before the fair one. Left out: pushing (`push_rt_task`), which the search at a wake-up mostly
//! forestalls, groups of real-time tasks, and the part of a CPU's capacity that real-time tasks take in the fair class's
//! eyes (`scale_rt_capacity`): the fair class sees them in numbers of running tasks alone.

mod budget;
pub(crate) mod classes;

use crate::topology::Cpu;
use crate::world::{TaskId, World};
use budget::Budget;
use kernel::{SdFlags, Version};

/// What a round-robin task has before its equals get their turn (`RR_TIMESLICE`).
const RR_TIMESLICE_NS: u64 = 100_000_000;

/// A task of the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Waiting {
    task: TaskId,
    /// 1 to 99, 99 the most urgent.
    priority: u8,
    round_robin: bool,
    /// What is left of its turn.
    slice_ns: u64,
}

/// One CPU's queue (`struct rt_rq`).
#[derive(Debug, Clone, Default)]
struct RtQueue {
    /// Who waits, the most urgent first, equals in the order of coming.
    waiting: Vec<Waiting>,
    curr: Option<Waiting>,
    since_ns: u64,
    /// Whether somebody else waits for the CPU's time, or nobody gets more than the budget anyway.
    bounded: bool,
    budget: Budget,
}

/// The class's queues.
#[derive(Debug)]
pub(crate) struct Rt {
    queues: Vec<RtQueue>,
    /// Idle CPUs keep what is not theirs, too (up to 6.11; from 6.12 on the fair class has a server instead).
    always_bounded: bool,
}

impl Rt {
    pub(crate) fn new(cpus: usize, release: Version) -> Rt {
        let always_bounded = release < Version::new(6, 12);
        Rt { queues: vec![RtQueue::default(); cpus], always_bounded }
    }

    /// The priority of the most urgent task of `cpu`, running or not; 0 without one (`rt.highest_prio.curr`).
    fn highest(&self, cpu: Cpu) -> u8 {
        let queue = &self.queues[cpu as usize];
        let waiting = queue.waiting.first().map_or(0, |w| w.priority);
        queue.curr.map_or(0, |w| w.priority).max(waiting)
    }

    /// Whether `cpu` has a task of the class.
    fn is_runnable(&self, cpu: Cpu) -> bool {
        self.highest(cpu) > 0
    }

    /// `select_task_rq_rt` of a task that wakes or is new.
    fn select(&self, w: &World, task: TaskId, priority: u8) -> Cpu {
        let prev = w.tasks[task.index()].cpu;
        if !w.allowed(task, prev) {
            return self.find_lowest_rq(w, task, priority).unwrap_or(prev);
        }
        let runs = self.queues[prev as usize].curr;
        if runs.is_none_or(|curr| curr.priority < priority) {
            return prev;
        }
        self.find_lowest_rq(w, task, priority).unwrap_or(prev)
    }

    /// `find_lowest_rq`: of the CPUs whose most urgent task is the least urgent, and less than this one, the nearest.
    fn find_lowest_rq(&self, w: &World, task: TaskId, priority: u8) -> Option<Cpu> {
        let prev = w.tasks[task.index()].cpu;
        let usable = || w.topo.online.iter().copied().filter(|&c| w.allowed(task, c));
        let least = usable().map(|c| self.highest(c)).min().filter(|&least| least < priority)?;
        let lowest = |c: Cpu| w.allowed(task, c) && self.highest(c) == least;
        if lowest(prev) {
            return Some(prev);
        }
        let near = w.topo.domains[prev as usize].iter();
        let near = near.filter(|d| d.flags.contains(SdFlags::WAKE_AFFINE));
        let mut by_level =
            near.filter_map(|d| d.span.iter().map(|c| c as Cpu).find(|&c| lowest(c)));
        by_level.next().or_else(|| usable().find(|&c| lowest(c)))
    }

    /// `__enqueue_rt_entity`: behind its equals, or before them where it was preempted.
    fn insert(&mut self, cpu: Cpu, entry: Waiting, ahead: bool) {
        let waiting = &mut self.queues[cpu as usize].waiting;
        let at = waiting.partition_point(|w| {
            if ahead { w.priority > entry.priority } else { w.priority >= entry.priority }
        });
        waiting.insert(at, entry);
    }

    /// `dequeue_task_rt`; it may run.
    fn remove(&mut self, w: &World, cpu: Cpu, task: TaskId) -> Option<Waiting> {
        self.charge(w, cpu);
        let queue = &mut self.queues[cpu as usize];
        if let Some(curr) = queue.curr.filter(|curr| curr.task == task) {
            queue.curr = None;
            return Some(curr);
        }
        let at = queue.waiting.iter().position(|w| w.task == task)?;
        Some(queue.waiting.remove(at))
    }

    /// `update_curr_rt`.
    fn charge(&mut self, w: &World, cpu: Cpu) {
        let queue = &mut self.queues[cpu as usize];
        if let Some(curr) = &mut queue.curr {
            let ran_ns = w.now_ns - queue.since_ns;
            queue.since_ns = w.now_ns;
            curr.slice_ns = curr.slice_ns.saturating_sub(ran_ns);
            if queue.bounded {
                queue.budget.charge(w.now_ns, ran_ns);
            }
        }
    }

    /// `put_prev_task_rt`: who was preempted is the first of its equals.
    fn put(&mut self, w: &World, cpu: Cpu) {
        self.charge(w, cpu);
        if let Some(curr) = self.queues[cpu as usize].curr.take() {
            self.insert(cpu, curr, true);
        }
    }

    /// `pick_next_task_rt`; `others` says whether the fair class has something to run.
    fn pick(&mut self, w: &World, cpu: Cpu, others: bool) -> Option<TaskId> {
        let queue = &mut self.queues[cpu as usize];
        queue.bounded = self.always_bounded || others;
        if queue.waiting.is_empty() || queue.bounded && queue.budget.is_used_up(w.now_ns) {
            return None;
        }
        let next = queue.waiting.remove(0);
        (queue.curr, queue.since_ns) = (Some(next), w.now_ns);
        Some(next.task)
    }

    /// `task_tick_rt`; whether the CPU must choose again.
    fn tick(&mut self, w: &World, cpu: Cpu, others: bool) -> bool {
        self.charge(w, cpu);
        let queue = &mut self.queues[cpu as usize];
        queue.bounded = self.always_bounded || others;
        let Some(curr) = &mut queue.curr else { return false };
        if queue.bounded && queue.budget.is_used_up(w.now_ns) {
            return true;
        }
        if !curr.round_robin || curr.slice_ns > 0 {
            return false;
        }
        curr.slice_ns = RR_TIMESLICE_NS;
        let equals = queue.waiting.first().is_some_and(|w| w.priority == curr.priority);
        if let Some(curr) = queue.curr.filter(|_| equals) {
            queue.curr = None;
            self.insert(cpu, curr, false);
        }
        equals
    }

    /// `pull_rt_task`: the most urgent waiting task of another CPU that may run on `cpu` and is more urgent than what is there.
    fn pullable(&self, w: &World, cpu: Cpu) -> Option<(Cpu, TaskId)> {
        let mut best: Option<(u8, Cpu, TaskId)> = None;
        for &from in w.topo.online.iter().filter(|&&from| from != cpu) {
            // Who waits behind the running task; one that is about to run there stays.
            let queue = &self.queues[from as usize];
            let Some(curr) = queue.curr else { continue };
            let mut waiting = queue.waiting.iter().filter(|w| w.priority <= curr.priority);
            let Some(first) = waiting.find(|entry| w.allowed(entry.task, cpu)) else { continue };
            if best.is_none_or(|(priority, ..)| first.priority > priority) {
                best = Some((first.priority, from, first.task));
            }
        }
        best.filter(|b| b.0 > self.highest(cpu)).map(|(_, from, task)| (from, task))
    }

    /// When a CPU whose tasks have had their part may run them again.
    fn due_ns(&self, now_ns: u64) -> Option<u64> {
        let bounded = self.queues.iter().filter(|q| q.curr.is_none() && !q.waiting.is_empty());
        bounded.filter_map(|q| q.budget.refill_ns(now_ns)).min()
    }
}
