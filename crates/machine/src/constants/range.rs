//! In which range a constant may lie: what a machine file states, or what follows from how well the constant is known.

use super::{Constant, Constants, Mark};
use serde::{Deserialize, Serialize};

/// From where to where a constant may lie, its value within.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantRange {
    /// The least value, in the constant's unit.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// Who says so.
    pub source: String,
}

/// By what the value is divided and multiplied where no range is stated.
///
/// * Measured: 1.1. Open measurements of this catalog that give their spread reach 9 % from the middle (114 to 135 ns between core
///   complexes of a package); the rest is for another specimen, firmware or DIMM.
/// * Published: 1.2. In print for the product, not for this specimen, and often rounded or the best case.
/// * Calibrated: 1.25. The figure has a spread of its own, such as the bin of a histogram (3.5 of 3 to 4 million records by 5.5 of 5
///   to 6), and the constant takes up whatever else the model gets wrong there.
/// * Assumed: 2. Known by its kind: most sources of this catalog that name the same cost on another processor are within that, and
///   where they are not the file states the range. So is a value that an experiment sets, of which nobody says how well it is known.
fn factor(mark: Mark) -> f64 {
    match mark {
        Mark::Measured => 1.1,
        Mark::Published => 1.2,
        Mark::Calibrated => 1.25,
        Mark::Assumed | Mark::Overridden => 2.0,
    }
}

/// By what counts of instructions and lines are divided and multiplied: 1.25. Other builds and configurations of a kernel do
/// more or less for the same system call; `schedscape measure lines` takes a fifth for agreement.
pub const COUNTED_FACTOR: f64 = 1.25;

/// Between which values a constant of this name makes sense on any machine, if its name says so.
fn bounds(name: &str) -> Option<(f64, f64)> {
    let threads = name.strip_prefix("smt_share_").and_then(|k| k.parse::<u32>().ok());
    match (name, threads) {
        // Threads of a pipeline together make at least what one makes alone, and each at most that.
        (_, Some(threads)) if threads > 0 => Some((1.0 / f64::from(threads), 1.0)),
        // A line of many takes at most as long as one that is waited for alone.
        ("kernel_line_ratio" | "core_stall_power_ratio", _) => Some((0.0, 1.0)),
        // Two busy threads take more power than one, and less than two cores.
        ("core_smt_power_ratio", _) => Some((1.0, 2.0)),
        _ => None,
    }
}

impl Constant {
    /// The range of this constant, called `name`: the one that is stated, or its value divided and multiplied by the factor of
    /// its mark, within what makes sense. A value of 0 or less has none but itself.
    pub fn range_of(&self, name: &str) -> ConstantRange {
        if let Some(stated) = &self.range {
            return stated.clone();
        }
        let (value, factor) = (self.value, factor(self.mark));
        if value <= 0.0 {
            let source = "not above 0, where no factor leads anywhere".to_string();
            return ConstantRange { low: value, high: value, source };
        }
        let (low, high) = (value / factor, value * factor);
        let (least, most) = bounds(name).unwrap_or((0.0, f64::INFINITY));
        let within = (low.max(least).min(value), high.min(most).max(value));
        let so = if within == (low, high) { "" } else { ", as far as it makes sense" };
        ConstantRange {
            low: within.0,
            high: within.1,
            source: format!("{}: divided and multiplied by {factor}{so}", self.mark),
        }
    }

    /// What is wrong with the stated range of this constant, called `name`: field, found, expected.
    pub(crate) fn wrong_range(&self, name: &str) -> Option<(&'static str, String, String)> {
        let range = self.range.as_ref()?;
        if range.source.trim().is_empty() {
            return Some(("source", "no text".to_string(), "some".to_string()));
        }
        let found = format!("{} to {} around {}", range.low, range.high, self.value);
        let ordered = 0.0 < range.low && range.low <= self.value && self.value <= range.high;
        if !ordered || !range.high.is_finite() {
            let expected = "low and high above 0, with the value within".to_string();
            return Some(("low", found, expected));
        }
        let (least, most) = bounds(name)?;
        let outside = range.low < least || range.high > most;
        outside.then(|| ("low", found, format!("a range within {least} to {most}")))
    }
}

impl Constants {
    /// The same constants, each with its range stated.
    pub fn with_ranges(&self) -> Constants {
        let ranged = |(name, c): (&str, &Constant)| {
            (name.to_string(), Constant { range: Some(c.range_of(name)), ..c.clone() })
        };
        Constants { by_name: self.iter().map(ranged).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(name: &str, value: f64, mark: Mark) -> (f64, f64) {
        let (unit, source) = ("ns".to_string(), "s".to_string());
        let range = Constant { value, unit, mark, source, range: None }.range_of(name);
        (range.low, range.high)
    }

    #[test]
    fn the_less_is_known_the_wider_is_the_range() {
        let by = [Mark::Measured, Mark::Published, Mark::Calibrated, Mark::Assumed];
        let widths = by.map(|mark| range("tick_ns", 100.0, mark));
        assert!(widths.windows(2).all(|w| w[1].0 < w[0].0 && w[0].1 < w[1].1), "{widths:?}");
        assert_eq!(widths[3], (50.0, 200.0));
        assert_eq!(range("tick_ns", 100.0, Mark::Overridden), widths[3]);
        assert_eq!(range("tick_ns", 0.0, Mark::Assumed), (0.0, 0.0));
    }

    #[test]
    fn ranges_end_where_values_make_no_sense() {
        assert_eq!(range("smt_share_2", 0.6, Mark::Assumed), (0.5, 1.0));
        assert_eq!(range("smt_share_4", 0.4, Mark::Assumed), (0.25, 0.8));
        assert_eq!(range("kernel_line_ratio", 1.0, Mark::Assumed), (0.5, 1.0));
        assert_eq!(range("core_smt_power_ratio", 1.15, Mark::Assumed), (1.0, 2.0));
        // A value beyond them is still in its range.
        assert_eq!(range("kernel_line_ratio", 1.5, Mark::Measured), (1.5 / 1.1, 1.5));
    }

    #[test]
    fn every_catalog_constant_lies_in_its_range() {
        for machine in crate::catalog::names() {
            let constants = crate::catalog::load(machine).unwrap().constants;
            for (name, c) in constants.with_ranges().iter() {
                assert_eq!(c.wrong_range(name), None, "{machine}: {name}");
            }
        }
    }
}
