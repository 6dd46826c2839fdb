//! The scheduler of a kernel tree as the engine drives it: CPUs of a machine that exists in somebody else's memory.
//!
//! Words and numbers are those of the C interface (`abi.h` of the crate `tree`). The crate `replica` has the only
//! implementation, around a library that it has loaded and booted. Time is the kernel's own, in ns.

mod decisions;
mod sums;

pub use decisions::*;
pub use sums::{MASK_WORDS, Queued, Sums};
pub use workload::Policy;

use crate::counters::Counters;
use machine::CpuSet;

/// How costs are scaled: ns x 2 to this (`SC_COST_SHIFT`).
pub const COST_SHIFT: u32 = 10;

/// What a CPU waits for when its turn ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits {
    /// It is offline.
    Off,
    /// Its task is in user mode.
    User,
    /// It is idle.
    Idle,
    /// It spins until another CPU has done something.
    Spins,
    /// Its task is in a system call and may make another, or return to user mode.
    Kernel,
}

/// Bits of [`Turn::irqs`].
pub mod irq {
    /// The user at the console: begins what [`super::Source::switch_later`] asked for.
    pub const DEVICE: u32 = 16;
    /// The CPU is switched on.
    pub const START: u32 = 64;
    /// A device or another machine: wakes the tasks of [`super::Source::wake_later`].
    pub const WAKE: u32 = 32;
    /// The CPU's timer.
    pub const TIMER: u32 = 8;
}

/// What a task asks the kernel for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// `try_to_wake_up` of a task by its pid.
    Wake {
        /// The task.
        pid: i64,
        /// `WF_SYNC`.
        sync: bool,
    },
    /// `fork`, or `clone3` with `CLONE_INTO_CGROUP`; [`Event::WakeupNew`] tells the child's pid.
    Fork {
        /// The child's control group, by its place from 1 on; 0 for its parent's.
        group: u32,
    },
    /// `nice`.
    SetNice(i8),
    /// `sched_setattr` with a slice in ns.
    SetSlice(u64),
    /// `sched_setattr` with clamps of utilisation; what is none stays.
    SetClamps {
        /// `sched_util_min`.
        min: Option<u16>,
        /// `sched_util_max`.
        max: Option<u16>,
    },
    /// Sleeps until somebody wakes it. Ends a turn, as do those that follow.
    Sleep {
        /// `in_iowait`.
        for_io: bool,
    },
    /// Sleeps until a time.
    SleepUntil(u64),
    /// `sched_yield`.
    Yield,
    /// `sched_exec`.
    Exec,
    /// `sched_setaffinity`.
    SetAffinity(CpuSet),
    /// `sched_setattr` with a policy; [`Event::Refused`] tells what the kernel does not grant.
    SetPolicy(Policy),
    /// `exit`.
    Exit,
}

/// One turn of a CPU.
#[derive(Debug, Clone, Copy)]
pub struct Turn {
    /// The CPU.
    pub cpu: u32,
    /// Interrupts that arrive.
    pub irqs: u32,
    /// The time.
    pub now_ns: u64,
    /// Cost of looking at another CPU in a search for an idle one, in ns << [`COST_SHIFT`].
    pub scan_cost: u32,
    /// The same in balancing.
    pub balance_cost: u32,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// What the CPU waits for.
    pub waits: Waits,
    /// The pid of its task; 0 for the idle task.
    pub current: i64,
    /// CPUs that searches for an idle one looked at.
    pub scans: u32,
    /// CPUs that were looked at otherwise.
    pub balances: u32,
}

/// Where an idle CPU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// Its idle state, by its place in the machine's list.
    pub state: usize,
    /// When it looks whether to stay there, if it does: polling takes only so long.
    pub until_ns: Option<u64>,
    /// How often it went idle without a tick to come (`tick_nohz_get_idle_calls_cpu`).
    pub calls: u64,
}

/// What happened in a turn, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The timer of `cpu` is due at a time; never if there is none.
    Timer {
        /// The CPU.
        cpu: u32,
        /// When.
        at_ns: Option<u64>,
    },
    /// `from` interrupts `to`.
    Interrupt {
        /// Sender.
        from: u32,
        /// Receiver.
        to: u32,
        /// Bits for [`Turn::irqs`].
        irqs: u32,
    },
    /// `sched_switch`, by pids; 0 is the idle task.
    Switch {
        /// The CPU.
        cpu: u32,
        /// Who ran.
        previous: i64,
        /// Who runs.
        next: i64,
    },
    /// `sched_waking` on `cpu`.
    Waking {
        /// Where the wake-up happens.
        cpu: u32,
        /// Who is woken.
        pid: i64,
        /// Whether an interrupt wakes it.
        by_interrupt: bool,
    },
    /// `sched_wakeup`: the task is on a queue.
    Wakeup {
        /// Who.
        pid: i64,
        /// Whether its CPU had nothing to run.
        onto_idle: bool,
    },
    /// `sched_wakeup_new` on `cpu`.
    WakeupNew {
        /// Where it was forked.
        cpu: u32,
        /// Who.
        pid: i64,
        /// Where it is to run.
        to: u32,
    },
    /// `sched_migrate_task`.
    Migrate {
        /// Who.
        pid: i64,
        /// Its new CPU.
        to: u32,
        /// Because its CPU goes offline.
        pushed: bool,
    },
    /// A CPU has gone offline or come online, as [`Source::switch_later`] asked.
    Switched {
        /// 0, or an error number below 0.
        answer: i64,
    },
    /// The kernel does not grant a task what it asked for last.
    Refused {
        /// Who.
        pid: i64,
        /// An error number below 0.
        error: i64,
    },
    /// The kernel's own governor has `cpu` ask for a P-state.
    Clock {
        /// The CPU.
        cpu: u32,
        /// The state's frequency, in kHz.
        khz: u32,
        /// Whether the CPU speaks for its policy: others ask for the same then.
        of_policy: bool,
    },
    /// `cpufreq_update_util`: the utilisation of a CPU was brought up to date.
    Util {
        /// The CPU.
        cpu: u32,
        /// For a task that waited for I/O (`SCHED_CPUFREQ_IOWAIT`).
        for_io: bool,
        /// The CPU that did it.
        by: u32,
    },
}

/// P-states and who governs, as a kernel's own cpufreq takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Governing {
    /// Frequencies in kHz, P0 first.
    pub khz: Vec<u32>,
    /// CPUs of each policy.
    pub policies: Vec<CpuSet>,
    /// The largest transition latency that firmware tells, in ns; 0 for none.
    pub transition_latency_ns: u32,
    /// The highest clock by P0's, 1024 for 1, where CPPC tells.
    pub boost_ratio: Option<u32>,
    /// Whether a CPU may switch from the scheduler's code; else a thread does.
    pub fast_switch: bool,
    /// `arch_scale_freq_invariant`.
    pub invariant: bool,
    /// The name for `scaling_governor`.
    pub governor: &'static str,
    /// Files of the governor with what is written to them.
    pub tunables: Vec<(&'static str, u64)>,
}

/// A kernel that has booted, with no task of a workload yet. It stops the process on a bug of its own.
pub trait Source {
    /// The time at which it has booted.
    fn booted_ns(&self) -> u64;
    /// Length of a tick.
    fn tick_ns(&self) -> u64;
    /// A run begins: its time 0 is this time of the kernel's.
    fn begins(&mut self, base_ns: u64);
    /// Random numbers begin anew.
    fn seed(&mut self, seed: u64);
    /// Makes a task that sleeps on `cpu`; its pid.
    fn spawn(&mut self, name: &str, cpu: u32, nice: i8, affinity: &CpuSet) -> i64;
    /// Moves a task that sleeps to a control group, by its place from 1 on.
    ///
    /// # Errors
    /// What the kernel answers.
    fn join(&mut self, pid: i64, group: u32) -> Result<(), String>;
    /// Lets a CPU go on until it waits again; its task makes `call` first.
    fn turn(&mut self, turn: &Turn, call: Option<&Call>) -> Ended;
    /// The next interrupt [`irq::WAKE`] of `cpu` wakes this task, too.
    fn wake_later(&mut self, cpu: u32, pid: i64);
    /// Moves what happened since the last call to `events`, which is empty.
    fn take_events(&mut self, events: &mut Vec<Event>);
    /// When the timer of `cpu` is due.
    fn timer_ns(&self, cpu: u32) -> Option<u64>;
    /// Tasks that can run on `cpu` (`rq->nr_running`).
    fn nr_running(&self, cpu: u32) -> u32;
    /// Where `cpu`, which is idle, is so.
    fn idle(&self, cpu: u32) -> Idle;
    /// Sets the counters that the kernel keeps itself to what it counted since its boot.
    fn count(&self, to: &mut Counters);
    /// Whether the kernel's own governors govern: [`Event::Clock`] is told.
    fn governs(&self) -> bool;
    /// The P-state that `cpu` asks for, in kHz, where the kernel governs.
    fn requested_khz(&self, cpu: u32) -> u32;
    /// From now on [`Event::Util`] is told.
    fn watch_util(&mut self);
    /// What the tasks of `cpu` use of it, 1024 for a CPU (`cpu_util_cfs`).
    fn util(&self, cpu: u32) -> u64;
    /// `arch_scale_freq_capacity` of `cpu`: 1024 for its highest clock.
    fn set_frequency(&mut self, cpu: u32, scale: u64);
    /// From now on decisions are told.
    ///
    /// # Errors
    /// What keeps this kernel from telling them.
    fn watch_decisions(&mut self) -> Result<(), String>;
    /// Moves the decisions made since the last call to `decisions`, which is empty.
    fn take_decisions(&mut self, decisions: &mut Vec<Decision>);
    /// Lower and upper clamp of a CPU's utilisation (`uclamp_rq_get`).
    fn clamps(&self, cpu: u32) -> (u64, u64);
    /// The next interrupt [`irq::DEVICE`] makes the kernel take `cpu` offline or bring it online; [`Event::Switched`] tells
    /// the end, until when there must be no other call of this or of [`Source::spawn`].
    fn switch_later(&mut self, cpu: u32, online: bool);
    /// What the queue of `cpu` says of itself, and its tasks, the running one first.
    fn sums(&self, cpu: u32, queued: &mut Vec<Queued>) -> Sums;
}

impl<S: Source> Source for &mut S {
    fn booted_ns(&self) -> u64 {
        (**self).booted_ns()
    }
    fn tick_ns(&self) -> u64 {
        (**self).tick_ns()
    }
    fn begins(&mut self, base_ns: u64) {
        (**self).begins(base_ns);
    }
    fn seed(&mut self, seed: u64) {
        (**self).seed(seed);
    }
    fn spawn(&mut self, name: &str, cpu: u32, nice: i8, affinity: &CpuSet) -> i64 {
        (**self).spawn(name, cpu, nice, affinity)
    }
    fn join(&mut self, pid: i64, group: u32) -> Result<(), String> {
        (**self).join(pid, group)
    }
    fn turn(&mut self, turn: &Turn, call: Option<&Call>) -> Ended {
        (**self).turn(turn, call)
    }
    fn wake_later(&mut self, cpu: u32, pid: i64) {
        (**self).wake_later(cpu, pid);
    }
    fn take_events(&mut self, events: &mut Vec<Event>) {
        (**self).take_events(events);
    }
    fn timer_ns(&self, cpu: u32) -> Option<u64> {
        (**self).timer_ns(cpu)
    }
    fn nr_running(&self, cpu: u32) -> u32 {
        (**self).nr_running(cpu)
    }
    fn idle(&self, cpu: u32) -> Idle {
        (**self).idle(cpu)
    }
    fn count(&self, to: &mut Counters) {
        (**self).count(to);
    }
    fn governs(&self) -> bool {
        (**self).governs()
    }
    fn requested_khz(&self, cpu: u32) -> u32 {
        (**self).requested_khz(cpu)
    }
    fn watch_util(&mut self) {
        (**self).watch_util();
    }
    fn util(&self, cpu: u32) -> u64 {
        (**self).util(cpu)
    }
    fn set_frequency(&mut self, cpu: u32, scale: u64) {
        (**self).set_frequency(cpu, scale);
    }
    fn watch_decisions(&mut self) -> Result<(), String> {
        (**self).watch_decisions()
    }
    fn take_decisions(&mut self, decisions: &mut Vec<Decision>) {
        (**self).take_decisions(decisions);
    }
    fn clamps(&self, cpu: u32) -> (u64, u64) {
        (**self).clamps(cpu)
    }
    fn switch_later(&mut self, cpu: u32, online: bool) {
        (**self).switch_later(cpu, online);
    }
    fn sums(&self, cpu: u32, queued: &mut Vec<Queued>) -> Sums {
        (**self).sums(cpu, queued)
    }
}
