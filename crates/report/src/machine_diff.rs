//! Two machines compared level by level.

mod caches;
mod cpus;
mod nodes;
mod power;
mod sets;

use crate::machine_words::list_text;
use crate::table::{WIDTH, clip};
use machine::{CpuSet, Machine};
use serde::Serialize;
use std::fmt::Display;

/// One difference: where, of what, and what each machine has there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Level or part: `CPUs`, `cores`, `L2 caches`, `distances` …
    pub part: String,
    /// What of it: an attribute, or of which CPUs or node.
    pub what: String,
    /// The first machine's value; `None` where it has none.
    pub a: Option<String>,
    /// The second machine's value; `None` where it has none.
    pub b: Option<String>,
}

/// What differs between `a` and `b`, in the order of levels from the machine to constants; empty where they are
/// the same machine. Names, titles and [`Machine::unknown`] do not count. Cores, clusters and dies count by
/// their CPUs, not by the numbers that the model gives them; the kernel's own numbers count. Of constants, the
/// value and its unit count.
pub fn machine_diff(a: &Machine, b: &Machine) -> Vec<Difference> {
    let mut diff = Diff { a, b, found: Vec::new() };
    cpus::machine(&mut diff);
    sets::levels(&mut diff);
    cpus::attributes(&mut diff);
    caches::caches(&mut diff);
    nodes::nodes(&mut diff);
    power::idle_states(&mut diff);
    power::policies(&mut diff);
    power::cppc(&mut diff);
    power::constants(&mut diff);
    diff.found
}

/// The differences as text: parts as headings, a line for each difference; a sentence where there is none.
pub fn text(differences: &[Difference]) -> String {
    if differences.is_empty() {
        return "The machines do not differ.\n".to_string();
    }
    let mut out = String::new();
    let mut part = "";
    for difference in differences {
        if difference.part != part {
            part = &difference.part;
            out.push_str(&format!("{part}\n"));
        }
        out.push_str(&format!("  {}\n", clip(&line(difference), 2 * WIDTH)));
    }
    out
}

fn line(difference: &Difference) -> String {
    let what = match difference.what.as_str() {
        "" => String::new(),
        what => format!("{what}: "),
    };
    match (&difference.a, &difference.b) {
        (Some(a), Some(b)) => format!("{what}{a} -> {b}"),
        (Some(a), None) => format!("only in A: {what}{a}"),
        (None, Some(b)) => format!("only in B: {what}{b}"),
        (None, None) => what,
    }
}

/// The machines, and what was found so far.
struct Diff<'a> {
    a: &'a Machine,
    b: &'a Machine,
    found: Vec<Difference>,
}

impl Diff<'_> {
    fn push(&mut self, part: &str, what: &str, a: Option<String>, b: Option<String>) {
        self.found.push(Difference { part: part.to_string(), what: what.to_string(), a, b });
    }

    /// Values of something that each machine has once.
    fn value<T: PartialEq + Display>(&mut self, part: &str, what: &str, a: T, b: T) {
        if a != b {
            self.push(part, what, Some(a.to_string()), Some(b.to_string()));
        }
    }

    /// A line for each pair of values: of which CPUs it is.
    fn by_cpu(&mut self, part: &str, what: &str, a: &[Option<String>], b: &[Option<String>]) {
        let mut groups: Vec<((String, String), CpuSet)> = Vec::new();
        for (cpu, (a, b)) in a.iter().zip(b).enumerate().filter(|(_, (a, b))| a != b) {
            let pair = (shown(a.as_ref()), shown(b.as_ref()));
            match groups.iter_mut().find(|(p, _)| *p == pair) {
                Some((_, cpus)) => cpus.insert(cpu),
                None => groups.push((pair, CpuSet::single(cpu))),
            }
        }
        if groups.len() <= MANY {
            for ((a, b), cpus) in groups {
                self.push(part, &format!("{what} of CPUs {}", list_text(&cpus)), Some(a), Some(b));
            }
            return;
        }
        let cpus: CpuSet = groups.iter().flat_map(|(_, cpus)| cpus.iter()).collect();
        let list = |values: &[Option<String>]| {
            let values = cpus.iter().filter_map(|c| values.get(c)).map(|v| shown(v.as_ref()));
            shortened(values.collect())
        };
        let (a, b) = (list(a), list(b));
        self.push(part, &format!("{what} of CPUs {}", list_text(&cpus)), Some(a), Some(b));
    }
}

/// Pairs of values shown one by one.
const MANY: usize = 6;

/// A value, or that it is not known.
fn shown(value: Option<&impl Display>) -> String {
    value.map_or_else(|| "not known".to_string(), ToString::to_string)
}

/// The first values and how many there are.
fn shortened(values: Vec<String>) -> String {
    if values.len() <= 2 * MANY {
        return values.join(",");
    }
    let start: Vec<&str> = values.iter().take(MANY).map(String::as_str).collect();
    format!("{},... {} in all", start.join(","), values.len())
}

#[cfg(test)]
mod tests;
