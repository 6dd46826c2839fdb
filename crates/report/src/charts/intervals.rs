//! Changes with their intervals: a line each, around a line of no change.

use super::canvas::{
    AROUND, Drawn, GROUND, INK, Sheet, Tips, WIDTH, draw, lines_below, room, roomy, write,
};
use crate::error::ReportError;
use crate::table::clip;
use plotters::element::{Circle, PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

/// Height of a line.
const LINE: u32 = 20;
/// Room for labels: at least, and at most.
const LABELS: (i32, i32) = (90, 330);
const LABEL_LENGTH: usize = 44;
/// Ends of intervals, in lines.
const CAP: f64 = 0.22;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Left of it.
    pub label: String,
    /// Colour.
    pub colour: RGBColor,
    /// The change in percent, positive = better.
    pub estimate: f64,
    /// Ends of its interval.
    pub ends: (f64, f64),
    /// Effects too small to be shown, in percent, as a grey band around 0.
    pub smallest: Option<f64>,
    /// Whether a difference is proven: the mark is full, else hollow.
    pub proven: bool,
    /// A second figure, as a diamond: what a study published.
    pub published: Option<f64>,
    /// What one reads when pointing at it.
    pub tip: String,
}

/// Changes, one below the other; nothing to draw without a line.
pub fn intervals(title: &str, what: &str, lines: &[Line]) -> Result<Option<String>, ReportError> {
    let finite = |v: &f64| v.is_finite();
    let figures = lines.iter().flat_map(|l| {
        [Some(l.estimate), Some(l.ends.0), Some(l.ends.1), l.published].into_iter().flatten()
    });
    let (low, high) = figures
        .filter(finite)
        .fold((0.0, 0.0), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
    if lines.is_empty() {
        return Ok(None);
    }
    let range = roomy((low, high));
    let height = AROUND + lines.len() as u32 * LINE;
    let described = format!("{what}. One line a change; a full mark is a proven difference.");
    draw(title, &described, height, |sheet, tips| paint(sheet, tips, what, lines, range)).map(Some)
}

fn paint(
    sheet: &Sheet,
    tips: &mut Tips,
    what: &str,
    lines: &[Line],
    (low, high): (f64, f64),
) -> Drawn {
    let rows = lines.len() as f64;
    let labels = room(lines.iter().map(|l| l.label.as_str()), LABEL_LENGTH, LABELS);
    let mut chart = lines_below(sheet, labels, low..high, rows, what)?;
    let inside = |v: f64| v.clamp(low, high);
    let middle = |at: usize| rows - at as f64 - 0.5;
    chart.draw_series(lines.iter().enumerate().filter_map(|(at, line)| {
        let smallest = line.smallest.filter(|s| s.is_finite())?;
        let (from, to) = (inside(-smallest), inside(smallest));
        let y = middle(at);
        Some(Rectangle::new([(from, y - 0.42), (to, y + 0.42)], INK.mix(0.09).filled()))
    }))?;
    chart.draw_series([PathElement::new([(0.0, 0.0), (0.0, rows)], INK.mix(0.6))])?;
    for (at, line) in lines.iter().enumerate() {
        let y = middle(at);
        let (from, to) = (inside(line.ends.0), inside(line.ends.1));
        let stroke = line.colour.stroke_width(2);
        let path = |points: Vec<(f64, f64)>| PathElement::new(points, stroke);
        chart.draw_series([
            path(vec![(from, y), (to, y)]),
            path(vec![(from, y - CAP), (from, y + CAP)]),
            path(vec![(to, y - CAP), (to, y + CAP)]),
        ])?;
        let place = (inside(line.estimate), y);
        if !line.proven {
            chart.draw_series([Circle::new(place, 5, GROUND.filled())])?;
        }
        let mark = if line.proven { line.colour.filled() } else { stroke };
        chart.draw_series([Circle::new(place, 5, mark)])?;
        if let Some(published) = line.published {
            let (x, py) = chart.backend_coord(&(inside(published), y));
            let diamond = [(x, py - 7), (x + 7, py), (x, py + 7), (x - 7, py), (x, py - 7)];
            sheet.draw(&PathElement::new(diamond.to_vec(), INK.stroke_width(2)))?;
        }
        let (_, label_y) = chart.backend_coord(&place);
        write(sheet, &clip(&line.label, LABEL_LENGTH), (labels - 10, label_y), HPos::Right)?;
        let half = LINE as i32 / 2;
        tips.add((0, label_y - half), (WIDTH as i32, label_y + half), line.tip.clone());
    }
    Ok(())
}
