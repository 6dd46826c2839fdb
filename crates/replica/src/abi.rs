//! `abi.h` of the architecture, as Rust has it. A change there needs one here, and a new [`VERSION`].

use std::ffi::{c_char, c_int, c_void};

/// `SC_ABI_VERSION`.
pub(crate) const VERSION: u32 = 1;

/// `enum sc_level_flag`.
pub(crate) mod level_flag {
    pub(crate) const SHARES_CAPACITY: u32 = 1;
    pub(crate) const SHARES_CLUSTER: u32 = 2;
    pub(crate) const SHARES_LLC: u32 = 4;
    pub(crate) const ASYM_PACKING: u32 = 8;
}

/// `SC_EVENT_WARN`.
pub(crate) const EVENT_WARN: u32 = 3;

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

/// `struct sc_machine`.
#[repr(C)]
pub(crate) struct Machine {
    pub(crate) cpus: u32,
    pub(crate) nodes: u32,
    pub(crate) levels: u32,
    pub(crate) places: *const Place,
    pub(crate) distances: *const u32,
    pub(crate) level: *const Level,
    pub(crate) reclaim_distance: u32,
}

/// `struct sc_host`.
#[repr(C)]
pub(crate) struct Host {
    pub(crate) alloc: extern "C" fn(u64, u64) -> *mut c_void,
    pub(crate) free: extern "C" fn(*mut c_void),
    pub(crate) log: extern "C" fn(*const c_char),
    pub(crate) fatal: extern "C" fn(*const c_char),
    pub(crate) interrupt: extern "C" fn(u32, u32),
    pub(crate) timer: extern "C" fn(u32, u64),
    pub(crate) event: extern "C" fn(u32, u32, i64, i64),
}

/// `struct sc_api`.
#[repr(C)]
pub(crate) struct Api {
    pub(crate) version: u32,
    pub(crate) release: *const c_char,
    pub(crate) boot: extern "C" fn(*const Host, *const Machine, c_int),
    pub(crate) set_now: extern "C" fn(u64),
    pub(crate) raise: extern "C" fn(u32, u32),
    pub(crate) enter: extern "C" fn(u32) -> c_int,
    pub(crate) current_task: extern "C" fn(u32) -> i64,
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
        let machine =
            ["cpus", "nodes", "levels", "places", "distances", "level", "reclaim_distance"];
        assert_eq!(fields("sc_machine"), machine);
        assert_eq!(fields("sc_level"), ["name", "flags", "masks"]);
        assert_eq!(
            fields("sc_host"),
            ["alloc", "free", "log", "fatal", "interrupt", "timer", "event"]
        );
        let api = [
            "version",
            "release",
            "boot",
            "set_now",
            "raise",
            "enter",
            "current_task",
            "debugfs_write",
            "debugfs_read",
            "online",
        ];
        assert_eq!(fields("sc_api"), api);
    }
}
