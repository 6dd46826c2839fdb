//! How long woken tasks waited, a line a variant.

use super::canvas::{Drawn, FONT, INK, Sheet, Tips, draw, legend, legend_lines, style};
use super::colours;
use crate::error::ReportError;
use plotters::chart::ChartBuilder;
use plotters::coord::combinators::IntoLogRange;
use plotters::element::{Circle, PathElement};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

const HEIGHT: u32 = 300;
const LEFT: u32 = 84;

/// Waits of a variant's woken tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Waits {
    /// The variant's name.
    pub name: String,
    /// Its place among the variants.
    pub variant: usize,
    /// Upper end of each bin in us, and wake-ups in it.
    pub bins: Vec<(f64, f64)>,
}

/// Colour, name and points of a variant's line.
type Curve = (RGBColor, String, Vec<(f64, f64)>);

/// The share of wake-ups that waited longer, by time, both axes logarithmic; nothing to draw without a wake-up.
pub fn latencies(title: &str, of: &[Waits]) -> Result<Option<String>, ReportError> {
    let lines: Vec<Curve> = of
        .iter()
        .map(|w| (colours::variant(w.variant), w.name.clone(), longer(&w.bins)))
        .filter(|(_, _, points)| !points.is_empty())
        .collect();
    let points = || lines.iter().flat_map(|l| &l.2);
    let furthest = points().map(|p| p.0).fold(4.0, f64::max);
    let least = points().map(|p| p.1).fold(50.0, f64::min);
    if lines.is_empty() {
        return Ok(None);
    }
    let names: Vec<(String, RGBColor)> = lines.iter().map(|l| (l.1.clone(), l.0)).collect();
    let what = "Share of wake-ups in percent that waited longer than a time in microseconds.";
    let top = 14 + 20 * legend_lines(&names, LEFT as i32);
    draw(title, what, HEIGHT + top, |sheet, tips| {
        legend(sheet, &names, (LEFT as i32, 14))?;
        paint(sheet, tips, &lines, top, (furthest, least))
    })
    .map(Some)
}

/// By upper end: percent of wake-ups beyond it, down to the last that has any.
fn longer(bins: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let total: f64 = bins.iter().map(|b| b.1).sum();
    let mut left = total;
    let mut points = Vec::new();
    for &(end_us, count) in bins {
        left -= count;
        if total <= 0.0 || left <= total * 1e-9 {
            break;
        }
        points.push((end_us, 100.0 * left / total));
    }
    points
}

fn paint(
    sheet: &Sheet,
    tips: &mut Tips,
    lines: &[Curve],
    top: u32,
    (furthest, least): (f64, f64),
) -> Drawn {
    let x = (1.6..furthest * 1.3).log_scale();
    let y = ((least / 2.0).max(1e-6)..130.0).log_scale();
    let mut chart = ChartBuilder::on(sheet)
        .margin_right(20)
        .margin_top(top)
        .x_label_area_size(46)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(x, y)?;
    let grid = INK.mix(0.14);
    chart
        .configure_mesh()
        .x_max_light_lines(0)
        .y_max_light_lines(0)
        .bold_line_style(grid)
        .axis_style(grid)
        .x_desc("waited longer than (µs)")
        .y_desc("% of wake-ups")
        .axis_desc_style(style(INK, FONT, HPos::Center))
        .label_style(style(INK, FONT - 1, HPos::Center))
        .y_label_style(style(INK, FONT - 1, HPos::Right))
        .x_label_formatter(&|v| super::canvas::axis(*v))
        .y_label_formatter(&|v| super::canvas::axis(*v))
        .draw()?;
    for (colour, name, points) in lines {
        chart.draw_series([PathElement::new(points.clone(), colour.stroke_width(2))])?;
        chart.draw_series(points.iter().map(|&p| Circle::new(p, 3, colour.filled())))?;
        for point in points {
            let (x, y) = chart.backend_coord(point);
            let text = format!("{name}: {:.3} % waited longer than {} µs", point.1, point.0);
            tips.add((x - 7, y - 7), (x + 7, y + 7), text);
        }
    }
    Ok(())
}
