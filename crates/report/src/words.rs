//! Verdicts in words.

use crate::number::{fixed, signed};
use results::analysis::Side;
use stats::Verdict;

/// A verdict in words with its interval and the smallest detectable effect.
pub fn in_words(side: &Side, baseline: &str) -> String {
    let Some(c) = &side.change else {
        return match side.samples.len() {
            0 => format!("{} did not run.", side.variant),
            _ => format!(
                "{} and {baseline} cannot be compared: that needs two or more runs of each, and a baseline above 0.",
                side.variant
            ),
        };
    };
    let p = &c.percent;
    let interval = format!(
        "{} % ({} % interval {} to {})",
        signed(p.estimate, 2),
        fixed(p.confidence.percent(), 0),
        signed(p.low, 2),
        signed(p.high, 2)
    );
    let smallest = c.smallest_detectable_percent;
    let variant = &side.variant;
    match c.verdict {
        Verdict::Better | Verdict::Worse => format!(
            "{variant} is {} than {baseline}: {interval}. These runs could show effects of {smallest:.2} % and more.",
            c.verdict
        ),
        Verdict::NoDifference => format!(
            "No difference proven between {variant} and {baseline}: {interval}. An effect below {smallest:.2} % may exist and not show in so many runs."
        ),
    }
}
