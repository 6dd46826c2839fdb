//! `abi.h` of the architecture, as Rust has it. A change there needs one here, and a new [`VERSION`].

use sim::source::{Question, QueueState, Queued, Sums, TaskState};
use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::AtomicU64;

/// `SC_ABI_VERSION`.
pub(crate) const VERSION: u32 = 9;

/// `enum sc_level_flag`.
pub(crate) mod level_flag {
    pub(crate) const SHARES_CAPACITY: u32 = 1;
    pub(crate) const SHARES_CLUSTER: u32 = 2;
    pub(crate) const SHARES_LLC: u32 = 4;
    pub(crate) const ASYM_PACKING: u32 = 8;
}

/// `enum sc_event`.
pub(crate) mod event {
    pub(crate) const WARN: u32 = 0;
    pub(crate) const TIMER: u32 = 1;
    pub(crate) const INTERRUPT: u32 = 2;
    pub(crate) const SWITCH: u32 = 3;
    pub(crate) const WAKING: u32 = 4;
    pub(crate) const WAKEUP: u32 = 5;
    pub(crate) const WAKEUP_NEW: u32 = 6;
    pub(crate) const MIGRATE: u32 = 7;
    pub(crate) const UTIL: u32 = 8;
    pub(crate) const PUSH: u32 = 9;
    pub(crate) const SWITCHED: u32 = 10;
    pub(crate) const UNDEFINED: u32 = 11;
    pub(crate) const CLOCK: u32 = 12;
    pub(crate) const REFUSED: u32 = 13;
}

/// `enum sc_waits`.
pub(crate) mod waits {
    pub(crate) const OFF: u32 = 0;
    pub(crate) const USER: u32 = 1;
    pub(crate) const IDLE: u32 = 2;
    pub(crate) const SPINS: u32 = 3;
    pub(crate) const KERNEL: u32 = 4;
}

/// `enum sc_call_kind`.
pub(crate) mod call {
    pub(crate) const WAKE: u32 = 0;
    pub(crate) const NICE: u32 = 1;
    pub(crate) const SLICE: u32 = 2;
    pub(crate) const CLAMP: u32 = 3;
    pub(crate) const FORK: u32 = 4;
    pub(crate) const SLEEP: u32 = 5;
    pub(crate) const SLEEP_UNTIL: u32 = 6;
    pub(crate) const YIELD: u32 = 7;
    pub(crate) const EXEC: u32 = 8;
    pub(crate) const AFFINITY: u32 = 9;
    pub(crate) const POLICY: u32 = 10;
    pub(crate) const EXIT: u32 = 11;
}

/// `enum sc_policy`.
pub(crate) mod policy {
    pub(crate) const OTHER: i64 = 0;
    pub(crate) const BATCH: i64 = 1;
    pub(crate) const IDLE: i64 = 2;
    pub(crate) const FIFO: i64 = 3;
    pub(crate) const ROUND_ROBIN: i64 = 4;
    pub(crate) const DEADLINE: i64 = 5;
}

/// `enum sc_shared`.
pub(crate) mod shared {
    pub(crate) const COOKIE: u32 = 1;
    pub(crate) const SESSION: u32 = 2;
}

/// `struct sc_level`.
#[repr(C)]
pub(crate) struct Level {
    pub(crate) name: *const c_char,
    pub(crate) flags: u32,
    pub(crate) masks: *const u64,
}

/// `struct sc_cpu_place`.
#[repr(C)]
pub(crate) struct Place {
    pub(crate) core: u32,
    pub(crate) cluster: u32,
    pub(crate) package: u32,
    pub(crate) node: u32,
    pub(crate) capacity: u64,
    pub(crate) llc_bytes: u64,
    pub(crate) priority: c_int,
    pub(crate) smt: *const u64,
    pub(crate) cluster_cpus: *const u64,
    pub(crate) package_cpus: *const u64,
    pub(crate) llc: *const u64,
}

/// `struct sc_idle_state`.
#[repr(C)]
pub(crate) struct IdleState {
    pub(crate) name: *const c_char,
    pub(crate) exit_ns: u64,
    pub(crate) residency_ns: u64,
    pub(crate) poll_ns: u64,
    pub(crate) flagged: c_int,
}

/// `struct sc_idle`.
#[repr(C)]
pub(crate) struct Idle {
    pub(crate) state: u32,
    pub(crate) until_ns: u64,
    pub(crate) calls: u64,
}

/// `struct sc_clamps`.
#[repr(C)]
pub(crate) struct Clamps {
    pub(crate) min: u32,
    pub(crate) max: u32,
}

/// `struct sc_machine`.
#[repr(C)]
pub(crate) struct Machine {
    pub(crate) cpus: u32,
    pub(crate) nodes: u32,
    pub(crate) levels: u32,
    pub(crate) idle_states: u32,
    pub(crate) places: *const Place,
    pub(crate) distances: *const u32,
    pub(crate) level: *const Level,
    pub(crate) idle_state: *const IdleState,
    pub(crate) reclaim_distance: u32,
}

/// `struct sc_host`.
#[repr(C)]
pub(crate) struct Host {
    pub(crate) alloc: extern "C" fn(u64, u64) -> *mut c_void,
    pub(crate) pages: extern "C" fn(u64) -> *mut c_void,
    pub(crate) free: extern "C" fn(*mut c_void),
    pub(crate) log: extern "C" fn(*const c_char),
    pub(crate) fatal: extern "C" fn(*const c_char),
    pub(crate) event: extern "C" fn(u32, u32, i64, i64),
    pub(crate) asked: extern "C" fn(*const Question),
    pub(crate) answered: extern "C" fn(u32, i64),
}

/// `struct sc_call`.
#[repr(C)]
pub(crate) struct Call {
    pub(crate) kind: u32,
    pub(crate) a: i64,
    pub(crate) b: i64,
    pub(crate) words: *const u64,
}

/// `struct sc_turn`.
#[repr(C)]
pub(crate) struct Turn {
    pub(crate) cpu: u32,
    pub(crate) irqs: u32,
    pub(crate) now_ns: u64,
    pub(crate) scan_cost: u32,
    pub(crate) balance_cost: u32,
    pub(crate) call: *mut Call,
    pub(crate) waits: u32,
    pub(crate) scans: u32,
    pub(crate) balances: u32,
    pub(crate) current_task: i64,
}

/// `struct sc_spawn`.
#[repr(C)]
pub(crate) struct Spawn {
    pub(crate) name: *const c_char,
    pub(crate) cpu: u32,
    pub(crate) nice: c_int,
    pub(crate) mask: *const u64,
}

/// `struct sc_clocks`.
#[repr(C)]
pub(crate) struct Clocks {
    pub(crate) states: u32,
    pub(crate) policies: u32,
    pub(crate) khz: *const u32,
    pub(crate) policy_cpus: *const u64,
    pub(crate) latency_ns: u32,
    pub(crate) boost_ratio: u32,
    pub(crate) fast_switch: c_int,
    pub(crate) invariant: c_int,
}

/// `struct sc_balancing`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Balancing {
    pub(crate) count: u64,
    pub(crate) balanced: u64,
    pub(crate) failed: u64,
    pub(crate) gained: u64,
    pub(crate) hot_gained: u64,
    pub(crate) imbalance: u64,
    pub(crate) nobusyg: u64,
    pub(crate) nobusyq: u64,
}

/// `struct sc_counts`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) sched_count: u64,
    pub(crate) sched_goidle: u64,
    pub(crate) affine_attempts: u64,
    pub(crate) affine_moves: u64,
    pub(crate) alb_count: u64,
    pub(crate) alb_failed: u64,
    pub(crate) alb_pushed: u64,
    pub(crate) ilb_kicks: u64,
    pub(crate) balancing: [Balancing; 3],
}

/// `struct sc_api`.
#[repr(C)]
pub(crate) struct Api {
    pub(crate) version: u32,
    pub(crate) release: *const c_char,
    pub(crate) boot: extern "C" fn(*const Host, *const Machine, c_int),
    pub(crate) set_now: extern "C" fn(u64),
    pub(crate) now: extern "C" fn() -> u64,
    pub(crate) tick: extern "C" fn() -> u64,
    pub(crate) turn: extern "C" fn(*mut Turn),
    pub(crate) wake_later: extern "C" fn(u32, i64),
    pub(crate) spawn: extern "C" fn(*const Spawn) -> i64,
    pub(crate) timer: extern "C" fn(u32) -> u64,
    pub(crate) waits: extern "C" fn(u32) -> u32,
    pub(crate) current_task: extern "C" fn(u32) -> i64,
    pub(crate) nr_running: extern "C" fn(u32) -> u32,
    pub(crate) idle: extern "C" fn(u32, *mut Idle),
    pub(crate) count: extern "C" fn(*mut Counts),
    pub(crate) watch_util: extern "C" fn(),
    pub(crate) util: extern "C" fn(u32) -> u64,
    pub(crate) set_frequency: extern "C" fn(u32, u64),
    pub(crate) seed: extern "C" fn(u64),
    pub(crate) debugfs_write: extern "C" fn(*const c_char, *const c_char) -> i64,
    pub(crate) debugfs_read: extern "C" fn(*const c_char, *mut c_char, u64) -> i64,
    pub(crate) online: extern "C" fn(u32, c_int) -> i64,
    pub(crate) watch: extern "C" fn(u32, *const c_void) -> i64,
    pub(crate) queue_state: extern "C" fn(u32, *mut QueueState, *mut i64, u32),
    pub(crate) task_state: extern "C" fn(i64, *mut TaskState, *mut *const u64),
    pub(crate) switch_later: extern "C" fn(u32, c_int),
    pub(crate) clamps: extern "C" fn(u32, *mut Clamps),
    pub(crate) sums: extern "C" fn(u32, *mut Sums, *mut Queued, u32) -> u32,
    pub(crate) sysctl_write: extern "C" fn(*const c_char, *const c_char) -> i64,
    pub(crate) sysctls: extern "C" fn(*mut c_char, u64) -> i64,
    pub(crate) govern: extern "C" fn(*const Clocks) -> i64,
    pub(crate) requested: extern "C" fn(u32) -> u32,
    pub(crate) sysfs_write: extern "C" fn(*const c_char, *const c_char) -> i64,
    pub(crate) sysfs_read: extern "C" fn(*const c_char, *mut c_char, u64) -> i64,
    pub(crate) group_make: extern "C" fn(*const c_char) -> i64,
    pub(crate) group_write: extern "C" fn(*const c_char, *const c_char) -> i64,
    pub(crate) group_stat: extern "C" fn(u32, *mut c_char, u64) -> i64,
    pub(crate) group_join: extern "C" fn(i64, u32, *const c_char) -> i64,
    pub(crate) group_lead: extern "C" fn(u32, u32) -> i64,
    pub(crate) pressure: extern "C" fn(u32, *mut c_char, u64) -> i64,
}

/// `struct sc_debug`, which the library has beside its `Api`.
#[repr(C)]
pub(crate) struct Debug {
    pub(crate) run_ns: AtomicU64,
    pub(crate) stop_ns: AtomicU64,
}

#[cfg(test)]
mod tests;
