//! The real-time class before the fair one: who is asked about a task is decided by its policy.

use super::{RR_TIMESLICE_NS, Rt, Waiting};
use crate::class::{Class, Dequeue, Enqueue, Faulted, Hint, Select};
use crate::counters::Counters;
use crate::events::NEVER;
use crate::fair::Fair;
use crate::topology::Cpu;
use crate::world::{NohzKick, Request, TaskId, World};
use kernel::Version;
use workload::Policy;

/// Both classes.
#[derive(Debug)]
pub(crate) struct Classes {
    fair: Fair,
    rt: Rt,
    /// By task.
    policies: Vec<Policy>,
    /// By CPU: the running task, where it has changed its policy and its old class has put it already.
    put: Vec<Option<TaskId>>,
    timer_ns: u64,
}

/// Priority and kind of a real-time policy.
fn urgent(policy: Policy) -> Option<(u8, bool)> {
    match policy {
        Policy::Fifo { priority } => Some((priority, false)),
        Policy::RoundRobin { priority } => Some((priority, true)),
        Policy::Other | Policy::Batch | Policy::Idle | Policy::Deadline { .. } => None,
    }
}

impl Classes {
    /// Classes of `cpus` under `release`, around the fair one.
    pub(crate) fn new(fair: Fair, cpus: usize, release: Version) -> Classes {
        let rt = Rt::new(cpus, release);
        Classes { fair, rt, policies: Vec::new(), put: vec![None; cpus], timer_ns: NEVER }
    }

    fn urgent(&self, task: TaskId) -> Option<(u8, bool)> {
        urgent(self.policies[task.index()])
    }

    fn enqueue_rt(&mut self, w: &mut World, task: TaskId, (priority, round_robin): (u8, bool)) {
        let cpu = w.tasks[task.index()].cpu;
        let entry = Waiting { task, priority, round_robin, slice_ns: RR_TIMESLICE_NS };
        self.rt.insert(cpu, entry, false);
        self.fair.told_other(w, cpu, true);
    }

    fn dequeue_rt(&mut self, w: &mut World, task: TaskId) {
        let cpu = w.tasks[task.index()].cpu;
        if self.rt.remove(w, cpu, task).is_some() {
            self.fair.told_other(w, cpu, false);
        }
    }

    /// `balance_rt`: takes a waiting task from elsewhere that is more urgent than what `cpu` has.
    fn pull(&mut self, w: &mut World, cpu: Cpu) {
        if let Some((_, task)) = self.rt.pullable(w, cpu)
            && let Some(policy) = self.urgent(task)
        {
            self.dequeue_rt(w, task);
            w.balance_to(task, cpu);
            self.enqueue_rt(w, task, policy);
        }
    }

    fn note_timer(&mut self, w: &World) {
        self.timer_ns = self.rt.due_ns(w.now_ns).unwrap_or(NEVER);
    }
}

impl Class for Classes {
    fn fork(&mut self, w: &mut World, task: TaskId, parent: Option<TaskId>) {
        self.policies.push(parent.map_or(Policy::Other, |p| self.policies[p.index()]));
        self.fair.fork(w, task, parent);
    }

    fn select_cpu(&mut self, w: &mut World, task: TaskId, why: Select) -> Cpu {
        match (self.urgent(task), why) {
            (None, _) => self.fair.select_cpu(w, task, why),
            (Some(_), Select::Exec) => w.tasks[task.index()].cpu,
            (Some((priority, _)), Select::Fork(_) | Select::Wake { .. }) => {
                self.rt.select(w, task, priority)
            }
        }
    }

    fn migrate(&mut self, w: &mut World, task: TaskId) {
        if self.urgent(task).is_none() {
            self.fair.migrate(w, task);
        }
    }

    fn enqueue(&mut self, w: &mut World, task: TaskId, why: Enqueue) {
        match self.urgent(task) {
            Some(policy) => {
                self.fair.told_woken(w, task, why);
                self.enqueue_rt(w, task, policy);
            }
            None => self.fair.enqueue(w, task, why),
        }
    }

    fn dequeue(&mut self, w: &mut World, task: TaskId, why: Dequeue) {
        match self.urgent(task) {
            Some(_) => self.dequeue_rt(w, task),
            None => self.fair.dequeue(w, task, why),
        }
    }

    fn requeue(&mut self, w: &mut World, task: TaskId) -> bool {
        self.urgent(task).is_none() && self.fair.requeue(w, task)
    }

    fn yield_task(&mut self, w: &mut World, cpu: Cpu, task: TaskId) {
        match self.urgent(task) {
            Some(_) => {
                if let Some(entry) = self.rt.remove(w, cpu, task) {
                    self.rt.insert(cpu, entry, false);
                }
            }
            None => self.fair.yield_task(w, cpu, task),
        }
    }

    fn reweight(&mut self, w: &mut World, task: TaskId, nice: i8) {
        self.fair.reweight(w, task, nice);
    }

    fn set_slice(&mut self, w: &mut World, task: TaskId, slice_ns: u64) {
        self.fair.set_slice(w, task, slice_ns);
    }

    fn set_policy(&mut self, w: &mut World, task: TaskId, policy: Policy) {
        let cpu = w.tasks[task.index()].cpu;
        let was = self.urgent(task);
        if was.is_none() && policy.is_fair() {
            self.policies[task.index()] = policy;
            self.fair.set_policy(w, task, policy);
            return;
        }
        // The old class lets go of the running task, and the new one has it wait for the choice that follows.
        self.dequeue(w, task, Dequeue::Move);
        if was.is_none() {
            self.fair.put_prev(w, cpu, task);
        }
        self.put[cpu as usize] = Some(task);
        self.policies[task.index()] = policy;
        if policy.is_fair() {
            self.fair.set_policy(w, task, policy);
        }
        self.enqueue(w, task, Enqueue::Moved);
    }

    fn hinting_faults(&mut self, w: &mut World, task: TaskId, hints: &[Hint]) -> Faulted {
        self.fair.hinting_faults(w, task, hints)
    }

    fn numa_move(&mut self, w: &mut World, task: TaskId, to: Cpu) {
        if self.urgent(task).is_none() {
            self.fair.numa_move(w, task, to);
        }
    }

    fn dead(&mut self, w: &mut World, task: TaskId) {
        self.fair.dead(w, task);
    }

    fn preempts(&mut self, w: &mut World, task: TaskId) -> bool {
        let cpu = w.tasks[task.index()].cpu;
        let running = w.cpus[cpu as usize].curr.and_then(|curr| self.urgent(curr));
        match (self.urgent(task), running) {
            (Some((own, _)), Some((other, _))) => own > other,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => self.fair.preempts(w, task),
        }
    }

    fn put_prev(&mut self, w: &mut World, cpu: Cpu, task: TaskId) {
        if self.put[cpu as usize].take() == Some(task) {
            return;
        }
        match self.urgent(task) {
            Some(_) => self.rt.put(w, cpu),
            None => self.fair.put_prev(w, cpu, task),
        }
    }

    fn pick_next(&mut self, w: &mut World, cpu: Cpu) -> Option<TaskId> {
        self.pull(w, cpu);
        let others = self.fair.has_tasks(cpu);
        let next = self.rt.pick(w, cpu, others);
        self.note_timer(w);
        if next.is_some() {
            self.fair.forget_put(cpu);
            return next;
        }
        self.fair.pick_next(w, cpu)
    }

    fn tick(&mut self, w: &mut World, cpu: Cpu) -> bool {
        let others = self.fair.has_tasks(cpu);
        let resched = self.rt.tick(w, cpu, others);
        self.fair.tick(w, cpu) | resched
    }

    fn newidle(&mut self, w: &mut World, cpu: Cpu) -> bool {
        self.fair.newidle(w, cpu)
    }

    fn idle(&mut self, w: &mut World, cpu: Cpu, tick_stopped: bool) {
        self.fair.idle(w, cpu, tick_stopped);
    }

    fn nohz_balance(&mut self, w: &mut World, cpu: Cpu, kick: NohzKick) {
        self.fair.nohz_balance(w, cpu, kick);
    }

    fn rebuild_domains(&mut self, w: &mut World, cpu: Cpu, online: bool) {
        // On a CPU that goes, nothing is withheld (`__disable_runtime`).
        self.rt.queues[cpu as usize].budget = Default::default();
        self.fair.rebuild_domains(w, cpu, online);
    }

    fn stopper_wakes(&mut self, w: &World, cpu: Cpu) {
        self.fair.stopper_wakes(w, cpu);
    }

    fn push(&mut self, w: &mut World, from: Cpu, to: Cpu) -> bool {
        self.fair.push(w, from, to)
    }

    fn timer_ns(&self) -> u64 {
        self.timer_ns.min(self.fair.timer_ns())
    }

    fn timer(&mut self, w: &mut World) {
        if self.fair.timer_ns() <= w.now_ns {
            self.fair.timer(w);
        }
        for at in 0..self.rt.queues.len() {
            if self.rt.queues[at].curr.is_none() && !self.rt.queues[at].waiting.is_empty() {
                w.requests.push(Request::Resched(at as Cpu));
            }
        }
        self.note_timer(w);
    }

    fn count(&self, counters: &mut Counters) {
        self.fair.count(counters);
    }

    fn watch_util(&mut self) {
        self.fair.watch_util();
    }

    fn take_util_changes(&mut self, changed: &mut Vec<Cpu>) {
        self.fair.take_util_changes(changed);
    }

    /// A CPU with a real-time task asks for its highest clock (`uclamp_rt_default`).
    fn util(&self, cpu: Cpu) -> u64 {
        if self.rt.is_runnable(cpu) { 1024 } else { self.fair.util(cpu) }
    }

    fn saturated(&self, cpu: Cpu) -> bool {
        self.fair.saturated(cpu)
    }
}
