//! Whether higher or lower figures are better.

use serde::{Deserialize, Serialize};

/// Whether higher or lower values of a measure are better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Rates: records/s, transactions/s.
    Higher,
    /// Times and energies.
    Lower,
}

impl Better {
    /// In one word, as data have it.
    pub fn name(self) -> &'static str {
        match self {
            Better::Higher => "higher",
            Better::Lower => "lower",
        }
    }

    /// Change from `base` to `new` in percent of `base`, positive if `new` is better. The sign is MMTests':
    /// `100 new/base - 100` if higher is better and `100 - 100 new/base` if lower is.
    ///
    /// If `base` is 0, the change counts as an infinite rise of the figure.
    pub fn percent(self, base: f64, new: f64) -> f64 {
        let rise = if base == 0.0 { f64::INFINITY } else { 100.0 * new / base - 100.0 };
        match self {
            Better::Higher => rise,
            // No change is 0, not -0.
            Better::Lower => 0.0 - rise,
        }
    }

    /// The ratio of new to base that corresponds to this change in percent: the inverse of [`Better::percent`].
    pub fn ratio(self, percent: f64) -> f64 {
        match self {
            Better::Higher => 1.0 + percent / 100.0,
            Better::Lower => 1.0 - percent / 100.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positive_means_better() {
        assert_eq!(Better::Higher.percent(50.0, 60.0), 20.0);
        assert_eq!(Better::Lower.percent(50.0, 60.0), -20.0);
        assert_eq!(Better::Lower.percent(50.0, 25.0), 50.0);
        assert!(Better::Lower.percent(50.0, 50.0).is_sign_positive());
    }

    #[test]
    fn ratio_is_new_over_base() {
        assert_eq!(Better::Higher.ratio(Better::Higher.percent(50.0, 60.0)), 1.2);
        assert_eq!(Better::Lower.ratio(Better::Lower.percent(50.0, 25.0)), 0.5);
    }

    #[test]
    fn base_of_zero_is_an_infinite_rise() {
        assert_eq!(Better::Higher.percent(0.0, 0.0), f64::INFINITY);
        assert_eq!(Better::Lower.percent(0.0, 3.0), f64::NEG_INFINITY);
    }
}
