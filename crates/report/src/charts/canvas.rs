//! A sheet that plotters draws on, with what is shown where one points.

use crate::error::ReportError;
use crate::machine_svg::draw::{number, words};
use crate::machine_svg::text::FONTS;
use crate::table::clip;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Rectangle, Text};
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, IntoTextStyle, RGBColor, TextStyle};
use svg::node::element::{Description, Group, Rectangle as Place, Title};

/// Sheet of one picture.
pub(super) type Sheet<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// A chart of lines one below the other, on an axis `X`.
pub(super) type Lines<'a, 'b, X> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, RangedCoordf64>>;
/// What drawing gives.
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Text and lines. A page turns this colour where it is dark.
pub(super) const INK: RGBColor = RGBColor(0, 0, 0);
/// The ground; likewise.
pub(super) const GROUND: RGBColor = RGBColor(255, 255, 255);
/// Size of text, as plotters counts it.
pub(super) const FONT: u32 = 15;
/// Height of the title above a picture that stands alone, in pixels.
const TITLE: u32 = 32;
/// Height around the lines of a chart, in pixels.
pub(super) const AROUND: u32 = 52;
/// Width of every picture, in pixels.
pub(super) const WIDTH: u32 = 920;

/// Texts by place: x, y, width, height.
#[derive(Default)]
pub(super) struct Tips {
    all: Vec<([f64; 4], String)>,
}

impl Tips {
    /// Says `text` in the rectangle between two corners.
    pub(super) fn add(&mut self, from: (i32, i32), to: (i32, i32), text: String) {
        let [x0, x1] = [from.0.min(to.0), from.0.max(to.0)].map(f64::from);
        let [y0, y1] = [from.1.min(to.1), from.1.max(to.1)].map(f64::from);
        self.all.push(([x0, y0, (x1 - x0).max(1.0), (y1 - y0).max(1.0)], text));
    }

    fn group(&self) -> Group {
        let place = |(rect, text): &([f64; 4], String)| {
            let [x, y, width, height] = rect.map(number);
            Place::new()
                .set("class", "tip")
                .set("x", x)
                .set("y", y)
                .set("width", width)
                .set("height", height)
                .set("fill-opacity", 0)
                .add(Title::new(printable(text)))
        };
        self.all.iter().map(place).fold(Group::new(), Group::add)
    }
}

/// Draws a picture called `title` of `height` pixels; `description` says in words what it shows.
pub(super) fn draw(
    title: &str,
    description: &str,
    height: u32,
    paint: impl FnOnce(&Sheet, &mut Tips) -> Drawn,
) -> Result<String, ReportError> {
    let mut text = String::new();
    let mut tips = Tips::default();
    let run = || -> Drawn {
        let sheet = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
        sheet.fill(&GROUND)?;
        paint(&sheet, &mut tips)?;
        sheet.present()
    };
    let failed = |e: String| ReportError::Picture { picture: title.to_string(), reason: e };
    run().map_err(|e| failed(e.to_string()))?;
    framed(&text, title, description, tips.group())
        .ok_or_else(|| failed("found no SVG document".to_string()))
}

/// The document with a title for those who cannot see it, and `over` above everything.
fn framed(text: &str, title: &str, description: &str, over: Group) -> Option<String> {
    let (head, rest) = text.split_once('>')?;
    let (body, _) = rest.rsplit_once("</svg>")?;
    let title = Title::new(printable(title));
    let description = Description::new().add(svg::node::Text::new(printable(description)));
    Some(format!("{head} role=\"img\">\n{title}\n{description}{body}{over}\n</svg>\n"))
}

/// What [`draw`] gave, below its title.
pub(super) fn titled(svg: &str, title: &str) -> String {
    let height = svg.split_once(" height=\"").and_then(|(_, rest)| rest.split_once('"'));
    let Some(height) = height.and_then(|(height, _)| height.parse::<u32>().ok()) else {
        return svg.to_string();
    };
    let line = words(&printable(title), 10.0, 20.0, f64::from(FONT - 1), "#000000");
    let all = height + TITLE;
    format!(
        "<svg width=\"{WIDTH}\" height=\"{all}\" viewBox=\"0 0 {WIDTH} {all}\" xmlns=\"http://www.w3.org/2000/svg\" role=\"img\">\n\
         {}\n{}\n{}\n{}</svg>\n",
        Title::new(printable(title)),
        Place::new().set("width", "100%").set("height", "100%").set("fill", "#FFFFFF"),
        line.set("font-family", FONTS),
        svg.replacen("<svg ", &format!("<svg y=\"{TITLE}\" "), 1)
    )
}

/// `text` on one line, without what XML cannot hold.
pub(super) fn printable(text: &str) -> String {
    let keep = |c: char| !matches!(c, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|&c| keep(c)).collect()
}

/// A style of text.
pub(super) fn style(colour: RGBColor, size: u32, x: HPos) -> TextStyle<'static> {
    let style = ("sans-serif", size).into_font().into_text_style(&(1000, 1000));
    let color = colour.to_backend_color();
    TextStyle { color, pos: Pos::new(x, VPos::Center), ..style }
}

/// A line of text at `at`: where it starts, ends or has its middle.
pub(super) fn write(sheet: &Sheet, text: &str, at: (i32, i32), x: HPos) -> Drawn {
    sheet.draw(&Text::new(printable(text), at, style(INK, FONT, x)))
}

/// An empty chart of lines one below the other, the first at the top, with `labels` pixels for what stands left of them,
/// on an axis of figures that is called `what`. It takes [`AROUND`] pixels beside its lines.
pub(super) fn lines_below<'a, 'b, X>(
    sheet: &'a Sheet<'b>,
    labels: i32,
    axis_x: X,
    lines: f64,
    what: &str,
) -> Result<Lines<'a, 'b, X::CoordDescType>, DrawingAreaErrorKind<std::io::Error>>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(sheet)
        .margin_right(20)
        .margin_top(6)
        .x_label_area_size(AROUND - 8)
        .y_label_area_size(labels as u32)
        .build_cartesian_2d(axis_x, 0.0..lines)?;
    let grid = INK.mix(0.14);
    chart
        .configure_mesh()
        .disable_y_mesh()
        .y_labels(0)
        .x_labels(8)
        .x_max_light_lines(0)
        .bold_line_style(grid)
        .axis_style(grid)
        .x_desc(printable(what))
        .axis_desc_style(style(INK, FONT, HPos::Center))
        .x_label_style(style(INK, FONT - 1, HPos::Center))
        .x_label_formatter(&|v| axis(*v))
        .draw()?;
    Ok(chart)
}

/// Squares with names, from `x` on in as many lines as they take; gives the lowest pixel.
pub(super) fn legend(
    sheet: &Sheet,
    entries: &[(String, RGBColor)],
    (left, mut y): (i32, i32),
) -> Result<i32, DrawingAreaErrorKind<std::io::Error>> {
    let mut x = left;
    for (name, colour) in entries {
        let width = 30 + text_width(name);
        if x + width > WIDTH as i32 && x > left {
            (x, y) = (left, y + 20);
        }
        let square = [(x, y - 5), (x + 11, y + 6)];
        sheet.draw(&Rectangle::new(square, colour.filled()))?;
        sheet.draw(&Rectangle::new(square, INK.mix(0.5).stroke_width(1)))?;
        write(sheet, name, (x + 16, y), HPos::Left)?;
        x += width;
    }
    Ok(y + 12)
}

/// Lines that [`legend`] takes.
pub(super) fn legend_lines(entries: &[(String, RGBColor)], left: i32) -> u32 {
    let (mut lines, mut x) = (1, left);
    for (name, _) in entries {
        let width = 30 + text_width(name);
        if x + width > WIDTH as i32 && x > left {
            (lines, x) = (lines + 1, left);
        }
        x += width;
    }
    lines
}

/// Room that a line of text takes, in pixels.
pub(super) fn text_width(text: &str) -> i32 {
    (text.chars().count() as f64 * f64::from(FONT) * 0.5) as i32
}

/// Room for the longest of `labels`, each cut to `longest` characters, from `least` to `most` pixels.
pub(super) fn room<'a>(
    labels: impl Iterator<Item = &'a str>,
    longest: usize,
    (least, most): (i32, i32),
) -> i32 {
    let widths = labels.map(|label| text_width(&clip(label, longest)) + 24);
    widths.max().map_or(least, |width| width.clamp(least, most))
}

/// A figure on an axis.
pub(super) fn axis(value: f64) -> String {
    // Plotters adds steps up: what should be 0 can be a rounding error away.
    let value = if value.abs() < 1e-9 { 0.0 } else { value };
    crate::ministat::significant(value, 8)
}

/// `low..high` with some room at both ends.
pub(super) fn roomy((low, high): (f64, f64)) -> (f64, f64) {
    let room = match high - low {
        span if span > 0.0 => span * 0.06,
        _ if low != 0.0 => low.abs() * 0.1,
        _ => 1.0,
    };
    (low - room, high + room)
}
