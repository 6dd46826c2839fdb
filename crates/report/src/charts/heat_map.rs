//! How busy each CPU was over the time of a run, with the topology bracketed at the left.

use super::brackets::{Bracket, Bracketed, bracketed};
use super::canvas::printable;
use super::colours::{hex, scale};
use crate::error::ReportError;
use crate::machine_svg::draw::{number, words};
use crate::machine_svg::text::{FONTS, width as text_width};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use experiment::heat::Heat;
use machine::{CpuSet, Machine};
use svg::Document;
use svg::node::element::{Description, Group, Image, Path, Rectangle, Title};

/// Levels of the scale; one of base64's letters stands for each in the picture's data.
const LEVELS: usize = 64;
const LETTERS: &[u8; LEVELS] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Lengths in pixels.
const WIDTH: f64 = 920.0;
const TOP: f64 = 34.0;
const BELOW: f64 = 64.0;
const BRACKET: f64 = 19.0;
const CPU: f64 = 34.0;
const MEAN: f64 = 46.0;
const FONT: f64 = 11.0;
const INK: &str = "#000000";
/// Least height of a bracket that one can point at.
const POINTED: f64 = 7.0;
/// Least height of a row that has room for its CPU's number.
const NUMBERED: f64 = 9.0;

/// The map of one run, called `title`, as a standalone SVG document; CPUs that `machine` has offline and that ran nothing
/// have no row.
pub fn heat_map(title: &str, machine: &Machine, heat: &Heat) -> Result<String, ReportError> {
    let ran = |cpu: &usize| heat.busy[*cpu].iter().any(|&share| share > 0.0);
    let shown: CpuSet = (0..machine.cpus.len().min(heat.busy.len()))
        .filter(|cpu| machine.online.contains(*cpu) || ran(cpu))
        .collect();
    let rows = bracketed(machine, shown);
    let map = Map { heat, height: row_height(rows.cpus.len()), rows };
    let failed = |e: png::EncodingError| ReportError::Picture {
        picture: title.to_string(),
        reason: e.to_string(),
    };
    let image = map.image().map_err(failed)?;
    Ok(map.document(title, image))
}

fn row_height(rows: usize) -> f64 {
    match rows {
        0..=24 => 16.0,
        25..=48 => 14.0,
        49..=64 => 10.0,
        65..=128 => 5.0,
        _ => 3.0,
    }
}

struct Map<'a> {
    heat: &'a Heat,
    rows: Bracketed,
    /// Height of a row.
    height: f64,
}

impl Map<'_> {
    fn left(&self) -> f64 {
        10.0 + self.rows.depth as f64 * BRACKET + CPU
    }

    fn size(&self) -> (f64, f64) {
        (WIDTH - self.left() - MEAN, self.rows.cpus.len() as f64 * self.height)
    }

    fn slices(&self) -> usize {
        self.heat.busy.first().map_or(0, Vec::len)
    }

    /// Levels of all rows, one after the other.
    fn levels(&self) -> Vec<u8> {
        let level = |&share: &f64| (share.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as u8;
        self.rows.cpus.iter().flat_map(|&cpu| self.heat.busy[cpu].iter().map(level)).collect()
    }

    /// A pixel for each CPU and slice.
    fn image(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let size = (self.slices().max(1) as u32, self.rows.cpus.len().max(1) as u32);
        let mut encoder = png::Encoder::new(&mut bytes, size.0, size.1);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        let colour = |level: usize| scale(level as f64 / (LEVELS - 1) as f64);
        let palette: Vec<u8> = (0..LEVELS).map(colour).flat_map(|c| [c.0, c.1, c.2]).collect();
        encoder.set_palette(palette);
        let mut levels = self.levels();
        levels.resize(size.0 as usize * size.1 as usize, 0);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&levels)?;
        writer.finish()?;
        Ok(bytes)
    }

    fn document(&self, title: &str, image: Vec<u8>) -> String {
        let (left, (width, height)) = (self.left(), self.size());
        let cpus: Vec<String> = self.rows.cpus.iter().map(usize::to_string).collect();
        let letters = self.levels().iter().map(|&l| char::from(LETTERS[usize::from(l)])).collect();
        let data: String = letters;
        let image = Image::new()
            .set("class", "heat")
            .set("x", number(left))
            .set("y", number(TOP))
            .set("width", number(width))
            .set("height", number(height))
            .set("preserveAspectRatio", "none")
            .set("style", "image-rendering:pixelated")
            .set("href", format!("data:image/png;base64,{}", BASE64_STANDARD.encode(image)))
            .set("data-cpus", cpus.join(" "))
            .set("data-slice-us", self.heat.slice_ns as f64 / 1e3)
            .set("data-levels", data);
        let mut group = Group::new().set("font-family", FONTS).add(image);
        let shapes: Vec<String> = self.rows.brackets.iter().map(|b| self.shape(b)).collect();
        let shapes = Path::new()
            .set("d", shapes.join(" "))
            .set("fill", "none")
            .set("stroke", INK)
            .set("stroke-opacity", "0.65");
        group = group.add(shapes);
        // Those of two threads in 256 CPUs are lower than a line of text.
        for bracket in self.rows.brackets.iter().filter(|b| self.length(b) >= POINTED) {
            group = group.add(self.label(bracket));
        }
        group = self.names(group);
        group = self.times(group, TOP + height);
        group = group.add(self.key(TOP + height + 40.0));
        let all = (WIDTH, TOP + height + BELOW);
        let document = Document::new()
            .set("width", number(all.0))
            .set("height", number(all.1))
            .set("viewBox", format!("0 0 {} {}", number(all.0), number(all.1)))
            .set("role", "img")
            .add(Title::new(printable(title)))
            .add(Description::new().add(svg::node::Text::new(self.words())))
            .add(ground())
            .add(words(&printable(title), 10.0, 18.0, FONT + 2.0, INK))
            .add(group);
        format!("{document}\n")
    }

    /// What the map says, in words.
    fn words(&self) -> String {
        let mean = |&cpu: &usize| stats::amean(&self.heat.busy[cpu]);
        let busiest = self.rows.cpus.iter().filter_map(|cpu| Some((mean(cpu)?, *cpu)));
        let busiest = busiest.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let busiest = busiest.map_or(String::new(), |(share, cpu)| {
            format!(" The busiest is CPU {cpu}, {:.0} % of the time.", 100.0 * share)
        });
        let (n, ms) = (self.rows.cpus.len(), self.heat.end_ns as f64 / 1e6);
        format!("How busy {n} CPUs were over {ms:.1} ms, dark is idle.{busiest}")
    }

    fn length(&self, bracket: &Bracket) -> f64 {
        bracket.rows.1 as f64 * self.height - 2.0
    }

    /// Left and upper end.
    fn corner(&self, bracket: &Bracket) -> (f64, f64) {
        let x = 6.0 + bracket.depth as f64 * BRACKET;
        (x, TOP + bracket.rows.0 as f64 * self.height + 1.0)
    }

    fn shape(&self, bracket: &Bracket) -> String {
        let (x, top) = self.corner(bracket);
        let (x, top) = (number(x + BRACKET - 2.0), number(top));
        format!("M {x} {top} h -5 v {} h 5", number(self.length(bracket)))
    }

    /// A bracket's name, where there is room, and what one reads when pointing at it.
    fn label(&self, bracket: &Bracket) -> Group {
        let (x, top) = self.corner(bracket);
        let length = self.length(bracket);
        let tip = format!("{}: CPU {}", bracket.label, bracket.cpus);
        let place = Rectangle::new()
            .set("class", "tip")
            .set("x", number(x))
            .set("y", number(top))
            .set("width", number(BRACKET - 2.0))
            .set("height", number(length.max(1.0)))
            .set("fill-opacity", 0)
            .add(Title::new(tip));
        let mut group = Group::new();
        let short = bracket.label.split(',').next().map_or("", str::trim);
        let fits = |text: &&str| text_width(text, FONT - 1.5) <= length;
        if let Some(label) = [bracket.label.as_str(), short].into_iter().find(fits) {
            let (x, y) = (x + BRACKET - 10.0, top + length / 2.0);
            let label = words(label, x, y, FONT - 1.5, INK)
                .set("text-anchor", "middle")
                .set("transform", format!("rotate(-90 {} {})", number(x), number(y)));
            group = group.add(label);
        }
        group.add(place)
    }

    /// Numbers of CPUs at the left, their share of the whole run at the right, as many as there is room for.
    fn names(&self, mut group: Group) -> Group {
        let every = (NUMBERED / self.height).ceil() as usize;
        let font = FONT.min(self.height.max(NUMBERED));
        for (row, &cpu) in self.rows.cpus.iter().enumerate().step_by(every.max(1)) {
            let y = TOP + (row as f64 + 0.5) * self.height + font * 0.36;
            let name = words(&cpu.to_string(), self.left() - 4.0, y, font, INK);
            group = group.add(name.set("text-anchor", "end"));
            if let (1, Some(mean)) = (every, stats::amean(&self.heat.busy[cpu])) {
                let text = format!("{:.0} %", 100.0 * mean);
                let x = WIDTH - 4.0;
                group = group.add(words(&text, x, y, font, INK).set("text-anchor", "end"));
            }
        }
        group
    }

    /// The time axis, `y` being the map's lower edge.
    fn times(&self, mut group: Group, y: f64) -> Group {
        let end_ns = self.slices() as f64 * self.heat.slice_ns as f64;
        let (unit_ns, unit) = match self.heat.end_ns {
            0..10_000 => (1.0, "ns"),
            10_000..10_000_000 => (1e3, "\u{b5}s"),
            10_000_000..10_000_000_000 => (1e6, "ms"),
            _ => (1e9, "s"),
        };
        let step = step(self.heat.end_ns as f64 / unit_ns / 8.0);
        let mut tick = 0.0;
        while end_ns > 0.0 && tick * unit_ns <= self.heat.end_ns as f64 {
            let x = self.left() + tick * unit_ns / end_ns * self.size().0;
            let shape = format!("M {} {} v 4", number(x), number(y));
            group = group.add(Path::new().set("d", shape).set("stroke", INK));
            let text = words(&number(tick), x, y + 16.0, FONT, INK);
            group = group.add(text.set("text-anchor", "middle"));
            tick += step;
        }
        let end = words(&format!("time ({unit})"), WIDTH - 4.0, y + 30.0, FONT, INK);
        group.add(end.set("text-anchor", "end"))
    }

    fn key(&self, y: f64) -> Group {
        let mut group = Group::new().add(words("idle", self.left(), y + 9.0, FONT, INK));
        for part in 0..11 {
            let cell = Rectangle::new()
                .set("x", number(self.left() + 30.0 + f64::from(part) * 16.0))
                .set("y", number(y))
                .set("width", 16)
                .set("height", 11)
                .set("fill", hex(scale(f64::from(part) / 10.0)));
            group = group.add(cell);
        }
        group.add(words("busy all the time", self.left() + 212.0, y + 9.0, FONT, INK))
    }
}

fn ground() -> Rectangle {
    Rectangle::new().set("width", "100%").set("height", "100%").set("fill", "#FFFFFF")
}

/// 1, 2 or 5 times a power of ten, at least `least`.
fn step(least: f64) -> f64 {
    let mut power = 1e-3;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if power * factor >= least {
                return power * factor;
            }
        }
        power *= 10.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heat(cpus: usize) -> Heat {
        let busy = (0..cpus).map(|cpu| vec![0.0, cpu as f64 / cpus as f64, 1.0]).collect();
        Heat { slice_ns: 4000, end_ns: 11_000, busy, metrics: vec![] }
    }

    #[test]
    fn every_row_and_slice_is_in_the_data() {
        let machine = machine::catalog::load("power9-big-core").unwrap();
        let text = heat_map("a <b> & \u{7}", &machine, &heat(16)).unwrap();
        let document = roxmltree::Document::parse(&text).expect("an SVG");
        let image = document.descendants().find(|n| n.has_tag_name("image")).expect("the image");
        let levels = image.attribute("data-levels").expect("levels");
        assert_eq!((levels.len(), &levels[..6]), (48, "AA/AI/"));
        assert!(image.attribute("data-cpus").expect("CPUs").starts_with("0 2 4 6 1"));
        assert!(text.contains("a &lt;b&gt; &amp;"), "{}", &text[..400]);
        assert_eq!(text, heat_map("a <b> & \u{7}", &machine, &heat(16)).unwrap());
    }

    #[test]
    fn steps_are_round() {
        assert_eq!([step(0.8), step(1.2), step(2.1), step(700.0)], [1.0, 2.0, 5.0, 1000.0]);
    }
}
