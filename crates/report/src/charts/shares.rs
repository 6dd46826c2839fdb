//! Shares of a whole as bars: where woken tasks landed, how many threads shared a pipeline.

use super::canvas::{
    Drawn, FONT, INK, Sheet, Tips, WIDTH, draw, legend, legend_lines, printable, room, style, write,
};
use super::colours::{ink_on, scale};
use crate::error::ReportError;
use crate::table::clip;
use plotters::element::{Rectangle, Text};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

const LINE: u32 = 24;
/// Room for labels: at least, and at most.
const LABELS: (i32, i32) = (90, 250);
const LABEL_LENGTH: usize = 33;
/// Narrowest bar that has room for a figure.
const FIGURE: i32 = 40;

/// A bar: its label, and parts by name.
pub type Bar = (String, Vec<(String, f64)>);

/// One bar a line; parts in the order in which they first occur, from dark to light. Nothing to draw without a part.
pub fn shares(title: &str, what: &str, bars: &[Bar]) -> Result<Option<String>, ReportError> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in bars.iter().flat_map(|(_, parts)| parts) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    if names.is_empty() {
        return Ok(None);
    }
    let last = names.len().saturating_sub(1).max(1) as f64;
    let colours: Vec<(String, RGBColor)> =
        names.into_iter().enumerate().map(|(i, n)| (n, scale(i as f64 / last))).collect();
    let labels = room(bars.iter().map(|b| b.0.as_str()), LABEL_LENGTH, LABELS);
    let height = 30 + 20 * legend_lines(&colours, labels) + bars.len() as u32 * LINE;
    draw(title, what, height, |sheet, tips| paint(sheet, tips, labels, &colours, bars)).map(Some)
}

fn paint(
    sheet: &Sheet,
    tips: &mut Tips,
    labels: i32,
    colours: &[(String, RGBColor)],
    bars: &[Bar],
) -> Drawn {
    let top = legend(sheet, colours, (labels, 14))? + 8;
    let width = f64::from(WIDTH as i32 - labels - 16);
    for (at, (label, parts)) in bars.iter().enumerate() {
        let y = top + at as i32 * LINE as i32;
        let middle = y + LINE as i32 / 2;
        write(sheet, &clip(label, LABEL_LENGTH), (labels - 10, middle), HPos::Right)?;
        let total: f64 = parts.iter().map(|p| p.1).sum();
        let mut before = 0.0;
        for (name, colour) in colours {
            let Some((_, value)) = parts.iter().find(|p| p.0 == *name) else { continue };
            if total <= 0.0 || *value <= 0.0 {
                continue;
            }
            let x = |part: f64| labels + (part / total * width).round() as i32;
            let (from, to) = ((x(before), y + 3), (x(before + value), y + LINE as i32 - 3));
            before += value;
            sheet.draw(&Rectangle::new([from, to], colour.filled()))?;
            let percent = 100.0 * value / total;
            tips.add(from, to, format!("{label}: {name} {percent:.2} %"));
            if to.0 - from.0 >= FIGURE {
                let style = style(ink_on(*colour), FONT - 1, HPos::Center);
                let place = ((from.0 + to.0) / 2, middle);
                sheet.draw(&Text::new(printable(&format!("{percent:.1}")), place, style))?;
            }
        }
        if total <= 0.0 {
            write(sheet, "none", (labels + 4, middle), HPos::Left)?;
        }
    }
    sheet.draw(&Rectangle::new(
        [(labels, top), (labels + width as i32, top + (bars.len() as u32 * LINE) as i32)],
        INK.mix(0.25).stroke_width(1),
    ))
}
