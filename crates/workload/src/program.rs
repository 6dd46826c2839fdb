//! The instruction set of simulated programs.

use machine::CpuSet;
use stats::Better;

/// A program of a workload, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramId(pub u16);
/// A pipe of a workload, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipeId(pub u16);
/// A shared word that tasks set and watch, by index; clear at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlagId(pub u16);
/// A counter of work done, by index; zero at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CounterId(pub u16);
/// A point in time that a metric reads, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MarkId(pub u16);
/// A cache line that several tasks use, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineId(pub u16);

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
}

/// How a quantity varies from one time to the next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// Always the mean.
    Fixed,
    /// Exponential: events that do not know of each other.
    Exponential,
    /// Log-normal with this standard deviation of the logarithm.
    LogNormal(f64),
}

/// Core work: cycles of one thread that has its core to itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Mean, in cycles; the median for a log-normal spread.
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

/// One step of a program. Steps that enter the kernel cost what the machine says they cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    /// Runs in user space.
    Compute(Work),
    /// Writes a message into a pipe and wakes its reader, telling the scheduler that it will soon sleep (`WF_SYNC`).
    PipeWrite(PipeId),
    /// Reads one message, sleeping until there is one.
    PipeRead(PipeId),
    /// Starts a task that runs `ProgramId`; it inherits the affinity.
    Fork(ProgramId),
    /// Replaces the program image: the scheduler may move the task (`SD_BALANCE_EXEC`).
    Exec,
    /// Restricts the task to these CPUs (`sched_setaffinity`).
    SetAffinity(CpuSet),
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
    /// Sleeps on a timer.
    Sleep {
        /// Mean, in ns; the median for a log-normal spread.
        mean_ns: f64,
        /// How it varies.
        spread: Spread,
    },
    /// Sleeps until every child has exited (`waitpid`, `pthread_join`).
    WaitChildren,
    /// Goes back to step `to` until the body has run `times` times; 0 is for ever.
    Loop {
        /// Index of the first step of the body.
        to: u16,
        /// Runs of the body in all.
        times: u32,
    },
    /// From here on the task's `Compute` and `WorkWhileSet` steps use memory like this. A use that differs from the
    /// one before starts a working set that no cache holds, in memory of the node where the task runs.
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
    /// Notes the time.
    Mark(MarkId),
    /// Ends the whole run.
    Stop,
}

/// A named list of steps; a task that runs off its end exits.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The task's `comm`.
    pub name: String,
    /// Steps.
    pub ops: Vec<Op>,
}

/// A task that exists when the run starts, asleep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spawn {
    /// What it runs.
    pub program: ProgramId,
    /// CPUs it may use, `None` for all.
    pub affinity: Option<CpuSet>,
    /// When it first wakes, in ns; drawn uniformly from `[first_wake_ns, first_wake_ns + within_ns]`.
    pub first_wake_ns: u64,
    /// Width of the draw, in ns.
    pub within_ns: u64,
}

/// How a metric is read off a finished run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reading {
    /// Seconds from one mark to another, times `scale`.
    Seconds {
        /// First mark.
        from: MarkId,
        /// Last mark.
        to: MarkId,
        /// Factor, for runs shorter than the benchmark they stand for.
        scale: f64,
    },
    /// Units counted, a second, between two marks.
    UnitsPerSecond {
        /// What is counted.
        counter: CounterId,
        /// First mark.
        from: MarkId,
        /// Last mark.
        to: MarkId,
    },
}

/// A result of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Name, as in `records_per_s`.
    pub name: String,
    /// Unit, as in `records/s`.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// How it is read.
    pub reading: Reading,
}

/// Programs, what they share, the tasks at the start, and what is measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Workload {
    /// Programs by [`ProgramId`].
    pub programs: Vec<Program>,
    /// Number of pipes.
    pub pipes: u16,
    /// Number of flags.
    pub flags: u16,
    /// Number of counters.
    pub counters: u16,
    /// Number of shared lines.
    pub lines: u16,
    /// Number of marks.
    pub marks: u16,
    /// Tasks at the start.
    pub spawns: Vec<Spawn>,
    /// Results.
    pub metrics: Vec<Metric>,
}

impl Workload {
    /// Adds a program.
    pub fn program(&mut self, name: &str, ops: Vec<Op>) -> ProgramId {
        self.programs.push(Program { name: name.to_string(), ops });
        ProgramId(self.programs.len() as u16 - 1)
    }

    /// Adds a pipe.
    pub fn pipe(&mut self) -> PipeId {
        self.pipes += 1;
        PipeId(self.pipes - 1)
    }

    /// Adds a flag.
    pub fn flag(&mut self) -> FlagId {
        self.flags += 1;
        FlagId(self.flags - 1)
    }

    /// Adds a counter.
    pub fn counter(&mut self) -> CounterId {
        self.counters += 1;
        CounterId(self.counters - 1)
    }

    /// Adds a shared line.
    pub fn line(&mut self) -> LineId {
        self.lines += 1;
        LineId(self.lines - 1)
    }

    /// Adds a mark.
    pub fn mark(&mut self) -> MarkId {
        self.marks += 1;
        MarkId(self.marks - 1)
    }
}
