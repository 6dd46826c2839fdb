//! Cells of heat maps: changes in percent as colours and figures.

use crate::machine_svg::draw::{number, words};
use crate::number::signed;
use svg::node::element::{Group, Rectangle};

pub(crate) const TEXT: &str = "#1c1c1c";
pub(crate) const SMALL_FONT: f64 = 10.5;

/// Ends and middle of the colours, red, green and blue: orange loses, blue gains, which people with any colour vision tell
/// apart. Ends are light enough for dark figures.
const LOSS: [f64; 3] = [230.0, 145.0, 56.0];
const NONE: [f64; 3] = [250.0, 250.0, 248.0];
const GAIN: [f64; 3] = [103.0, 169.0, 221.0];

/// Changes of so many percent and more have the strongest colours.
const MOST: f64 = 30.0;
/// Steps of the key.
pub(crate) const STEPS: usize = 9;

/// What the strongest colours stand for, in percent: the largest change, or so much that small ones still show.
pub(crate) fn scale(percents: impl Iterator<Item = f64>) -> f64 {
    percents.map(f64::abs).fold(1.0, f64::max).min(MOST)
}

/// The colour of a change: the square root, so that small ones show.
pub(crate) fn colour(percent: f64, scale: f64) -> String {
    let end = if percent < 0.0 { LOSS } else { GAIN };
    let part = (percent.abs() / scale).min(1.0).sqrt();
    let mix = |from: f64, to: f64| (from + (to - from) * part).round() as u8;
    let [r, g, b] = [0, 1, 2].map(|i| mix(NONE[i], end[i]));
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A change in two or three figures.
pub(crate) fn figure(percent: f64) -> String {
    match percent {
        p if p.abs() < 0.05 => "0".to_string(),
        p if p.abs() < 9.95 => signed(p, 1),
        p => signed(p, 0),
    }
}

/// A cell at a place, of a size, on a colour, without a figure.
pub(crate) fn ground(at: (f64, f64), size: (f64, f64), fill: &str) -> Rectangle {
    Rectangle::new()
        .set("x", number(at.0))
        .set("y", number(at.1))
        .set("width", number(size.0))
        .set("height", number(size.1))
        .set("fill", fill)
        .set("stroke", "#d0d0cc")
        .set("stroke-width", "0.5")
}

/// A coloured cell with its figure.
pub(crate) fn square(at: (f64, f64), size: (f64, f64), percent: f64, scale: f64) -> Group {
    let (x, y) = (at.0 + size.0 / 2.0, at.1 + size.1 * 0.68);
    let label = words(&figure(percent), x, y, SMALL_FONT, TEXT).set("text-anchor", "middle");
    Group::new().add(ground(at, size, &colour(percent, scale))).add(label)
}

/// The key: colours with what they stand for.
pub(crate) fn key(x: f64, y: f64, size: (f64, f64), scale: f64) -> Group {
    let font = 12.0;
    let mut group = Group::new().add(words("Change (%)", x, y + 15.0, font, TEXT));
    for step in 0..STEPS {
        let part = step as f64 / (STEPS - 1) as f64 * 2.0 - 1.0;
        let percent = part * part.abs() * scale;
        group = group.add(square((x + 84.0 + step as f64 * size.0, y), size, percent, scale));
    }
    let end = x + 94.0 + STEPS as f64 * size.0;
    group.add(words("and beyond", end, y + 15.0, font, TEXT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_white_at_nothing_and_full_at_the_ends() {
        assert_eq!(colour(0.0, 10.0), "#fafaf8");
        assert_eq!(colour(10.0, 10.0), "#67a9dd");
        assert_eq!(colour(-10.0, 10.0), "#e69138");
        assert_eq!(
            (figure(0.01), figure(-9.96), figure(2.34)),
            ("0".into(), "-10".into(), "+2.3".into())
        );
    }
}
