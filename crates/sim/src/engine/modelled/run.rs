//! Which task a CPU runs, what its tick does, and what the class asks of other CPUs.

use super::{Modelled, NEVER};
use crate::class::Class;
use crate::engine::Sim;
use crate::idle;
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Phase, Request};

impl<C: Class, T: Trace> Sim<'_, Modelled<C>, T> {
    /// `__schedule`: the class picks; idle if there is nothing, not even on other CPUs.
    pub(super) fn pick_and_switch(&mut self, cpu: Cpu) {
        let previous = self.w.cpus[cpu as usize].curr;
        self.w.cpus[cpu as usize].need_resched = false;
        self.w.counters.sched_count += 1;
        if let Some(task) = previous {
            self.core.class.put_prev(&mut self.w, cpu, task);
            self.w.cpus[cpu as usize].curr = None;
        }
        let mut next = self.core.class.pick_next(&mut self.w, cpu);
        if next.is_none() && self.core.class.newidle(&mut self.w, cpu) {
            next = self.core.class.pick_next(&mut self.w, cpu);
        }
        self.w.cpus[cpu as usize].curr = next;
        if !self.w.pelt_clocks.is_empty() {
            let saturated = next.is_none() && self.core.class.saturated(cpu);
            self.w.pelt_clocks[cpu as usize].switch(self.w.now_ns, next.is_none(), saturated);
        }
        if self.memory.paced && next != previous {
            self.leave_pace(cpu);
        }
        if next != previous {
            self.w.counters.switches += 1;
            self.report_notes();
            self.trace.switch(self.w.now_ns, cpu, previous, next);
            self.w.note_switch(previous, next);
        }
        self.tell_runnable(cpu);
        match next {
            Some(task) if next != previous => self.load(cpu, task),
            Some(_) => {}
            None => self.go_idle(cpu),
        }
    }

    /// Lets the governor choose an idle state, and whether the tick stops.
    fn go_idle(&mut self, cpu: Cpu) {
        let stops_tick = self.choose_idle(cpu);
        self.core.class.idle(&mut self.w, cpu, stops_tick);
    }

    fn choose_idle(&mut self, cpu: Cpu) -> bool {
        let timer_ns =
            self.timeline.sleepers[cpu as usize].iter().map(|s| s.0).min().unwrap_or(NEVER);
        let now = self.w.now_ns;
        let c = &mut self.w.cpus[cpu as usize];
        let ahead = idle::Ahead {
            timer_ns: if timer_ns == NEVER { NEVER } else { timer_ns.saturating_sub(now) },
            tick_ns: c.tick_ns.saturating_sub(now),
            waits_for_io: c.nr_iowait,
        };
        let menu = &self.setup.menu;
        let choice = menu.select(&mut c.idle_memory, ahead);
        if choice.stops_tick {
            c.tick_ns = NEVER;
        }
        c.idle_calls += u64::from(c.tick_ns == NEVER);
        let limit_ns = menu.poll_limit_ns(choice.state);
        c.resched_ns = limit_ns.map_or(NEVER, |limit| now + limit);
        self.enter_idle(cpu, choice.state);
        choice.stops_tick
    }

    /// The idle loop of `cpu` comes round without anything to run, and the governor chooses again.
    pub(super) fn idle_again(&mut self, cpu: Cpu, ended: idle::Ended) {
        let Phase::Idle { since_ns, state } = self.w.cpus[cpu as usize].phase else { return };
        let idle_ns = self.w.now_ns - since_ns;
        let exit_ns = self.exit_ns(cpu, state);
        let c = &mut self.w.cpus[cpu as usize];
        self.setup.menu.update(&mut c.idle_memory, idle_ns + exit_ns, ended);
        c.idle_total_ns += idle_ns;
        self.w.counters.idle_ns += idle_ns;
        self.trace.idle(self.w.now_ns, cpu, None);
        if self.choose_idle(cpu) {
            self.core.class.idle(&mut self.w, cpu, true);
        }
        self.arm(cpu);
    }

    pub(super) fn tick(&mut self, cpu: Cpu) {
        if self.frequency.governors.is_some() {
            self.scale_freq_tick(cpu);
        }
        let resched = self.core.class.tick(&mut self.w, cpu);
        let tick_cycles = self.w.hw.tick_cycles;
        match self.w.cpus[cpu as usize].phase {
            Phase::Running => {
                self.w.charge(cpu, tick_cycles);
                self.w.cpus[cpu as usize].need_resched |= resched;
            }
            Phase::Idle { .. } if self.w.cpus[cpu as usize].nr_running > 0 => {
                self.leave_idle(cpu, cpu);
            }
            Phase::Idle { .. } => self.idle_again(cpu, idle::Ended::Tick),
            Phase::Offline | Phase::Waking => {}
        }
    }

    pub(super) fn answer_requests(&mut self) {
        self.report_notes();
        while let Some(request) = self.w.requests.pop() {
            match request {
                Request::Resched(cpu) => self.resched(cpu, self.here),
                Request::Kick(cpu, kick) => {
                    let c = &mut self.w.cpus[cpu as usize];
                    if c.phase != Phase::Running {
                        // One that has been kicked and not looked yet is not kicked again (kick_ilb).
                        self.w.counters.ilb_kicks += u64::from(c.kicked.is_none());
                        c.kicked = c.kicked.max(Some(kick));
                        self.leave_idle(cpu, self.here);
                    }
                }
                Request::Push { from, to } => self.push(from, to),
                Request::NumaMove { task, from, to } => self.numa_move(task, from, to),
                Request::NumaSwap { task, from, other, to } => {
                    self.numa_swap((task, from), (other, to));
                }
            }
        }
    }

    /// The stopper of `from` takes its running task off and lets the class move one to `to`.
    fn push(&mut self, from: Cpu, to: Cpu) {
        self.settle(from);
        if self.w.cpus[from as usize].phase != Phase::Running {
            return;
        }
        self.core.class.stopper_wakes(&self.w, from);
        self.take_off(from);
        self.w.charge_kernel(from, self.w.hw.kernel.switch);
        if self.core.class.push(&mut self.w, from, to) {
            self.w.counters.alb_pushed += 1;
            self.w.requests.push(Request::Resched(to));
        }
        self.w.cpus[from as usize].need_resched = true;
        self.proceed(from);
        self.arm(from);
    }

    /// The stopper runs in place of the task of `cpu`, which waits from now on.
    pub(super) fn take_off(&mut self, cpu: Cpu) {
        let Some(task) = self.w.cpus[cpu as usize].curr.take() else { return };
        self.core.class.put_prev(&mut self.w, cpu, task);
        self.trace.stopped(self.w.now_ns, cpu, task);
        self.w.tasks[task.index()].queued_ns = self.w.now_ns;
    }
}
