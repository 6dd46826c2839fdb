//! CPU sets of the levels: packages, nodes, dies, clusters, cores, thread groups.

use super::Diff;
use machine::{Cpu, CpuSet, Machine, ThreadGroupProperty};
use std::collections::{BTreeMap, BTreeSet};

/// Sets listed one by one.
const FEW: usize = 4;

pub(super) fn levels(diff: &mut Diff<'_>) {
    type Key = fn(&Cpu) -> Option<u32>;
    let levels: [(&str, Key); 5] = [
        ("packages", |c| Some(c.package)),
        ("nodes", |c| Some(c.node)),
        ("dies", |c| Some(c.die)),
        ("clusters", |c| c.cluster),
        ("cores", |c| Some(c.core)),
    ];
    for (level, key) in levels {
        let (a, b) = (sets(diff.a, key), sets(diff.b, key));
        compare(diff, level, &a, &b);
    }
    let properties: BTreeSet<_> = [diff.a, diff.b]
        .into_iter()
        .flat_map(|m| m.thread_groups.iter().map(|tg| order(tg.property)))
        .collect();
    for property in properties {
        let groups = |m: &Machine| -> BTreeSet<CpuSet> {
            let with = m.thread_groups.iter().filter(|tg| order(tg.property) == property);
            with.flat_map(|tg| tg.groups.iter().cloned()).collect()
        };
        let (a, b) = (groups(diff.a), groups(diff.b));
        compare(diff, &format!("thread groups by property {property}"), &a, &b);
    }
}

/// Firmware's number for the property.
fn order(property: ThreadGroupProperty) -> u32 {
    match property {
        ThreadGroupProperty::L1 => 1,
        ThreadGroupProperty::L2 => 2,
        ThreadGroupProperty::Other(number) => number,
    }
}

fn sets(machine: &Machine, key: impl Fn(&Cpu) -> Option<u32>) -> BTreeSet<CpuSet> {
    let mut by_key: BTreeMap<u32, CpuSet> = BTreeMap::new();
    for (number, cpu) in machine.cpus.iter().enumerate() {
        if let Some(key) = key(cpu) {
            by_key.entry(key).or_default().insert(number);
        }
    }
    by_key.into_values().collect()
}

/// Sets that one of the machines has.
pub(super) fn compare(diff: &mut Diff<'_>, part: &str, a: &BTreeSet<CpuSet>, b: &BTreeSet<CpuSet>) {
    let only = |x: &BTreeSet<CpuSet>, y: &BTreeSet<CpuSet>| -> Vec<CpuSet> {
        let mut sets: Vec<CpuSet> = x.difference(y).cloned().collect();
        sets.sort_by_key(|s| (s.first(), s.len()));
        sets
    };
    let (only_a, only_b) = (only(a, b), only(b, a));
    if !only_a.is_empty() {
        diff.push(part, "", Some(text(&only_a)), None);
    }
    if !only_b.is_empty() {
        diff.push(part, "", None, Some(text(&only_b)));
    }
}

/// The sets as CPU lists; many that are alike as `0-1, 2-3 to 14-15 (8 of 2 CPUs)`.
pub(super) fn text(sets: &[CpuSet]) -> String {
    let lists: Vec<String> = sets.iter().map(|s| format!("CPUs {s}")).collect();
    match sets {
        [first, second, .., last] if sets.len() > FEW => {
            let alike = sets.iter().all(|s| s.len() == first.len());
            let size = if alike { format!("of {} CPUs", first.len()) } else { "sets".to_string() };
            let step = if is_regular(sets) { "to" } else { "..." };
            format!("CPUs {first}, {second} {step} {last} ({} {size})", sets.len())
        }
        _ => lists.join("; "),
    }
}

/// Whether each set is the one before, moved by as many CPUs as the first was.
fn is_regular(sets: &[CpuSet]) -> bool {
    let step = |pair: &[CpuSet]| match pair {
        [a, b] => {
            let by = b.first()?.checked_sub(a.first()?)?;
            a.iter().map(|c| c + by).eq(b.iter()).then_some(by)
        }
        _ => None,
    };
    let mut steps = sets.windows(2).map(step);
    let first = steps.next().flatten();
    first.is_some() && steps.all(|s| s == first)
}
