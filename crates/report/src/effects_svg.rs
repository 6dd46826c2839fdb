//! The effects of a sweep as a picture: a heat map.

use crate::effects::{notes, title};
use crate::heat_cells::{SMALL_FONT, TEXT, figure, ground, key, scale, square};
use crate::machine_svg::draw::{number, words};
use crate::machine_svg::text::{FONTS, width, wrap};
use crate::number::signed;
use crate::table::clip;
use results::effects::{Effect, EffectMap};
use stats::Verdict;
use svg::Document;
use svg::node::element::{Description, Group, Rectangle, Title};

/// A cell, what is around the map, and the narrowest page. Lengths in pixels.
const CELL: (f64, f64) = (58.0, 24.0);
const MARGIN: f64 = 16.0;
const GAP: f64 = 14.0;
const LEAST_WIDTH: f64 = 620.0;
const FONT: f64 = 12.0;
const TITLE_FONT: f64 = 15.0;
/// Longest name of a row or column, in characters.
const NAME: usize = 40;
/// Slope of columns' names: sine and cosine of 40 degrees.
const SLOPE: (f64, f64) = (0.643, 0.766);
/// Grounds of what is not proven, and of what is missing.
const UNPROVEN: &str = "#ffffff";
const MISSING: &str = "#ececea";
const PALE: &str = "#6e6e6e";

/// The map as a standalone SVG document on white ground: a proven effect is coloured, one that is not proven stands in grey. The same
/// map gives the same bytes.
pub fn svg(map: &EffectMap) -> String {
    let names = |all: &[String]| all.iter().map(|name| clip(name, NAME)).collect::<Vec<_>>();
    let (rows, columns) = (names(&map.rows), names(&map.columns));
    let widest = |all: &[String]| all.iter().map(|name| width(name, FONT)).fold(0.0, f64::max);
    let left = MARGIN + widest(&rows) + 8.0;
    // Names slope up to the right, beyond the last column.
    let (above, beyond) = (widest(&columns) * SLOPE.0 + FONT, widest(&columns) * SLOPE.1);
    let across = left + map.columns.len() as f64 * CELL.0 + beyond + MARGIN;
    let page = across.max(LEAST_WIDTH);
    let mut group = Group::new().set("font-family", FONTS);
    let mut y = MARGIN;
    let heading = format!("Effect by {} and {}: {}", map.rows_axis, map.columns_axis, title(map));
    for line in wrap(&heading, TITLE_FONT, page - 2.0 * MARGIN) {
        y += TITLE_FONT * 1.3;
        group = group.add(words(&line, MARGIN, y, TITLE_FONT, TEXT));
    }
    let about = notes(map).join(" ");
    for line in wrap(&format!("{NOTE} {about}"), FONT, page - 2.0 * MARGIN) {
        y += FONT * 1.5;
        group = group.add(words(&line, MARGIN, y, FONT, TEXT));
    }
    y += GAP + above;
    let scale = scale(proven(map));
    for (at, name) in columns.iter().enumerate() {
        let x = left + (at as f64 + 0.5) * CELL.0;
        let turn = format!("rotate(-40 {} {})", number(x), number(y - 6.0));
        group = group.add(words(name, x, y - 6.0, FONT, TEXT).set("transform", turn));
    }
    for (name, effects) in rows.iter().zip(map.effects.chunks(columns.len().max(1))) {
        let label = words(name, left - 8.0, y + CELL.1 * 0.68, FONT, TEXT);
        group = group.add(label.set("text-anchor", "end"));
        for (at, effect) in effects.iter().enumerate() {
            group = group.add(cell(effect, (left + at as f64 * CELL.0, y), scale));
        }
        y += CELL.1;
    }
    y += GAP;
    group = group.add(key(MARGIN, y, (46.0, 22.0), scale));
    let height = y + 22.0 + MARGIN;
    let ground = Rectangle::new().set("width", "100%").set("height", "100%");
    let document = Document::new()
        .set("width", number(page))
        .set("height", number(height))
        .set("viewBox", format!("0 0 {} {}", number(page), number(height)))
        .add(Title::new(heading))
        .add(Description::new().add(svg::node::Text::new(format!("{NOTE} {about}"))))
        .add(ground.set("fill", "#ffffff"))
        .add(group);
    format!("{document}\n")
}

const NOTE: &str = "Figures: change in percent, positive is better. Coloured: proven; blue gains, orange loses. White: not proven.";

fn proven(map: &EffectMap) -> impl Iterator<Item = f64> {
    let changes = map.effects.iter().filter_map(|e| e.change);
    changes.filter(|c| c.verdict != Verdict::NoDifference).map(|c| c.percent.estimate)
}

/// A place of the map.
fn cell(effect: &Effect, at: (f64, f64), scale: f64) -> Group {
    let Effect { row, column, .. } = effect;
    let Some(change) = &effect.change else {
        let tip = format!("{row}, {column}: nothing to compare");
        return Group::new().add(ground(at, CELL, MISSING)).add(Title::new(tip));
    };
    let percent = change.percent;
    let tip = format!(
        "{row}, {column}: {} % ({} to {}), {}; p {:.2e} after correction",
        signed(percent.estimate, 2),
        signed(percent.low, 2),
        signed(percent.high, 2),
        change.verdict,
        change.p_holm
    );
    let drawn = match change.verdict {
        Verdict::NoDifference => {
            let (x, y) = (at.0 + CELL.0 / 2.0, at.1 + CELL.1 * 0.68);
            let label = words(&figure(percent.estimate), x, y, SMALL_FONT, PALE);
            let label = label.set("text-anchor", "middle");
            Group::new().add(ground(at, CELL, UNPROVEN)).add(label)
        }
        _ => square(at, CELL, percent.estimate, scale),
    };
    drawn.add(Title::new(tip))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::tests::map;
    use crate::heat_cells::{STEPS, colour};

    #[test]
    fn what_is_proven_is_coloured() {
        let map = map();
        let text = svg(&map);
        let document = roxmltree::Document::parse(&text).expect("an SVG");
        let by_tip = |start: &str| {
            let titles = document.descendants().filter(|n| n.has_tag_name("title"));
            let own = titles.filter(|n| n.text().is_some_and(|t| t.trim().starts_with(start)));
            let parent = own.filter_map(|n| n.parent()).next().expect("a cell");
            let rect = parent.descendants().find(|n| n.has_tag_name("rect")).expect("a ground");
            rect.attribute("fill").expect("a colour").to_string()
        };
        assert_eq!(by_tip("one, a=off: +20.00 % ("), colour(20.0, 30.0));
        assert_eq!(by_tip("two, a=off: -50.00 % ("), colour(-30.0, 30.0));
        assert_eq!(by_tip("one, b=off: +0.00 % ("), UNPROVEN);
        assert_eq!(by_tip("two, b=off: nothing to compare"), MISSING);
        let cells = document.descendants().filter(|n| n.has_tag_name("rect")).count();
        assert_eq!(cells, 4 + STEPS + 1);
        assert_eq!(svg(&map), text);
    }
}
