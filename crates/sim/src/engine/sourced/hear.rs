//! What the kernel tells: its tracepoints, interrupts that it sends, timers that it sets.

use super::{Half, Sourced};
use crate::SimError;
use crate::engine::Sim;
use crate::events::NEVER;
use crate::source::{Event, Source, irq};
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{State, TaskId};
use workload::Policy;

/// Whether a task of the workload has a class above the fair one.
pub(super) fn is_higher(tasks: &[Option<TaskId>], halves: &[Half], pid: i64) -> bool {
    let task = tasks.get(pid as usize).copied().flatten();
    task.is_some_and(|task| !halves[task.index()].policy.is_fair())
}

impl<S: Source, T: Trace> Sim<'_, Sourced<'_, S>, T> {
    /// Takes up what happened in a turn.
    pub(super) fn hear(&mut self) {
        if let Some(judge) = &mut self.core.judge {
            self.core.source.take_decisions(&mut self.core.decisions);
            self.core.decisions.drain(..).for_each(|made| judge.judge(&made));
        }
        let mut heard = std::mem::take(&mut self.core.heard);
        self.core.source.take_events(&mut heard);
        for event in heard.drain(..) {
            if let Some(inspector) = &mut self.core.inspector {
                let (tasks, halves) = (&self.core.tasks, &self.core.halves);
                inspector.heard(self.w.now_ns, &event, &|pid| is_higher(tasks, halves, pid));
            }
            match event {
                Event::Timer { cpu, at_ns } => self.timer_set(cpu as Cpu, at_ns),
                Event::Interrupt { from, to, irqs } => {
                    self.core.irqs[to as usize] |= irqs;
                    if irqs & irq::START != 0 {
                        self.switched_on(to as Cpu);
                    }
                    self.resched(to as Cpu, from as Cpu);
                }
                Event::Switch { cpu, previous, next } => self.switched(cpu as Cpu, previous, next),
                Event::Waking { cpu, pid, by_interrupt } => {
                    if let Some(task) = self.core.task(pid) {
                        self.waking(task, cpu as Cpu, by_interrupt);
                    }
                }
                Event::Wakeup { pid, onto_idle } => {
                    if let Some(task) = self.core.task(pid) {
                        self.woken(task, onto_idle);
                    }
                }
                Event::WakeupNew { cpu, pid, to } => {
                    self.forked(cpu as Cpu, pid, to as Cpu);
                }
                Event::Util { cpu, for_io, by } => {
                    self.w.cpus[cpu as usize].woken_from_io |= for_io;
                    self.core.util_changes.push(cpu as Cpu);
                    self.govern(by as Cpu);
                }
                Event::Clock { cpu, khz, of_policy } => self.requested(cpu as Cpu, khz, of_policy),
                Event::Migrate { pid, to, pushed } => {
                    if let Some(task) = self.core.task(pid) {
                        self.migrated(task, to as Cpu, pushed);
                    }
                }
                Event::Refused { pid, error } => self.refused(pid, error),
                Event::Switched { answer } => self.switched_cpu(answer),
            }
        }
        self.core.heard = heard;
    }

    /// The running task of `cpu` has forked `pid`, which can run on `to`; kernel threads fork, too.
    fn forked(&mut self, cpu: Cpu, pid: i64, to: Cpu) {
        let Some(parent) = self.w.cpus[cpu as usize].curr else { return };
        let Some(child) = self.core.halves[parent.index()].forks.take() else { return };
        self.core.know(child, pid);
        let new = &mut self.w.tasks[child.index()];
        new.state = State::Runnable;
        new.queued_ns = self.w.now_ns;
        self.place(child, to);
        self.charge_fork(cpu, to);
        self.trace.wakeup_new(self.w.now_ns, child, cpu, to);
    }

    /// `task` asks for a policy.
    pub(super) fn asks_for_policy(&mut self, task: TaskId, policy: Policy) {
        self.core.halves[task.index()].policy = policy;
    }

    /// rt-app ends with an error, too.
    fn refused(&mut self, pid: i64, error: i64) {
        let Some(task) = self.core.task(pid) else { return };
        let name = &self.setup.workload.programs[self.w.tasks[task.index()].program.index()].name;
        let policy = self.core.halves[task.index()].policy;
        let answer = std::io::Error::from_raw_os_error(-error as i32);
        let reason = format!("task `{name}` asks for {policy}, which the kernel refuses: {answer}");
        self.core.failure.get_or_insert(SimError::Source { reason });
    }

    fn timer_set(&mut self, cpu: Cpu, at_ns: Option<u64>) {
        let at_ns = at_ns.map_or(NEVER, |at| at.saturating_sub(self.core.base_ns));
        let c = &mut self.w.cpus[cpu as usize];
        if c.tick_ns != at_ns {
            c.tick_ns = at_ns.max(self.w.now_ns);
            self.arm(cpu);
        }
    }

    fn switched(&mut self, cpu: Cpu, previous: i64, next: i64) {
        let (before, after) = (self.core.task(previous), self.core.task(next));
        self.w.cpus[cpu as usize].curr = after;
        if self.memory.paced {
            self.leave_pace(cpu);
        }
        self.w.counters.switches += 1;
        if before != after {
            self.trace.switch(self.w.now_ns, cpu, before, after);
        }
        if after.is_some() || next == 0 {
            self.w.note_switch(before, after);
        } else if let Some(task) = before {
            self.w.tasks[task.index()].queued_ns = self.w.now_ns;
        }
        match after {
            Some(task) => {
                self.w.tasks[task.index()].cpu = cpu;
                self.load(cpu, task);
            }
            None if next != 0 => self.w.charge_kernel(cpu, self.w.hw.kernel.thread_switch),
            None => {}
        }
    }

    fn waking(&mut self, task: TaskId, cpu: Cpu, by_interrupt: bool) {
        let half = &mut self.core.halves[task.index()];
        (half.waking_on, half.by_task, half.waking) = (cpu, !by_interrupt, true);
        let waker = self.w.cpus[cpu as usize].curr.filter(|_| !by_interrupt);
        let from = self.w.tasks[task.index()].cpu;
        self.trace.waking(self.w.now_ns, task, cpu, waker, from);
    }

    fn woken(&mut self, task: TaskId, onto_idle: bool) {
        let half = &mut self.core.halves[task.index()];
        half.waking = false;
        let cpu = half.waking_on;
        let t = &mut self.w.tasks[task.index()];
        t.queued_ns = self.w.now_ns;
        let target = t.cpu;
        // The kernel's own timer has woken it.
        if t.state == State::Sleeping {
            self.runnable_again(task);
        }
        self.w.counters.wakeups_to_idle += u64::from(onto_idle);
        self.count_wakeup(task, cpu, target, onto_idle);
    }

    fn migrated(&mut self, task: TaskId, to: Cpu, pushed: bool) {
        if !self.w.tasks[task.index()].affinity.contains(to as usize) {
            self.affinity_broken(task, to);
        }
        let placed = self.core.halves[task.index()].waking
            || self.w.tasks[task.index()].state != State::Runnable;
        if placed || pushed {
            self.w.counters.hotplug_moved += u64::from(!placed);
            self.place(task, to);
            return;
        }
        let from = std::mem::replace(&mut self.w.tasks[task.index()].cpu, to);
        self.w.counters.balanced_by_distance[self.w.topo.distance(from, to) as usize] += 1;
        self.trace.migrate(self.w.now_ns, task, from, to);
    }
}
