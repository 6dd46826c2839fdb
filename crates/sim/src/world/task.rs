//! Tasks: what the engine and classes know of one.

use crate::hardware::Travel;
use crate::topology::Cpu;
use machine::CpuSet;
use workload::{BarrierId, CondId, CounterId, FlagId, LockId, ProgramId, QueueId, QueueKind};

/// A task, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskId(pub u32);

impl TaskId {
    /// Index into per-task tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a task can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Queued or running.
    Runnable,
    /// Waiting for a timer or a device.
    Sleeping,
    /// Waiting for a message.
    Reading(QueueId),
    /// Waiting for room for a message.
    Writing(QueueId),
    /// Waiting for a mutex.
    Locking(LockId),
    /// Waiting for a condition variable.
    Conditional(CondId),
    /// Waiting for the other parties of a barrier.
    AtBarrier(BarrierId),
    /// Waiting for its children.
    Waiting,
    /// Waiting for its last child to load a program (`vfork`).
    Loading,
    /// Gone.
    Dead,
}

/// The step that a task is in the middle of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Doing {
    /// Between steps.
    Nothing,
    /// What a worker of the kernel does; it has no steps.
    KernelWork,
    /// It has loaded its program, where the scheduler wanted it, and its parent waits for that.
    Loaded,
    /// So many cycles are left before the step takes effect.
    Cycles(f64),
    /// Runs until a point in time.
    Until(u64),
    /// Busy-waits.
    Spin(FlagId),
    /// Busy-waits for the others at a barrier, for so many cycles at most; `generation` is which of the barrier's rounds.
    AtBarrier { barrier: BarrierId, generation: u32, left: f64 },
    /// Counts units while a flag is set.
    Units { flag: FlagId, unit_cycles: f64, counter: CounterId, done: f64 },
}

/// The request, or the item of a stream, that a task works on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// When it began.
    pub(crate) began_ns: u64,
    /// From 1 on; 0 for none.
    pub(crate) number: u32,
}

/// The address space of a thread that has none.
pub(crate) const KERNEL_MM: u32 = u32::MAX - 1;

/// Loops that a program may nest.
pub(crate) const MAX_LOOPS: usize = 4;

/// One task.
#[derive(Debug)]
pub struct Task {
    /// CPU it runs on, is queued on, or last ran on.
    pub cpu: Cpu,
    /// Whether it can run.
    pub state: State,
    /// CPUs it may use, out of the online ones; none where all of its affinity went offline while it slept, which
    /// [`World::select_fallback_rq`](super::World::select_fallback_rq) mends.
    pub allowed: CpuSet,
    /// Nice value, -20 to 19.
    pub nice: i8,
    /// The control group that it is in, by its place from 1 on; 0 for the root.
    pub group: u32,
    /// Whether its sleep is one for I/O (`in_iowait`); still so while the class queues it at its wake-up.
    pub in_iowait: bool,
    pub(crate) program: ProgramId,
    pub(crate) pc: u32,
    pub(crate) doing: Doing,
    pub(crate) loops: [u32; MAX_LOOPS],
    pub(crate) parent: Option<TaskId>,
    /// Its address space, by the task that began it.
    pub(crate) mm: u32,
    /// Where its parent forked it, while it has that one's memory.
    pub(crate) forked_on: Option<Cpu>,
    pub(crate) children: u32,
    /// What it spends when it next runs on fetching what its waker wrote.
    pub(crate) fetch: Travel,
    /// Cycles to spend when it next runs: what is left of its wake-up.
    pub(crate) woken_cycles: f64,
    /// What it last slept in.
    pub(crate) sleeps_in: QueueKind,
    /// Since when it is runnable without running.
    pub(crate) queued_ns: u64,
    /// Whether that began with a wake-up.
    pub(crate) woken: bool,
    pub(crate) daemon: bool,
    /// The step has entered the kernel because it could not be done in user space.
    pub(crate) in_kernel: bool,
    /// What the task waited for has come: a condition was signalled, a barrier's parties are complete.
    pub(crate) signalled: bool,
    /// Its last child, while that has not loaded a program.
    pub(crate) loading: Option<TaskId>,
    /// Who waits behind it for the same thing.
    pub(crate) next_waiter: Option<TaskId>,
    /// The user whose request it works on.
    pub(crate) client: Option<u32>,
    /// That request.
    pub(crate) origin: Origin,
    /// Where its answer goes.
    pub(crate) answers: Option<QueueId>,
    /// Work that it drew or took last, in cycles.
    pub(crate) drawn_cycles: f64,
    /// The round of the barrier to which it has come.
    pub(crate) arrived: Option<u32>,
    pub(crate) stamp_ns: u64,
    /// The tick's count of time when it last asked for it.
    pub(crate) jiffy: u64,
    /// Whether its last request to a device was the first of its group.
    pub(crate) first_of_group: bool,
    /// When the message that it read last was written.
    pub(crate) message_ns: u64,
    /// When its last timer was due.
    pub(crate) due_ns: u64,
    /// CPU whose clock runs its timer.
    pub(crate) timer_cpu: Cpu,
    /// CPUs it may use, online or not (`cpus_ptr`).
    pub(crate) affinity: CpuSet,
}

impl Task {
    /// A task at the start of `program`, asleep; `allowed` is all of its affinity.
    pub(crate) fn new(program: ProgramId, cpu: Cpu, allowed: CpuSet) -> Task {
        Task {
            cpu,
            state: State::Sleeping,
            allowed: allowed.clone(),
            nice: 0,
            group: 0,
            in_iowait: false,
            program,
            pc: 0,
            doing: Doing::Nothing,
            loops: [0; MAX_LOOPS],
            parent: None,
            mm: u32::MAX,
            forked_on: None,
            children: 0,
            fetch: Travel::default(),
            woken_cycles: 0.0,
            sleeps_in: QueueKind::Futex,
            queued_ns: 0,
            woken: false,
            daemon: false,
            in_kernel: false,
            signalled: false,
            loading: None,
            next_waiter: None,
            client: None,
            origin: Origin::default(),
            answers: None,
            drawn_cycles: 0.0,
            arrived: None,
            stamp_ns: 0,
            jiffy: 0,
            first_of_group: false,
            message_ns: 0,
            due_ns: 0,
            timer_cpu: cpu,
            affinity: allowed,
        }
    }
}
