//! Programs, step by step.
//!
//! A step that takes work begins with it ([`Sim::begin`]), and its effect comes when the work is done ([`Sim::finish`]); a
//! computation takes in the work that leads up to the next step, as nobody sees it end. Steps without time have their
//! effect at once ([`Sim::instant`]), but after the kernel work that the CPU still owes. Each ends in a [`Step`]: go on,
//! take time, or let the class choose. Effects on shared things are in their own rooms; nothing here picks a CPU or a task.

use super::Sim;
use super::core::Core;
use super::cpu::Step;
use crate::hardware::Effort;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Doing, Origin, State, TaskId};
use machine::CpuSet;
use machine::costs::Work;
use workload::{Condition, Missed, Op, QueueKind, Since, TimerId};

/// Less kernel work than this, in cycles, is none.
const NO_DEBT: f64 = 0.5;

impl<'a, K: Core, T: Trace> Sim<'a, K, T> {
    pub(super) fn op(&self, task: TaskId) -> Option<&'a Op> {
        self.op_ahead(task, 0)
    }

    fn op_ahead(&self, task: TaskId, by: usize) -> Option<&'a Op> {
        let t = &self.w.tasks[task.index()];
        self.setup.workload.programs[t.program.0 as usize].ops.get(t.pc as usize + by)
    }

    /// Takes the running `task` of `cpu` as far as it goes without time.
    pub(super) fn step(&mut self, cpu: Cpu, task: TaskId) -> Step {
        let in_debt = self.w.cpus[cpu as usize].debt > NO_DEBT;
        match self.w.tasks[task.index()].doing {
            Doing::Nothing => self.begin(cpu, task, in_debt),
            Doing::KernelWork | Doing::Loaded if in_debt => Step::Busy,
            Doing::Loaded => self.has_loaded(cpu, task),
            Doing::KernelWork => self.kernel_work(cpu, task),
            Doing::Cycles(left) if left > 0.0 || in_debt => Step::Busy,
            Doing::Cycles(_) => self.finish(cpu, task),
            Doing::Until(at_ns) if at_ns > self.w.now_ns => Step::Busy,
            Doing::Until(_) => self.next_op(task),
            Doing::Spin(flag) if !self.shared.flags[flag.0 as usize] => Step::Busy,
            Doing::Spin(_) => self.next_op(task),
            Doing::AtBarrier { barrier, generation, left } => {
                if self.barrier_passed(barrier, generation) {
                    self.pass_barrier(task)
                } else if left > 0.0 || in_debt {
                    Step::Busy
                } else {
                    self.enter_kernel(task);
                    Step::Again
                }
            }
            Doing::Units { flag, .. } if self.shared.flags[flag.0 as usize] => Step::Busy,
            Doing::Units { counter, done, .. } => {
                self.recording.counted[counter.0 as usize] += done as u64;
                self.next_op(task)
            }
        }
    }

    pub(super) fn next_op(&mut self, task: TaskId) -> Step {
        let t = &mut self.w.tasks[task.index()];
        t.pc += 1;
        t.doing = Doing::Nothing;
        t.in_kernel = false;
        t.signalled = false;
        Step::Again
    }

    /// Starts a step: the work it takes, or its effect where it takes none.
    fn begin(&mut self, cpu: Cpu, task: TaskId, in_debt: bool) -> Step {
        let doing = match self.op(task) {
            Some(&Op::Compute(work)) => {
                let cycles = self.draws.work.draw(work.cycles, work.spread);
                // No one sees a computation end, so it takes in the work that leads up to the next step.
                let next = self.op_ahead(task, 1).filter(|_| !self.uses_memory(task));
                match next.and_then(|next| self.lead(next)) {
                    Some(lead) => {
                        self.w.tasks[task.index()].pc += 1;
                        Doing::Cycles(cycles + self.w.effort_cycles(lead))
                    }
                    None => Doing::Cycles(cycles),
                }
            }
            Some(&Op::Portion(part)) => {
                Doing::Cycles(part * self.w.tasks[task.index()].drawn_cycles)
            }
            Some(&Op::RunFor(ns)) => Doing::Until(self.w.now_ns + ns),
            Some(&Op::SpinUntilSet(flag)) => Doing::Spin(flag),
            Some(&Op::WorkWhileSet { flag, unit_cycles, counter }) => {
                Doing::Units { flag, unit_cycles, counter, done: 0.0 }
            }
            Some(Op::Answer) => match self.w.tasks[task.index()].answers {
                Some(queue) => {
                    let lead = self.w.hw.send(self.queue(queue).kind);
                    Doing::Cycles(self.w.effort_cycles(lead))
                }
                None => return self.unasked(task),
            },
            // A read looks first: it takes what is there, or sleeps.
            Some(Op::Receive(_)) if in_debt => return Step::Busy,
            Some(&Op::Receive(queue)) => return self.receive(cpu, task, queue),
            Some(Op::WaitExec) if in_debt => return Step::Busy,
            Some(Op::WaitExec) => return self.wait_exec(task),
            Some(&Op::Contend { rounds, cycles, .. }) => Doing::Cycles(rounds * cycles),
            Some(&Op::Loop { to, times }) => return self.repeat(task, to, times),
            Some(&Op::SkipIf { condition, steps }) => return self.skip(task, condition, steps),
            Some(&Op::LoopWhileSet { to, flag }) => {
                return if self.shared.flags[flag.index()] {
                    self.jump(task, to)
                } else {
                    self.next_op(task)
                };
            }
            op => match op.and_then(|op| self.lead(op)) {
                Some(lead) => Doing::Cycles(self.w.effort_cycles(lead)),
                None if in_debt => return Step::Busy,
                None => return self.instant(cpu, task, op),
            },
        };
        self.w.tasks[task.index()].doing = doing;
        Step::Again
    }

    /// Work from entering a step to its effect, where that is always the same.
    fn lead(&self, op: &Op) -> Option<Effort> {
        let hw = self.w.hw;
        let syscall = Some(Effort::Kernel(hw.kernel.syscall));
        match op {
            &Op::Send(queue) | &Op::Ask { queue, .. } => Some(hw.send(self.queue(queue).kind)),
            Op::Lock(_) | Op::Unlock(_) | Op::Wait { .. } | Op::Signal(_) | Op::Broadcast(_) => {
                Some(Effort::Atomic)
            }
            Op::Barrier(_) | Op::SpinBarrier { .. } | Op::Take { .. } => Some(Effort::Atomic),
            Op::Reply => Some(hw.send(QueueKind::Loopback)),
            Op::Fork(_) | Op::Clone(_) => Some(Effort::Kernel(hw.kernel.fork)),
            Op::Exec => Some(Effort::Kernel(hw.kernel.exec)),
            Op::SetAffinity(_) | Op::SetNice(_) | Op::SetSlice(_) => syscall,
            Op::SetPolicy(_) | Op::SetUtilClamp { .. } => syscall,
            Op::Yield => Some(Effort::Kernel(hw.kernel.yields)),
            Op::Sleep { .. } | Op::TimerWait { .. } | Op::WaitChildren => syscall,
            Op::Io { .. } => syscall,
            Op::Compute(_) | Op::Portion(_) | Op::RunFor(_) | Op::Receive(_) | Op::WaitExec => None,
            Op::Draw(_) | Op::Begin(_) | Op::Refill(_) => None,
            // Whom it goes to is known when the task is.
            Op::Answer => None,
            Op::SpinUntilSet(_) | Op::WorkWhileSet { .. } => None,
            Op::Loop { .. } | Op::LoopWhileSet { .. } | Op::SkipIf { .. } => None,
            Op::SetFlag(..) | Op::Stamp | Op::Record { .. } | Op::Mark(_) | Op::Stop => None,
            Op::Contend { .. } | Op::Memory(_) | Op::Connect(_) => None,
        }
    }

    /// Steps that take no time; others see them, so kernel work comes first.
    fn instant(&mut self, cpu: Cpu, task: TaskId, op: Option<&Op>) -> Step {
        match op {
            Some(&Op::SetFlag(flag, value)) => {
                self.shared.flags[flag.0 as usize] = value;
                self.wake_watchers(flag);
            }
            Some(&Op::Memory(used)) => self.set_memory(cpu, task, used),
            Some(&Op::Draw(work)) => {
                let cycles = self.draws.work.draw(work.cycles, work.spread);
                self.w.tasks[task.index()].drawn_cycles = cycles;
            }
            Some(&Op::Begin(since)) => {
                let began_ns = self.since_ns(task, since);
                let number = self.w.tasks[task.index()].origin.number + 1;
                self.w.tasks[task.index()].origin = Origin { began_ns, number };
            }
            Some(&Op::Refill(pool)) => self.shared.pools[pool.index()].refill(),
            Some(&Op::Connect(id)) => self.shared.routes.connect(id, cpu),
            Some(&Op::Mark(mark)) => self.mark(mark),
            Some(Op::Stamp) => self.w.tasks[task.index()].stamp_ns = self.w.now_ns,
            Some(&Op::Record { histogram, since }) => {
                let since_ns = self.since_ns(task, since);
                self.record(histogram, self.w.now_ns - since_ns);
            }
            Some(Op::Stop) => {
                self.progress.stopped = true;
                return Step::Busy;
            }
            // Steps that take time or work begin with it and never come here.
            Some(
                Op::Compute(_) | Op::Portion(_) | Op::Ask { .. } | Op::Answer | Op::SpinBarrier { .. }
                | Op::Take { .. } | Op::RunFor(_) | Op::SpinUntilSet(_) | Op::WorkWhileSet { .. }
                | Op::Contend { .. } | Op::Loop { .. } | Op::LoopWhileSet { .. } | Op::SkipIf { .. }
                | Op::Send(_) | Op::Receive(_) | Op::Lock(_) | Op::Unlock(_) | Op::Wait { .. }
                | Op::Signal(_) | Op::Broadcast(_) | Op::Barrier(_) | Op::Reply | Op::Fork(_)
                | Op::Clone(_) | Op::Exec | Op::SetAffinity(_) | Op::SetNice(_) | Op::SetSlice(_)
                | Op::SetPolicy(_) | Op::SetUtilClamp { .. } | Op::Yield | Op::Sleep { .. } | Op::TimerWait { .. }
                | Op::WaitChildren | Op::WaitExec | Op::Io { .. },
            )
            // The program has ended.
            | None => return self.exit(cpu, task),
        }
        self.next_op(task)
    }

    fn since_ns(&self, task: TaskId, since: Since) -> u64 {
        let t = &self.w.tasks[task.index()];
        match since {
            Since::Stamp => t.stamp_ns,
            Since::Message => t.message_ns,
            Since::Due => t.due_ns,
            Since::Request => t.origin.began_ns,
        }
    }

    fn repeat(&mut self, task: TaskId, to: u16, times: u32) -> Step {
        let t = &mut self.w.tasks[task.index()];
        let slot = self.loop_slots[t.program.0 as usize][t.pc as usize];
        t.loops[slot] = t.loops[slot].wrapping_add(1);
        if times != 0 && t.loops[slot] >= times {
            t.loops[slot] = 0;
            return self.next_op(task);
        }
        self.jump(task, to)
    }

    /// Goes on with the next step, or with one behind it.
    fn skip(&mut self, task: TaskId, condition: Condition, steps: u16) -> Step {
        let jiffies = self.w.jiffies();
        let t = &mut self.w.tasks[task.index()];
        let holds = match condition {
            Condition::Always => true,
            Condition::SameJiffy => std::mem::replace(&mut t.jiffy, jiffies) == jiffies,
            Condition::FirstOfGroup => t.first_of_group,
        };
        t.pc += if holds { u32::from(steps) } else { 0 };
        self.next_op(task)
    }

    fn jump(&mut self, task: TaskId, to: u16) -> Step {
        let t = &mut self.w.tasks[task.index()];
        t.pc = to.into();
        t.doing = Doing::Nothing;
        Step::Again
    }

    /// The effect of a step whose work is done.
    fn finish(&mut self, cpu: Cpu, task: TaskId) -> Step {
        match self.op(task) {
            Some(&Op::Send(queue)) => self.send(cpu, task, queue, None),
            Some(&Op::Ask { queue, answers }) => self.send(cpu, task, queue, Some(answers)),
            Some(Op::Answer) => self.answer(cpu, task),
            Some(&Op::Receive(queue)) => self.receive(cpu, task, queue),
            Some(&Op::Lock(lock)) => self.lock(cpu, task, lock),
            Some(&Op::Unlock(lock)) => self.unlock(cpu, task, lock),
            Some(&Op::Wait { cond, lock }) => self.cond_wait(cpu, task, cond, lock),
            Some(&Op::Signal(cond)) => self.signal(cpu, task, cond, false),
            Some(&Op::Broadcast(cond)) => self.signal(cpu, task, cond, true),
            Some(&Op::Barrier(barrier)) => self.barrier(cpu, task, barrier),
            Some(&Op::SpinBarrier { barrier, spin_cycles }) => {
                self.spin_barrier(cpu, task, barrier, spin_cycles)
            }
            Some(&Op::Take { pool, steps }) => self.take_chunk(cpu, task, pool, steps),
            Some(Op::Reply) => self.reply(task),
            Some(&Op::Fork(program)) => {
                self.w.hold_process_locks(cpu, self.w.hw.kernel.fork_held);
                let step = self.fork(cpu, task, program, false);
                self.next_op(task);
                step
            }
            Some(&Op::Clone(program)) => {
                self.w.hold_process_locks(cpu, self.w.hw.kernel.fork_held);
                let step = self.fork(cpu, task, program, true);
                self.next_op(task);
                step
            }
            Some(Op::Exec) => {
                self.w.tasks[task.index()].mm = task.0;
                self.leave_parent(cpu, task, Work::lines(self.w.hw.kernel.exec_elsewhere));
                let step = K::exec(self, cpu, task);
                self.loads_program(task);
                step
            }
            Some(Op::SetAffinity(set)) => self.set_affinity(cpu, task, set),
            Some(&Op::SetNice(nice)) => self.set_nice(task, nice),
            Some(&Op::SetSlice(slice_ns)) => {
                K::set_slice(self, task, slice_ns);
                self.next_op(task)
            }
            Some(&Op::SetPolicy(policy)) => K::set_policy(self, cpu, task, policy),
            Some(&Op::SetUtilClamp { min, max }) => {
                K::set_clamps(self, task, min, max);
                self.next_op(task)
            }
            Some(Op::Yield) => {
                self.w.counters.yields += 1;
                K::yield_now(self, cpu, task);
                self.next_op(task);
                Step::Resched
            }
            Some(&Op::Sleep { mean_ns, spread }) => {
                let length_ns = self.draws.work.draw(mean_ns, spread).max(1.0) as u64;
                self.sleep_until(task, self.w.now_ns + length_ns)
            }
            Some(&Op::Io { device, service_ns, spread, iowait }) => {
                let done_ns = self.submit(task, device, service_ns, spread);
                self.wait_for_device(task, done_ns, iowait)
            }
            Some(&Op::TimerWait { timer, period_ns, spread, missed }) => {
                let period_ns = self.draws.work.draw(period_ns as f64, spread) as u64;
                self.timer_wait(task, timer, period_ns, missed)
            }
            Some(Op::WaitChildren) if self.w.tasks[task.index()].children > 0 => {
                self.block(task, State::Waiting)
            }
            Some(
                Op::WaitChildren
                | Op::WaitExec
                | Op::Compute(_)
                | Op::Draw(_)
                | Op::Portion(_)
                | Op::Begin(_)
                | Op::Refill(_)
                | Op::Connect(_)
                | Op::RunFor(_)
                | Op::SpinUntilSet(_)
                | Op::WorkWhileSet { .. }
                | Op::Contend { .. }
                | Op::Memory(_)
                | Op::Loop { .. }
                | Op::LoopWhileSet { .. }
                | Op::SkipIf { .. }
                | Op::SetFlag(..)
                | Op::Stamp
                | Op::Record { .. }
                | Op::Mark(_)
                | Op::Stop,
            )
            | None => self.next_op(task),
        }
    }

    /// `sched_setaffinity`, which fails where none of the CPUs is online.
    fn set_affinity(&mut self, cpu: Cpu, task: TaskId, set: &CpuSet) -> Step {
        self.next_op(task);
        let set = &K::cpuset(self, self.w.tasks[task.index()].group, set.clone());
        let allowed = set & &self.w.topo.online_set;
        if allowed.is_empty() {
            self.w.counters.affinities_refused += 1;
            return Step::Again;
        }
        let affinity = self.affinity_of(set);
        self.trace.allowed(self.w.now_ns, task, &allowed);
        let t = &mut self.w.tasks[task.index()];
        (t.affinity, t.allowed) = (affinity, allowed.clone());
        K::set_affinity(self, cpu, task, &allowed)
    }

    /// A nice value that rises lets others run (`prio_changed_fair`).
    fn set_nice(&mut self, task: TaskId, nice: i8) -> Step {
        let before = std::mem::replace(&mut self.w.tasks[task.index()].nice, nice);
        K::set_nice(self, task, nice);
        self.trace.nice(self.w.now_ns, task, nice);
        self.next_op(task);
        if nice > before { Step::Resched } else { Step::Again }
    }

    fn sleep_until(&mut self, task: TaskId, at_ns: u64) -> Step {
        self.w.tasks[task.index()].due_ns = at_ns;
        self.next_op(task);
        self.falls_asleep(task, State::Sleeping);
        K::sleep_until(self, task, at_ns);
        Step::Resched
    }

    fn timer_wait(&mut self, task: TaskId, timer: TimerId, period_ns: u64, missed: Missed) -> Step {
        let now_ns = self.w.now_ns;
        let due_ns = self.shared.timers[timer.index()].unwrap_or(now_ns) + period_ns;
        let in_time = due_ns > now_ns;
        let next_ns = if in_time || missed == Missed::CatchUp { due_ns } else { now_ns };
        self.shared.timers[timer.index()] = Some(next_ns);
        if in_time {
            return self.sleep_until(task, due_ns);
        }
        self.w.tasks[task.index()].due_ns = due_ns;
        self.next_op(task)
    }

    /// Puts the running `task` to sleep; it tries the same step again when it wakes.
    pub(super) fn block(&mut self, task: TaskId, state: State) -> Step {
        self.falls_asleep(task, state);
        K::sleep(self, task);
        Step::Resched
    }

    fn falls_asleep(&mut self, task: TaskId, state: State) {
        let sleeps_in = match state {
            State::Reading(queue) | State::Writing(queue) => self.queue(queue).kind,
            _ => QueueKind::Futex,
        };
        let t = &mut self.w.tasks[task.index()];
        t.state = state;
        t.sleeps_in = sleeps_in;
        t.in_kernel = false;
        self.progress.active -= u32::from(!t.daemon && state != State::Sleeping);
        self.w.uclamp_dec(task);
        self.trace.blocked(self.w.now_ns, task, self.w.tasks[task.index()].in_iowait);
    }

    fn exit(&mut self, cpu: Cpu, task: TaskId) -> Step {
        let t = &mut self.w.tasks[task.index()];
        t.state = State::Dead;
        self.w.pages.end(task);
        self.progress.active -= u32::from(!t.daemon);
        self.w.uclamp_dec(task);
        self.w.hold_process_locks(cpu, self.w.hw.kernel.exit_held);
        self.w.charge_kernel(cpu, self.w.hw.kernel.exit);
        self.leave_parent(cpu, task, self.w.hw.kernel.exit_elsewhere);
        K::exit(self, cpu, task);
        self.trace.exited(self.w.now_ns, task);
        self.let_parent_go_on(cpu, task);
        if let Some(parent) = self.w.tasks[task.index()].parent {
            let p = &mut self.w.tasks[parent.index()];
            p.children -= 1;
            if p.state == State::Waiting && p.children == 0 {
                self.wake(parent, cpu, Some(task), false);
            }
        }
        Step::Resched
    }
}
