//! The sweep of the prefetch engine as a picture: a heat map for each scene and rate.

use crate::heat_cells::{SMALL_FONT, TEXT, key, scale, square};
use crate::machine_svg::draw::{number, words};
use crate::machine_svg::text::{FONTS, wrap};
use crate::number::signed;
use crate::prefetch_sweep::{rate_words, scene_words, size_words};
use results::prefetch_sweep::{Point, Scene, Sweep};
use svg::Document;
use svg::node::element::{Description, Group, Rectangle, Title};

/// A cell, and what is around and between maps. Lengths in pixels.
const CELL: (f64, f64) = (46.0, 22.0);
const MARGIN: f64 = 16.0;
/// Room for the names of working sets, and of slices.
const LEFT: f64 = 76.0;
const TOP: f64 = 44.0;
const GAP: f64 = 26.0;
const FONT: f64 = 12.0;
const TITLE_FONT: f64 = 17.0;

/// The sweep as a standalone SVG document on white ground. The same sweep gives the same bytes.
pub fn prefetch_sweep_svg(sweep: &Sweep) -> String {
    let mut rates: Vec<Option<u32>> = sweep.points.iter().map(|p| p.rate_cycles).collect();
    rates.sort_unstable();
    rates.dedup();
    let picture = Picture { sweep, scale: scale(sweep.points.iter().map(|p| p.percent)) };
    let (map_width, map_height) = picture.map_size();
    let width = MARGIN * 2.0 + rates.len() as f64 * (map_width + GAP) - GAP;
    let mut group = Group::new().set("font-family", FONTS);
    let what = if sweep.grid.l3 { "L2 and the L3's most recent way" } else { "L2" };
    let title = format!("When is it worth logging a vcore's {what}? {}", sweep.machine);
    let mut y = MARGIN + TITLE_FONT;
    group = group.add(words(&title, MARGIN, y, TITLE_FONT, TEXT));
    for line in wrap(NOTE, FONT, width - 2.0 * MARGIN) {
        y += FONT * 1.5;
        group = group.add(words(&line, MARGIN, y, FONT, TEXT));
    }
    y += GAP;
    for scene in &sweep.grid.scenes {
        let heading = scene_words(scene);
        group = group.add(words(&heading, MARGIN, y, FONT + 1.0, TEXT).set("font-weight", "bold"));
        for (at, &rate) in rates.iter().enumerate() {
            let x = MARGIN + at as f64 * (map_width + GAP);
            group = group.add(picture.map(scene, rate, x, y + 8.0));
        }
        y += map_height + GAP + 8.0;
    }
    group = group.add(key(MARGIN, y, CELL, picture.scale));
    let height = y + CELL.1 + MARGIN + FONT;
    let ground = Rectangle::new().set("width", "100%").set("height", "100%");
    let document = Document::new()
        .set("width", number(width))
        .set("height", number(height))
        .set("viewBox", format!("0 0 {} {}", number(width), number(height)))
        .add(Title::new(title))
        .add(Description::new().add(svg::node::Text::new(NOTE)))
        .add(ground.set("fill", "#ffffff"))
        .add(group);
    format!("{document}\n")
}

const NOTE: &str = "What is measured goes through a working set (down) in turns with a neighbour on one core; each runs for a \
    time slice (across). Figures: change of the lines loaded in a slice through the engine, in percent. Blue gains, orange loses.";

struct Picture<'a> {
    sweep: &'a Sweep,
    scale: f64,
}

impl Picture<'_> {
    fn map_size(&self) -> (f64, f64) {
        let grid = &self.sweep.grid;
        (
            LEFT + grid.slices_us.len() as f64 * CELL.0,
            TOP + grid.working_sets_kib.len() as f64 * CELL.1,
        )
    }

    /// The map of a scene and a rate.
    fn map(&self, scene: &Scene, rate: Option<u32>, x: f64, y: f64) -> Group {
        let title = format!("restored {}", rate_words(rate));
        let mut group = Group::new().add(words(&title, x + LEFT, y + FONT, FONT, TEXT));
        let grid = &self.sweep.grid;
        for (column, slice) in grid.slices_us.iter().enumerate() {
            let x = x + LEFT + (column as f64 + 0.5) * CELL.0;
            let name = slice_words(*slice);
            let node = words(&name, x, y + TOP - 6.0, SMALL_FONT, TEXT);
            group = group.add(node.set("text-anchor", "middle"));
        }
        for (row, set) in grid.working_sets_kib.iter().enumerate() {
            let y = y + TOP + (row as f64 + 0.68) * CELL.1;
            let node = words(&size_words(*set), x + LEFT - 6.0, y, SMALL_FONT, TEXT);
            group = group.add(node.set("text-anchor", "end"));
        }
        let own = |p: &&Point| p.scene == *scene && p.rate_cycles == rate;
        for point in self.sweep.points.iter().filter(own) {
            let place = |all: &[f64], value: f64| all.iter().position(|&v| v == value);
            let column = place(&grid.slices_us, point.slice_us);
            let row = place(&grid.working_sets_kib, point.working_set_kib);
            if let (Some(column), Some(row)) = (column, row) {
                let x = x + LEFT + column as f64 * CELL.0;
                group = group.add(self.cell(point, x, y + TOP + row as f64 * CELL.1));
            }
        }
        group
    }

    fn cell(&self, point: &Point, x: f64, y: f64) -> Group {
        let tip = format!(
            "{}, {} us: {} %, {:.0} lines restored in a slice, {:.0} of them used",
            size_words(point.working_set_kib),
            point.slice_us,
            signed(point.percent, 2),
            point.lines_restored,
            point.lines_useful
        );
        square((x, y), CELL, point.percent, self.scale).add(Title::new(tip))
    }
}

fn slice_words(slice_us: f64) -> String {
    if slice_us < 1000.0 { format!("{slice_us} \u{b5}s") } else { format!("{} ms", slice_us / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heat_cells::STEPS;
    use crate::prefetch_sweep::prefetch_sweep;
    use results::prefetch_sweep::Grid;

    fn point(set: f64, slice: f64, rate_cycles: Option<u32>, percent: f64) -> Point {
        Point {
            working_set_kib: set,
            slice_us: slice,
            scene: Scene { chase: true, neighbour_kib: 2048.0 },
            rate_cycles,
            loads_off: 100.0,
            loads_on: 100.0 + percent,
            percent,
            lines_restored: 10.0,
            lines_useful: 5.0,
        }
    }

    fn sweep() -> Sweep {
        let grid = Grid {
            working_sets_kib: vec![64.0, 512.0],
            slices_us: vec![50.0, 2000.0],
            scenes: vec![Scene { chase: true, neighbour_kib: 2048.0 }],
            l3: false,
        };
        let mut points = Vec::new();
        for rate in [None, Some(8)] {
            for (set, slice, percent) in [
                (64.0, 50.0, 12.0),
                (64.0, 2000.0, 0.0),
                (512.0, 50.0, -3.25),
                (512.0, 2000.0, 0.4),
            ] {
                points.push(point(set, slice, rate, percent));
            }
        }
        Sweep { machine: "m".to_string(), grid, points }
    }

    #[test]
    fn every_point_is_a_cell_and_the_text_names_the_extremes() {
        let text = prefetch_sweep_svg(&sweep());
        let document = roxmltree::Document::parse(&text).expect("an SVG");
        let figures: Vec<&str> = document
            .descendants()
            .filter(|n| n.has_tag_name("text"))
            .filter_map(|n| n.text())
            .map(str::trim)
            .collect();
        for (wanted, times) in [("+12", 3), ("-3.2", 2), ("+0.4", 2), ("64 KiB", 2), ("2 ms", 2)] {
            assert_eq!(figures.iter().filter(|&&f| f == wanted).count(), times, "{wanted}");
        }
        let cells = document.descendants().filter(|n| n.has_tag_name("rect")).count();
        assert_eq!(cells, 8 + STEPS + 1);
        let text = prefetch_sweep(&sweep());
        assert!(
            text.contains(
                "best:  +12.0 %: pointer chase beside a stream through 2 MiB, 64 KiB for 50 us"
            ),
            "{text}"
        );
        assert!(
            text.contains(
                "worst: -3.2 %: pointer chase beside a stream through 2 MiB, 512 KiB for 50 us"
            ),
            "{text}"
        );
        assert!(text.lines().any(|l| l.trim() == "512 KiB   -3.2     +0.4"), "{text}");
    }
}
