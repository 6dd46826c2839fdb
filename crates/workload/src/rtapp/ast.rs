//! What an rt-app file says, with rt-app's defaults filled in where the file says nothing.

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RtApp {
    /// The file's name, for errors.
    pub file: String,
    /// `global`.
    pub global: Global,
    /// `resources`: declarations that today's rt-app needs no longer.
    pub resources: Vec<Resource>,
    /// `tasks`, in their order.
    pub tasks: Vec<Task>,
}

impl RtApp {
    /// Keys from the root to an event, as in `tasks.thread0.phases.p1.run`.
    pub fn path(&self, task: &Task, phase: &Phase, event: &Event) -> String {
        match &phase.name {
            Some(name) => format!("tasks.{}.phases.{name}.{}", task.name, event.key),
            None => format!("tasks.{}.{}", task.name, event.key),
        }
    }

    /// What the metrics of task number `nth` are called after: its name, numbered where others before have it.
    pub fn label(&self, nth: usize) -> String {
        let Some(task) = self.tasks.get(nth) else { return nth.to_string() };
        match self.tasks.iter().take(nth).filter(|other| other.name == task.name).count() {
            0 => task.name.clone(),
            before => format!("{}#{}", task.name, before + 1),
        }
    }
}

/// Scheduling policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// `SCHED_OTHER`.
    Other,
    /// `SCHED_BATCH`.
    Batch,
    /// `SCHED_IDLE`.
    Idle,
    /// `SCHED_RR`.
    RoundRobin,
    /// `SCHED_FIFO`.
    Fifo,
    /// `SCHED_DEADLINE`.
    Deadline,
}

impl Policy {
    /// All of them, with rt-app's names.
    pub const NAMES: [(&'static str, Policy); 6] = [
        ("SCHED_OTHER", Policy::Other),
        ("SCHED_BATCH", Policy::Batch),
        ("SCHED_IDLE", Policy::Idle),
        ("SCHED_RR", Policy::RoundRobin),
        ("SCHED_FIFO", Policy::Fifo),
        ("SCHED_DEADLINE", Policy::Deadline),
    ];

    /// rt-app's name.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Other => "SCHED_OTHER",
            Policy::Batch => "SCHED_BATCH",
            Policy::Idle => "SCHED_IDLE",
            Policy::RoundRobin => "SCHED_RR",
            Policy::Fifo => "SCHED_FIFO",
            Policy::Deadline => "SCHED_DEADLINE",
        }
    }

    /// Whether the fair class schedules it.
    pub(crate) fn is_fair(self) -> bool {
        matches!(self, Policy::Other | Policy::Batch | Policy::Idle)
    }
}

/// `calibration`: how long a turn of rt-app's loop takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Calibration {
    /// Measured on this CPU, as in `"CPU0"`.
    Cpu(u32),
    /// Given, in ns.
    NsPerLoop(u32),
}

/// `log_size`: where logs are kept during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSize {
    /// A buffer of so many MB a thread.
    Megabytes(u32),
    /// The file.
    File,
    /// Nowhere.
    Disable,
    /// Left to rt-app, which takes the file.
    Auto,
}

/// Categories of `ftrace`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ftrace {
    /// The main thread.
    Main,
    /// Tasks.
    Task,
    /// Loops of a task.
    Loop,
    /// Events of a task.
    Event,
    /// Statistics of activations.
    Stats,
}

/// `global`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Global {
    /// `duration`, in s; `None` (-1) is until all threads end.
    pub duration_s: Option<u32>,
    /// `calibration`.
    pub calibration: Calibration,
    /// `default_policy`.
    pub default_policy: Policy,
    /// `pi_enabled`: mutexes with priority inheritance.
    pub pi_enabled: bool,
    /// `lock_pages`: `mlockall` for threads outside the fair class.
    pub lock_pages: bool,
    /// `logdir`.
    pub logdir: String,
    /// `log_basename`.
    pub log_basename: String,
    /// `log_size`.
    pub log_size: LogSize,
    /// `ftrace`; empty for none.
    pub ftrace: Vec<Ftrace>,
    /// `gnuplot`: whether plots are written.
    pub gnuplot: bool,
    /// `io_device`: what `iorun` writes to.
    pub io_device: String,
    /// `mem_buffer_size`, in bytes: what `mem` and `iorun` work on.
    pub mem_buffer_size: u32,
    /// `cumulative_slack`: whether slacks of the timers of a phase are added up.
    pub cumulative_slack: bool,
    /// `frag`, which rt-app's own examples have and no version of the tutorial describes; without effect.
    pub frag: Option<i32>,
}

impl Default for Global {
    /// rt-app's own defaults.
    fn default() -> Global {
        Global {
            duration_s: None,
            calibration: Calibration::Cpu(0),
            default_policy: Policy::Other,
            pi_enabled: false,
            lock_pages: true,
            logdir: "./".to_string(),
            log_basename: "rt-app".to_string(),
            log_size: LogSize::File,
            ftrace: Vec::new(),
            gnuplot: false,
            io_device: "/dev/null".to_string(),
            mem_buffer_size: 4 << 20,
            cumulative_slack: false,
            frag: None,
        }
    }
}

/// A declaration in `resources`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Its name.
    pub name: String,
    /// `type`.
    pub kind: ResourceKind,
    /// `target`, of grammars before rt-app's present one; without effect.
    pub target: Option<String>,
}

/// What a resource is declared to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// `mutex`.
    Mutex,
    /// `wait`: a condition variable.
    Wait,
    /// `signal`.
    Signal,
    /// `broadcast`.
    Broadcast,
    /// `sync`.
    Sync,
    /// `sleep`.
    Sleep,
    /// `run`.
    Run,
    /// `timer`.
    Timer,
}

/// How often something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loops {
    /// So often.
    Times(u32),
    /// -1.
    Forever,
}

/// One object of `tasks`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its key: the threads' name, and what `suspend` waits on.
    pub name: String,
    /// `instance`: threads at the start; 0 for one that is only forked.
    pub instances: u32,
    /// `delay` before the first phase, in µs.
    pub delay_us: u32,
    /// `loop`: how often all phases are run.
    pub loops: Loops,
    /// What applies to all phases.
    pub attributes: Attributes,
    /// `phases`, or the only one, nameless, where the events are in the task itself.
    pub phases: Vec<Phase>,
}

/// What can be set for a task and for a phase; `None` where nothing was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Attributes {
    /// `policy`.
    pub policy: Option<Policy>,
    /// `priority`: a nice value for the fair policies, a real-time priority for `SCHED_FIFO` and `SCHED_RR`.
    pub priority: Option<i32>,
    /// `dl-runtime`, in µs; the slice for `SCHED_OTHER` and `SCHED_BATCH` since 6.12.
    pub dl_runtime_us: Option<u32>,
    /// `dl-period`, in µs.
    pub dl_period_us: Option<u32>,
    /// `dl-deadline`, in µs.
    pub dl_deadline_us: Option<u32>,
    /// `cpus`.
    pub cpus: Option<Vec<u32>>,
    /// `nodes_membind`: NUMA nodes.
    pub nodes_membind: Option<Vec<u32>>,
    /// `taskgroup`: a path of the cpu controller, beginning with `/`.
    pub taskgroup: Option<String>,
    /// `util_min`, of 1024.
    pub util_min: Option<u16>,
    /// `util_max`, of 1024.
    pub util_max: Option<u16>,
}

/// One object of `phases`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its key; `None` for events that are in the task itself.
    pub name: Option<String>,
    /// `loop`.
    pub loops: Loops,
    /// What is set when the phase begins.
    pub attributes: Attributes,
    /// Events, in their order.
    pub events: Vec<Event>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its key, as in `run2`: an event's name with anything behind.
    pub key: String,
    /// Where the key is, from 1.
    pub line: usize,
    /// What is done.
    pub action: Action,
}

/// What an event does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// `run`: as much work as takes so many µs at the calibrated speed.
    Run {
        /// In µs.
        us: u32,
    },
    /// `runtime`: works until so much time has passed.
    Runtime {
        /// In µs.
        us: u32,
    },
    /// `sleep`.
    Sleep {
        /// In µs.
        us: u32,
    },
    /// `mem`: writes into the thread's buffer.
    Mem {
        /// Bytes written.
        bytes: u32,
    },
    /// `iorun`: writes from the thread's buffer to `io_device`.
    IoRun {
        /// Bytes written.
        bytes: u32,
    },
    /// `memrun`.
    MemRun(MemRun),
    /// `timer`.
    Timer(Timer),
    /// `lock`: `pthread_mutex_lock`.
    Lock {
        /// The mutex.
        mutex: String,
    },
    /// `unlock`: `pthread_mutex_unlock`.
    Unlock {
        /// The mutex.
        mutex: String,
    },
    /// `wait`: `pthread_cond_wait`.
    Wait {
        /// `ref`: the condition variable.
        condition: String,
        /// `mutex`.
        mutex: String,
    },
    /// `signal`: `pthread_cond_signal`.
    Signal {
        /// The condition variable.
        condition: String,
    },
    /// `broad`: `pthread_cond_broadcast`.
    Broadcast {
        /// The condition variable.
        condition: String,
    },
    /// `sync`: `pthread_cond_signal`, then `pthread_cond_wait`.
    Sync {
        /// `ref`: the condition variable.
        condition: String,
        /// `mutex`.
        mutex: String,
    },
    /// `barrier`: waits until all threads whose files name it are there.
    Barrier {
        /// Its name.
        name: String,
    },
    /// `suspend`: waits on the condition variable with the task's name, which only `resume` signals.
    Suspend {
        /// The string given, if any: what was waited on until rt-app of May 2025, which ignores it.
        name: Option<String>,
    },
    /// `resume`: wakes all threads that suspend on the name.
    Resume {
        /// A task's name.
        name: String,
    },
    /// `sem_post`.
    SemPost {
        /// The semaphore.
        name: String,
    },
    /// `sem_wait`.
    SemWait {
        /// The semaphore.
        name: String,
    },
    /// `yield`: `sched_yield`.
    Yield,
    /// `fork`: starts one more thread of a task.
    Fork {
        /// The task.
        task: String,
    },
}

/// A `timer` event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timer {
    /// `ref`: its name; each thread has its own of a name that begins with `unique`.
    pub name: String,
    /// `period`, in µs.
    pub period_us: u32,
    /// `mode`: whether a missed timer leaves the next ones where they were.
    pub absolute: bool,
}

/// A `memrun` event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemRun {
    /// `size` of the buffer, in bytes.
    pub size: u32,
    /// `count`: bytes touched, or pointers followed.
    pub count: u32,
    /// `type`.
    pub access: Access,
    /// `ref`: a buffer shared by all that name it.
    pub shared: Option<String>,
}

/// How `memrun` goes through its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// `read`: byte after byte.
    Read,
    /// `write`: byte after byte.
    Write,
    /// `chase`: from pointer to pointer.
    Chase {
        /// `stride`, in bytes.
        stride: u32,
        /// `pattern`: whether pointers are in bit-reversed order rather than in a row.
        random: bool,
    },
}
