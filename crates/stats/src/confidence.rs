//! Confidence levels.

use crate::error::StatsError;
use serde::{Deserialize, Serialize};

/// A confidence level between 0 and 1, exclusive.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Confidence(f64);

impl Confidence {
    /// 95 %, the level of printed intervals.
    pub const P95: Confidence = Confidence(0.95);
    /// 99 %, the level of verdicts.
    pub const P99: Confidence = Confidence(0.99);

    /// The level `level` (0.95 for 95 %), or an error if it is not between 0 and 1.
    pub fn new(level: f64) -> Result<Confidence, StatsError> {
        if level > 0.0 && level < 1.0 {
            Ok(Confidence(level))
        } else {
            Err(StatsError::Confidence { found: level })
        }
    }

    /// The level, as 0.95.
    pub fn level(self) -> f64 {
        self.0
    }

    /// The level in percent, as 95.
    pub fn percent(self) -> f64 {
        100.0 * self.0
    }

    /// Probability below a two-sided interval's lower end, as 0.025.
    pub fn tail(self) -> f64 {
        (1.0 - self.0) / 2.0
    }

    /// The stricter of two levels.
    pub fn max(self, other: Confidence) -> Confidence {
        Confidence(self.0.max(other.0))
    }
}

impl TryFrom<f64> for Confidence {
    type Error = StatsError;
    fn try_from(level: f64) -> Result<Confidence, StatsError> {
        Confidence::new(level)
    }
}

impl From<Confidence> for f64 {
    fn from(confidence: Confidence) -> f64 {
        confidence.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_levels_that_are_no_probability() {
        for bad in [0.0, 1.0, -0.1, 95.0, f64::NAN, f64::INFINITY] {
            let message = Confidence::new(bad).unwrap_err().to_string();
            assert!(message.contains(&format!("found {bad}")), "{message}");
        }
        assert_eq!(Confidence::new(0.95), Ok(Confidence::P95));
        assert!((Confidence::P95.tail() - 0.025).abs() < 1e-15);
        assert_eq!(Confidence::P95.max(Confidence::P99), Confidence::P99);
    }
}
