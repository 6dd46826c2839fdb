//! What packages took over the time of runs, a line a variant.

use super::canvas::{
    Drawn, FONT, INK, Sheet, Tips, axis, draw, legend, legend_lines, roomy, style,
};
use super::{colours, time};
use crate::error::ReportError;
use plotters::chart::ChartBuilder;
use plotters::element::PathElement;
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

const LEFT: u32 = 84;
/// Height of a panel, and of the axis below the last.
const PANEL: u32 = 190;
const AXIS: u32 = 46;
/// Packages with a panel each; of more, only the sum is drawn.
const PANELS: usize = 4;
/// Widest line, in pixels.
const WIDEST: usize = 6;
/// Stretches of time whose figures can be read.
const READ: usize = 64;

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

/// Points in time, in units of the axis, and W.
type Points = Vec<(f64, f64)>;

/// A part of the picture: what it is of, and the variants' lines.
struct Panel {
    name: String,
    lines: Vec<(RGBColor, String, Points)>,
}

/// A panel for each package, all on one scale; nothing to draw without a slice.
///
/// # Errors
/// What the backend refuses.
pub fn power(title: &str, of: &[Watts]) -> Result<Option<String>, ReportError> {
    let end_ns = of.iter().map(|w| w.end_ns).max().unwrap_or(0);
    let (unit_ns, unit) = time::unit(end_ns);
    let panels = panels(of, unit_ns);
    let all = || panels.iter().flat_map(|p| &p.lines).flat_map(|l| &l.2);
    let low = all().map(|p| p.1).reduce(f64::min);
    let high = all().map(|p| p.1).reduce(f64::max);
    let (Some(low), Some(high)) = (low, high) else { return Ok(None) };
    let names: Vec<(String, RGBColor)> =
        of.iter().map(|w| (w.name.clone(), colours::variant(w.variant))).collect();
    let top = 14 + 20 * legend_lines(&names, LEFT as i32);
    let height = top + AXIS + PANEL * panels.len() as u32;
    let ranges = (end_ns as f64 / unit_ns, roomy((low, high)));
    draw(title, &format!("Power in W over time in {unit}."), height, |sheet, tips| {
        legend(sheet, &names, (LEFT as i32, 14))?;
        let (_, rest) = sheet.split_vertically(top);
        for (at, panel) in panels.iter().enumerate() {
            let (from, to) = (PANEL * at as u32, PANEL * (at as u32 + 1));
            let is_last = at + 1 == panels.len();
            let to = if is_last { to + AXIS } else { to };
            let part = rest.clone().shrink((0, from), (super::canvas::WIDTH, to - from));
            paint(&part, tips, panel, is_last.then_some(unit), ranges)?;
        }
        Ok(())
    })
    .map(Some)
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
        (colours::variant(w.variant), w.name.clone(), points.collect())
    };
    if packages > PANELS {
        let sum = |w: &Watts, at: usize| w.packages.iter().map(|p| p.get(at).copied()).sum();
        let lines = of.iter().map(|w| line(w, &|at| sum(w, at))).collect();
        return vec![Panel { name: format!("{packages} packages"), lines }];
    }
    let panel = |package: usize| Panel {
        name: format!("package {package}"),
        lines: (of.iter())
            .map(|w| line(w, &|at| w.packages.get(package)?.get(at).copied()))
            .collect(),
    };
    (0..packages).map(panel).collect()
}

/// A panel, with an axis of time where it is the last.
fn paint(
    sheet: &Sheet,
    tips: &mut Tips,
    panel: &Panel,
    unit: Option<&str>,
    (end, (low, high)): (f64, (f64, f64)),
) -> Drawn {
    let mut chart = ChartBuilder::on(sheet)
        .margin_right(20)
        .margin_top(8)
        .margin_bottom(2)
        .x_label_area_size(if unit.is_some() { AXIS } else { 0 })
        .y_label_area_size(LEFT)
        .build_cartesian_2d(0.0..end, low..high)?;
    let grid = INK.mix(0.14);
    let mut mesh = chart.configure_mesh();
    mesh.max_light_lines(0)
        .x_labels(8)
        .y_labels(5)
        .bold_line_style(grid)
        .axis_style(grid)
        .y_desc(format!("{} (W)", panel.name))
        .axis_desc_style(style(INK, FONT, HPos::Center))
        .label_style(style(INK, FONT - 1, HPos::Center))
        .y_label_style(style(INK, FONT - 1, HPos::Right))
        .x_label_formatter(&|v| axis(*v))
        .y_label_formatter(&|v| axis(*v));
    match unit {
        Some(unit) => mesh.x_desc(format!("time ({unit})")).draw()?,
        None => mesh.draw()?,
    }
    for (place, (colour, _, points)) in panel.lines.iter().enumerate() {
        // Later lines are thinner, so that one below another shows.
        let width = (panel.lines.len() - place).min(WIDEST) as u32;
        chart.draw_series([PathElement::new(points.clone(), colour.stroke_width(width))])?;
    }
    for at in 0..READ {
        let bounds = [at, at + 1].map(|at| end * at as f64 / READ as f64);
        let Some(text) = read(panel, bounds) else { continue };
        let from = chart.backend_coord(&(bounds[0], high));
        tips.add(from, chart.backend_coord(&(bounds[1], low)), text);
    }
    Ok(())
}

/// What the lines have on average from one point in time to another.
fn read(panel: &Panel, [from, to]: [f64; 2]) -> Option<String> {
    let mean = |points: &Points| {
        let within = points.iter().filter(|p| (from..to).contains(&p.0)).map(|p| p.1);
        stats::amean(&within.collect::<Vec<f64>>())
    };
    let figure = |(_, name, points): &(RGBColor, String, Points)| {
        Some(format!("{name} {:.1} W", mean(points)?))
    };
    let figures: Vec<String> = panel.lines.iter().filter_map(figure).collect();
    let what = format!("{}, {} to {}", panel.name, axis(from), axis(to));
    (!figures.is_empty()).then(|| format!("{what}: {}", figures.join(", ")))
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
