//! A figure by CPU and time of a run, with the topology bracketed at the left.

use super::brackets::{Bracket, Bracketed, bracketed};
use super::canvas::printable;
use super::colours::{hex, scale};
use super::time::{step, unit};
use crate::error::ReportError;
use crate::machine_svg::draw::{number, words};
use crate::machine_svg::text::{FONTS, width as text_width};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use machine::{CpuSet, Machine};
use plotters::style::RGBColor;
use svg::Document;
use svg::node::element::{Description, Group, Image, Path, Rectangle, Title};

/// Levels of the scale. A page reads values back from the image's colours, so each has one of its own.
const LEVELS: usize = 64;
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
/// Where the colours of a scale with blanks start: darker ones look blank on a dark page.
const ABOVE_BLANK: f64 = 0.25;

/// What a map shows.
#[derive(Debug, Clone, PartialEq)]
pub struct CpuMap {
    /// One line for people.
    pub title: String,
    /// What it shows in words.
    pub description: String,
    /// Length of a slice, in ns.
    pub slice_ns: u64,
    /// Length of the run, in ns.
    pub end_ns: u64,
    /// The CPUs that have a row.
    pub shown: CpuSet,
    /// By CPU number and slice; `None` stays blank.
    pub values: Vec<Vec<Option<f64>>>,
    /// By CPU number: the figure of the whole run, at the end of its row.
    pub overall: Vec<String>,
    /// What colours stand for.
    pub scale: Scale,
}

/// A scale of colours.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    /// Values of the first and the last colour.
    pub ends: (f64, f64),
    /// What these values are called.
    pub names: (String, String),
    /// Unit and digits after the point of a single value.
    pub unit: String,
    /// Digits after the point.
    pub digits: usize,
    /// What no value means, where a slice can be without.
    pub blank: Option<String>,
}

impl Scale {
    /// The level of a value.
    fn level(&self, value: f64) -> u8 {
        let (low, high) = self.ends;
        let part = if high > low { (value - low) / (high - low) } else { 0.0 };
        (part.clamp(0.0, 1.0) * (LEVELS - 1) as f64).round() as u8
    }

    /// The colours of all levels.
    fn palette(&self) -> Vec<RGBColor> {
        (0..LEVELS).map(|level| self.colour(level as f64 / (LEVELS - 1) as f64)).collect()
    }

    /// The colour of a part of the scale.
    fn colour(&self, part: f64) -> RGBColor {
        let from = if self.blank.is_some() { ABOVE_BLANK } else { 0.0 };
        scale(from + part * (1.0 - from))
    }
}

/// The map of one run as a standalone SVG document.
///
/// # Errors
/// An image that cannot be encoded.
pub fn cpu_map(machine: &Machine, of: &CpuMap) -> Result<String, ReportError> {
    let rows = bracketed(machine, of.shown.clone());
    let map = Map { of, height: row_height(rows.cpus.len()), rows };
    let failed = |e: png::EncodingError| ReportError::Picture {
        picture: of.title.clone(),
        reason: e.to_string(),
    };
    let image = map.image().map_err(failed)?;
    Ok(map.document(image))
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
    of: &'a CpuMap,
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
        self.of.values.first().map_or(0, Vec::len)
    }

    /// Levels of all rows, one after the other.
    fn levels(&self) -> impl Iterator<Item = Option<u8>> {
        let level = |value: &Option<f64>| value.map(|v| self.of.scale.level(v));
        self.rows.cpus.iter().flat_map(move |&cpu| self.of.values[cpu].iter().map(level))
    }

    /// A pixel for each CPU and slice.
    fn image(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut bytes = Vec::new();
        let size = (self.slices().max(1) as u32, self.rows.cpus.len().max(1) as u32);
        let mut encoder = png::Encoder::new(&mut bytes, size.0, size.1);
        encoder.set_color(png::ColorType::Indexed);
        encoder.set_depth(png::BitDepth::Eight);
        let palette = self.of.scale.palette().into_iter().flat_map(|c| [c.0, c.1, c.2]);
        // The colour after the last is that of no value: none.
        encoder.set_palette(palette.chain([0; 3]).collect::<Vec<u8>>());
        encoder.set_trns(
            (0..=LEVELS).map(|at| if at < LEVELS { 255 } else { 0 }).collect::<Vec<u8>>(),
        );
        let mut levels: Vec<u8> = self.levels().map(|l| l.unwrap_or(LEVELS as u8)).collect();
        levels.resize(size.0 as usize * size.1 as usize, LEVELS as u8);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&levels)?;
        writer.finish()?;
        Ok(bytes)
    }

    fn document(&self, image: Vec<u8>) -> String {
        let (title, scale) = (&self.of.title, &self.of.scale);
        let (left, (width, height)) = (self.left(), self.size());
        let cpus: Vec<String> = self.rows.cpus.iter().map(usize::to_string).collect();
        let palette: Vec<String> = scale.palette().into_iter().map(hex).collect();
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
            .set("data-slice-us", self.of.slice_ns as f64 / 1e3)
            .set("data-ends", format!("{} {}", scale.ends.0, scale.ends.1))
            .set("data-unit", printable(&scale.unit))
            .set("data-digits", scale.digits)
            .set("data-slices", self.slices())
            .set("data-palette", palette.join(" "));
        let image = match &scale.blank {
            Some(blank) => image.set("data-blank", printable(blank)),
            None => image,
        };
        let mut group = Group::new().set("font-family", FONTS).add(image);
        if scale.blank.is_some() {
            group = group.add(self.edge(left, TOP, self.size()));
        }
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
            .add(Description::new().add(svg::node::Text::new(printable(&self.of.description))))
            .add(ground())
            .add(words(&printable(title), 10.0, 18.0, FONT + 2.0, INK).set("font-family", FONTS))
            .add(group);
        format!("{document}\n")
    }

    /// The outline of what may be blank.
    fn edge(&self, x: f64, y: f64, (width, height): (f64, f64)) -> Rectangle {
        Rectangle::new()
            .set("x", number(x))
            .set("y", number(y))
            .set("width", number(width))
            .set("height", number(height))
            .set("fill", "none")
            .set("stroke", INK)
            .set("stroke-opacity", "0.3")
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

    /// Numbers of CPUs at the left, their figure of the whole run at the right, as many as there is room for.
    fn names(&self, mut group: Group) -> Group {
        let every = (NUMBERED / self.height).ceil() as usize;
        let font = FONT.min(self.height.max(NUMBERED));
        for (row, &cpu) in self.rows.cpus.iter().enumerate().step_by(every.max(1)) {
            let y = TOP + (row as f64 + 0.5) * self.height + font * 0.36;
            let name = words(&cpu.to_string(), self.left() - 4.0, y, font, INK);
            group = group.add(name.set("text-anchor", "end"));
            if let (1, Some(overall)) = (every, self.of.overall.get(cpu)) {
                let overall = words(overall, WIDTH - 4.0, y, font, INK);
                group = group.add(overall.set("text-anchor", "end"));
            }
        }
        group
    }

    /// The time axis, `y` being the map's lower edge.
    fn times(&self, mut group: Group, y: f64) -> Group {
        let end_ns = self.slices() as f64 * self.of.slice_ns as f64;
        let run_ns = self.of.end_ns as f64;
        let (unit_ns, unit) = unit(self.of.end_ns);
        let step = step(run_ns / unit_ns / 8.0);
        let mut tick = 0.0;
        while end_ns > 0.0 && tick * unit_ns <= run_ns {
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
        let scale = &self.of.scale;
        let mut group = Group::new().add(words(&scale.names.0, self.left(), y + 9.0, FONT, INK));
        let mut x = self.left() + text_width(&scale.names.0, FONT) + 6.0;
        for part in 0..11 {
            let cell = Rectangle::new()
                .set("x", number(x))
                .set("y", number(y))
                .set("width", 16)
                .set("height", 11)
                .set("fill", hex(scale.colour(f64::from(part) / 10.0)));
            group = group.add(cell);
            x += 16.0;
        }
        x += 6.0;
        group = group.add(words(&scale.names.1, x, y + 9.0, FONT, INK));
        x += text_width(&scale.names.1, FONT) + 20.0;
        match &scale.blank {
            Some(blank) => group.add(self.edge(x, y, (16.0, 11.0))).add(words(
                blank,
                x + 22.0,
                y + 9.0,
                FONT,
                INK,
            )),
            None => group,
        }
    }
}

fn ground() -> Rectangle {
    Rectangle::new().set("width", "100%").set("height", "100%").set("fill", "#FFFFFF")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A third of each row is at the lower end of the scale, one somewhere, one at the upper end or blank.
    fn map(blank: Option<&str>) -> CpuMap {
        let last = if blank.is_some() { None } else { Some(3.0) };
        let row = |cpu: usize| vec![Some(1.0), Some(1.0 + cpu as f64 / 8.0), last];
        CpuMap {
            title: "a <b> & \u{7}".to_string(),
            description: "words".to_string(),
            slice_ns: 4000,
            end_ns: 11_000,
            shown: CpuSet::first_n(16),
            values: (0..16).map(row).collect(),
            overall: (0..16).map(|cpu| format!("of {cpu}")).collect(),
            scale: Scale {
                ends: (1.0, 3.0),
                names: ("least".to_string(), "most".to_string()),
                unit: "GHz".to_string(),
                digits: 2,
                blank: blank.map(str::to_string),
            },
        }
    }

    /// Indices and palette of an image in base64.
    fn pixels(text: &str) -> (Vec<u8>, Vec<u8>) {
        let bytes = BASE64_STANDARD.decode(text).expect("base64");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("PNG");
        let mut rows = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut rows).expect("an image");
        let palette = reader.info().palette.as_ref().expect("a palette").to_vec();
        (rows, palette)
    }

    #[test]
    fn every_row_and_slice_is_in_the_data() {
        let machine = machine::catalog::load("power9-big-core").unwrap();
        for (blank, first) in
            [(None, [0, 0, 63, 0, 8, 63]), (Some("ran nothing"), [0, 0, 64, 0, 8, 64])]
        {
            let text = cpu_map(&machine, &map(blank)).unwrap();
            let document = roxmltree::Document::parse(&text).expect("an SVG");
            let image = document.descendants().find(|n| n.has_tag_name("image")).expect("an image");
            let href = image.attribute("href").expect("an image");
            let (rows, palette) =
                pixels(href.strip_prefix("data:image/png;base64,").expect("a PNG"));
            assert_eq!((rows.len(), &rows[..6]), (48, &first[..]));
            let told = image.attribute("data-palette").expect("colours");
            let mut colours: Vec<&str> = told.split(' ').collect();
            assert_eq!(colours.len(), LEVELS);
            let of_image = palette.chunks(3).take(LEVELS).map(|c| hex(RGBColor(c[0], c[1], c[2])));
            assert_eq!(colours, of_image.collect::<Vec<String>>());
            colours.sort_unstable();
            colours.dedup();
            assert_eq!(colours.len(), LEVELS, "each level has a colour of its own");
            assert_eq!(image.attribute("data-slices"), Some("3"));
            assert!(image.attribute("data-cpus").expect("CPUs").starts_with("0 2 4 6 1"));
            assert_eq!(image.attribute("data-ends"), Some("1 3"));
            assert_eq!(image.attribute("data-blank"), blank);
            assert!(text.contains("a &lt;b&gt; &amp;"), "{}", &text[..400]);
            let has = |wanted: &str| {
                document.descendants().any(|n| n.text().map(str::trim) == Some(wanted))
            };
            assert!(has("of 15") && has("least") && has("most"));
            assert_eq!(has("ran nothing"), blank.is_some());
            assert_eq!(text, cpu_map(&machine, &map(blank)).unwrap());
        }
    }
}
