//! Stretches of time, a line each, on the axis of all time.

use super::canvas::{AROUND, Drawn, INK, Sheet, Tips, WIDTH, draw, lines_below, room, write};
use super::time;
use crate::error::ReportError;
use crate::table::clip;
use plotters::element::Rectangle;
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

/// Height of a line.
const LINE: u32 = 20;
/// Room for labels: at least, and at most.
const LABELS: (i32, i32) = (90, 330);
const LABEL_LENGTH: usize = 44;
/// Narrowest bar, in pixels.
const NARROWEST: i32 = 3;

/// A stretch of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Left of it.
    pub label: String,
    /// When it begins, in ns.
    pub from_ns: u64,
    /// Its length, in ns.
    pub length_ns: u64,
    /// What one reads when pointing at it.
    pub tip: String,
}

/// The stretches of `of`, one below the other, from 0 to `end_ns`; nothing to draw without one.
///
/// # Errors
/// What the backend refuses.
pub fn spans(
    title: &str,
    end_ns: u64,
    colour: RGBColor,
    of: &[Span],
) -> Result<Option<String>, ReportError> {
    if of.is_empty() || end_ns == 0 {
        return Ok(None);
    }
    let height = AROUND + of.len() as u32 * LINE;
    let (_, unit) = time::unit(end_ns);
    let what = format!("When these stretches of time were, in {unit} since the begin.");
    draw(title, &what, height, |sheet, tips| paint(sheet, tips, end_ns, colour, of)).map(Some)
}

fn paint(sheet: &Sheet, tips: &mut Tips, end_ns: u64, colour: RGBColor, of: &[Span]) -> Drawn {
    let (unit_ns, unit) = time::unit(end_ns);
    let rows = of.len() as f64;
    let labels = room(of.iter().map(|s| s.label.as_str()), LABEL_LENGTH, LABELS);
    let end = end_ns as f64 / unit_ns;
    let chart = lines_below(sheet, labels, 0.0..end, rows, &format!("time ({unit})"))?;
    let half = LINE as i32 / 2;
    for (at, span) in of.iter().enumerate() {
        let y = rows - at as f64 - 0.5;
        let place = |ns: u64| chart.backend_coord(&((ns as f64 / unit_ns).min(end), y));
        let (from, to) = (place(span.from_ns), place(span.from_ns.saturating_add(span.length_ns)));
        let to = (to.0.max(from.0 + NARROWEST), to.1);
        let corners = [(from.0, from.1 - half + 4), (to.0, to.1 + half - 4)];
        sheet.draw(&Rectangle::new(corners, colour.filled()))?;
        sheet.draw(&Rectangle::new(corners, INK.mix(0.5).stroke_width(1)))?;
        write(sheet, &clip(&span.label, LABEL_LENGTH), (labels - 10, from.1), HPos::Right)?;
        tips.add((0, from.1 - half), (WIDTH as i32, from.1 + half), span.tip.clone());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::colours;

    #[test]
    fn the_shortest_stretch_can_be_seen() {
        let span = |from_ns, length_ns| Span {
            label: format!("at {from_ns}"),
            from_ns,
            length_ns,
            tip: format!("for {length_ns}"),
        };
        let of = [span(0, 500_000_000), span(999_999_999, 1)];
        let svg = spans("spans", 1_000_000_000, colours::variant(4), &of);
        let svg = svg.expect("a picture").expect("two stretches");
        let document = roxmltree::Document::parse(&svg).expect("an SVG");
        let bars = document.descendants().filter(|n| n.attribute("fill") == Some("#D55E00"));
        let widths: Vec<f64> = bars.filter_map(|n| n.attribute("width")?.parse().ok()).collect();
        assert!(widths.len() == 2 && widths[0] > 300.0 && widths[1] >= 3.0, "{widths:?}");
        assert!(svg.contains("for 500000000"));
        assert_eq!(spans("spans", 0, colours::variant(0), &of).expect("no picture"), None);
    }
}
