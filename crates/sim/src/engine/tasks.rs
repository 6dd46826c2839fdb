//! Tasks coming to life, waking up and moving.
//!
//! A wake-up asks the class for a CPU (`select_cpu`), notes the move, enqueues, and tells that CPU: an idle one leaves idle,
//! a busy one chooses again if the task preempts. The order is the kernel's, as what the class reads in between depends on
//! it. Counters and the trace hear of each move here and nowhere else, but for those that the balancer makes.

use super::Sim;
use crate::class::{Class, Enqueue, Select};
use crate::events::NEVER;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Phase, State, Task, TaskId};
use machine::CpuSet;
use workload::{ProgramId, Spawn};

impl<C: Class, T: Trace> Sim<'_, C, T> {
    fn add_task(&mut self, new: Task) -> TaskId {
        let task = TaskId(self.w.tasks.len() as u32);
        let (program, parent, nice) = (new.program, new.parent, new.nice);
        self.progress.active += u32::from(!new.daemon);
        self.w.tasks.push(Task { mm: task.0, ..new });
        if let Some(uclamp) = &mut self.w.uclamp {
            uclamp.fork(parent);
        }
        self.timeline.events.add_slot();
        let name = &self.setup.workload.programs[program.0 as usize].name;
        self.trace.created(self.w.now_ns, task, name, &self.w.tasks[task.index()].allowed);
        if nice != 0 {
            self.trace.nice(self.w.now_ns, task, nice);
        }
        self.class.fork(&mut self.w, task, parent);
        task
    }

    /// A task of the start: asleep on a random CPU that it may use, its timer running.
    pub(super) fn spawn(&mut self, spawn: &Spawn) {
        let possible = CpuSet::first_n(self.w.topo.nr_cpus);
        let affinity = spawn.affinity.as_ref().map_or(possible, |set| self.affinity_of(set));
        let allowed = &affinity & &self.w.topo.online_set;
        let nth = self.draws.start.below(allowed.len() as u64) as usize;
        let cpu = allowed.iter().nth(nth).unwrap_or(0) as Cpu;
        let task = self.add_task(Task {
            nice: spawn.nice,
            daemon: spawn.daemon,
            affinity,
            ..Task::new(spawn.program, cpu, allowed)
        });
        let wake_ns = spawn.first_wake_ns + self.draws.start.below(spawn.within_ns + 1);
        self.start_timer(task, wake_ns);
    }

    /// `fork`: the child, a thread if it shares the address space, is queued where the class wants it.
    pub(super) fn fork(&mut self, cpu: Cpu, parent: TaskId, program: ProgramId, thread: bool) {
        let p = &self.w.tasks[parent.index()];
        let child = self.add_task(Task {
            nice: p.nice,
            daemon: p.daemon,
            client: p.client,
            parent: Some(parent),
            affinity: p.affinity.clone(),
            ..Task::new(program, cpu, p.allowed.clone())
        });
        self.w.tasks[parent.index()].children += 1;
        if thread {
            self.w.tasks[child.index()].mm = self.w.tasks[parent.index()].mm;
        }
        let target = self.class.select_cpu(&mut self.w, child, Select::Fork(cpu));
        self.place(child, target);
        let new = &mut self.w.tasks[child.index()];
        new.state = State::Runnable;
        new.queued_ns = self.w.now_ns;
        self.class.enqueue(&mut self.w, child, Enqueue::New);
        self.w.uclamp_inc(child);
        self.trace.wakeup_new(self.w.now_ns, child, cpu, target);
        self.tell_runnable(target);
        self.announce(child, cpu);
    }

    pub(super) fn start_timer(&mut self, task: TaskId, at_ns: u64) {
        let cpu = self.w.tasks[task.index()].cpu;
        self.timeline.sleepers[cpu as usize].push((at_ns, task));
        self.set_alarm(task, at_ns);
    }

    /// An interrupt will wake `task`, which idle CPUs do not know of beforehand unless it is a timer's.
    pub(super) fn set_alarm(&mut self, task: TaskId, at_ns: u64) {
        let t = &mut self.w.tasks[task.index()];
        t.timer_cpu = t.cpu;
        self.timeline.events.set(self.timeline.slots.task(task), at_ns);
    }

    /// A sleep is over: the timer's or the device's interrupt on the CPU where it was started wakes the task.
    pub(super) fn timer_event(&mut self, task: TaskId) {
        let cpu = self.w.tasks[task.index()].timer_cpu;
        self.here = cpu;
        self.timeline.sleepers[cpu as usize].retain(|s| s.1 != task);
        if self.w.cpus[cpu as usize].phase == Phase::Running {
            self.settle(cpu);
            self.w.charge(cpu, self.w.hw.tick_cycles);
        }
        self.wake(task, cpu, None, false);
        // What is due on this CPU at once, leaving a polling idle state above all, needs no event of its own.
        self.cpu_event(cpu);
    }

    /// `try_to_wake_up` on `cpu`, by `waker` or by an interrupt.
    pub(super) fn wake(&mut self, task: TaskId, cpu: Cpu, waker: Option<TaskId>, sync: bool) {
        if self.w.cpus[cpu as usize].phase == Phase::Running {
            self.w.charge(cpu, self.w.hw.wakeup_cycles);
        }
        let from = self.w.tasks[task.index()].cpu;
        self.trace.waking(self.w.now_ns, task, cpu, waker, from);
        let mut onto_idle = false;
        let target = if self.class.requeue(&mut self.w, task) {
            from
        } else {
            let why = Select::Wake { cpu, sync, waker };
            let target = self.class.select_cpu(&mut self.w, task, why);
            let migrated = target != from;
            onto_idle = self.w.idle_cpu(target);
            if migrated {
                self.class.migrate(&mut self.w, task);
                self.place(task, target);
            }
            self.class.enqueue(&mut self.w, task, Enqueue::Wakeup { migrated });
            target
        };
        self.w.uclamp_inc(task);
        let t = &mut self.w.tasks[task.index()];
        self.progress.active += u32::from(!t.daemon && t.state != State::Sleeping);
        t.state = State::Runnable;
        t.queued_ns = self.w.now_ns;
        t.woken = true;
        let waited_for_io = std::mem::take(&mut t.in_iowait);
        self.w.cpus[from as usize].nr_iowait -= u32::from(waited_for_io);
        self.w.counters.wakeups += 1;
        self.w.counters.wakeups_to_idle += u64::from(onto_idle);
        self.trace.wakeup(self.w.now_ns, task, cpu, target);
        self.tell_runnable(target);
        let distance = self.w.topo.distance(cpu, target);
        self.w.counters.wakeups_by_distance[distance as usize] += 1;
        if waker.is_some() {
            self.w.tasks[task.index()].fetch += self.w.hw.wakeup_fetch_cycles(distance);
        }
        self.announce(task, cpu);
    }

    /// Notes the CPU of a task that is not queued.
    pub(super) fn place(&mut self, task: TaskId, target: Cpu) {
        let from = self.w.tasks[task.index()].cpu;
        if from != target {
            let distance = self.w.topo.distance(from, target);
            self.w.counters.placements_by_distance[distance as usize] += 1;
            self.w.tasks[task.index()].cpu = target;
            self.trace.migrate(self.w.now_ns, task, from, target);
        }
    }

    /// A task was queued by something on `from`: wakes its CPU, or makes it choose again if the task preempts.
    pub(super) fn announce(&mut self, task: TaskId, from: Cpu) {
        let cpu = self.w.tasks[task.index()].cpu;
        let phase = self.w.cpus[cpu as usize].phase;
        match phase {
            Phase::Idle { .. } => self.leave_idle(cpu, from),
            Phase::Offline | Phase::Waking => {}
            Phase::Running if self.w.cpus[cpu as usize].curr.is_none() => self.resched(cpu, from),
            Phase::Running if self.class.preempts(&mut self.w, task) => {
                if cpu == from {
                    self.w.cpus[cpu as usize].need_resched = true;
                    self.w.cpus[cpu as usize].resched_ns = NEVER;
                } else {
                    self.resched(cpu, from);
                }
            }
            Phase::Running => {}
        }
    }
}
