//! The scheduler of a kernel tree as the engine drives it: CPUs of a machine that exists in somebody else's memory.
//!
//! Words and numbers are those of the C interface (`abi.h` of the crate `tree`). The crate `replica` has the only
//! implementation, around a library that it has loaded and booted. Time is the kernel's own, in ns.

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
    /// `fork`; answers the child's pid.
    Fork,
    /// `nice`.
    SetNice(i8),
    /// `sched_setattr` with a slice in ns.
    SetSlice(u64),
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
    /// What the call answers, if there was one that answers.
    pub answer: i64,
}

/// Where an idle CPU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// Its idle state, by its place in the machine's list.
    pub state: usize,
    /// When it looks whether to stay there, if it does: polling takes only so long.
    pub until_ns: Option<u64>,
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
    },
    /// `sched_migrate_task`.
    Migrate {
        /// Who.
        pid: i64,
        /// Its new CPU.
        to: u32,
    },
    /// `cpufreq_update_util`: the utilisation of a CPU was brought up to date.
    Util {
        /// The CPU.
        cpu: u32,
        /// For a task that waited for I/O (`SCHED_CPUFREQ_IOWAIT`).
        for_io: bool,
    },
}

/// A kernel that has booted, with no task of a workload yet. It stops the process on a bug of its own.
pub trait Source {
    /// The time at which it has booted.
    fn booted_ns(&self) -> u64;
    /// Length of a tick.
    fn tick_ns(&self) -> u64;
    /// Random numbers begin anew.
    fn seed(&mut self, seed: u64);
    /// Makes a task that sleeps on `cpu`; its pid.
    fn spawn(&mut self, name: &str, cpu: u32, nice: i8, affinity: &CpuSet) -> i64;
    /// Lets a CPU go on until it waits again; its task makes `call` first.
    fn turn(&mut self, turn: &Turn, call: Option<&Call>) -> Ended;
    /// The next interrupt [`irq::WAKE`] of `cpu` wakes this task, too.
    fn wake_later(&mut self, cpu: u32, pid: i64);
    /// Moves what happened since the last call to `events`, which is empty.
    fn take_events(&mut self, events: &mut Vec<Event>);
    /// When the timer of `cpu` is due.
    fn timer_ns(&self, cpu: u32) -> Option<u64>;
    /// What `cpu` waits for, and its task.
    fn state(&self, cpu: u32) -> (Waits, i64);
    /// Tasks that can run on `cpu` (`rq->nr_running`).
    fn nr_running(&self, cpu: u32) -> u32;
    /// Where `cpu`, which is idle, is so.
    fn idle(&self, cpu: u32) -> Idle;
    /// Sets the counters that the kernel keeps itself to what it counted since its boot.
    fn count(&self, to: &mut Counters);
    /// From now on [`Event::Util`] is told.
    fn watch_util(&mut self);
    /// What the tasks of `cpu` use of it, 1024 for a CPU (`cpu_util_cfs`).
    fn util(&self, cpu: u32) -> u64;
    /// `arch_scale_freq_capacity` of `cpu`: 1024 for its highest clock.
    fn set_frequency(&mut self, cpu: u32, scale: u64);
    /// Takes `cpu` offline or brings it online; the time then, which goes on while CPUs wait for each other. What the
    /// kernel refuses is its error number.
    fn set_online(&mut self, cpu: u32, online: bool) -> Result<u64, i64>;
}

impl<S: Source> Source for &mut S {
    fn booted_ns(&self) -> u64 {
        (**self).booted_ns()
    }
    fn tick_ns(&self) -> u64 {
        (**self).tick_ns()
    }
    fn seed(&mut self, seed: u64) {
        (**self).seed(seed);
    }
    fn spawn(&mut self, name: &str, cpu: u32, nice: i8, affinity: &CpuSet) -> i64 {
        (**self).spawn(name, cpu, nice, affinity)
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
    fn state(&self, cpu: u32) -> (Waits, i64) {
        (**self).state(cpu)
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
    fn watch_util(&mut self) {
        (**self).watch_util();
    }
    fn util(&self, cpu: u32) -> u64 {
        (**self).util(cpu)
    }
    fn set_frequency(&mut self, cpu: u32, scale: u64) {
        (**self).set_frequency(cpu, scale);
    }
    fn set_online(&mut self, cpu: u32, online: bool) -> Result<u64, i64> {
        (**self).set_online(cpu, online)
    }
}
