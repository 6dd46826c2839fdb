//! A machine drawn as a tree of what its CPUs share.

mod merge;
mod series;

use crate::machine_levels::{Branch, Rank, levels};
use crate::machine_words::{cache_text, capacities_differ, facts, in_brackets, memory};
use machine::{Machine, Node, Origin};
use termtree::Tree;

/// Columns for a label; what remains is for the branches before it.
const LABEL_WIDTH: usize = 80;
/// Columns for sentences.
const WIDTH: usize = 80;

/// The machine as text: packages, NUMA nodes where there is more than one, dies and clusters where they are levels
/// of their own, big cores or cores, small cores, and each cache at the branch whose CPUs share it. CPUs that
/// are offline are named on the innermost branch. On machines of more than 16 CPUs, three or more neighbours that
/// differ in numbers only are one branch, which names the CPUs of each, or of a long regular series its start and
/// end. Below stand SMT control, capacities and clocks, and what the machine's source cannot tell.
pub fn machine_tree(machine: &Machine) -> String {
    let levels = levels(machine);
    let mut root = Tree::new(String::new());
    merge::grow(&mut root, machine, &levels.branches);
    for node in machine.nodes.iter().filter(|n| n.cpus.is_empty()) {
        root.push(format!("node {} (no CPU){}", node.id, node_detail(node)));
    }
    let mut out = root_label(machine) + &root.to_string();
    out.extend(facts(machine).iter().map(|fact| wrapped(fact, "")));
    if !levels.apart.is_empty() {
        out.push_str("Shared across the branches above:\n");
        out.extend(levels.apart.iter().map(|b| wrapped(&apart_text(b), "- ")));
    }
    if machine.caches.iter().any(|c| c.origin == Origin::Catalog) {
        out.push_str(
            "(catalog): from published documents; a kernel on this machine cannot see it\n",
        );
    }
    if !machine.unknown.is_empty() {
        out.push_str("Not known from this source:\n");
        out.extend(machine.unknown.iter().map(|sentence| wrapped(sentence, "- ")));
    }
    out
}

fn root_label(machine: &Machine) -> String {
    let label = format!("{}: {} ({})", machine.name, machine.title, cpu_counts(machine));
    let label: String = label.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    textwrap::fill(label.trim(), textwrap::Options::new(WIDTH).subsequent_indent("    "))
}

/// `16 CPUs`, or `16 CPUs, 8 online`.
pub(crate) fn cpu_counts(machine: &Machine) -> String {
    let (cpus, online) = (machine.cpus.len(), machine.online.len());
    let plural = if cpus == 1 { "" } else { "s" };
    if online == cpus {
        format!("{cpus} CPU{plural}")
    } else {
        format!("{cpus} CPU{plural}, {online} online")
    }
}

/// What a label says of a branch after its CPUs.
fn detail(machine: &Machine, branch: &Branch) -> String {
    let mut detail = match branch.rank {
        // A cache's name is that of the branch.
        Rank::Cache => String::new(),
        _ if branch.caches.is_empty() => String::new(),
        _ => format!("  {}", caches(branch)),
    };
    detail.push_str(&branch.node.map_or_else(String::new, node_detail));
    if branch.rank == Rank::Core && capacities_differ(machine) {
        detail.push_str(&capacity(machine, branch));
    }
    detail
}

fn caches(branch: &Branch) -> String {
    let texts: Vec<String> = branch.caches.iter().map(|c| cache_text(c)).collect();
    texts.join(" ")
}

/// Capacity of a core's first CPU, if it is known.
fn capacity(machine: &Machine, branch: &Branch) -> String {
    let first = branch.cpus.first().and_then(|c| machine.cpus.get(c));
    first.and_then(|c| c.capacity).map_or_else(String::new, |v| format!("  capacity {v}"))
}

/// What overlaps other branches: its name or caches, and its CPUs.
pub(crate) fn apart_text(branch: &Branch) -> String {
    let names = (!branch.name.is_empty()).then(|| branch.name.clone());
    let caches = branch.caches.iter().map(|c| cache_text(c));
    let names: Vec<String> = names.into_iter().chain(caches).collect();
    format!("{} {}", names.join(" "), in_brackets(&branch.cpus))
}

fn node_detail(node: &Node) -> String {
    let mut text = String::new();
    if let Some(kib) = node.memory_kib {
        text.push_str(&format!("  memory {}", memory(kib)));
    }
    if !node.distances.is_empty() {
        text.push_str("  distances");
        node.distances.iter().for_each(|d| text.push_str(&format!(" {d}")));
    }
    text
}

/// A sentence, wrapped to the page, behind `bullet`.
fn wrapped(sentence: &str, bullet: &str) -> String {
    let options = textwrap::Options::new(WIDTH).initial_indent(bullet).subsequent_indent("  ");
    format!("{}\n", textwrap::fill(sentence.trim(), options))
}

#[cfg(test)]
mod tests;
