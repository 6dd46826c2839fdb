//! Where to look next: a comparison's worst corners, then what turns its sign, and where.
//!
//! Nothing is kept between steps. Each is derived anew from the points that there are, so that stored runs tell the same as the
//! search that asked for them.

use super::Explored;
use super::judge::Of;
use super::surface::{logarithm, worst_row};
use crate::analysis::WorkloadAnalysis;
use serde::Serialize;
use stats::{Resampling, Verdict};

/// How often the way on which a sign turns is halved.
const HALVINGS: u32 = 4;

/// How many more constants are moved than the surface asks for before all are.
const MORE: usize = 3;

/// Where the sign of a comparison turns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turning {
    /// The fewest constants found that turn it together, the one with the largest part in it first.
    pub constants: Vec<Turned>,
    /// Between which parts of the way to their ends, on a logarithmic scale.
    pub part: [f64; 2],
}

/// A constant that turns a sign, alone or with others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Turned {
    /// The constant.
    pub constant: String,
    /// Where it is while the sign is still that of the constants' own values, and where it is no longer.
    pub between: [f64; 2],
}

/// Places at which a workload is to be run next, each once; none where enough is known. `workload` is the analysis of the
/// stored runs.
pub fn wanted(
    workload: &WorkloadAnalysis,
    explored: &Explored,
    resampling: &Resampling,
) -> Vec<Vec<f64>> {
    let mut all: Vec<Vec<f64>> = Vec::new();
    for of in Of::all(workload, explored, resampling) {
        for values in of.wanted() {
            if !all.contains(&values) {
                all.push(values);
            }
        }
    }
    all
}

impl Of<'_> {
    /// The sign of the stored runs, of the estimate where they prove none.
    pub(super) fn sign(&self) -> f64 {
        match self.comparison.verdict {
            Verdict::Better => 1.0,
            Verdict::Worse => -1.0,
            Verdict::NoDifference if self.comparison.percent.estimate < 0.0 => -1.0,
            Verdict::NoDifference => 1.0,
        }
    }

    /// The places that are run for any comparison: the corners at which the surface is farthest down and up, against the sign
    /// first; and the corner at which the design's own single runs were worst.
    pub(super) fn corners(&self) -> Vec<Vec<f64>> {
        let sign = self.sign();
        let mut all = vec![self.surface.corner(-sign), self.surface.corner(sign)];
        all.extend(worst_row(self.explored, self.at, self.better, sign));
        all
    }

    fn wanted(&self) -> Vec<Vec<f64>> {
        let lacks = |values: &Vec<f64>| self.explored.point(values).is_none();
        let corners: Vec<Vec<f64>> = self.corners().into_iter().filter(lacks).collect();
        match corners.is_empty() {
            false => corners,
            true => self.turning().err().into_iter().collect(),
        }
    }

    /// Where the sign turns that the stored runs prove: `None` if no point proves the opposite, and `Err` with the place that
    /// has to be run before that can be said.
    pub(super) fn turning(&self) -> Result<Option<Turning>, Vec<f64>> {
        let Some(target) = self.opposite() else { return Ok(None) };
        let constants = self.deciding(&target)?;
        let on_way = |part: f64| {
            let mut values = self.explored.start();
            for &at in &constants {
                let from = values[at];
                values[at] =
                    if part == 1.0 { target[at] } else { from * (target[at] / from).powf(part) };
            }
            values
        };
        let mut part = [0.0, 1.0];
        for _ in 0..HALVINGS {
            let middle = (part[0] + part[1]) / 2.0;
            let holds = self.holds(&on_way(middle))?;
            part[usize::from(!holds)] = middle;
        }
        let ends = part.map(on_way);
        let turned = |&at: &usize| Turned {
            constant: self.explored.constants[at].name.clone(),
            between: [ends[0][at], ends[1][at]],
        };
        Ok(Some(Turning { constants: constants.iter().map(turned).collect(), part }))
    }

    /// The first place, corners before others, at which runs prove the opposite of what the stored runs prove.
    fn opposite(&self) -> Option<Vec<f64>> {
        let wanted = match self.comparison.verdict {
            Verdict::Better => Verdict::Worse,
            Verdict::Worse => Verdict::Better,
            Verdict::NoDifference => return None,
        };
        let proves = |values: &Vec<f64>| {
            let found = self.explored.point(values).and_then(|point| self.compared(point));
            found.is_some_and(|c| c.verdict == wanted)
        };
        let others = self.explored.points.iter().map(|point| point.values.clone());
        self.corners().into_iter().chain(others).find(proves)
    }

    /// The fewest constants that turn the sign on their way to `target`, in the order of what each takes of the advantage: as many
    /// as the surface asks for, and more until runs agree.
    fn deciding(&self, target: &[f64]) -> Result<Vec<usize>, Vec<f64>> {
        let sign = self.sign();
        let loss = |at: usize| -sign * self.surface.gain(at, target[at]);
        let start = self.explored.start();
        let mut moved: Vec<usize> =
            (0..target.len()).filter(|&at| target[at] != start[at]).collect();
        moved.sort_by(|&a, &b| loss(b).total_cmp(&loss(a)));
        let to = |count: usize| {
            let mut values = start.clone();
            moved[..count].iter().for_each(|&at| values[at] = target[at]);
            values
        };
        let turned = |count: &usize| sign * self.surface.at(&to(*count)) < 0.0;
        let first = (1..moved.len()).find(turned).unwrap_or(moved.len());
        for count in (first..moved.len()).take(MORE) {
            if !self.holds(&to(count))? {
                return Ok(moved[..count].to_vec());
            }
        }
        Ok(moved)
    }

    /// Whether the means at `values` have the sign of the stored runs; `Err` with the place where it was not run.
    fn holds(&self, values: &[f64]) -> Result<bool, Vec<f64>> {
        let point = self.explored.point(values).ok_or_else(|| values.to_vec())?;
        let mean = |v: usize| {
            let samples = point.samples(v, self.at.1);
            samples.iter().sum::<f64>() / samples.len() as f64
        };
        let advantage = logarithm(mean(self.at.0), mean(0), self.better);
        Ok(advantage.is_some_and(|y| self.sign() * y > 0.0))
    }
}
