//! The instruction set of simulated programs, and what they share.

mod ids;
mod metric;
mod op;
mod policy;
mod pool;
mod renumber;
mod shared;

pub use ids::{
    BarrierId, CondId, ConnectionId, CounterId, DeviceId, FlagId, HistogramId, LineId, LockId,
    MarkId, PoolId, ProgramId, QueueId, TimerId,
};
pub use metric::{Metric, Reading};
pub use op::{Condition, MemoryUse, Missed, Op, Since, Spread, Work};
pub use policy::Policy;
pub use pool::{Chunks, Pool};
pub(crate) use renumber::Offsets;
pub use shared::{Capacity, Clients, Device, Histogram, Queue, QueueKind};

use crate::kvm::Partitions;
use machine::CpuSet;

/// A named list of steps; a task that runs off its end exits.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The task's `comm`.
    pub name: String,
    /// Steps.
    pub ops: Vec<Op>,
}

/// A task that exists when the run starts, asleep.
#[derive(Debug, Clone, PartialEq)]
pub struct Spawn {
    /// What it runs.
    pub program: ProgramId,
    /// CPUs it may use, `None` for all.
    pub affinity: Option<CpuSet>,
    /// Nice value, -20 to 19.
    pub nice: i8,
    /// When it first wakes, in ns; drawn uniformly from `[first_wake_ns, first_wake_ns + within_ns]`.
    pub first_wake_ns: u64,
    /// Width of the draw, in ns.
    pub within_ns: u64,
    /// Whether it only keeps the machine company: a run in which none but daemons can go on is stuck.
    pub daemon: bool,
}

impl Spawn {
    /// A task that runs `program` anywhere from time 0 on, nice 0, no daemon.
    pub const fn new(program: ProgramId) -> Spawn {
        Spawn { program, affinity: None, nice: 0, first_wake_ns: 0, within_ns: 0, daemon: false }
    }
}

/// Programs, what they share, the tasks at the start, and what is measured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Workload {
    /// Programs by [`ProgramId`].
    pub programs: Vec<Program>,
    /// Queues by [`QueueId`].
    pub queues: Vec<Queue>,
    /// Number of mutexes.
    pub locks: u16,
    /// Number of condition variables.
    pub conds: u16,
    /// Parties of each barrier, by [`BarrierId`].
    pub barriers: Vec<u32>,
    /// Iterations of loops by [`PoolId`].
    pub pools: Vec<Pool>,
    /// Number of periodic timers.
    pub timers: u16,
    /// Number of flags.
    pub flags: u16,
    /// Number of counters.
    pub counters: u16,
    /// Histograms by [`HistogramId`].
    pub histograms: Vec<Histogram>,
    /// Number of shared lines.
    pub lines: u16,
    /// Number of marks.
    pub marks: u16,
    /// Devices by [`DeviceId`].
    pub devices: Vec<Device>,
    /// Number of connections over loopback.
    pub connections: u16,
    /// Tasks at the start.
    pub spawns: Vec<Spawn>,
    /// Users on other machines.
    pub clients: Vec<Clients>,
    /// Results.
    pub metrics: Vec<Metric>,
    /// Where the time begins and ends over which power is measured; all of the run where absent.
    pub measured: Option<(MarkId, MarkId)>,
    /// By program: path of the control group in which its tasks begin, where the workload says so. Programs beyond its end have none.
    pub groups: Vec<Option<String>>,
    /// Messages that are in a queue when the run ends, such as the tokens of a job server.
    pub left: Vec<(QueueId, u32)>,
    /// Partitions, whose vcores are among the programs.
    pub partitions: Option<Partitions>,
    /// Whether steps were measured with the kernel's work in them, as a trace's are. Then that work takes no time of its own: messages,
    /// wake-ups, switches, balancing and ticks are free. How long an idle CPU takes to wake stays the machine's.
    pub has_kernel_work: bool,
    /// How long an idle CPU takes to run a woken task, where that was measured with the steps; otherwise the machine's idle states and
    /// interrupts say.
    pub idle_exit: Option<IdleExit>,
}

/// From the begin of a wake-up until an idle CPU runs the task, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleExit {
    /// Woken on that CPU, by an interrupt.
    pub local_ns: u64,
    /// Woken from another CPU.
    pub remote_ns: u64,
}

/// Adds one to a count and gives what it was.
fn next(count: &mut u16) -> u16 {
    *count += 1;
    *count - 1
}

impl Workload {
    /// Adds a program.
    pub fn program(&mut self, name: &str, ops: Vec<Op>) -> ProgramId {
        self.programs.push(Program { name: name.to_string(), ops });
        ProgramId(self.programs.len() as u16 - 1)
    }

    /// Adds a queue.
    pub fn queue(&mut self, queue: Queue) -> QueueId {
        self.queues.push(queue);
        QueueId(self.queues.len() as u16 - 1)
    }

    /// Adds a pipe that is never full.
    pub fn pipe(&mut self) -> QueueId {
        self.queue(Queue::unbounded(QueueKind::Pipe))
    }

    /// Adds a mutex.
    pub fn lock(&mut self) -> LockId {
        LockId(next(&mut self.locks))
    }

    /// Adds a condition variable.
    pub fn cond(&mut self) -> CondId {
        CondId(next(&mut self.conds))
    }

    /// Adds a barrier of so many parties.
    pub fn barrier(&mut self, parties: u32) -> BarrierId {
        self.barriers.push(parties);
        BarrierId(self.barriers.len() as u16 - 1)
    }

    /// Adds a loop's iterations.
    pub fn pool(&mut self, pool: Pool) -> PoolId {
        self.pools.push(pool);
        PoolId(self.pools.len() as u16 - 1)
    }

    /// Adds a periodic timer.
    pub fn timer(&mut self) -> TimerId {
        TimerId(next(&mut self.timers))
    }

    /// Adds a flag.
    pub fn flag(&mut self) -> FlagId {
        FlagId(next(&mut self.flags))
    }

    /// Adds a counter.
    pub fn counter(&mut self) -> CounterId {
        CounterId(next(&mut self.counters))
    }

    /// Adds a histogram that records while `while_set` is set, or always.
    pub fn histogram(&mut self, while_set: Option<FlagId>) -> HistogramId {
        self.histograms.push(Histogram { while_set });
        HistogramId(self.histograms.len() as u16 - 1)
    }

    /// Adds a shared line.
    pub fn line(&mut self) -> LineId {
        self.lines += 1;
        LineId(self.lines - 1)
    }

    /// Adds a device.
    pub fn device(&mut self, device: Device) -> DeviceId {
        self.devices.push(device);
        DeviceId(self.devices.len() as u16 - 1)
    }

    /// Adds a connection over loopback.
    pub fn connection(&mut self) -> ConnectionId {
        ConnectionId(next(&mut self.connections))
    }

    /// Adds a mark.
    pub fn mark(&mut self) -> MarkId {
        MarkId(next(&mut self.marks))
    }
}
