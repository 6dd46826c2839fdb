//! The CPUs of a machine as rows, so that what shares something stands together, with a bracket for all that is shared.

use crate::machine_levels::{Branch, levels};
use machine::{CpuSet, Machine};

/// CPUs that share something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bracket {
    /// How many brackets are around it.
    pub(super) depth: usize,
    /// Its first row and their number.
    pub(super) rows: (usize, usize),
    /// What is shared: `node 0`, `small core`, `L3`.
    pub(super) label: String,
    /// The CPUs.
    pub(super) cpus: CpuSet,
}

/// Rows and brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bracketed {
    /// By row: the CPU.
    pub(super) cpus: Vec<usize>,
    /// The widest first.
    pub(super) brackets: Vec<Bracket>,
    /// Brackets side by side.
    pub(super) depth: usize,
}

/// The CPUs of `shown`, in the order of the machine's levels. What holds a single one of them has no bracket, nor has what
/// holds the same as the bracket around it.
pub(super) fn bracketed(machine: &Machine, shown: CpuSet) -> Bracketed {
    let mut out = Bracketed { cpus: vec![], brackets: vec![], depth: 0 };
    for branch in &levels(machine).branches {
        walk(branch, 0, shown.clone(), &mut out);
    }
    let depth = out.brackets.iter().map(|b| b.depth + 1).max();
    Bracketed { depth: depth.unwrap_or(0), ..out }
}

fn walk(branch: &Branch, depth: usize, shown: CpuSet, out: &mut Bracketed) {
    let cpus = &branch.cpus & &shown;
    let within = out.brackets.iter().rev().find(|b| b.depth + 1 == depth && depth > 0);
    let same = within.is_some_and(|b| b.cpus == cpus);
    let is_drawn = cpus.len() > 1 && !same;
    if is_drawn {
        let rows = (out.cpus.len(), cpus.len());
        out.brackets.push(Bracket { depth, rows, label: label(branch), cpus });
    }
    out.cpus.extend((&branch.own & &shown).iter());
    for below in &branch.below {
        walk(below, depth + usize::from(is_drawn), shown.clone(), out);
    }
}

/// Its name, and the outermost cache that its CPUs share.
fn label(branch: &Branch) -> String {
    let cache = branch.caches.iter().map(|c| c.level).max().map(|level| format!("L{level}"));
    match (branch.name.as_str(), cache) {
        ("", cache) => cache.unwrap_or_else(|| "cache".to_string()),
        (name, Some(cache)) => format!("{name}, {cache}"),
        (name, None) => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_small_core_stand_together() {
        let machine = machine::catalog::load("power9-big-core").unwrap();
        let out = bracketed(&machine, machine.online.clone());
        assert_eq!(out.cpus, [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]);
        let small: Vec<(usize, usize)> = (out.brackets.iter())
            .filter(|b| b.label.starts_with("small core"))
            .map(|b| b.rows)
            .collect();
        assert_eq!(small, [(0, 4), (4, 4), (8, 4), (12, 4)]);
        assert!(out.depth >= 2, "{out:?}");
    }

    #[test]
    fn every_machine_has_each_cpu_once() {
        for name in machine::catalog::names() {
            let machine = machine::catalog::load(name).unwrap();
            let mut cpus = bracketed(&machine, machine.online.clone()).cpus;
            cpus.sort_unstable();
            assert_eq!(cpus, machine.online.iter().collect::<Vec<_>>(), "{name}");
        }
    }
}
