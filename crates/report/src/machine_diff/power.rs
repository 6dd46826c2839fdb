//! Idle states, frequencies, CPPC and constants.

use super::{Diff, sets, shown};
use crate::machine_words::policy_text;
use machine::{Constant, Cppc, CpuSet, FrequencyPolicy, Machine};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn idle_states(diff: &mut Diff<'_>) {
    let states = |m: &Machine| -> Vec<(String, String)> {
        let of = |s: &machine::IdleState| {
            let times =
                format!("exit {} ns, residency {} ns", s.exit_latency_ns, s.target_residency_ns);
            (s.name.clone(), times)
        };
        m.idle_states.iter().map(of).collect()
    };
    let (a, b) = (states(diff.a), states(diff.b));
    for index in 0..a.len().max(b.len()) {
        let text = |s: Option<&(String, String)>| s.map(|(name, times)| format!("{name}: {times}"));
        let (a, b) = (text(a.get(index)), text(b.get(index)));
        if a != b {
            diff.push("idle states", &format!("state {index}"), a, b);
        }
    }
}

pub(super) fn policies(diff: &mut Diff<'_>) {
    let text = |p: &FrequencyPolicy| {
        let steps: Vec<String> = p.available_khz.iter().map(u64::to_string).collect();
        match steps.is_empty() {
            true => policy_text(p),
            false => format!("{}: {} kHz", policy_text(p), steps.join(" ")),
        }
    };
    let of = |m: &Machine| m.policies.iter().map(|p| (p.cpus.clone(), text(p))).collect();
    by_cpus(diff, "frequency policies", of);
}

pub(super) fn cppc(diff: &mut Diff<'_>) {
    let text = |c: &Cppc| {
        format!(
            "highest {}, nominal {}, lowest nonlinear {}, lowest {}, reference {}, {} MHz nominal, {} MHz lowest",
            c.highest_perf,
            c.nominal_perf,
            c.lowest_nonlinear_perf,
            c.lowest_perf,
            shown(c.reference_perf.as_ref()),
            shown(c.nominal_mhz.as_ref()),
            shown(c.lowest_mhz.as_ref()),
        )
    };
    let of = |m: &Machine| m.cppc.iter().map(|c| (c.cpus.clone(), text(c))).collect();
    by_cpus(diff, "CPPC", of);
}

/// Sets that one machine has, then what changed of those that both have, a line for each change.
fn by_cpus(diff: &mut Diff<'_>, part: &str, of: impl Fn(&Machine) -> BTreeMap<CpuSet, String>) {
    let (a, b) = (of(diff.a), of(diff.b));
    let cpus = |m: &BTreeMap<CpuSet, String>| -> BTreeSet<CpuSet> { m.keys().cloned().collect() };
    sets::compare(diff, part, &cpus(&a), &cpus(&b));
    let mut changes: BTreeMap<(&String, &String), Vec<CpuSet>> = BTreeMap::new();
    for (cpus, a) in &a {
        if let Some(b) = b.get(cpus).filter(|b| *b != a) {
            changes.entry((a, b)).or_default().push(cpus.clone());
        }
    }
    for ((a, b), mut of) in changes {
        of.sort_by_key(|s| (s.first(), s.len()));
        diff.push(part, &sets::text(&of), Some(a.clone()), Some(b.clone()));
    }
}

pub(super) fn constants(diff: &mut Diff<'_>) {
    let of = |m: &Machine| -> BTreeMap<String, String> {
        let text = |c: &Constant| format!("{} {}", c.value, c.unit);
        m.constants.iter().map(|(name, c)| (name.to_string(), text(c))).collect()
    };
    let (a, b) = (of(diff.a), of(diff.b));
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for name in names {
        let (a, b) = (a.get(name), b.get(name));
        if a != b {
            diff.push("constants", name, a.cloned(), b.cloned());
        }
    }
}
