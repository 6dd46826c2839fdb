//! Decisions of a kernel's fair class, each with the state that it is made from.
//!
//! The structs are those of the C interface, field by field, so that a library fills them in place.

/// What is decided (`enum sc_decision`).
pub mod decision {
    /// A CPU for a task.
    pub const CPU: u32 = 0;
    /// The task that runs next.
    pub const TASK: u32 = 1;
    /// Whether a task that was just queued preempts.
    pub const PREEMPTION: u32 = 2;
    /// An attempt at balancing, which is asked no question.
    pub const BALANCES: u32 = 3;
    /// Whether it is this CPU's turn to balance.
    pub const TURN: u32 = 4;
    /// The busiest group.
    pub const GROUP: u32 = 5;
    /// The busiest queue of that group.
    pub const QUEUE: u32 = 6;
}

/// Why a CPU is asked for (`enum sc_why`).
pub mod why {
    /// A wake-up.
    pub const WAKES: u32 = 0;
    /// A wake-up by a task that is about to sleep.
    pub const WAKES_SYNC: u32 = 1;
    /// A new task.
    pub const IS_NEW: u32 = 2;
    /// A task that execs.
    pub const EXECS: u32 = 3;
}

/// A decision that is about to be made (`struct sc_question`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Question {
    pub decision: u32,
    pub cpu: u32,
    pub now_ns: u64,
    pub jiffies: u64,
    pub task: i64,
    pub current_task: i64,
    pub why: u32,
    pub previous: u32,
    pub level: u32,
    pub idle: u32,
    pub group: u32,
}

/// PELT averages (`struct sc_averages`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Averages {
    pub load: u64,
    pub runnable: u64,
    pub util: u64,
}

/// A run queue (`struct sc_queue_state`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct QueueState {
    pub current_task: i64,
    pub current_fair: i64,
    pub nr_running: u32,
    pub nr_queued: u32,
    pub nr_delayed: u32,
    pub waiting: u32,
    pub wakeup_pending: u32,
    pub idle_state: u32,
    pub weight: u64,
    pub min_vruntime: u64,
    pub weighted_vruntime: i64,
    pub weight_waiting: i64,
    pub next: i64,
    pub last: i64,
    pub skip: i64,
    pub averages: Averages,
    pub h_load: u64,
    pub h_load_tick: u64,
    pub util_est: u64,
    pub avg_idle_ns: u64,
    pub avg_scan_cost_ns: u64,
    pub wake_avg_idle_ns: u64,
    pub wake_stamp: u64,
    pub idle_since_ns: u64,
    pub capacity: u64,
    pub llc_busy: u32,
    pub llc_idle_cores: u32,
    pub llc_scan: u32,
    pub imbalanced: u64,
}

/// A task (`struct sc_task_state`).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct TaskState {
    pub last_wakee: i64,
    pub cpu: u32,
    pub on_rq: u32,
    pub delayed: u32,
    pub custom_slice: u32,
    pub rel_deadline: u32,
    pub attached: u32,
    pub weight: u64,
    pub vruntime: u64,
    pub deadline: u64,
    pub slice_ns: u64,
    pub protected: u64,
    pub lag: i64,
    pub exec_start_ns: u64,
    pub sum_exec_ns: u64,
    pub prev_sum_exec_ns: u64,
    pub averages: Averages,
    pub util_est: u64,
    pub util_est_last: u64,
    pub wakee_flips: u32,
    pub recent_used_cpu: u32,
    pub flip_decay: u64,
}

/// A queue and the pids of the tasks in its order, the leftmost first.
#[derive(Debug, Clone, Default)]
pub struct QueueSeen {
    /// The queue.
    pub state: QueueState,
    /// Who waits.
    pub waiting: Vec<i64>,
}

/// A task, its pid and the CPUs that it may use.
#[derive(Debug, Clone)]
pub struct TaskSeen {
    /// Its pid.
    pub pid: i64,
    /// The task.
    pub state: TaskState,
    /// Words of its mask, CPU 0 in the lowest bit of the first.
    pub mask: Vec<u64>,
}

/// A decision with its state and what the kernel decided.
#[derive(Debug, Clone)]
pub struct Decision {
    /// What was to be decided.
    pub question: Question,
    /// The question within which this one came up, if there is one: its decision.
    pub within: Option<u32>,
    /// Queues by CPU.
    pub queues: Vec<QueueSeen>,
    /// Tasks that are queued or take part.
    pub tasks: Vec<TaskSeen>,
    /// The answer.
    pub answer: i64,
}
