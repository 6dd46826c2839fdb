//! The surface through a comparison's corners.

use super::{Explored, Ranged};
use crate::sensitivity::Row;
use stats::{Better, Comparison, Confidence, Interval, TwoLevel};

/// A comparison over the box of the ranges: the logarithm of the advantage, which is linear in the constants' logarithms.
#[derive(Debug)]
pub(super) struct Surface<'a> {
    explored: &'a Explored,
    better: Better,
    /// At the constants' own values.
    start: f64,
    /// By constant, half of what the advantage gains from its lower to its upper end.
    pub(super) effects: Vec<Interval>,
}

impl<'a> Surface<'a> {
    /// Of metric `m` under the variant at `v`, whose stored runs compare so. `None` where rows lack values above 0.
    pub(super) fn of(
        explored: &'a Explored,
        (v, m): (usize, usize),
        better: Better,
        comparison: &Comparison,
        confidence: Confidence,
    ) -> Option<Surface<'a>> {
        let half = |row: &Row| {
            let (row, mirror) = (&row.row, &row.mirror);
            Some((advantage(row, (v, m), better)? - advantage(mirror, (v, m), better)?) / 2.0)
        };
        let halves: Option<Vec<f64>> = explored.rows.iter().map(half).collect();
        let effects = TwoLevel::of(explored.constants.len()).effects(&halves?, confidence)?;
        let start = logarithm(comparison.variant.mean, comparison.base.mean, better)?;
        Some(Surface { explored, better, start, effects })
    }

    /// The logarithm of the advantage at `values`.
    pub(super) fn at(&self, values: &[f64]) -> f64 {
        let constants = self.explored.constants.iter().zip(values).zip(&self.effects);
        self.start + constants.map(|((c, &to), e)| e.estimate * way(c, to)).sum::<f64>()
    }

    /// In percent, positive where the variant is better.
    pub(super) fn percent(&self, values: &[f64]) -> f64 {
        percent(self.at(values), self.better)
    }

    /// The corner at which the advantage is largest, or with `sign` -1 smallest. A constant without effect stays where it is.
    pub(super) fn corner(&self, sign: f64) -> Vec<f64> {
        let end = |(c, e): (&Ranged, &Interval)| match sign * e.estimate {
            up if up > 0.0 => c.high,
            down if down < 0.0 => c.low,
            _ => c.value,
        };
        self.explored.constants.iter().zip(&self.effects).map(end).collect()
    }

    /// What moving constant `at` alone from its value to `to` adds to the logarithm of the advantage.
    pub(super) fn gain(&self, at: usize, to: f64) -> f64 {
        self.effects[at].estimate * way(&self.explored.constants[at], to)
    }
}

/// The corner of the design at which a single run of each has the smallest advantage, or with `sign` -1 the largest.
pub(super) fn worst_row(
    explored: &Explored,
    (v, m): (usize, usize),
    better: Better,
    sign: f64,
) -> Option<Vec<f64>> {
    let corners = explored.rows.iter().enumerate().flat_map(|(at, row)| {
        [(at, false, &row.row), (at, true, &row.mirror)]
            .map(|(at, mirrored, runs)| (at, mirrored, advantage(runs, (v, m), better)))
    });
    let known = corners.filter_map(|(at, mirrored, y)| Some((at, mirrored, sign * y?)));
    let (at, mirrored, _) = known.min_by(|a, b| a.2.total_cmp(&b.2))?;
    Some(explored.corner_of(at, mirrored))
}

/// From a constant's value to `to`, in halves of its range's logarithm.
fn way(c: &Ranged, to: f64) -> f64 {
    if to == c.value { 0.0 } else { 2.0 * (to / c.value).ln() / (c.high / c.low).ln() }
}

/// The logarithm by which a variant is better in one run of each.
fn advantage(runs: &[Vec<f64>], (v, m): (usize, usize), better: Better) -> Option<f64> {
    logarithm(*runs.get(v)?.get(m)?, *runs.first()?.get(m)?, better)
}

/// The logarithm by which `variant` is better than `base`, if both are above 0.
pub(super) fn logarithm(variant: f64, base: f64, better: Better) -> Option<f64> {
    let rise = (variant / base).ln();
    let advantage = match better {
        Better::Higher => rise,
        Better::Lower => -rise,
    };
    (variant > 0.0 && base > 0.0 && advantage.is_finite()).then_some(advantage)
}

fn percent(advantage: f64, better: Better) -> f64 {
    let ratio = match better {
        Better::Higher => advantage.exp(),
        Better::Lower => (-advantage).exp(),
    };
    better.percent(1.0, ratio)
}
