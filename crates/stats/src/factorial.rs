//! Two-level designs with mirrored rows: what each of many factors does, from runs in which all of them move at once.
//!
//! In a row each factor stands at its upper or its lower level; the mirrored row has every factor at its other level. Half the
//! difference of the two is a sum of what the factors do by themselves (and in threes; what they do in twos cancels). Columns
//! are those of Sylvester's Hadamard matrix, so that each factor meets every other one as often at the same level as at the
//! other, and every pair of rows tells of every factor. To move one factor at a time would take as many times the runs as
//! there are factors for the same interval (Box, Hunter and Hunter, "Statistics for Experimenters", chapters 5 and 6).

use crate::bootstrap::Interval;
use crate::confidence::Confidence;
use crate::student::t_quantile;

/// Rows beyond the factors, at the least: they tell how far chance goes.
const FREEDOM: usize = 8;

/// A design for a number of factors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TwoLevel {
    factors: usize,
    rows: usize,
}

impl TwoLevel {
    /// Rows that the smallest design has.
    pub const LEAST_ROWS: usize = 32;

    /// The smallest design for `factors`.
    pub fn of(factors: usize) -> TwoLevel {
        TwoLevel { factors, rows: (factors + FREEDOM).next_power_of_two().max(Self::LEAST_ROWS) }
    }

    /// Rows, each of which stands for itself and its mirror.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether factor `factor` is at its upper level in row `row`, and at its lower one in the mirror.
    pub fn is_up(&self, row: usize, factor: usize) -> bool {
        (row & (factor + 1)).count_ones().is_multiple_of(2)
    }

    /// What each factor does, on the way from the middle to its upper level: least squares of `halves`, by row half the
    /// difference between the row and its mirror. Intervals are at `confidence` for all factors together (Bonferroni).
    ///
    /// `None` if there is not a finite value for each row.
    pub fn effects(&self, halves: &[f64], confidence: Confidence) -> Option<Vec<Interval>> {
        if halves.len() != self.rows || halves.iter().any(|h| !h.is_finite()) {
            return None;
        }
        let rows = self.rows as f64;
        let effect = |factor: usize| {
            let signed = |(row, h): (usize, &f64)| if self.is_up(row, factor) { *h } else { -h };
            halves.iter().enumerate().map(signed).sum::<f64>() / rows
        };
        let estimates: Vec<f64> = (0..self.factors).map(effect).collect();
        let freedom = (self.rows - self.factors) as f64;
        let fitted = |row: usize| {
            let signed = |(f, e): (usize, &f64)| if self.is_up(row, f) { *e } else { -e };
            estimates.iter().enumerate().map(signed).sum::<f64>()
        };
        let rest: f64 = halves.iter().enumerate().map(|(row, h)| (h - fitted(row)).powi(2)).sum();
        let tail = confidence.tail() / self.factors.max(1) as f64;
        let half = t_quantile(1.0 - tail, freedom)? * (rest / freedom / rows).sqrt();
        let interval = |&estimate: &f64| Interval {
            estimate,
            low: estimate - half,
            high: estimate + half,
            confidence,
        };
        Some(estimates.iter().map(interval).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    fn sign(design: &TwoLevel, row: usize, factor: usize) -> f64 {
        if design.is_up(row, factor) { 1.0 } else { -1.0 }
    }

    #[test]
    fn columns_are_balanced_and_orthogonal() {
        for factors in [1, 7, 8, 20, 24, 25, 60] {
            let design = TwoLevel::of(factors);
            assert!(design.rows() >= factors + FREEDOM);
            for a in 0..factors {
                let sum: f64 = (0..design.rows()).map(|row| sign(&design, row, a)).sum();
                assert_eq!(sum, 0.0, "{factors}: {a}");
                for b in 0..a {
                    let product = |row| sign(&design, row, a) * sign(&design, row, b);
                    assert_eq!((0..design.rows()).map(product).sum::<f64>(), 0.0, "{a}, {b}");
                }
            }
        }
    }

    #[test]
    fn effects_without_chance_are_exact() {
        let design = TwoLevel::of(3);
        let halves: Vec<f64> = (0..design.rows())
            .map(|row| 2.0 * sign(&design, row, 0) - 0.5 * sign(&design, row, 2))
            .collect();
        let effects = design.effects(&halves, Confidence::P95).unwrap();
        for (effect, expected) in effects.iter().zip([2.0, 0.0, -0.5]) {
            assert!((effect.estimate - expected).abs() < 1e-12);
            assert!(effect.high - effect.low < 1e-12);
        }
        assert_eq!(design.effects(&halves[1..], Confidence::P95), None);
        assert_eq!(design.effects(&[f64::NAN; 32], Confidence::P95), None);
    }

    /// Sums of 12 uniform values, less their mean, are near enough to the normal distribution.
    fn noise(rng: &mut Xoshiro256PlusPlus) -> f64 {
        let uniform = |_| (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (0..12).map(uniform).sum::<f64>() - 6.0
    }

    /// All intervals of a design together hold all of the truth in 95 of 100 designs.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let (design, mut rng) = (TwoLevel::of(10), Xoshiro256PlusPlus::seed_from_u64(1));
        let truth: Vec<f64> = (0..10).map(|f| f64::from(f) / 4.0).collect();
        let mut whole = 0;
        for _ in 0..1000 {
            let of = |row| truth.iter().enumerate().map(|(f, t)| t * sign(&design, row, f)).sum();
            let halves: Vec<f64> = (0..design.rows())
                .map(|row| -> f64 { of(row) })
                .map(|h| h + noise(&mut rng))
                .collect();
            let effects = design.effects(&halves, Confidence::P95).unwrap();
            let holds = |(e, t): (&Interval, &f64)| e.low <= *t && *t <= e.high;
            whole += usize::from(effects.iter().zip(&truth).all(holds));
        }
        assert!((935..=985).contains(&whole), "{whole} of 1000");
    }
}
