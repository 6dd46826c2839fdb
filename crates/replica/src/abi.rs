//! `abi.h` of the architecture, as Rust has it. A change there needs one here, and a new [`VERSION`].

use std::ffi::{c_char, c_int, c_void};

/// `SC_ABI_VERSION`.
pub(crate) const VERSION: u32 = 2;

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
    pub(crate) const FORK: u32 = 1;
    pub(crate) const NICE: u32 = 2;
    pub(crate) const SLICE: u32 = 3;
    pub(crate) const SLEEP: u32 = 4;
    pub(crate) const SLEEP_UNTIL: u32 = 5;
    pub(crate) const YIELD: u32 = 6;
    pub(crate) const EXEC: u32 = 7;
    pub(crate) const AFFINITY: u32 = 8;
    pub(crate) const EXIT: u32 = 9;
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
    pub(crate) polls: c_int,
}

/// `struct sc_idle`.
#[repr(C)]
pub(crate) struct Idle {
    pub(crate) state: u32,
    pub(crate) until_ns: u64,
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
}

/// `struct sc_call`.
#[repr(C)]
pub(crate) struct Call {
    pub(crate) kind: u32,
    pub(crate) a: i64,
    pub(crate) b: i64,
    pub(crate) mask: *const u64,
    pub(crate) answer: i64,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = include_str!("../../tree/arch/kernel/abi.h");

    /// Numbers of the header by name: `#define NAME N` and `NAME = N,`.
    fn number(name: &str) -> u32 {
        let after = HEADER.split(name).nth(1).unwrap();
        let digits = after.trim_start_matches([' ', '\t', '=']);
        digits.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    }

    #[test]
    fn numbers_are_those_of_the_header() {
        assert_eq!(number("#define SC_ABI_VERSION"), VERSION);
        assert_eq!(number("SC_LEVEL_SHARES_CAPACITY"), level_flag::SHARES_CAPACITY);
        assert_eq!(number("SC_LEVEL_SHARES_CLUSTER"), level_flag::SHARES_CLUSTER);
        assert_eq!(number("SC_LEVEL_SHARES_LLC"), level_flag::SHARES_LLC);
        assert_eq!(number("SC_LEVEL_ASYM_PACKING"), level_flag::ASYM_PACKING);
        assert_eq!(number("#define SC_COST_SHIFT"), sim::source::COST_SHIFT);
        assert_eq!(number("SC_IRQ_TIMER"), sim::source::irq::TIMER);
        assert_eq!(number("SC_IRQ_WAKE"), sim::source::irq::WAKE);
    }

    /// Constants of an enum of the header without values, in order.
    fn names(name: &str) -> Vec<&'static str> {
        let body = HEADER.split(&format!("enum {name} {{")).nth(1).unwrap();
        let body = body.split("};").next().unwrap();
        let starts = |word: &&str| word.starts_with("SC_");
        body.split([' ', ',', '\n', '\t']).filter(starts).collect()
    }

    #[test]
    fn constants_are_in_the_order_of_the_header() {
        let at = |names: &[&str], name: &str| names.iter().position(|n| *n == name).unwrap() as u32;
        let events = names("sc_event");
        for (name, number) in [
            ("SC_EVENT_WARN", event::WARN),
            ("SC_EVENT_TIMER", event::TIMER),
            ("SC_EVENT_INTERRUPT", event::INTERRUPT),
            ("SC_EVENT_SWITCH", event::SWITCH),
            ("SC_EVENT_WAKING", event::WAKING),
            ("SC_EVENT_WAKEUP", event::WAKEUP),
            ("SC_EVENT_WAKEUP_NEW", event::WAKEUP_NEW),
            ("SC_EVENT_MIGRATE", event::MIGRATE),
            ("SC_EVENT_UTIL", event::UTIL),
        ] {
            assert_eq!(at(&events, name), number, "{name}");
        }
        let kinds = names("sc_call_kind");
        for (name, number) in [
            ("SC_CALL_WAKE", call::WAKE),
            ("SC_CALL_FORK", call::FORK),
            ("SC_CALL_NICE", call::NICE),
            ("SC_CALL_SLICE", call::SLICE),
            ("SC_CALL_SLEEP", call::SLEEP),
            ("SC_CALL_SLEEP_UNTIL", call::SLEEP_UNTIL),
            ("SC_CALL_YIELD", call::YIELD),
            ("SC_CALL_EXEC", call::EXEC),
            ("SC_CALL_AFFINITY", call::AFFINITY),
            ("SC_CALL_EXIT", call::EXIT),
        ] {
            assert_eq!(at(&kinds, name), number, "{name}");
        }
        let all = names("sc_waits");
        for (name, number) in [
            ("SC_OFF", waits::OFF),
            ("SC_USER", waits::USER),
            ("SC_IDLE", waits::IDLE),
            ("SC_SPINS", waits::SPINS),
            ("SC_KERNEL", waits::KERNEL),
        ] {
            assert_eq!(at(&all, name), number, "{name}");
        }
    }

    /// Fields of a struct of the header, in order; each name is the last word before `;`, `,` or `)(`.
    fn fields(name: &str) -> Vec<String> {
        let body = HEADER.split(&format!("struct {name} {{\n")).nth(1).unwrap();
        let body = body.split("\n};").next().unwrap();
        let code: String =
            body.lines().map(|l| l.split("/*").next().unwrap_or("")).collect::<Vec<_>>().join(" ");
        let mut found = Vec::new();
        for part in code.split(';').map(str::trim).filter(|p| !p.is_empty() && !p.ends_with("*/")) {
            if let Some((_, rest)) = part.split_once("(*") {
                found.push(rest.split(')').next().unwrap().to_string());
                continue;
            }
            let names = part.split(',').map(|n| n.split_whitespace().last().unwrap());
            found.extend(names.map(|n| n.trim_start_matches('*').to_string()));
        }
        found
    }

    #[test]
    fn structs_have_the_fields_of_the_header_in_its_order() {
        let places = [
            "core",
            "cluster",
            "package",
            "node",
            "capacity",
            "llc_bytes",
            "priority",
            "smt",
            "cluster_cpus",
            "package_cpus",
            "llc",
        ];
        assert_eq!(fields("sc_cpu_place"), places);
        let machine = [
            "cpus",
            "nodes",
            "levels",
            "idle_states",
            "places",
            "distances",
            "level",
            "idle_state",
            "reclaim_distance",
        ];
        assert_eq!(fields("sc_machine"), machine);
        assert_eq!(fields("sc_idle_state"), ["name", "exit_ns", "residency_ns", "polls"]);
        assert_eq!(fields("sc_idle"), ["state", "until_ns"]);
        assert_eq!(fields("sc_level"), ["name", "flags", "masks"]);
        assert_eq!(fields("sc_host"), ["alloc", "pages", "free", "log", "fatal", "event"]);
        assert_eq!(fields("sc_call"), ["kind", "a", "b", "mask", "answer"]);
        let turn = [
            "cpu",
            "irqs",
            "now_ns",
            "scan_cost",
            "balance_cost",
            "call",
            "waits",
            "scans",
            "balances",
            "current_task",
        ];
        assert_eq!(fields("sc_turn"), turn);
        let balancing = [
            "count",
            "balanced",
            "failed",
            "gained",
            "hot_gained",
            "imbalance",
            "nobusyg",
            "nobusyq",
        ];
        assert_eq!(fields("sc_balancing"), balancing);
        let counts = [
            "sched_count",
            "sched_goidle",
            "affine_attempts",
            "affine_moves",
            "alb_count",
            "alb_failed",
            "alb_pushed",
            "ilb_kicks",
            "balancing[3]",
        ];
        assert_eq!(fields("sc_counts"), counts);
        assert_eq!(fields("sc_spawn"), ["name", "cpu", "nice", "mask"]);
        let api = [
            "version",
            "release",
            "boot",
            "set_now",
            "now",
            "tick",
            "turn",
            "wake_later",
            "spawn",
            "timer",
            "waits",
            "current_task",
            "nr_running",
            "idle",
            "count",
            "watch_util",
            "util",
            "set_frequency",
            "seed",
            "debugfs_write",
            "debugfs_read",
            "online",
        ];
        assert_eq!(fields("sc_api"), api);
    }
}
