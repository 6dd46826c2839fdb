//! Figures over time: panels one below the other, with one axis of time below the last.

use super::canvas::{
    Drawn, FONT, INK, Sheet, Tips, WIDTH, axis, draw, legend, legend_lines, style,
};
use crate::error::ReportError;
use plotters::chart::ChartBuilder;
use plotters::element::PathElement;
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

const LEFT: u32 = 84;
/// Height of the axis below the last panel.
const AXIS: u32 = 46;
/// Widest line, in pixels.
const WIDEST: usize = 6;
/// Stretches of time whose figures can be read.
const READ: usize = 64;

/// Points in time, in units of the axis, and values.
pub(super) type Points = Vec<(f64, f64)>;

/// A line of a panel.
pub(super) struct Line {
    pub(super) colour: RGBColor,
    pub(super) name: String,
    pub(super) points: Points,
}

/// A part of the picture.
pub(super) struct Panel {
    /// What stands beside it, its unit included.
    pub(super) name: String,
    /// What its figures are of.
    pub(super) of: String,
    /// What stands behind a figure.
    pub(super) unit: &'static str,
    /// Digits of a figure behind the point.
    pub(super) digits: usize,
    /// Ends of its scale.
    pub(super) range: (f64, f64),
    pub(super) lines: Vec<Line>,
}

/// What all panels have in common.
pub(super) struct Frame<'a> {
    /// Length of the axis of time in its unit, from 0.
    pub(super) end: f64,
    /// The unit.
    pub(super) unit: &'a str,
    /// Height of a panel in pixels.
    pub(super) height: u32,
    /// What lines' colours stand for; none where each panel has one line.
    pub(super) names: &'a [(String, RGBColor)],
}

/// Draws `panels`.
///
/// # Errors
/// What the backend refuses.
pub(super) fn over_time(
    title: &str,
    what: &str,
    frame: &Frame,
    panels: &[Panel],
) -> Result<String, ReportError> {
    let top = match frame.names {
        [] => 0,
        names => 14 + 20 * legend_lines(names, LEFT as i32),
    };
    let height = top + AXIS + frame.height * panels.len() as u32;
    draw(title, what, height, |sheet, tips| {
        legend(sheet, frame.names, (LEFT as i32, 14))?;
        let (_, rest) = sheet.split_vertically(top);
        for (at, panel) in panels.iter().enumerate() {
            let (from, to) = (frame.height * at as u32, frame.height * (at as u32 + 1));
            let is_last = at + 1 == panels.len();
            let to = if is_last { to + AXIS } else { to };
            let part = rest.clone().shrink((0, from), (WIDTH, to - from));
            paint(&part, tips, panel, frame, is_last)?;
        }
        Ok(())
    })
}

/// A panel, with an axis of time where it is the last.
fn paint(sheet: &Sheet, tips: &mut Tips, panel: &Panel, frame: &Frame, is_last: bool) -> Drawn {
    let (end, (low, high)) = (frame.end, panel.range);
    let mut chart = ChartBuilder::on(sheet)
        .margin_right(20)
        .margin_top(8)
        .margin_bottom(2)
        .x_label_area_size(if is_last { AXIS } else { 0 })
        .y_label_area_size(LEFT)
        .build_cartesian_2d(0.0..end, low..high)?;
    let grid = INK.mix(0.14);
    let mut mesh = chart.configure_mesh();
    mesh.max_light_lines(0)
        .x_labels(8)
        .y_labels(5)
        .bold_line_style(grid)
        .axis_style(grid)
        .y_desc(&panel.name)
        .axis_desc_style(style(INK, FONT, HPos::Center))
        .label_style(style(INK, FONT - 1, HPos::Center))
        .y_label_style(style(INK, FONT - 1, HPos::Right))
        .x_label_formatter(&|v| axis(*v))
        .y_label_formatter(&|v| axis(*v));
    match is_last {
        true => mesh.x_desc(format!("time ({})", frame.unit)).draw()?,
        false => mesh.draw()?,
    }
    for (place, line) in panel.lines.iter().enumerate() {
        // Later lines are thinner, so that one below another shows.
        let width = (panel.lines.len() - place).min(WIDEST) as u32;
        let path = PathElement::new(line.points.clone(), line.colour.stroke_width(width));
        chart.draw_series([path])?;
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
    let figure = |line: &Line| {
        let mean = mean(&line.points)?;
        Some(format!("{} {mean:.*}{}", line.name, panel.digits, panel.unit))
    };
    let figures: Vec<String> = panel.lines.iter().filter_map(figure).collect();
    let what = format!("{}, {} to {}", panel.of, axis(from), axis(to));
    (!figures.is_empty()).then(|| format!("{what}: {}", figures.join(", ")))
}
