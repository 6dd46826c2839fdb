//! Means over bins of time, a panel each, as steps.

use super::panels::{Frame, Line, Panel, Points, over_time};
use super::{colours, time};
use crate::error::ReportError;

/// Height of a panel.
const PANEL: u32 = 130;

/// A quantity over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// What it is.
    pub name: String,
    /// By bin: begin and length in ns, and the mean.
    pub bins: Vec<(u64, u64, f64)>,
}

/// The quantities from 0 to `end_ns`, each on a scale of its own that begins at 0; nothing to draw without a bin.
///
/// # Errors
/// What the backend refuses.
pub fn levels(title: &str, end_ns: u64, of: &[Level]) -> Result<Option<String>, ReportError> {
    if of.iter().all(|level| level.bins.is_empty()) || end_ns == 0 {
        return Ok(None);
    }
    let (unit_ns, unit) = time::unit(end_ns);
    let panel = |(at, level): (usize, &Level)| {
        let step = |&(from_ns, length_ns, mean): &(u64, u64, f64)| {
            [from_ns, from_ns + length_ns].map(|at_ns| (at_ns as f64 / unit_ns, mean))
        };
        let points: Points = level.bins.iter().flat_map(step).collect();
        let most = points.iter().map(|p| p.1).fold(0.0, f64::max);
        Panel {
            name: level.name.clone(),
            of: level.name.clone(),
            unit: "",
            digits: 2,
            range: (0.0, if most > 0.0 { most * 1.06 } else { 1.0 }),
            lines: vec![Line { colour: colours::variant(at), name: "mean".to_string(), points }],
        }
    };
    let panels: Vec<Panel> = of.iter().enumerate().map(panel).collect();
    let frame = Frame { end: end_ns as f64 / unit_ns, unit, height: PANEL, names: &[] };
    over_time(title, &format!("{title}, in {unit}."), &frame, &panels).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_quantity_has_a_panel_of_steps() {
        let level = |name: &str, means: &[f64]| Level {
            name: name.to_string(),
            bins: means.iter().zip(0..).map(|(&m, at)| (at * 1_000_000, 1_000_000, m)).collect(),
        };
        let of = [level("busy", &[1.0, 2.0]), level("idle", &[0.0, 0.0])];
        let svg = levels("levels", 2_000_000, &of).expect("a picture").expect("two panels");
        let document = roxmltree::Document::parse(&svg).expect("an SVG");
        let lines = document.descendants().filter(|n| n.has_tag_name("polyline"));
        let coloured = lines.filter(|n| n.attribute("stroke").is_some_and(|s| s.len() == 7));
        let steps = coloured.filter_map(|n| n.attribute("points"));
        assert!(steps.filter(|p| p.trim().split(' ').count() == 4).count() >= 2, "{svg}");
        assert!(svg.contains("busy, 0 to 31.25: mean 1.00") && svg.contains(">\nidle\n"), "{svg}");
        assert_eq!(levels("levels", 0, &[]).expect("no picture"), None);
    }
}
