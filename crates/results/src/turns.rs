//! Where a change turns from gain to loss along a parameter, by bisection.
//!
//! A search looks at the ends and at a few values between them, then halves where two neighbours are of opposite sign. A sign counts
//! when runs prove it. Whatever is looked at depends on what was seen, so each look has its share of the error that the whole search
//! may make ([`Bounds::level`]).

use serde::Serialize;
use stats::{Better, Confidence, Interval, StatsError, Verdict};

/// Values that are looked at before anything is halved, the ends among them.
const CHECKS: usize = 5;
/// Level of a whole search: with this probability, it claims no sign that is not so.
const LEVEL: Confidence = Confidence::P95;

/// Where to look, and how closely.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// The lowest value.
    pub from: f64,
    /// The highest.
    pub to: f64,
    /// Width of the interval that is wanted.
    pub width: f64,
    /// Whether values are whole numbers.
    pub is_whole: bool,
}

/// What runs say at a value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The parameter's value.
    pub value: f64,
    /// Runs of the baseline, and as many of the variant.
    pub runs: usize,
    /// Percent change with its 95 % interval, positive if the variant is better; none where samples carry none.
    pub percent: Option<Interval>,
    /// Which sign is proven, at the level of a look.
    pub verdict: Verdict,
    /// Smallest effect in percent that these runs could show at that level.
    pub smallest_percent: Option<f64>,
}

/// Two values between which the sign turns.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Turn {
    /// The highest value below the turn whose sign is proven.
    pub low: f64,
    /// The lowest value above it.
    pub high: f64,
    /// The sign at `low`; at `high` it is the other one.
    pub before: Verdict,
    /// Whether the two are as close as was asked for. If not, runs prove no sign between them.
    pub is_narrow: bool,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turns {
    /// The parameter's path.
    pub parameter: String,
    /// The workload.
    pub workload: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// The baseline.
    pub baseline: String,
    /// What is compared with it.
    pub variant: String,
    /// What was asked for.
    pub bounds: Bounds,
    /// Level of each look.
    pub level: Confidence,
    /// What was looked at, ascending.
    pub points: Vec<Point>,
    /// Turns, ascending; none, one, or several.
    pub turns: Vec<Turn>,
}

impl Bounds {
    /// The values that are looked at first, ascending.
    fn checks(&self) -> Vec<f64> {
        let step = (self.to - self.from) / (CHECKS - 1) as f64;
        let inner = (1..CHECKS - 1).map(|n| self.rounded(self.from + n as f64 * step));
        let mut all: Vec<f64> = std::iter::once(self.from).chain(inner).chain([self.to]).collect();
        all.dedup();
        all
    }

    fn rounded(&self, value: f64) -> f64 {
        if self.is_whole { value.floor() } else { value }
    }

    /// A value in the middle; none between neighbours.
    fn middle(&self, low: f64, high: f64) -> Option<f64> {
        let middle = self.rounded(low + (high - low) / 2.0);
        (low < middle && middle < high).then_some(middle)
    }

    /// Most values that a search looks at: the checks, and for each of at most four turns as many as [`Bounds::most_between`] allows. By
    /// the logarithm's concavity, turns of equal width take the most; 4 in place of 2 is for rounding.
    fn most_points(&self) -> usize {
        let range = (self.to - self.from) / self.width;
        let of = |turns: usize| turns * (2 * halvings(range / turns as f64) + 4);
        CHECKS + (1..CHECKS).map(of).max().unwrap_or(0)
    }

    /// Most values that are looked at between two: two for each halving of what lies between, as nothing may be proven in the middle.
    fn most_between(&self, low: f64, high: f64) -> usize {
        2 * halvings((high - low) / self.width) + 2
    }

    /// Level of each look, where a value is looked at `looks` times at most, with more runs each time: Bonferroni's share of 5 %.
    ///
    /// # Errors
    /// Bounds so far apart that no share is left.
    pub fn level(&self, looks: usize) -> Result<Confidence, StatsError> {
        let all = (self.most_points() * looks.max(1)) as f64;
        Confidence::new(1.0 - (1.0 - LEVEL.level()) / all)
    }

    /// Searches. `look` says what is proven at a value, `None` if nothing is known yet: then the search gives `None`, after it has asked
    /// for all that it needs to go on. The same answers give the same search.
    pub fn search(&self, look: &mut dyn FnMut(f64) -> Option<Verdict>) -> Option<Vec<Turn>> {
        let checks = self.checks().into_iter().map(|value| (value, look(value)));
        let checks: Vec<(f64, Option<Verdict>)> = checks.collect();
        let mut brackets: Vec<Bracket> = Vec::new();
        let mut last: Option<(f64, Verdict)> = None;
        let mut unproven = Vec::new();
        for (value, verdict) in checks {
            match verdict? {
                Verdict::NoDifference => unproven.push(value),
                verdict => {
                    if let Some((low, before)) = last.filter(|(_, before)| *before != verdict) {
                        brackets.push(Bracket {
                            low,
                            high: value,
                            before,
                            unproven: unproven.clone(),
                        });
                    }
                    unproven.clear();
                    last = Some((value, verdict));
                }
            }
        }
        // All are asked before any is waited for.
        let turns: Vec<Option<Turn>> =
            brackets.into_iter().map(|bracket| bracket.narrowed(self, look)).collect();
        turns.into_iter().collect()
    }
}

/// How often a range has to be halved until it is 1.
fn halvings(range: f64) -> usize {
    range.log2().ceil().max(0.0) as usize
}

/// A turn that is being narrowed: proven ends of opposite sign, and values between them where nothing is proven, ascending.
struct Bracket {
    low: f64,
    high: f64,
    before: Verdict,
    unproven: Vec<f64>,
}

impl Bracket {
    fn narrowed(
        mut self,
        bounds: &Bounds,
        look: &mut dyn FnMut(f64) -> Option<Verdict>,
    ) -> Option<Turn> {
        // A sign that turns back and forth could take more, and each look has its share of the error.
        let most = bounds.most_between(self.low, self.high);
        for _ in 0..most {
            let Some(value) = self.next(bounds) else { break };
            match look(value)? {
                Verdict::NoDifference => {
                    self.unproven.push(value);
                    self.unproven.sort_by(f64::total_cmp);
                }
                verdict if verdict == self.before => {
                    self.low = value;
                    self.unproven.retain(|&u| u > value);
                }
                _ => {
                    self.high = value;
                    self.unproven.retain(|&u| u < value);
                }
            }
        }
        let (Bracket { low, high, before, .. }, is_narrow) = (&self, self.is_narrow(bounds));
        Some(Turn { low: *low, high: *high, before: *before, is_narrow })
    }

    fn is_narrow(&self, bounds: &Bounds) -> bool {
        self.high - self.low <= bounds.width
    }

    /// What to look at next: the middle, or beside values where nothing is proven the middle of the wider gap.
    fn next(&self, bounds: &Bounds) -> Option<f64> {
        if self.is_narrow(bounds) {
            return None;
        }
        let (first, last) = (self.unproven.first(), self.unproven.last());
        let Some((&first, &last)) = first.zip(last) else {
            return bounds.middle(self.low, self.high);
        };
        let mut gaps = [(self.low, first), (last, self.high)];
        gaps.sort_by(|a, b| (b.1 - b.0).total_cmp(&(a.1 - a.0)));
        let wide = gaps.into_iter().filter(|(low, high)| high - low > bounds.width);
        wide.filter_map(|(low, high)| bounds.middle(low, high)).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const WHOLE: Bounds = Bounds { from: 1.0, to: 64.0, width: 2.0, is_whole: true };

    fn sign(effect: f64, shows: f64) -> Verdict {
        match effect {
            e if e > shows => Verdict::Better,
            e if e < -shows => Verdict::Worse,
            _ => Verdict::NoDifference,
        }
    }

    /// The turns of `effect`, where less than `shows` is not proven, and the values that were looked at.
    fn turns(
        bounds: Bounds,
        shows: f64,
        effect: impl Fn(f64) -> f64,
    ) -> (Vec<Turn>, BTreeSet<u64>) {
        let mut known = BTreeSet::new();
        // Nothing is known before it was asked for.
        loop {
            let mut asked = vec![];
            let found = bounds.search(&mut |value: f64| {
                let is_known = known.contains(&value.to_bits());
                if !is_known {
                    asked.push(value.to_bits());
                }
                is_known.then(|| sign(effect(value), shows))
            });
            match found {
                Some(turns) => return (turns, known),
                None => assert!(!asked.is_empty()),
            }
            known.extend(asked);
        }
    }

    #[test]
    fn a_turn_is_found_to_the_width() {
        let (found, looked) = turns(WHOLE, 0.1, |clients| 21.5 - clients);
        assert_eq!(
            found,
            [Turn { low: 20.0, high: 22.0, before: Verdict::Better, is_narrow: true }]
        );
        // 1, 16, 32, 48, 64, then 24, 20, 22: a grid of this width has 33.
        assert_eq!(looked.len(), 8);
        let real = Bounds { from: 0.0, to: 1.0, width: 0.01, is_whole: false };
        let (found, _) = turns(real, 1e-9, |share| share - 0.3);
        assert!(found[0].low <= 0.3 && 0.3 <= found[0].high && found[0].is_narrow);
        assert_eq!(found[0].before, Verdict::Worse);
        let close = Bounds { width: 0.5, ..WHOLE };
        let (found, _) = turns(close, 0.1, |clients| 21.5 - clients);
        assert_eq!((found[0].low, found[0].high, found[0].is_narrow), (21.0, 22.0, false));
    }

    #[test]
    fn no_turn_none_proven_and_several() {
        assert_eq!(turns(WHOLE, 0.1, |_| 3.0).0, []);
        assert_eq!(turns(WHOLE, 5.0, |_| 3.0).0, []);
        // Worse in the middle only: both ends gain.
        let (found, _) = turns(WHOLE, 0.1, |clients| (clients - 20.5) * (clients - 45.5));
        let ends: Vec<(f64, f64)> = found.iter().map(|t| (t.low, t.high)).collect();
        assert_eq!(ends, [(20.0, 22.0), (44.0, 46.0)]);
        assert_eq!(
            found.iter().map(|t| t.before).collect::<Vec<_>>(),
            [Verdict::Better, Verdict::Worse]
        );
    }

    #[test]
    fn where_nothing_is_proven_the_gap_stays_wide() {
        let (found, _) = turns(WHOLE, 6.0, |clients| 30.5 - clients);
        let [turn] = found[..] else { panic!("{found:?}") };
        assert!(!turn.is_narrow && turn.before == Verdict::Better);
        // Proven up to 24 and from 37 on; each side to the width.
        assert!(
            (22.0..=24.0).contains(&turn.low) && (37.0..=39.0).contains(&turn.high),
            "{turn:?}"
        );
    }

    proptest! {
        #[test]
        fn a_search_ends_within_its_looks_and_its_turns_are_turns(
            from in -50.0..50.0f64,
            range in 0.1..500.0f64,
            parts in 1.0..200.0f64,
            roots in prop::collection::vec(0.0..1.0f64, 0..4),
            shows in 0.0..0.2f64,
            is_whole: bool,
        ) {
            let (from, to) = if is_whole { (from.floor(), from.floor() + range.ceil()) } else { (from, from + range) };
            let bounds = Bounds { from, to, width: (to - from) / parts, is_whole };
            let effect = |value: f64| {
                let at = (value - from) / (to - from);
                roots.iter().map(|root| at - root).product::<f64>()
            };
            let (found, looked) = turns(bounds, shows, effect);
            prop_assert!(looked.len() <= bounds.most_points(), "{} of {}", looked.len(), bounds.most_points());
            for turn in found {
                prop_assert_eq!(sign(effect(turn.low), shows), turn.before);
                prop_assert!(sign(effect(turn.high), shows) != turn.before);
                prop_assert!(turn.low < turn.high);
            }
            prop_assert!(bounds.level(4).unwrap() > LEVEL);
        }
    }
}
