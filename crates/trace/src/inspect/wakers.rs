//! Who wakes whom.

use super::tasks::name_of;
use crate::Comm;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write;

/// How often tasks of one name woke tasks of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// Who wakes: a name, `hardirq`, `softirq` or `idle`.
    pub waker: String,
    /// Who is woken.
    pub woken: String,
    /// How often.
    pub count: u64,
}

/// Counts pairs.
#[derive(Debug, Default)]
pub(super) struct Wakers(HashMap<(Comm, Comm), u64>);

impl Wakers {
    pub(super) fn woke(&mut self, waker: Comm, woken: Comm) {
        *self.0.entry((waker, woken)).or_default() += 1;
    }

    pub(super) fn finish(self, most: usize) -> Vec<Edge> {
        let edge = |((waker, woken), count): ((Comm, Comm), u64)| Edge {
            waker: name_of(&waker),
            woken: name_of(&woken),
            count,
        };
        let mut all: Vec<Edge> = self.0.into_iter().map(edge).collect();
        all.sort_by(|a, b| (b.count, &a.waker, &a.woken).cmp(&(a.count, &b.waker, &b.woken)));
        all.truncate(most);
        all
    }
}

/// `edges` as a graph for Graphviz; lines are as thick as pairs are frequent.
pub fn dot(edges: &[Edge]) -> String {
    let most = edges.iter().map(|e| e.count).max().unwrap_or(1).max(1) as f64;
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut out = String::from("digraph wakeups {\n    node [shape=box];\n");
    for Edge { waker, woken, count } in edges {
        let width = 1.0 + 4.0 * *count as f64 / most;
        let (waker, woken) = (quoted(waker), quoted(woken));
        // A String takes everything.
        let _ = writeln!(out, "    {waker} -> {woken} [label=\"{count}\", penwidth={width:.1}];");
    }
    out + "}\n"
}
