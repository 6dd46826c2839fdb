//! Who wakes whom.

use super::tasks::name_of;
use crate::Comm;
use machine::distance::Distance;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
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
    /// Of these, those after which the task ran: by distance from the waking CPU to the one where it did.
    pub distances: BTreeMap<&'static str, u64>,
}

impl Edge {
    /// The distance of most of its wake-ups, the nearest of several; none where no task ran.
    pub fn usual_distance(&self) -> Option<Distance> {
        let often = |d: &Distance| self.distances.get(d.name()).copied().unwrap_or(0);
        let some = Distance::ALL.into_iter().filter(|d| often(d) > 0);
        // Of equals `max_by_key` takes the last.
        some.rev().max_by_key(often)
    }
}

/// Counts of a pair.
#[derive(Debug, Default)]
struct Pair {
    wakeups: u64,
    /// By distance.
    ran: [u64; Distance::COUNT],
}

/// Counts pairs.
#[derive(Debug, Default)]
pub(super) struct Wakers(HashMap<(Comm, Comm), Pair>);

impl Wakers {
    pub(super) fn woke(&mut self, waker: Comm, woken: Comm) {
        self.0.entry((waker, woken)).or_default().wakeups += 1;
    }

    /// A task that was woken runs so far from its waker.
    pub(super) fn ran(&mut self, waker: Comm, woken: Comm, distance: Distance) {
        // It may have got another name since, and a trace without `sched_waking` has no pairs.
        if let Some(pair) = self.0.get_mut(&(waker, woken)) {
            pair.ran[distance as usize] += 1;
        }
    }

    pub(super) fn finish(self) -> Vec<Edge> {
        let edge = |((waker, woken), pair): ((Comm, Comm), Pair)| Edge {
            waker: name_of(&waker),
            woken: name_of(&woken),
            count: pair.wakeups,
            distances: (Distance::ALL.iter().zip(pair.ran))
                .filter(|(_, n)| *n > 0)
                .map(|(distance, n)| (distance.name(), n))
                .collect(),
        };
        let mut all: Vec<Edge> = self.0.into_iter().map(edge).collect();
        all.sort_by(|a, b| (b.count, &a.waker, &a.woken).cmp(&(a.count, &b.waker, &b.woken)));
        all
    }
}

/// `edges` as a graph for Graphviz: how often, and the usual distance. Lines are as thick as pairs are frequent.
pub fn dot(edges: &[Edge]) -> String {
    let most = edges.iter().map(|e| e.count).max().unwrap_or(1).max(1) as f64;
    let quoted = |name: &str| format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""));
    let mut out = String::from("digraph wakeups {\n    node [shape=box];\n");
    for edge in edges {
        let width = 1.0 + 4.0 * edge.count as f64 / most;
        let (waker, woken) = (quoted(&edge.waker), quoted(&edge.woken));
        let distance = edge.usual_distance().map_or(String::new(), |d| format!(", {}", d.name()));
        // A String takes everything.
        let _ = writeln!(
            out,
            "    {waker} -> {woken} [label=\"{}{distance}\", penwidth={width:.1}];",
            edge.count
        );
    }
    out + "}\n"
}
