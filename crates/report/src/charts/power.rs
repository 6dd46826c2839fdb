//! What packages took over the time of runs, a line a variant.

use super::canvas::roomy;
use super::panels::{Frame, Line, Panel, over_time};
use super::{colours, time};
use crate::error::ReportError;
use plotters::style::RGBColor;

/// Height of a panel.
const PANEL: u32 = 190;
/// Packages with a panel each; of more, only the sum is drawn.
const PANELS: usize = 4;

/// Watts of a variant's run.
#[derive(Debug, Clone, PartialEq)]
pub struct Watts {
    /// The variant's name.
    pub name: String,
    /// Its place among the variants.
    pub variant: usize,
    /// Length of a slice, in ns.
    pub slice_ns: u64,
    /// Length of the run, in ns.
    pub end_ns: u64,
    /// By package and slice: mean power in W.
    pub packages: Vec<Vec<f64>>,
}

/// A panel for each package, all on one scale; nothing to draw without a slice.
///
/// # Errors
/// What the backend refuses.
pub fn power(title: &str, of: &[Watts]) -> Result<Option<String>, ReportError> {
    let end_ns = of.iter().map(|w| w.end_ns).max().unwrap_or(0);
    let (unit_ns, unit) = time::unit(end_ns);
    let panels = panels(of, unit_ns);
    let all = || panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.points);
    let low = all().map(|p| p.1).reduce(f64::min);
    let high = all().map(|p| p.1).reduce(f64::max);
    let (Some(low), Some(high)) = (low, high) else { return Ok(None) };
    let names: Vec<(String, RGBColor)> =
        of.iter().map(|w| (w.name.clone(), colours::variant(w.variant))).collect();
    let frame = Frame { end: end_ns as f64 / unit_ns, unit, height: PANEL, names: &names };
    let range = roomy((low, high));
    let panels: Vec<Panel> = panels.into_iter().map(|panel| Panel { range, ..panel }).collect();
    over_time(title, &format!("Power in W over time in {unit}."), &frame, &panels).map(Some)
}

fn panels(of: &[Watts], unit_ns: f64) -> Vec<Panel> {
    let packages = of.iter().map(|w| w.packages.len()).max().unwrap_or(0);
    let line = |w: &Watts, watts: &dyn Fn(usize) -> Option<f64>| {
        let slices = w.packages.first().map_or(0, Vec::len);
        let middle_ns = |at: usize| {
            let from_ns = at as u64 * w.slice_ns;
            (from_ns + (from_ns + w.slice_ns).min(w.end_ns)) as f64 / 2.0
        };
        let points = (0..slices).filter_map(|at| Some((middle_ns(at) / unit_ns, watts(at)?)));
        Line { colour: colours::variant(w.variant), name: w.name.clone(), points: points.collect() }
    };
    let panel = |name: String, lines: Vec<Line>| Panel {
        name: format!("{name} (W)"),
        of: name,
        unit: " W",
        digits: 1,
        range: (0.0, 0.0),
        lines,
    };
    if packages > PANELS {
        let sum = |w: &Watts, at: usize| w.packages.iter().map(|p| p.get(at).copied()).sum();
        let lines = of.iter().map(|w| line(w, &|at| sum(w, at))).collect();
        return vec![panel(format!("{packages} packages"), lines)];
    }
    let package = |package: usize| {
        let lines = of.iter().map(|w| line(w, &|at| w.packages.get(package)?.get(at).copied()));
        panel(format!("package {package}"), lines.collect())
    };
    (0..packages).map(package).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watts(packages: usize) -> Vec<Watts> {
        let of = |(variant, name): (usize, &str)| Watts {
            name: name.to_string(),
            variant,
            slice_ns: 1_000_000,
            end_ns: 63_500_000 + 500_000 * variant as u64,
            packages: (0..packages)
                .map(|p| (0..64).map(|at| (100 * p + variant + at % 2) as f64).collect())
                .collect(),
        };
        ["one", "two"].into_iter().enumerate().map(of).collect()
    }

    #[test]
    fn each_package_has_a_panel_and_many_are_added_up() {
        let svg = power("watts", &watts(2)).expect("a picture").expect("something to draw");
        let document = roxmltree::Document::parse(&svg).expect("an SVG");
        let has =
            |text: &str| document.descendants().any(|n| n.text().map(str::trim) == Some(text));
        assert!(has("package 0 (W)") && has("package 1 (W)") && has("time (ms)"));
        assert!(has("package 1, 1 to 2: one 101.0 W, two 102.0 W"), "{svg}");
        let lines = document.descendants().filter(|n| n.has_tag_name("polyline"));
        assert_eq!(lines.filter(|n| n.attribute("stroke") == Some("#0072B2")).count(), 2);

        let svg = power("watts", &watts(5)).expect("a picture").expect("something to draw");
        assert!(svg.contains("5 packages, 0 to 1: one 1000.0 W, two 1005.0 W"), "{svg}");
        assert_eq!(power("watts", &watts(0)).expect("no picture"), None);
    }
}
