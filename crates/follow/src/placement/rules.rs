//! Other rules beside the one that was in force: where each would have sent the tasks that a trace wakes.
//!
//! Every rule follows the same trace, so what it would have changed later on does not enter: each wake-up is a question of its own. What
//! a rule does to a whole run is a replay's answer.

use super::{Choice, FirstPass, Ground, Inferred, Placements};
use machine::Machine;
use machine::distance::{Distance, Distances};
use serde::Serialize;
use std::collections::BTreeMap;
use trace::TraceError;
use trace::{Event, Sink};

/// Wake-ups that two rules decide, each by its own choice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// Wake-ups that both rules were asked about.
    pub asked: u64,
    /// Those that the other rule sends to another CPU.
    pub other_cpu: u64,
    /// Of these, those in which the trace determines what both choices are made from.
    pub determined: u64,
    /// Those that it sends to another last-level cache.
    pub other_llc: u64,
    /// Of those that it sends to another CPU: by distance of the task's way from where it last ran, under this rule and the other.
    pub ways: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    /// Of the same: how many tasks there were on the CPU that each rule takes, in sum.
    pub queued: [u64; 2],
}

/// A rule's answers to a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    /// The wake-ups beside the model of the kernel that recorded them.
    pub placements: Placements,
    /// By other rule, in the order they were given.
    pub rules: Vec<Elsewhere>,
}

/// Takes a trace for several rules, the one in force first.
pub struct Rules<'a> {
    judges: Vec<Inferred<'a>>,
    distances: Distances,
    found: Vec<Elsewhere>,
}

impl<'a> Rules<'a> {
    /// `ground` has the machine and the kernel of the trace, `others` the same machine under other rules; `first` has read the trace before.
    pub fn new(
        machine: &Machine,
        ground: &'a Ground,
        others: &'a [Ground],
        first: &'a FirstPass,
    ) -> Rules<'a> {
        let all = std::iter::once(ground).chain(others);
        Rules {
            judges: all.map(|ground| Inferred::new(ground, first, Vec::new())).collect(),
            distances: Distances::new(machine),
            found: vec![Elsewhere::default(); others.len()],
        }
    }

    /// What was found.
    pub fn finish(self) -> Option<Judged> {
        let placements = self.judges.into_iter().next()?.finish();
        Some(Judged { placements, rules: self.found })
    }

    fn compare(&mut self) {
        let [first, others @ ..] = &self.judges[..] else { return };
        for (other, found) in others.iter().zip(&mut self.found) {
            for ours in first.settled() {
                let same = |theirs: &&Choice| theirs.pid == ours.pid;
                if let Some(theirs) = other.settled().iter().find(same) {
                    found.note(ours, theirs, first, &self.distances);
                }
            }
        }
    }
}

impl Elsewhere {
    fn note(&mut self, ours: &Choice, theirs: &Choice, of: &Inferred, distances: &Distances) {
        self.asked += 1;
        if ours.model == theirs.model {
            return;
        }
        self.other_cpu += 1;
        self.determined += u64::from(ours.is_determined && theirs.is_determined);
        self.other_llc += u64::from(!of.share_cache(ours.model, theirs.model));
        let way = |to: u32| -> Distance { distances.between(ours.previous as usize, to as usize) };
        let by = self.ways.entry(way(ours.model).name()).or_default();
        *by.entry(way(theirs.model).name()).or_default() += 1;
        for (sum, choice) in self.queued.iter_mut().zip([ours, theirs]) {
            *sum += u64::from(choice.queued);
        }
    }
}

impl Sink for Rules<'_> {
    fn event(&mut self, event: &Event) -> Result<(), TraceError> {
        self.judges.iter_mut().try_for_each(|judge| judge.event(event))?;
        self.compare();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), TraceError> {
        Ok(())
    }
}
