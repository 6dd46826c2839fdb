//! From levels to boxes in boxes, without sizes yet.

use super::palette::Kind;
use crate::machine_levels::{Branch, Levels, Rank};
use crate::machine_words::{cache_name, capacities_differ, cpus_text, kib, memory};
use machine::{Cache, Machine, Node, Origin};

/// A labelled strip across a box.
pub(super) struct Bar {
    pub(super) kind: Kind,
    pub(super) text: String,
}

/// A box: a label, rows of bars below it, then a grid of boxes.
pub(super) struct Shape {
    pub(super) kind: Kind,
    /// Empty where bars say it all.
    pub(super) label: String,
    /// What a reader sees who points at it.
    pub(super) tip: String,
    pub(super) rows: Vec<Vec<Bar>>,
    pub(super) below: Vec<Shape>,
    /// What [`super::layout`] finds: columns of the grid, and the least width and height.
    pub(super) columns: usize,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Shape {
    fn new(kind: Kind, label: String, tip: String) -> Shape {
        let (rows, below) = (Vec::new(), Vec::new());
        Shape { kind, label, tip, rows, below, columns: 1, width: 0.0, height: 0.0 }
    }
}

/// The box of the whole machine, which a single package is.
pub(super) fn root(machine: &Machine, levels: &Levels) -> Shape {
    let alone = |node: &&Node| node.cpus.is_empty() && machine.nodes.len() > 1;
    let without_cpus: Vec<&Node> = machine.nodes.iter().filter(alone).collect();
    let mut root = match &levels.branches[..] {
        [only] if without_cpus.is_empty() => shape(machine, only),
        branches => {
            let all = cpus_text(&machine.possible());
            let mut root = Shape::new(Kind::Machine, String::new(), all);
            root.below = branches.iter().map(|b| shape(machine, b)).collect();
            root
        }
    };
    if let [node] = &machine.nodes[..] {
        root.rows.insert(0, vec![memory_bar(node)]);
    }
    for node in without_cpus {
        let mut memory = Shape::new(Kind::Node, String::new(), format!("NUMA node {}", node.id));
        memory.rows.push(vec![memory_bar(node)]);
        root.below.push(memory);
    }
    root
}

/// A branch, together with the one in it where both span the same CPUs.
fn shape(machine: &Machine, branch: &Branch) -> Shape {
    let mut labels = Vec::new();
    let mut rows = Vec::new();
    let mut inner = branch;
    loop {
        labels.extend(label(machine, inner));
        rows.extend(inner.node.map(|node| vec![memory_bar(node)]));
        rows.extend(cache_rows(&inner.caches));
        match &inner.below[..] {
            [only] if only.cpus == inner.cpus => inner = only,
            _ => break,
        }
    }
    let tip = match branch.name.as_str() {
        "" => cpus_text(&branch.cpus),
        name => format!("{name}, {}", cpus_text(&branch.cpus)),
    };
    let mut shape = Shape::new(kind(branch.rank), labels.join(" \u{b7} "), tip);
    shape.rows = rows;
    shape.below = inner.below.iter().map(|b| self::shape(machine, b)).collect();
    shape.below.extend(inner.own.iter().map(|cpu| cpu_shape(machine, cpu)));
    shape
}

fn kind(rank: Rank) -> Kind {
    match rank {
        Rank::Drawer | Rank::Book | Rank::Package => Kind::Package,
        Rank::Node => Kind::Node,
        Rank::Die => Kind::Die,
        Rank::Cache => Kind::Sharers,
        Rank::Cluster => Kind::Cluster,
        Rank::Core => Kind::Core,
        Rank::SmallCore => Kind::SmallCore,
    }
}

/// What a branch is called where no bar says it.
fn label(machine: &Machine, branch: &Branch) -> Option<String> {
    if branch.node.is_some() || branch.name.is_empty() {
        return None;
    }
    let first = branch.cpus.first().and_then(|c| machine.cpus.get(c));
    let capacity = first
        .and_then(|c| c.capacity)
        .filter(|_| branch.rank == Rank::Core && capacities_differ(machine));
    Some(match capacity {
        Some(value) => format!("{} \u{b7} cap {value}", branch.name),
        None => branch.name.clone(),
    })
}

fn cpu_shape(machine: &Machine, cpu: usize) -> Shape {
    let is_online = machine.online.contains(cpu);
    let kind = if is_online { Kind::Cpu } else { Kind::Offline };
    let state = if is_online { "" } else { ", offline" };
    Shape::new(kind, cpu.to_string(), format!("CPU {cpu}{state}"))
}

fn memory_bar(node: &Node) -> Bar {
    let mut text = format!("NUMA node {}", node.id);
    if let Some(kib) = node.memory_kib {
        text.push_str(&format!(" \u{b7} {}", memory(kib)));
    }
    if node.cpus.is_empty() {
        text.push_str(" \u{b7} no CPU");
    }
    Bar { kind: Kind::Memory, text }
}

/// A row for each level, the farthest first.
fn cache_rows(caches: &[&Cache]) -> Vec<Vec<Bar>> {
    let mut rows: Vec<Vec<Bar>> = Vec::new();
    let mut level = None;
    // Caches come nearest first.
    for cache in caches {
        if level != Some(cache.level) {
            rows.push(Vec::new());
            level = Some(cache.level);
        }
        if let Some(row) = rows.last_mut() {
            row.push(cache_bar(cache));
        }
    }
    rows.reverse();
    rows
}

fn cache_bar(cache: &Cache) -> Bar {
    let kind = match cache.origin {
        Origin::Firmware => Kind::Cache(cache.level),
        Origin::Catalog => Kind::Published(cache.level),
    };
    let size = cache.size_kib.map_or_else(|| "?".to_string(), |s| kib(u64::from(s)));
    Bar { kind, text: format!("{} {size}", cache_name(cache.level, cache.kind)) }
}
