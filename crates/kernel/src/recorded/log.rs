//! A recorded log of attached domains against the predicted one.
//!
//! Capacities in the log are what was left of a CPU when domains were built (`scale_rt_capacity`): a CPU that
//! interrupts and other classes kept busy shows less than the predicted capacity. They match within 5 %; everything
//! else matches exactly.

use super::{Difference, single_cpu};
use crate::capacity::CAPACITY_SCALE;
use crate::domain::Domains;
use crate::log;
use crate::version::Version;
use std::collections::BTreeMap;

/// How far a capacity may be from the predicted one.
const TOLERANCE: f64 = 0.05;

/// How much of a boot or a rebuild a log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Every CPU once, and the root domain: a boot.
    Whole,
    /// The last rebuild, which may leave out CPUs and repeat others: compared are the last block with domains of
    /// each CPU in it, and the last line of a root domain.
    LastRebuild,
}

/// Where a log differs from the prediction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogDifferences {
    /// Lines that no state of this topology explains.
    pub wrong: Vec<Difference>,
    /// Lines whose capacities are more than 5 % below the predicted ones, but no less than the log leaves to single
    /// CPUs: those CPUs were busy.
    pub busy: Vec<Difference>,
}

/// Compares `recorded`, the log of a kernel of `version`, with the predicted `domains`.
pub fn compare(
    domains: &Domains,
    version: Version,
    recorded: &str,
    extent: Extent,
) -> LogDifferences {
    let full = log::log(domains, version);
    let least = log::log(&with_logged_capacities(domains, recorded), version);
    let mut out = LogDifferences::default();
    match extent {
        Extent::Whole => out.lines("log", &lines(&least), &lines(&full), &lines(recorded)),
        Extent::LastRebuild => out.blocks(&blocks(&least), &blocks(&full), &blocks(recorded)),
    }
    out
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

impl LogDifferences {
    fn blocks(&mut self, least: &Blocks, full: &Blocks, recorded: &Blocks) {
        let none: &Vec<&str> = &Vec::new();
        for (cpu, block) in &recorded.by_cpu {
            let (least, full) = (least.by_cpu.get(cpu), full.by_cpu.get(cpu));
            let place = format!("CPU {cpu}");
            self.lines(&place, least.unwrap_or(none), full.unwrap_or(none), block);
        }
        if recorded.by_cpu.is_empty() && !full.by_cpu.is_empty() {
            let predicted = full.by_cpu.values().next().and_then(|b| b.first());
            self.push("log", None, predicted.copied());
        }
        if let Some(root) = recorded.root {
            let full: Vec<&str> = full.root.into_iter().collect();
            self.lines("root domain", &full, &full, &[root]);
        }
        for line in &recorded.strange {
            self.push("log", Some(line), None);
        }
    }

    fn lines(&mut self, place: &str, least: &[&str], full: &[&str], recorded: &[&str]) {
        for i in 0..full.len().max(recorded.len()) {
            let place = format!("{place} line {}", i + 1);
            let (full, recorded) = (full.get(i).copied(), recorded.get(i).copied());
            match (least.get(i), full, recorded) {
                (_, Some(full), Some(line)) if same(full, full, line) => {}
                (Some(least), Some(full), Some(line)) if same(least, full, line) => {
                    self.busy.push(difference(&place, recorded, Some(full)));
                }
                _ => self.push(&place, recorded, full),
            }
        }
    }

    fn push(&mut self, place: &str, recorded: Option<&str>, predicted: Option<&str>) {
        self.wrong.push(difference(place, recorded, predicted));
    }
}

fn difference(place: &str, recorded: Option<&str>, predicted: Option<&str>) -> Difference {
    Difference {
        place: place.to_string(),
        recorded: recorded.map(String::from),
        predicted: predicted.map(String::from),
    }
}

/// A log by CPU.
#[derive(Default)]
struct Blocks<'a> {
    /// The last block with domains.
    by_cpu: BTreeMap<usize, Vec<&'a str>>,
    /// The last root domain line.
    root: Option<&'a str>,
    /// Lines that belong to neither.
    strange: Vec<&'a str>,
}

fn blocks(log: &str) -> Blocks<'_> {
    let mut out = Blocks::default();
    let mut current = None;
    for line in log.lines() {
        let block = current.and_then(|cpu| out.by_cpu.get_mut(&cpu));
        if let (true, Some(block)) = (line.starts_with(' '), block) {
            block.push(line);
            continue;
        }
        current = attaches(line);
        match current {
            Some(cpu) => {
                out.by_cpu.insert(cpu, vec![line]);
            }
            None if line.starts_with("root domain span: ") || line.starts_with("span: ") => {
                out.root = Some(line);
            }
            None if line.ends_with(" attaching NULL sched-domain.") => {}
            None => out.strange.push(line),
        }
    }
    out
}

/// The CPU of a block's first line.
fn attaches(line: &str) -> Option<usize> {
    line.strip_prefix("CPU")?.strip_suffix(" attaching sched-domain(s):")?.parse().ok()
}

/// A line by group: the text up to the group's end without its capacity, and the capacity.
fn pieces(line: &str) -> Vec<(&str, f64)> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some((group, tail)) = rest.split_once(" }") {
        let capacity =
            group.split_once(" cap=").and_then(|(text, cap)| Some((text, cap.parse().ok()?)));
        out.push(capacity.unwrap_or((group, CAPACITY_SCALE as f64)));
        rest = tail;
    }
    out.push((rest, CAPACITY_SCALE as f64));
    out
}

/// Whether the lines are equal but for capacities, which lie between those of `least` and `full`, give or take
/// [`TOLERANCE`].
fn same(least: &str, full: &str, recorded: &str) -> bool {
    let (least, full, recorded) = (pieces(least), pieces(full), pieces(recorded));
    let mut bounds = least.iter().zip(&full).zip(&recorded);
    full.len() == recorded.len()
        && bounds.all(|(((_, least), (text, full)), (recorded_text, capacity))| {
            let possible = least * (1.0 - TOLERANCE)..=full * (1.0 + TOLERANCE);
            text == recorded_text && possible.contains(capacity)
        })
}

/// The domains with the capacities that the log shows for single CPUs in place of the predicted ones.
fn with_logged_capacities(domains: &Domains, recorded: &str) -> Domains {
    let mut domains = domains.clone();
    for (text, left) in recorded.lines().flat_map(pieces) {
        let known = single_cpu(text).and_then(|cpu| domains.capacity.get_mut(cpu));
        if let Some(capacity) = known {
            *capacity = left as u64;
        }
    }
    let Domains { by_cpu, capacity, .. } = &mut domains;
    for group in by_cpu.iter_mut().flatten().flat_map(|d| &mut d.groups) {
        group.capacity = group.span.iter().map(|c| capacity[c]).sum();
    }
    domains
}
