//! Steps of programs.

use super::{
    BarrierId, CondId, ConnectionId, CounterId, DeviceId, FlagId, HistogramId, LineId, LockId,
    MarkId, Policy, PoolId, ProgramId, QueueId, TimerId,
};
use crate::placement::Placement;
use machine::CpuSet;

/// How a quantity varies from one time to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Always the mean.
    Fixed,
    /// Exponential: events that do not know of each other.
    Exponential,
    /// Log-normal with this standard deviation of the logarithm.
    LogNormal(f64),
    /// Mostly the centre, and for a `share` of the draws `factor` times that.
    Bimodal {
        /// 0 to 1.
        share: f64,
        /// How much more, or less.
        factor: f64,
    },
}

/// Core work: cycles of one thread that has its core to itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Mean, in cycles; the median for a log-normal spread, what most draws are for a bimodal one.
    pub cycles: f64,
    /// How it varies.
    pub spread: Spread,
}

impl Work {
    /// The same every time.
    pub const fn fixed(cycles: f64) -> Work {
        Work { cycles, spread: Spread::Fixed }
    }
}

/// When steps are skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    Always,
    /// The tick's count of time (`jiffies`) is what it was at the task's last step that asked for it: a file's times, which
    /// go by it (`ktime_get_coarse_real_ts64`), stay as they are.
    SameJiffy,
    /// The task's last request to a device was the first of its group.
    FirstOfGroup,
}

/// Since when a recorded time runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The task's last [`Op::Stamp`].
    Stamp,
    /// The writing of the message that the task read last.
    Message,
    /// The point at which the task's last timer was due: how late it runs.
    Due,
    /// The beginning of the request that the task works on ([`Op::Begin`]).
    Request,
}

/// What a periodic timer does when its task comes too late for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missed {
    /// The schedule stands; the next points are due at once until the task has caught up.
    CatchUp,
    /// The next period starts now.
    Restart,
}

/// How a task's computation uses memory. The working set is the task's own; touches are spread over it evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryUse {
    /// Bytes that it comes back to.
    pub working_set_bytes: f64,
    /// Lines of the working set touched in 1000 core cycles. A touch that hits the L1 costs nothing beyond the
    /// core cycles.
    pub touches_per_kcycle: f64,
    /// Misses in flight at a time (memory-level parallelism), 1 or more: each costs its latency divided by this.
    pub overlap: f64,
    /// Bytes read or written once, in 1000 core cycles. They come from memory whatever the caches hold; prefetch
    /// hides their latency, so only bandwidth limits them.
    pub stream_bytes_per_kcycle: f64,
    /// Bytes of the buffer through which that goes from end to end, again and again. It is the task's own, too.
    pub stream_set_bytes: f64,
    /// On which nodes its pages lie.
    pub placement: Placement,
}

impl MemoryUse {
    /// `work` in which memory is used like this. What follows leaves that memory alone until told otherwise.
    pub(crate) fn during(self, work: Work) -> [Op; 3] {
        let still = MemoryUse { touches_per_kcycle: 0.0, stream_bytes_per_kcycle: 0.0, ..self };
        [Op::Memory(self), Op::Compute(work), Op::Memory(still)]
    }

    /// Whether this goes on with the pages of `other`.
    pub fn is_same_memory(&self, other: &MemoryUse) -> bool {
        self.working_set_bytes == other.working_set_bytes
            && self.stream_set_bytes == other.stream_set_bytes
            && self.placement == other.placement
    }
}

/// One step of a program. Steps that enter the kernel cost what the machine says they cost.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Runs in user space.
    Compute(Work),
    /// Draws an amount of work, which [`Op::Portion`] does parts of.
    Draw(Work),
    /// Runs in user space for this part of the work that the task drew or took last.
    Portion(f64),
    /// Begins a request, or an item of a stream of them, now or at an earlier point. The task's messages carry it, and who reads one works
    /// on it. A task numbers those that it begins from 1 on.
    Begin(Since),
    /// Writes a message into a queue, sleeping while it is full, and wakes a reader if one sleeps. The message carries the
    /// user whose request the task works on.
    Send(QueueId),
    /// Writes a message as `Send` does, to be answered into the queue `answers`.
    Ask {
        /// Where the message goes.
        queue: QueueId,
        /// Where the answer goes.
        answers: QueueId,
    },
    /// Sends into the queue that the question asked for which the task read last.
    Answer,
    /// Reads one message, sleeping until there is one.
    Receive(QueueId),
    /// Takes a mutex, sleeping while it is held. As in glibc, who lets go wakes the first sleeper and hands nothing over:
    /// a running task may take the mutex before the woken one does.
    Lock(LockId),
    /// Lets go of a mutex that the task holds.
    Unlock(LockId),
    /// Lets go of `lock`, sleeps until woken through `cond`, and takes `lock` again (`pthread_cond_wait`).
    Wait {
        /// What wakes it.
        cond: CondId,
        /// Held by the task.
        lock: LockId,
    },
    /// Wakes the first who waits, if any (`pthread_cond_signal`).
    Signal(CondId),
    /// Wakes all who wait (`pthread_cond_broadcast`).
    Broadcast(CondId),
    /// Sleeps until all of the barrier's parties have come (`pthread_barrier_wait`).
    Barrier(BarrierId),
    /// The same as libgomp does it: looks for as many core cycles whether all have come, and sleeps if not. All parties of a barrier use
    /// the same kind of step.
    SpinBarrier {
        /// The barrier.
        barrier: BarrierId,
        /// How long it looks.
        spin_cycles: f64,
    },
    /// Takes the next chunk of a loop's iterations, as work for [`Op::Portion`]; goes on `steps` steps further than the next where none is left.
    Take {
        /// The loop's iterations.
        pool: PoolId,
        /// Steps that are left out.
        steps: u16,
    },
    /// Makes all of a loop's iterations due again.
    Refill(PoolId),
    /// Starts a process that runs `ProgramId`; it inherits the affinity and the nice value.
    Fork(ProgramId),
    /// Starts a thread that runs `ProgramId` in the task's address space (`pthread_create`); inherits as with `Fork`.
    Clone(ProgramId),
    /// Replaces the program image: the scheduler may move the task (`SD_BALANCE_EXEC`).
    Exec,
    /// Restricts the task to these CPUs (`sched_setaffinity`).
    SetAffinity(CpuSet),
    /// Sets the nice value (`setpriority`), -20 to 19.
    SetNice(i8),
    /// Asks for slices of this length, in ns (`sched_setattr`, `sched_runtime` of a fair task), where the kernel has them.
    SetSlice(u64),
    /// Asks for a policy (`sched_setattr`), which only a kernel tree's own code has; the nice value stays.
    SetPolicy(Policy),
    /// Asks schedutil for at least or at most so much of a CPU, of 1024 (`sched_setattr`, `SCHED_FLAG_UTIL_CLAMP`), where
    /// the kernel has clamps (5.3). What is absent stays.
    SetUtilClamp {
        /// Lower clamp.
        min: Option<u16>,
        /// Upper clamp.
        max: Option<u16>,
    },
    /// Makes a connection over loopback. All its packets then hold the route that the running CPU has cached (`nhc_pcpu_rth_output`), and
    /// share its count of references with all other connections that were made on this CPU. Takes no time of its own.
    Connect(ConnectionId),
    /// Lets others run first (`sched_yield`).
    Yield,
    /// Sets or clears a flag.
    SetFlag(FlagId, bool),
    /// Busy-waits until the flag is set.
    SpinUntilSet(FlagId),
    /// Works on units of `unit_cycles` until the flag is clear, counting whole units.
    WorkWhileSet {
        /// Watched after each unit.
        flag: FlagId,
        /// Cycles of one unit.
        unit_cycles: f64,
        /// Where units are counted.
        counter: CounterId,
    },
    /// Runs in user space until so much time has passed, in ns, whether it has the CPU or not.
    RunFor(u64),
    /// Sleeps on a timer.
    Sleep {
        /// Mean, in ns; the median for a log-normal spread.
        mean_ns: f64,
        /// How it varies.
        spread: Spread,
    },
    /// Asks a device for something and sleeps until it is done; the interrupt comes to the CPU that asked.
    Io {
        /// The device.
        device: DeviceId,
        /// Time that the device needs, in ns: mean, or median for a log-normal spread. Those who are served together
        /// take the time of the first of them.
        service_ns: f64,
        /// How it varies.
        spread: Spread,
        /// Whether the scheduler sees a task that waits for I/O (`io_schedule`, `task_struct::in_iowait`): it does in
        /// a wait for a page or a buffer, and does not in one for a journal's commit (`xlog_wait`).
        iowait: bool,
    },
    /// Sleeps until a periodic timer is due next. Its periods start when it is first waited for.
    TimerWait {
        /// The timer.
        timer: TimerId,
        /// Its period, in ns: mean, or median for a log-normal spread.
        period_ns: u64,
        /// How one period differs from the next.
        spread: Spread,
        /// What to do when the task is late.
        missed: Missed,
    },
    /// Sleeps until every child has exited (`waitpid`, `pthread_join`).
    WaitChildren,
    /// Sleeps until the child that it forked last has replaced its program image or is gone, as `vfork` does.
    WaitExec,
    /// Goes back to step `to` until the body has run `times` times; 0 is for ever.
    Loop {
        /// Index of the first step of the body.
        to: u16,
        /// Runs of the body in all.
        times: u32,
    },
    /// Goes back to step `to` while the flag is set.
    LoopWhileSet {
        /// Index of the first step of the body.
        to: u16,
        /// The flag.
        flag: FlagId,
    },
    /// Goes on `steps` steps further than the next if the condition holds.
    SkipIf {
        /// When.
        condition: Condition,
        /// Steps that are left out.
        steps: u16,
    },
    /// From here on the task's `Compute`, `Portion` and `WorkWhileSet` steps use memory like this. A use whose working set
    /// or buffer has another size or placement than the one before starts both anew, in no cache and without pages; else
    /// it goes on with the same ones.
    Memory(MemoryUse),
    /// Accesses a shared line `rounds` times, `cycles` of core work a round. While another task in such a step on
    /// the same line runs on another CPU, and one of the two writes, the line moves between them.
    Contend {
        /// The line.
        line: LineId,
        /// Accesses.
        rounds: f64,
        /// Core cycles of a round that has the line in its L1; more than 0.
        cycles: f64,
        /// Whether the task writes the line.
        write: bool,
    },
    /// Answers the user whose request the task works on, over the network.
    Reply,
    /// Remembers the time for a later [`Since::Stamp`].
    Stamp,
    /// Records the time that has passed.
    Record {
        /// Where it goes.
        histogram: HistogramId,
        /// Since when.
        since: Since,
    },
    /// Notes the time.
    Mark(MarkId),
    /// Ends the whole run.
    Stop,
}

impl Op {
    /// The same step in a program that has `by` more steps before this one.
    pub fn shifted(&self, by: u16) -> Op {
        match *self {
            Op::Loop { to, times } => Op::Loop { to: to + by, times },
            Op::LoopWhileSet { to, flag } => Op::LoopWhileSet { to: to + by, flag },
            _ => self.clone(),
        }
    }
}
