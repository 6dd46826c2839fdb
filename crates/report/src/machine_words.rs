//! What trees, pictures and comparisons of machines call CPUs, caches and sizes.

use machine::{Cache, CacheKind, CpuSet, FrequencyPolicy, Machine, Origin};
use std::collections::BTreeMap;

/// Longest CPU list shown in full.
const LIST_WIDTH: usize = 40;

/// `(CPU 3)` or `(CPUs 0-7)`.
pub(crate) fn in_brackets(cpus: &CpuSet) -> String {
    match cpus.len() {
        0 => "(no CPU)".to_string(),
        _ => format!("({})", cpus_text(cpus)),
    }
}

/// `CPU 3` or `CPUs 0-7`.
pub(crate) fn cpus_text(cpus: &CpuSet) -> String {
    match cpus.len() {
        1 => format!("CPU {cpus}"),
        _ => format!("CPUs {}", list_text(cpus)),
    }
}

/// The kernel's list form; of a long list its start and how many there are.
pub(crate) fn list_text(cpus: &CpuSet) -> String {
    let list = cpus.to_string();
    if list.len() <= LIST_WIDTH {
        return list;
    }
    let start: Vec<&str> = list.split(',').take(4).collect();
    format!("{},... {} in all", start.join(","), cpus.len())
}

/// `L1d`, `L1i`, `L2`.
pub(crate) fn cache_name(level: u8, kind: CacheKind) -> String {
    let kind = match kind {
        CacheKind::Data => "d",
        CacheKind::Instruction => "i",
        CacheKind::Unified => "",
    };
    format!("L{level}{kind}")
}

/// `L1d 32 KiB`, with a mark where only the catalog knows of the cache.
pub(crate) fn cache_text(cache: &Cache) -> String {
    let size = cache.size_kib.map_or_else(|| "of unknown size".to_string(), |s| kib(u64::from(s)));
    let origin = match cache.origin {
        Origin::Firmware => "",
        Origin::Catalog => " (catalog)",
    };
    format!("{} {size}{origin}", cache_name(cache.level, cache.kind))
}

/// Data before instructions, as people name them.
pub(crate) fn kind_order(kind: CacheKind) -> u8 {
    match kind {
        CacheKind::Data => 0,
        CacheKind::Instruction => 1,
        CacheKind::Unified => 2,
    }
}

/// A size in the largest unit of which it is a whole number of quarters, as people name caches: `27.5 MiB`.
pub(crate) fn kib(size_kib: u64) -> String {
    const MIB: u64 = 1024;
    const GIB: u64 = 1024 * MIB;
    let in_quarters = |unit: u64| size_kib >= unit && size_kib.is_multiple_of(unit / 4);
    match size_kib {
        s if in_quarters(GIB) => format!("{} GiB", s as f64 / GIB as f64),
        s if in_quarters(MIB) => format!("{} MiB", s as f64 / MIB as f64),
        s => format!("{s} KiB"),
    }
}

/// A memory size to three digits: what is left of whole GiB after the kernel's own needs is no round number.
pub(crate) fn memory(size_kib: u64) -> String {
    const MIB: u64 = 1024;
    const GIB: u64 = 1024 * MIB;
    let exact = kib(size_kib);
    if exact.ends_with("GiB") || size_kib < MIB || (exact.ends_with("MiB") && size_kib < GIB) {
        return exact;
    }
    let (unit, name) = if size_kib >= GIB { (GIB, "GiB") } else { (MIB, "MiB") };
    let value = size_kib as f64 / unit as f64;
    let decimals = if value >= 100.0 { 0 } else { 1 };
    format!("{value:.decimals$} {name}")
}

/// What is known of the whole machine beside its levels, one line each: SMT control, capacities where they
/// differ, clusters that are single cores, clocks.
pub(crate) fn facts(machine: &Machine) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(control) = &machine.smt_control {
        facts.push(format!("SMT control: {control}"));
    }
    if capacities_differ(machine) {
        let mut by_value: BTreeMap<u32, CpuSet> = BTreeMap::new();
        for (cpu, of) in machine.cpus.iter().enumerate() {
            if let Some(value) = of.capacity {
                by_value.entry(value).or_default().insert(cpu);
            }
        }
        let texts = by_value.iter().rev().map(|(v, cpus)| format!("{v} ({})", cpus_text(cpus)));
        facts.push(format!("Capacities: {}", texts.collect::<Vec<_>>().join(", ")));
    }
    facts.extend(clocks(&machine.policies));
    facts
}

/// Whether not all CPUs have the same known capacity.
pub(crate) fn capacities_differ(machine: &Machine) -> bool {
    let first = machine.cpus.first().and_then(|c| c.capacity);
    machine.cpus.iter().any(|c| c.capacity != first)
}

/// A line for each kind of frequency policy.
fn clocks(policies: &[FrequencyPolicy]) -> Vec<String> {
    let mut kinds: Vec<(String, CpuSet, usize)> = Vec::new();
    for policy in policies {
        let text = policy_text(policy);
        match kinds.iter_mut().find(|(t, ..)| *t == text) {
            Some((_, cpus, count)) => {
                *cpus |= policy.cpus.clone();
                *count += 1;
            }
            None => kinds.push((text, policy.cpus.clone(), 1)),
        }
    }
    let line = |(text, cpus, count): (String, CpuSet, usize)| {
        let policies =
            if count == 1 { "1 policy".to_string() } else { format!("{count} policies") };
        format!("Clocks: {text}; {policies}, {}", cpus_text(&cpus))
    };
    kinds.into_iter().map(line).collect()
}

/// `2.3 GHz to 3.8 GHz, base 3.2 GHz (powernv-cpufreq)`.
pub(crate) fn policy_text(policy: &FrequencyPolicy) -> String {
    let mut text = format!("{} to {}", clock(policy.min_khz), clock(policy.max_khz));
    if let Some(base) = policy.base_khz {
        text.push_str(&format!(", base {}", clock(base)));
    }
    if !policy.available_khz.is_empty() {
        text.push_str(&format!(", {} steps", policy.available_khz.len()));
    }
    if let Some(driver) = &policy.driver {
        text.push_str(&format!(" ({driver})"));
    }
    text
}

/// A frequency in the largest unit that needs at most three decimals.
fn clock(khz: u64) -> String {
    match khz {
        k if k >= 1_000_000 && k.is_multiple_of(1000) => format!("{} GHz", k as f64 / 1e6),
        k if k >= 1000 && k.is_multiple_of(1000) => format!("{} MHz", k / 1000),
        k => format!("{k} kHz"),
    }
}
