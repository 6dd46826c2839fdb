//! Turns of CPUs in the kernel, and what follows for the engine's CPUs.

use super::Sourced;
use crate::SimError;
use crate::engine::Sim;
use crate::events::NEVER;
use crate::source::{COST_SHIFT, Call, Ended, Source, Turn, Waits, irq};
use crate::topology::Cpu;
use crate::trace::Trace;
use crate::world::{Phase, State, TaskId};
use machine::costs::Look;

/// Rounds in which CPUs wait for each other at one instant.
const MOST_ROUNDS: usize = 10_000;

impl<S: Source, T: Trace> Sim<'_, Sourced<'_, S>, T> {
    /// A turn of `cpu`, with the interrupts that have arrived and the call that ends the task's step.
    pub(super) fn turn(&mut self, cpu: Cpu, last: Option<&Call>) {
        let ended = self.enter(cpu, last);
        if ended.waits == Waits::Spins {
            self.let_others_go_on(cpu);
            return;
        }
        self.follow(cpu, ended.waits, ended.current);
    }

    /// A call after which the running task of `cpu` goes on; it returns to user mode when the CPU schedules.
    pub(super) fn call(&mut self, cpu: Cpu, call: &Call) {
        self.enter(cpu, Some(call));
        self.w.cpus[cpu as usize].need_resched = true;
    }

    fn next_turn(&mut self, cpu: Cpu) -> Turn {
        let hw = self.w.hw;
        let rate = match self.w.cpus[cpu as usize].rate {
            rate if rate > 0.0 => rate,
            _ => hw.cycles_per_ns,
        };
        let cost = |cycles: f64| (cycles / rate * f64::from(1u32 << COST_SHIFT)) as u32;
        Turn {
            cpu: cpu.into(),
            irqs: std::mem::take(&mut self.core.irqs[cpu as usize]),
            now_ns: self.w.now_ns + self.core.base_ns,
            scan_cost: cost(self.look_cycles(hw.kernel.search)),
            balance_cost: cost(self.look_cycles(hw.kernel.balance)),
        }
    }

    /// What looking at another CPU takes: the tree's code does not say at which, so its lines come from the nearest other core.
    fn look_cycles(&self, look: Look) -> f64 {
        let hw = self.w.hw;
        hw.kernel_cycles(look.instructions) + hw.handover_cycles(hw.nearest_core)
    }

    fn enter(&mut self, cpu: Cpu, call: Option<&Call>) -> Ended {
        let turn = self.next_turn(cpu);
        let ended = self.core.source.turn(&turn, call);
        self.pay(cpu, &turn, &ended);
        self.hear();
        self.inspect(cpu, &ended);
        ended
    }

    /// The time of what the kernel did, apart from switches, which `hear` charges.
    fn pay(&mut self, cpu: Cpu, turn: &Turn, ended: &Ended) {
        let hw = self.w.hw;
        let mut cycles = f64::from(ended.scans) * self.look_cycles(hw.kernel.search)
            + f64::from(ended.balances) * self.look_cycles(hw.kernel.balance);
        if turn.irqs & irq::TIMER != 0 {
            cycles += hw.tick_cycles;
        }
        self.w.charge(cpu, cycles);
    }

    /// Brings `cpu` into line with the kernel's, which waits for `waits` with the task `pid`.
    pub(super) fn follow(&mut self, cpu: Cpu, waits: Waits, pid: i64) {
        let c = &mut self.w.cpus[cpu as usize];
        c.need_resched = false;
        c.nr_running = self.core.source.nr_running(cpu.into());
        match waits {
            Waits::User | Waits::Kernel => {
                let task = self.core.task(pid);
                debug_assert_eq!(c.curr, task, "CPU {cpu}: the kernel's switches were not heard");
                if let Some(task) = task.filter(|t| self.asleep(*t)) {
                    // Its sleep was over before it began.
                    self.runnable_again(task);
                }
            }
            Waits::Idle => {
                if let Phase::Running = c.phase {
                    let idle = self.core.source.idle(cpu.into());
                    self.enter_idle(cpu, idle.state);
                    self.w.cpus[cpu as usize].idle_calls = idle.calls;
                    let until_ns = idle.until_ns.map_or(NEVER, |at| at - self.core.base_ns);
                    self.w.cpus[cpu as usize].resched_ns = until_ns;
                }
            }
            Waits::Off => self.switched_off(cpu),
            Waits::Spins => {}
        }
        self.tell_runnable(cpu);
    }

    fn asleep(&self, task: TaskId) -> bool {
        self.w.tasks[task.index()].state == State::Sleeping
    }

    /// `cpu` spins for another: CPUs with an interrupt on its way or that spin as well have turns, in no time, until none
    /// does.
    fn let_others_go_on(&mut self, cpu: Cpu) {
        let mut spinning = vec![cpu];
        for _ in 0..MOST_ROUNDS {
            let online: Vec<Cpu> = self.w.topo.online.to_vec();
            for other in online {
                if self.core.irqs[other as usize] != 0 && !spinning.contains(&other) {
                    self.take_at_once(other);
                    let ended = self.enter(other, None);
                    match ended.waits {
                        Waits::Spins => spinning.push(other),
                        waits => self.after_interruption(other, waits, ended.current),
                    }
                }
            }
            let before = std::mem::take(&mut spinning);
            for other in before {
                let ended = self.enter(other, None);
                match ended.waits {
                    Waits::Spins => spinning.push(other),
                    waits if other == cpu => self.follow(other, waits, ended.current),
                    waits => self.after_interruption(other, waits, ended.current),
                }
            }
            if spinning.is_empty() {
                return;
            }
        }
        self.core.failure = Some(SimError::Source {
            reason: format!("CPUs {spinning:?} wait for each other for ever"),
        });
    }

    /// The interrupt on its way to `cpu` arrives now, whatever idle state that is in.
    fn take_at_once(&mut self, cpu: Cpu) {
        self.leave_idle(cpu, cpu);
        self.settle(cpu);
        let c = &mut self.w.cpus[cpu as usize];
        if c.phase == Phase::Waking {
            c.phase = Phase::Running;
            c.wake_ns = NEVER;
            self.trace.idle(self.w.now_ns, cpu, None);
        }
        self.w.cpus[cpu as usize].resched_ns = NEVER;
        self.take_interrupt(cpu);
    }

    /// A CPU whose event this is not goes on after its turn.
    pub(super) fn after_interruption(&mut self, cpu: Cpu, waits: Waits, pid: i64) {
        self.follow(cpu, waits, pid);
        let c = &mut self.w.cpus[cpu as usize];
        if c.phase == Phase::Running {
            // It looks at its task at its next event, which is now.
            c.resched_ns = self.w.now_ns;
        }
        self.arm(cpu);
    }
}
