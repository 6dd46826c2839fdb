//! How a case fails, and whether another fails in the same way.

use experiment::Inspected;
use experiment::inspect::INVARIANTS;
use serde::Serialize;
use std::path::PathBuf;

/// A failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// What tells it from others: an invariant, the place of a warning, or why the kernel stopped, without numbers.
    pub kind: String,
    /// All that was said of it.
    pub said: String,
    /// What it was made to.
    pub small: Option<Small>,
}

/// The smaller case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Small {
    /// Where it is.
    pub file: PathBuf,
    /// Cases that were tried.
    pub tries: usize,
    /// The size of the case that was found.
    pub from: String,
    /// The size of this one.
    pub to: String,
}

/// Letters of a kind that a file's name has.
const MOST_LETTERS: usize = 40;

impl Found {
    /// The failure of a run, if it is one.
    pub fn of(inspected: &Inspected) -> Option<Found> {
        let (kind, said) = match inspected {
            Inspected::Failed(said) => (kind_of(said), said.clone()),
            Inspected::Ran { warnings, .. } => {
                let (what, calls) = warnings.first()?;
                (what.clone(), format!("{what}\n{calls}"))
            }
        };
        Some(Found { kind, said: said.trim_end().to_string(), small: None })
    }

    /// The kind as a file's name may have it.
    pub fn slug(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let dashed: String = self.kind.chars().map(plain).collect();
        let words: Vec<&str> = dashed.split('-').filter(|word| !word.is_empty()).collect();
        let joined = words.join("-");
        joined[..joined.len().min(MOST_LETTERS)].trim_end_matches('-').to_string()
    }
}

fn kind_of(said: &str) -> String {
    let first = said.lines().next().unwrap_or_default();
    let of = |name: &&&str| first.strip_prefix(**name).is_some_and(|rest| rest.starts_with(':'));
    if let Some(name) = INVARIANTS.iter().find(of) {
        return name.to_string();
    }
    // Addresses and times differ from case to case.
    let line = first.split(", at 0x").next().unwrap_or_default();
    line.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(said: &str) -> Found {
        Found::of(&Inspected::Failed(said.to_string())).unwrap()
    }

    #[test]
    fn failures_of_one_kind_differ_in_numbers_alone() {
        let one = found("starvation: at 12.5 ms: task 7 waited");
        assert_eq!((one.kind.as_str(), one.slug().as_str()), ("starvation", "starvation"));
        let lost = found("lost task: at 3.000000 ms: task 9 `hog0`\nbefore, WARN at a.c:1\n");
        assert_eq!((lost.kind.as_str(), lost.slug().as_str()), ("lost task", "lost-task"));
        let fault = |at| found(&format!("the kernel stopped: fault: SEGV, at {at}\n  f a.c:3"));
        assert_eq!(fault("0x12").kind, fault("0xff").kind);
        assert_ne!(fault("0x12").kind, one.kind);
    }

    #[test]
    fn a_warning_is_a_failure_and_a_run_without_is_none() {
        let ran = |warnings| Inspected::Ran { warnings, margins: Default::default() };
        assert_eq!(Found::of(&ran(vec![])), None);
        let what = "WARN at kernel/sched/fair.c:12".to_string();
        let warned = Found::of(&ran(vec![(what.clone(), "  f a.c:1\n".to_string())])).unwrap();
        assert_eq!((warned.kind, warned.said), (what.clone(), format!("{what}\n  f a.c:1")));
    }
}
