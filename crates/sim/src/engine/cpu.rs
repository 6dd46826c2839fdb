//! A CPU's life: settling work done, going on with a task, going idle and coming back.
//!
//! Work is counted lazily. [`Sim::settle`] takes off what was done since the CPU was last looked at: kernel work (`debt`)
//! first, then the task's own. [`Sim::aim`] sets when the step at hand will be done at the present rate, and [`Sim::arm`]
//! puts the CPU's next event into the queue. So whoever changes a CPU's rate, task or debt settles before and aims and arms
//! after. [`Sim::proceed`] goes on until the task needs time: it steps, or lets the core choose (`__schedule`), or goes
//! idle. Waking a task is `tasks`' business; what a step does is `steps`'.

use super::Sim;
use super::core::Core;
use crate::events::NEVER;
use crate::idle;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Doing, KERNEL_MM, Phase, TaskId};

/// What a task needs before its CPU can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Time.
    Busy,
    /// Nothing; ask again.
    Again,
    /// A choice by the core: the task sleeps, is gone, moved, or was preempted.
    Resched,
}

impl<K: Core, T: Trace> Sim<'_, K, T> {
    /// Accounts for the time since the last settling: kernel work first, then the task's own.
    pub(super) fn settle(&mut self, cpu: Cpu) {
        self.w.forgive(cpu);
        let now = self.w.now_ns;
        let c = &mut self.w.cpus[cpu as usize];
        let elapsed_ns = now - c.settled_ns;
        c.settled_ns = now;
        if c.phase == Phase::Waking {
            self.w.counters.waking_ns += elapsed_ns;
            c.idle_total_ns += elapsed_ns;
        }
        let (Phase::Running, Some(task)) = (c.phase, c.curr) else { return };
        if elapsed_ns == 0 && c.done_ns > now {
            return;
        }
        let busy = self.w.busy[self.w.topo.pipeline_of[cpu as usize] as usize] as usize;
        let bins = self.w.counters.run_ns_by_busy.len();
        self.w.counters.run_ns_by_busy[busy.min(bins - 1)] += elapsed_ns;
        let task = &mut self.w.tasks[task.index()];
        let own = (task.group as usize).checked_sub(1);
        if let Some(ran_ns) = own.and_then(|at| self.w.counters.group_run_ns.get_mut(at)) {
            *ran_ns += elapsed_ns;
        }
        let doing = &mut task.doing;
        if c.done_ns <= now {
            c.done_ns = NEVER;
            if !matches!(doing, Doing::Until(_) | Doing::Spin(_) | Doing::Units { .. }) {
                c.debt = 0.0;
                if let Doing::AtBarrier { left, .. } = doing {
                    *left = 0.0;
                }
                if let Doing::Cycles(left) = doing {
                    if self.memory.paced {
                        self.memory.paces[cpu as usize].cycles += *left;
                    }
                    *left = 0.0;
                }
                return;
            }
        }
        let cycles = elapsed_ns as f64 * c.rate;
        let for_kernel = cycles.min(c.debt);
        c.debt -= for_kernel;
        let mut for_task = cycles - for_kernel;
        if self.memory.paced {
            for_task /= c.slow;
            self.memory.paces[cpu as usize].cycles += for_task;
        }
        match doing {
            Doing::Cycles(left) => *left = (*left - for_task).max(0.0),
            Doing::AtBarrier { left, .. } => *left = (*left - for_task).max(0.0),
            Doing::Units { unit_cycles, done, .. } => *done += for_task / *unit_cycles,
            Doing::Until(_)
            | Doing::Spin(_)
            | Doing::Nothing
            | Doing::KernelWork
            | Doing::Loaded => {}
        }
    }

    /// Sets when the running task's step will be done at the current rate.
    pub(super) fn aim(&mut self, cpu: Cpu) {
        self.w.forgive(cpu);
        let c = &mut self.w.cpus[cpu as usize];
        c.done_ns = NEVER;
        let (Phase::Running, Some(task)) = (c.phase, c.curr) else { return };
        let left = match self.w.tasks[task.index()].doing {
            Doing::Cycles(left) => left * c.slow + c.debt,
            Doing::AtBarrier { barrier, generation, left } => {
                match self.shared.barriers[barrier.index()].is_past(generation) {
                    true => c.debt,
                    false => left + c.debt,
                }
            }
            Doing::Nothing | Doing::KernelWork | Doing::Loaded => c.debt,
            Doing::Until(at_ns) => {
                c.done_ns = at_ns.max(self.w.now_ns);
                return;
            }
            Doing::Spin(_) | Doing::Units { .. } => return,
        };
        c.done_ns = self.w.now_ns + round_up(left / c.rate);
    }

    /// Puts the CPU's next event into the queue.
    pub(super) fn arm(&mut self, cpu: Cpu) {
        self.timeline
            .events
            .set(self.timeline.slots.cpu(cpu), self.w.cpus[cpu as usize].next_event_ns());
    }

    /// Counts `cpu` in or out of its pipeline's busy threads; the speed of the others changes.
    pub(super) fn set_busy(&mut self, cpu: Cpu, busy: bool) {
        let topo = self.w.topo;
        let pipeline = topo.pipeline_of[cpu as usize] as usize;
        let before = self.w.busy[pipeline];
        let after = if busy { before + 1 } else { before - 1 };
        let rate = self.w.hw.rate(after as usize);
        self.w.cpus[cpu as usize].rate = rate * self.w.cpus[cpu as usize].clock;
        if self.memory.paced {
            self.slow_down(cpu);
        }
        for &sibling in &topo.pipelines[pipeline] {
            let phase = self.w.cpus[sibling as usize].phase;
            // An idle one takes its rate when it leaves idle.
            if sibling == cpu || matches!(phase, Phase::Idle { .. } | Phase::Offline) {
                continue;
            }
            let runs = phase == Phase::Running;
            if runs {
                self.settle(sibling);
            }
            self.w.cpus[sibling as usize].rate = rate * self.w.cpus[sibling as usize].clock;
            if self.memory.paced {
                self.slow_down(sibling);
            }
            if runs {
                self.aim(sibling);
                self.arm(sibling);
            }
        }
        self.w.busy[pipeline] = after;
        if self.frequency.clocks.is_some() {
            self.note_clock(cpu, busy);
        }
    }

    /// Lets the CPU run until its task needs time.
    pub(super) fn proceed(&mut self, cpu: Cpu) {
        while self.w.cpus[cpu as usize].phase == Phase::Running {
            let c = &self.w.cpus[cpu as usize];
            if c.need_resched || c.curr.is_none() {
                K::schedule(self, cpu);
                // What spins for ever takes no time.
                if self.core.has_failed() {
                    return;
                }
                continue;
            }
            let Some(task) = c.curr else { return };
            self.w.forgive(cpu);
            match self.step(cpu, task) {
                Step::Again if self.too_many_steps(task) => return,
                Step::Again => {}
                Step::Resched => self.w.cpus[cpu as usize].need_resched = true,
                Step::Busy => {
                    if self.memory.paced {
                        self.set_pace(cpu, task);
                    }
                    self.aim(cpu);
                    return;
                }
            }
        }
    }

    /// What running another task on `cpu` costs: loading its address space, and fetching what its waker wrote.
    pub(super) fn load(&mut self, cpu: Cpu, task: TaskId) {
        let t = &mut self.w.tasks[task.index()];
        let (mm, fetch) = (t.mm, std::mem::take(&mut t.fetch));
        let woken_cycles = std::mem::take(&mut t.woken_cycles);
        // A thread of the kernel runs in whichever address space is loaded (`enter_lazy_tlb`).
        let same =
            mm == KERNEL_MM || std::mem::replace(&mut self.w.cpus[cpu as usize].mm, mm) == mm;
        let kernel = &self.w.hw.kernel;
        let switch = if same { kernel.thread_switch } else { kernel.switch };
        let switch_cycles = self.w.kernel_cycles(switch);
        self.w.hold_queue(cpu, cpu, self.w.hw.kernel.switch_held);
        self.w.write_own_queue(cpu);
        let clock = self.w.cpus[cpu as usize].clock;
        self.w.charge(cpu, switch_cycles + woken_cycles + fetch.cycles(clock));
    }

    /// The CPU enters an idle state, by its index, from running or from another one.
    pub(super) fn enter_idle(&mut self, cpu: Cpu, state: usize) {
        let now = self.w.now_ns;
        let c = &mut self.w.cpus[cpu as usize];
        let was_idle = matches!(c.phase, Phase::Idle { .. });
        c.phase = Phase::Idle { since_ns: now, state };
        self.trace.idle(now, cpu, Some(state));
        self.w.queue_lines.write(self.w.topo, cpu, cpu, now);
        let c = &mut self.w.cpus[cpu as usize];
        c.debt = 0.0;
        c.done_ns = NEVER;
        if !was_idle {
            self.w.counters.kernel_instructions += self.w.hw.kernel.into_idle as u64;
            self.set_busy(cpu, false);
        }
    }

    /// How long it takes to leave an idle state at the clock of the core of `cpu`, in ns; 0 where the CPU polls.
    pub(super) fn exit_ns(&self, cpu: Cpu, state: usize) -> u64 {
        let exit = self.setup.idle_exits[state];
        let cycles_per_ns = self.w.hw.cycles_per_ns * self.w.cpus[cpu as usize].clock;
        exit.cycles.map_or(exit.ns, |cycles| round_up(cycles / cycles_per_ns))
    }

    /// Takes `cpu` out of idle because of something that happens on `from`; nothing where it is not idle.
    pub(super) fn leave_idle(&mut self, cpu: Cpu, from: Cpu) {
        let Phase::Idle { since_ns, state } = self.w.cpus[cpu as usize].phase else { return };
        let now = self.w.now_ns;
        let exit_ns = self.exit_ns(cpu, state);
        let delay_ns = if cpu == from {
            exit_ns
        } else if exit_ns == 0 {
            self.w.hw.poll_ns
        } else if self.setup.idle_exits[state].mwait {
            exit_ns
        } else {
            self.w.counters.ipis += 1;
            self.w.cpus[cpu as usize].interrupted = true;
            self.w.hw.ipi_ns + exit_ns
        };
        let delay_ns = match self.setup.workload.idle_exit {
            Some(measured) if cpu == from => measured.local_ns,
            Some(measured) => measured.remote_ns,
            None => delay_ns,
        };
        let next_tick_ns = self.w.next_tick_ns();
        let c = &mut self.w.cpus[cpu as usize];
        if K::ENGINE_TICKS {
            self.setup.menu.update(
                &mut c.idle_memory,
                now - since_ns + exit_ns,
                idle::Ended::Woken,
            );
        }
        c.idle_total_ns += now - since_ns;
        self.w.counters.idle_ns += now - since_ns;
        c.phase = Phase::Waking;
        c.resched_ns = NEVER;
        c.wake_ns = now + delay_ns;
        c.settled_ns = now;
        if K::ENGINE_TICKS {
            c.tick_ns = c.tick_ns.min(next_tick_ns);
        }
        self.set_busy(cpu, true);
        self.arm(cpu);
    }

    /// `resched_curr`: `cpu` must choose again because of something that happens on `from`.
    pub(super) fn resched(&mut self, cpu: Cpu, from: Cpu) {
        match self.w.cpus[cpu as usize].phase {
            Phase::Idle { .. } => self.leave_idle(cpu, from),
            Phase::Offline | Phase::Waking => {}
            Phase::Running => {
                let delay_ns = if cpu == from { 0 } else { self.w.hw.ipi_ns };
                self.w.counters.ipis += u64::from(cpu != from);
                let c = &mut self.w.cpus[cpu as usize];
                c.interrupted |= cpu != from;
                c.resched_ns = c.resched_ns.min(self.w.now_ns + delay_ns);
                self.arm(cpu);
            }
        }
    }

    /// An interrupt that another CPU sent has arrived, if one was on its way.
    pub(super) fn take_interrupt(&mut self, cpu: Cpu) {
        if std::mem::take(&mut self.w.cpus[cpu as usize].interrupted) {
            self.w.charge_kernel(cpu, self.w.hw.kernel.syscall);
        }
    }

    /// Ends the busy waits on `flag` of running tasks.
    pub(super) fn wake_watchers(&mut self, flag: workload::FlagId) {
        for &cpu in &self.w.topo.online {
            let Some(task) = self.w.cpus[cpu as usize].curr else { continue };
            let watches = match self.w.tasks[task.index()].doing {
                Doing::Spin(f) | Doing::Units { flag: f, .. } => f == flag,
                Doing::Cycles(_)
                | Doing::AtBarrier { .. }
                | Doing::Until(_)
                | Doing::Nothing
                | Doing::KernelWork
                | Doing::Loaded => false,
            };
            if watches && self.w.cpus[cpu as usize].phase == Phase::Running {
                self.settle(cpu);
                self.w.cpus[cpu as usize].done_ns = self.w.now_ns;
                self.arm(cpu);
            }
        }
    }
}

/// `ns` rounded up, in instructions that every CPU has.
fn round_up(ns: f64) -> u64 {
    let whole = ns as i64;
    (whole + i64::from((whole as f64) < ns)) as u64
}
