//! Events, the records of a timeline, and the [`Sink`] that takes them.

use crate::TraceError;
use kernel::priority::DEFAULT_PRIO;

/// Name of a task as in `task_struct::comm`: at most 15 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Comm {
    bytes: [u8; 15],
    len: u8,
}

impl Comm {
    /// Truncates `name` to `TASK_COMM_LEN`. Line ends become `?`.
    pub fn new(name: &str) -> Comm {
        let mut comm = Comm::default();
        for c in name.chars() {
            let c = if c.is_control() { '?' } else { c };
            let mut utf8 = [0; 4];
            let utf8 = c.encode_utf8(&mut utf8).as_bytes();
            let from = usize::from(comm.len);
            let Some(place) = comm.bytes.get_mut(from..from + utf8.len()) else { break };
            place.copy_from_slice(utf8);
            comm.len += utf8.len() as u8;
        }
        comm
    }

    /// The same of bytes, which the kernel does not promise to be UTF-8.
    pub(crate) fn from_bytes(name: &[u8]) -> Comm {
        let mut comm = Comm::default();
        match comm.bytes.get_mut(..name.len()) {
            Some(place) if name.iter().all(|b| (b' '..=b'~').contains(b)) => {
                place.copy_from_slice(name);
                comm.len = name.len() as u8;
                comm
            }
            _ => Comm::new(&String::from_utf8_lossy(name)),
        }
    }

    /// Name of a CPU's idle task in `sched_switch`.
    pub fn swapper(cpu: u32) -> Comm {
        Comm::numbered("swapper/", cpu)
    }

    /// Name of a CPU's stopper.
    pub fn stopper(cpu: u32) -> Comm {
        Comm::numbered("migration/", cpu)
    }

    fn numbered(name: &str, number: u32) -> Comm {
        let mut comm = Comm::new(name);
        let mut digits = itoa::Buffer::new();
        for &digit in digits.format(number).as_bytes() {
            if let Some(place) = comm.bytes.get_mut(usize::from(comm.len)) {
                *place = digit;
                comm.len += 1;
            }
        }
        comm
    }

    /// The name as UTF-8.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&self.bytes)
    }
}

impl std::fmt::Debug for Comm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}

/// The largest PID (`PID_MAX_LIMIT` - 1 on 64 bit).
pub(crate) const MAX_PID: u32 = 4 * 1024 * 1024 - 1;

/// A task in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Task {
    /// Its name.
    pub comm: Comm,
    /// Thread ID, at most 4,194,303 (below `PID_MAX_LIMIT`); 0 is the idle task of any CPU.
    pub pid: u32,
    /// Priority: 0 to 99 for real time, otherwise 120 plus the nice value.
    pub prio: i32,
}

impl Task {
    /// The idle task of `cpu`.
    pub fn idle(cpu: u32) -> Task {
        Task { comm: Comm::swapper(cpu), pid: 0, prio: DEFAULT_PRIO }
    }
}

/// State of a task that is switched out: the bits of `prev_state` from 4.14 on (`TASK_REPORT`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskState(pub u16);

impl TaskState {
    /// Still runnable.
    pub const RUNNING: TaskState = TaskState(0);
    /// `TASK_INTERRUPTIBLE`.
    pub const INTERRUPTIBLE: TaskState = TaskState(0x01);
    /// `TASK_UNINTERRUPTIBLE`.
    pub const UNINTERRUPTIBLE: TaskState = TaskState(0x02);
    /// `EXIT_DEAD`.
    pub const DEAD: TaskState = TaskState(0x10);
    /// `EXIT_DEAD` and `EXIT_ZOMBIE`.
    pub(crate) const GONE: u16 = 0x30;
    /// Letters of the bits, in the kernel's order.
    pub(crate) const LETTERS: [(u16, u8); 8] = [
        (0x01, b'S'),
        (0x02, b'D'),
        (0x04, b'T'),
        (0x08, b't'),
        (0x10, b'X'),
        (0x20, b'Z'),
        (0x40, b'P'),
        (0x80, b'I'),
    ];
    /// Preempted (`TASK_REPORT_MAX`).
    pub(crate) const PREEMPTED: u16 = 0x100;

    /// Whether the task stays on the queue.
    pub fn is_runnable(self) -> bool {
        self.0 == 0 || self.0 == TaskState::PREEMPTED
    }

    /// Whether the task is gone.
    pub fn is_gone(self) -> bool {
        !self.is_runnable() && self.0 & TaskState::GONE != 0
    }
}

/// Context in which the CPU made the record: the bits of `common_flags`, and the depth of disabled preemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Context {
    /// `TRACE_FLAG_*`.
    pub flags: u8,
    /// `preempt_count`: disabled preemption in the low four bits, disabled migration in the high ones.
    pub preempt_count: u8,
}

impl Context {
    /// `TRACE_FLAG_IRQS_OFF`.
    pub(crate) const IRQS_OFF: u8 = 0x01;
    /// `TRACE_FLAG_NEED_RESCHED`.
    pub(crate) const NEED_RESCHED: u8 = 0x04;
    /// `TRACE_FLAG_HARDIRQ`.
    pub const HARDIRQ: u8 = 0x08;
    /// `TRACE_FLAG_SOFTIRQ`.
    pub const SOFTIRQ: u8 = 0x10;
    /// `TRACE_FLAG_PREEMPT_RESCHED`.
    pub(crate) const PREEMPT_RESCHED: u8 = 0x20;
    /// `TRACE_FLAG_NMI`.
    pub(crate) const NMI: u8 = 0x40;
    /// `TRACE_FLAG_BH_OFF`.
    pub(crate) const BH_OFF: u8 = 0x80;

    /// Holding a run queue's lock, in a task or in an interrupt.
    pub const fn locked(interrupt: bool) -> Context {
        let flags =
            if interrupt { Context::IRQS_OFF | Context::HARDIRQ } else { Context::IRQS_OFF };
        Context { flags, preempt_count: 2 }
    }
}

/// One record of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Time in ns; never before the previous record of the same CPU.
    pub at_ns: u64,
    /// The CPU that made it.
    pub cpu: u32,
    /// The task that ran on it: name and thread ID.
    pub current: (Comm, u32),
    /// Context of the CPU.
    pub context: Context,
    /// What happened.
    pub kind: Kind,
}

impl Event {
    /// Whether a machine of `cpus` CPUs has all that it names.
    ///
    /// # Errors
    /// The highest CPU of those that it names, where the machine does not have it: it is another one.
    pub fn check_cpus(&self, cpus: usize) -> Result<(), TraceError> {
        let named = match self.kind {
            Kind::Waking { target: cpu, .. }
            | Kind::Wakeup { target: cpu, .. }
            | Kind::WakeupNew { target: cpu, .. }
            | Kind::PlaceAsked { previous: cpu, .. }
            | Kind::PlaceAnswered { cpu }
            | Kind::Frequency { cpu, .. }
            | Kind::Idle { cpu, .. } => cpu,
            Kind::Migrate { from, to, .. } => from.max(to),
            Kind::Switch { .. } | Kind::Runnable { .. } | Kind::Clock { .. } => self.cpu,
        };
        let found = self.cpu.max(named);
        if found as usize >= cpus { Err(TraceError::Cpu { found, cpus }) } else { Ok(()) }
    }
}

/// Flags with which `select_task_rq_fair` is called, from 5.11 on (`kernel/sched/sched.h`).
pub mod wake_flags {
    /// `WF_EXEC`: the task execs.
    pub const EXEC: u32 = 0x02;
    /// `WF_FORK`: the task is new.
    pub const FORK: u32 = 0x04;
    /// `WF_SYNC`: the waker is about to sleep.
    pub const SYNC: u32 = 0x10;
}

/// What a task remembers of wake-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WakeMemory {
    /// How often it changed whom it wakes (`wakee_flips`).
    pub flips: u32,
    /// The CPU that it used before the last one (`recent_used_cpu`).
    pub recent: u32,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `sched_switch`.
    Switch {
        /// The task that ran.
        prev: Task,
        /// Its state on leaving the CPU.
        prev_state: TaskState,
        /// The task that runs from now on.
        next: Task,
    },
    /// `sched_waking`, on the waker's CPU; `target` is the task's previous CPU.
    Waking {
        /// The woken task.
        task: Task,
        /// A CPU.
        target: u32,
    },
    /// `sched_wakeup`.
    Wakeup {
        /// The woken task.
        task: Task,
        /// The CPU on whose queue it is.
        target: u32,
    },
    /// `sched_wakeup_new`.
    WakeupNew {
        /// The new task.
        task: Task,
        /// The CPU on whose queue it is.
        target: u32,
    },
    /// `sched_migrate_task`.
    Migrate {
        /// The task.
        task: Task,
        /// The CPU it leaves.
        from: u32,
        /// The CPU it moves to.
        to: u32,
    },
    /// `cpu_frequency`.
    Frequency {
        /// The CPU.
        cpu: u32,
        /// The requested frequency.
        khz: u32,
    },
    /// `cpu_idle`.
    Idle {
        /// The CPU.
        cpu: u32,
        /// The idle state that it enters; `None` if it leaves one.
        state: Option<u32>,
    },
    /// `select_task_rq_fair` is called. A probe of guests, not a tracepoint of the kernel.
    PlaceAsked {
        /// The CPU on which the task last ran.
        previous: u32,
        /// `WF_*`.
        flags: u32,
        /// What the task remembers, from kernels that know types (BTF).
        memory: Option<WakeMemory>,
    },
    /// `select_task_rq_fair` returns. A probe of guests, not a tracepoint of the kernel.
    PlaceAnswered {
        /// The chosen CPU.
        cpu: u32,
    },
    /// Number of runnable tasks on the record's CPU. Not a tracepoint of the kernel.
    Runnable {
        /// Number of tasks, including the running one.
        tasks: u32,
    },
    /// Clock of the record's CPU. Not a tracepoint of the kernel.
    Clock {
        /// In kHz.
        khz: u32,
    },
}

impl Kind {
    /// Names of all kinds: those of the kernel's tracepoints and of the guests' probes.
    pub(crate) const NAMES: [&str; 11] = [
        "sched_switch",
        "sched_waking",
        "sched_wakeup",
        "sched_wakeup_new",
        "sched_migrate_task",
        "cpu_frequency",
        "cpu_idle",
        "place_asked",
        "place_answered",
        "runnable",
        "clock",
    ];

    /// Its place in [`Kind::NAMES`].
    pub(crate) fn number(&self) -> usize {
        match self {
            Kind::Switch { .. } => 0,
            Kind::Waking { .. } => 1,
            Kind::Wakeup { .. } => 2,
            Kind::WakeupNew { .. } => 3,
            Kind::Migrate { .. } => 4,
            Kind::Frequency { .. } => 5,
            Kind::Idle { .. } => 6,
            Kind::PlaceAsked { .. } => 7,
            Kind::PlaceAnswered { .. } => 8,
            Kind::Runnable { .. } => 9,
            Kind::Clock { .. } => 10,
        }
    }

    /// Whether the kernel has a tracepoint for it.
    pub fn is_tracepoint(&self) -> bool {
        !matches!(
            self,
            Kind::Runnable { .. }
                | Kind::Clock { .. }
                | Kind::PlaceAsked { .. }
                | Kind::PlaceAnswered { .. }
        )
    }
}

/// `state` of `cpu_idle` when a CPU leaves idle (`PWR_EVENT_EXIT`).
pub(crate) const IDLE_EXIT: u32 = u32::MAX;

/// Takes records one by one.
pub trait Sink {
    /// Takes one record.
    ///
    /// # Errors
    /// Output that cannot be written.
    fn event(&mut self, event: &Event) -> Result<(), TraceError>;

    /// Flushes everything to the output. No record may follow.
    ///
    /// # Errors
    /// Output that cannot be written.
    fn finish(&mut self) -> Result<(), TraceError>;
}

/// Keeps them.
impl Sink for Vec<Event> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        self.push(*event);
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}

/// Two sinks take the same records.
impl<A: Sink, B: Sink> Sink for (A, B) {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        self.0.event(event)?;
        self.1.event(event)
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        self.0.finish()?;
        self.1.finish()
    }
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        (**self).event(event)
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        (**self).finish()
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        (**self).event(event)
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        (**self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_15_bytes_between_characters() {
        assert_eq!(Comm::new("kworker/u256:10-events").as_bytes(), b"kworker/u256:10");
        assert_eq!(Comm::new("fourteen bytes\u{e9}").as_bytes(), b"fourteen bytes");
        assert_eq!(Comm::swapper(1023).as_bytes(), b"swapper/1023");
        assert_eq!(Comm::stopper(123_456).as_bytes(), b"migration/12345");
    }
}
