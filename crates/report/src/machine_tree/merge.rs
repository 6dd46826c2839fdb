//! Branches as a tree, with neighbours that differ in numbers only as one.

use super::series::{self, cpu_series};
use super::{LABEL_WIDTH, caches, detail};
use crate::machine_levels::{Branch, Rank};
use crate::machine_words::in_brackets;
use crate::table::clip;
use machine::{CpuSet, Machine};
use termtree::Tree;

/// CPUs of the largest machine whose branches are all drawn.
const DRAWN_WHOLE: usize = 16;
/// Fewest neighbours that are merged.
const LEAST: usize = 3;

/// Adds `branches` to `tree`.
pub(super) fn grow(tree: &mut Tree<String>, machine: &Machine, branches: &[Branch]) {
    let all: Vec<&Branch> = branches.iter().collect();
    let mut rest = &all[..];
    while let Some(first) = rest.first() {
        let run = alike(machine, rest);
        let merged = match run.len() >= LEAST && machine.cpus.len() > DRAWN_WHOLE {
            true => merge(machine, run, run.len(), ""),
            false => None,
        };
        if let Some(merged) = merged {
            tree.push(merged);
            rest = &rest[run.len()..];
            continue;
        }
        // A run that has no short text is drawn whole.
        for branch in run {
            let name = name(first.rank, &[*branch]).unwrap_or_else(|| branch.name.clone());
            let label = label(machine, &[*branch], &name, &in_brackets(&branch.cpus));
            let mut single = Tree::new(clip(&label, LABEL_WIDTH));
            grow(&mut single, machine, &branch.below);
            tree.push(single);
        }
        rest = &rest[run.len()..];
    }
}

/// The longest start of `branches` that are the same but for numbers.
fn alike<'a, 'b>(machine: &Machine, branches: &'a [&'b Branch<'b>]) -> &'a [&'b Branch<'b>] {
    let Some(first) = branches.first() else { return branches };
    let shape = shape(machine, first);
    let end = branches.iter().position(|b| self::shape(machine, b) != shape);
    &branches[..end.unwrap_or(branches.len())]
}

/// What branches must have in common to be one.
fn shape(machine: &Machine, branch: &Branch) -> String {
    let below: Vec<String> = branch.below.iter().map(|b| shape(machine, b)).collect();
    let (stem, _) = series::split(&branch.name);
    let offline = (&branch.cpus - &machine.online).len();
    let texts = [stem, &caches(branch), &detail(machine, branch), &below.join(";")].join("|");
    format!("{:?} {} {offline} {texts}", branch.rank, branch.cpus.len())
}

/// Branches of one shape as one, `each` of them in every branch above; `None` where that would leave CPUs unnamed.
fn merge(machine: &Machine, same: &[&Branch], each: usize, prefix: &str) -> Option<Tree<String>> {
    let first = same.first()?;
    let name = name(first.rank, same)?;
    let name =
        if each > 1 { format!("{prefix}{each} \u{d7} {name}") } else { prefix.to_string() + &name };
    let cpus = cpu_series(&same.iter().map(|b| b.cpus.clone()).collect::<Vec<CpuSet>>())?;
    let label = label_of_many(machine, same, &name, &cpus)?;
    let mut tree = Tree::new(label);
    let mut from = 0;
    while from < first.below.len() {
        let below: Vec<&Branch> = first.below.iter().skip(from).collect();
        let count = alike(machine, &below).len();
        for child in children(machine, same, from, count)? {
            tree.push(child);
        }
        from += count;
    }
    Some(tree)
}

/// `count` neighbours of one shape from the `from`th in each of `above`: one tree, or one for each neighbour.
fn children(
    machine: &Machine,
    above: &[&Branch],
    from: usize,
    count: usize,
) -> Option<Vec<Tree<String>>> {
    let of = |from: usize, count: usize| -> Vec<&Branch> {
        above.iter().flat_map(|b| b.below.iter().skip(from).take(count)).collect()
    };
    if let Some(all) = merge(machine, &of(from, count), count, "each: ") {
        return Some(vec![all]);
    }
    (from..from + count).map(|i| merge(machine, &of(i, 1), 1, "each: ")).collect()
}

/// `core 3`, `core 0-7`, or the caches of a branch that has no other name.
fn name(rank: Rank, same: &[&Branch]) -> Option<String> {
    if rank == Rank::Cache {
        return same.first().map(|b| caches(b));
    }
    let names: Vec<&str> = same.iter().map(|b| b.name.as_str()).collect();
    series::names(&names)
}

fn label(machine: &Machine, same: &[&Branch], name: &str, cpus: &str) -> String {
    label_of_many(machine, same, name, cpus).unwrap_or_else(|| format!("{name} {cpus}"))
}

/// Name, CPUs, those of them that are offline, and the rest.
fn label_of_many(machine: &Machine, same: &[&Branch], name: &str, cpus: &str) -> Option<String> {
    let first = same.first()?;
    let mut cpus = cpus.to_string();
    let offline: Vec<CpuSet> = same.iter().map(|b| &b.cpus - &machine.online).collect();
    if first.below.is_empty() && offline.iter().any(|o| !o.is_empty()) {
        cpus.insert_str(cpus.len() - 1, &format!("; offline {}", series::sets(&offline)?));
    }
    Some(format!("{name} {cpus}{}", detail(machine, first)))
}
