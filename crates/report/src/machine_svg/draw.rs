//! From places to an SVG document.

use super::boxes::Shape;
use super::layout::{Placed, Rect, place};
use super::legend::Distances;
use super::palette::{Kind, Scale, TEXT};
use super::text;
use svg::Document;
use svg::node::element::{Description, Group, Rectangle, Text, Title};

/// Narrowest page, so that titles and notes have room.
const LEAST_WIDTH: f64 = 680.0;
/// Narrowest column of notes beside a table.
const LEAST_NOTES: f64 = 360.0;
/// Share of the boxes' height that notes may take, and how many lines they may take in any case.
const NOTES: f64 = 0.25;
const NOTE_LINES: usize = 8;
/// Around everything.
const MARGIN: f64 = 12.0;
/// Title size against the rest.
const TITLE: f64 = 1.35;

/// A page and where it has got to.
pub(super) struct Page<'a> {
    scale: &'a Scale,
    boxes: (f64, f64),
    distances: Option<Distances>,
    width: f64,
    group: Group,
    y: f64,
}

impl<'a> Page<'a> {
    /// A page for boxes of that width and height, and a table.
    pub(super) fn new(
        scale: &'a Scale,
        boxes: (f64, f64),
        distances: Option<Distances>,
    ) -> Page<'a> {
        let table = distances.as_ref().map_or(0.0, |d| d.size().0);
        let width = boxes.0.max(table).max(LEAST_WIDTH);
        let group = Group::new().set("font-family", text::FONTS);
        Page { scale, boxes, distances, width, group, y: MARGIN }
    }

    /// The document.
    pub(super) fn draw(
        mut self,
        title: &str,
        counts: &str,
        root: &Shape,
        notes: &[String],
    ) -> String {
        let heading = Title::new(printable(title));
        self.lines(title, self.scale.font * TITLE);
        self.lines(counts, self.scale.font);
        self.y += self.scale.gap;
        self.boxes(root);
        self.below(notes);
        let (width, height) = (self.width + 2.0 * MARGIN, self.y + MARGIN);
        let background = Rectangle::new().set("width", "100%").set("height", "100%");
        let document = Document::new()
            .set("width", number(width))
            .set("height", number(height))
            .set("viewBox", format!("0 0 {} {}", number(width), number(height)))
            .add(heading)
            .add(Description::new().add(svg::node::Text::new(printable(&notes.join(" ")))))
            .add(background.set("fill", "#ffffff"))
            .add(self.group);
        format!("{document}\n")
    }

    /// Text across the page, in as many lines as it takes.
    fn lines(&mut self, content: &str, size: f64) {
        for line in text::wrap(content, size, self.width) {
            self.line(&line, MARGIN, size);
        }
    }

    fn line(&mut self, line: &str, x: f64, size: f64) {
        self.y += size * 1.4;
        let node = words(line, x, self.y - size * 0.35, size, TEXT);
        self.add(node);
    }

    /// The table and the notes, beside each other where that leaves notes room enough.
    fn below(&mut self, notes: &[String]) {
        let top = self.y;
        let table = self.table();
        let left = if table > 0.0 { table + 4.0 * self.scale.pad } else { 0.0 };
        let bottom = self.y;
        let is_beside = left > 0.0 && self.width - left >= LEAST_NOTES;
        let x = if is_beside { left } else { 0.0 };
        self.y = if is_beside { top } else { bottom } + self.scale.gap;
        for line in self.note_lines(notes, self.width - x) {
            self.line(&line, MARGIN + x, self.scale.font);
        }
        self.y = self.y.max(bottom);
    }

    /// Notes in lines, no more of them than look well below the boxes.
    fn note_lines(&self, notes: &[String], room: f64) -> Vec<String> {
        let size = self.scale.font;
        let mut lines: Vec<String> =
            notes.iter().flat_map(|note| text::wrap(note, size, room)).collect();
        let most = NOTE_LINES.max((self.boxes.1 * NOTES / (size * 1.4)) as usize);
        if lines.len() > most {
            lines.truncate(most - 1);
            lines.push("\u{2026} The rest stands in the tree of this machine.".to_string());
        }
        lines
    }

    /// The boxes, as wide as the page.
    fn boxes(&mut self, root: &Shape) {
        let width = self.width;
        let rect = Rect { x: MARGIN, y: self.y, width, height: self.boxes.1 };
        let mut placed = Vec::new();
        place(root, rect, self.scale, &mut placed);
        for item in placed {
            match item {
                Placed::Box(shape, rect) => self.shape(shape, rect),
                Placed::Bar(bar, rect) => {
                    self.rect(bar.kind, rect, "");
                    self.centred(&bar.text, rect, bar.kind.text_colour());
                }
            }
        }
        self.y += self.boxes.1;
    }

    fn shape(&mut self, shape: &Shape, rect: Rect) {
        self.rect(shape.kind, rect, &shape.tip);
        if matches!(shape.kind, Kind::Cpu | Kind::Offline) {
            self.centred(&shape.label, rect, shape.kind.text_colour());
        } else if !shape.label.is_empty() {
            let (x, y) = (rect.x + self.scale.pad, rect.y + self.scale.pad + self.scale.font);
            let node = words(&shape.label, x, y - self.scale.font * 0.15, self.scale.font, TEXT);
            self.add(node);
        }
    }

    fn rect(&mut self, kind: Kind, rect: Rect, tip: &str) {
        let (fill, stroke) = kind.colours();
        let mut node = rectangle(rect)
            .set("rx", 2)
            .set("fill", fill)
            .set("stroke", stroke)
            .set("data-kind", kind.name());
        if kind.is_dashed() {
            node = node.set("stroke-dasharray", "3 2");
        }
        if !tip.is_empty() {
            node = node.add(Title::new(tip));
        }
        self.add(node);
    }

    /// The table of distances; gives its width.
    fn table(&mut self) -> f64 {
        let Some(distances) = self.distances.take() else { return 0.0 };
        let (width, height) = distances.size();
        self.y += self.scale.gap;
        self.line("NUMA distances", MARGIN, self.scale.font);
        self.y += self.scale.gap;
        for cell in distances.cells(MARGIN, self.y) {
            let fill = if cell.is_head { Kind::Memory.colours().0 } else { "#ffffff" };
            let stroke = Kind::Memory.colours().1;
            let node = rectangle(cell.rect).set("fill", fill).set("stroke", stroke);
            self.add(node.set("data-kind", "distance"));
            self.centred(cell.text, cell.rect, TEXT);
        }
        self.y += height;
        width
    }

    fn centred(&mut self, content: &str, rect: Rect, colour: &str) {
        let x = rect.x + rect.width / 2.0;
        let y = rect.y + rect.height / 2.0 + self.scale.font * 0.36;
        let node = words(content, x, y, self.scale.font, colour).set("text-anchor", "middle");
        self.add(node);
    }

    fn add(&mut self, node: impl Into<Box<dyn svg::Node>>) {
        svg::Node::append(&mut self.group, node);
    }
}

/// `text` without what XML cannot hold.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// A line of text.
pub(crate) fn words(content: &str, x: f64, y: f64, size: f64, colour: &str) -> Text {
    Text::new(content)
        .set("x", number(x))
        .set("y", number(y))
        .set("font-size", number(size))
        .set("fill", colour)
}

fn rectangle(rect: Rect) -> Rectangle {
    Rectangle::new()
        .set("x", number(rect.x))
        .set("y", number(rect.y))
        .set("width", number(rect.width))
        .set("height", number(rect.height))
}

/// To a hundredth of a pixel, without zeros at the end.
pub(crate) fn number(value: f64) -> String {
    ((value * 100.0).round() / 100.0).to_string()
}
