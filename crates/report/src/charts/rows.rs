//! The rows of a table as lines: each variant's figure for the baseline's.

use super::canvas::{
    Drawn, FONT, INK, Sheet, Tips, axis, draw, legend, legend_lines, printable, roomy, style, write,
};
use super::colours;
use crate::error::ReportError;
use plotters::chart::ChartBuilder;
use plotters::element::{Circle, PathElement, TriangleMarker};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

const HEIGHT: u32 = 330;
const LEFT: u32 = 84;

/// A variant's ratio in a row, with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub estimate: f64,
    /// Ends of its interval.
    pub ends: (f64, f64),
}

/// A variant's rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The variant's name.
    pub name: String,
    /// Its place among the variants.
    pub variant: usize,
    /// By row; `None` where it cannot be compared.
    pub ratios: Vec<Option<Ratio>>,
}

/// Lines over `labels`, which are values of `varying`; nothing to draw without a ratio.
pub fn rows(
    title: &str,
    varying: &str,
    labels: &[String],
    of: &[Series],
) -> Result<Option<String>, ReportError> {
    let all = of.iter().flat_map(|s| s.ratios.iter().flatten());
    let figures = all.flat_map(|r| [r.estimate, r.ends.0, r.ends.1]).filter(|v| v.is_finite());
    let span = figures.fold(None, |span: Option<(f64, f64)>, v| {
        Some(span.map_or((v.min(1.0), v.max(1.0)), |(low, high)| (low.min(v), high.max(v))))
    });
    let Some(span) = span else { return Ok(None) };
    let names: Vec<(String, RGBColor)> =
        of.iter().map(|s| (s.name.clone(), colours::variant(s.variant))).collect();
    let top = 14 + 20 * legend_lines(&names, LEFT as i32);
    let what = format!("Ratio to the baseline by {varying}, with intervals.");
    draw(title, &what, HEIGHT + top, |sheet, tips| {
        legend(sheet, &names, (LEFT as i32, 14))?;
        paint(sheet, tips, (varying, labels), of, (top, roomy(span)))
    })
    .map(Some)
}

fn paint(
    sheet: &Sheet,
    tips: &mut Tips,
    (varying, labels): (&str, &[String]),
    of: &[Series],
    (top, (low, high)): (u32, (f64, f64)),
) -> Drawn {
    let columns = labels.len() as f64;
    let mut chart = ChartBuilder::on(sheet)
        .margin_right(20)
        .margin_top(top)
        .x_label_area_size(46)
        .y_label_area_size(LEFT)
        .build_cartesian_2d(0.0..columns, low..high)?;
    let grid = INK.mix(0.14);
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_max_light_lines(0)
        .bold_line_style(grid)
        .axis_style(grid)
        .x_desc(printable(varying))
        .y_desc("ratio to the baseline")
        .axis_desc_style(style(INK, FONT, HPos::Center))
        .y_label_style(style(INK, FONT - 1, HPos::Right))
        .y_label_formatter(&|v| axis(*v))
        .draw()?;
    for (at, label) in labels.iter().enumerate() {
        let (x, y) = chart.backend_coord(&(at as f64 + 0.5, low));
        write(sheet, label, (x, y + 12), HPos::Center)?;
    }
    chart.draw_series([PathElement::new([(0.0, 1.0), (columns, 1.0)], INK.mix(0.6))])?;
    let step = 0.5 / of.len().max(1) as f64;
    for (place, series) in of.iter().enumerate() {
        let colour = colours::variant(series.variant);
        let x = |at: usize| at as f64 + 0.25 + step * (place as f64 + 0.5);
        let points: Vec<(f64, Ratio, usize)> = (series.ratios.iter().enumerate())
            .filter_map(|(at, r)| Some((x(at), (*r)?, at)))
            .collect();
        let line: Vec<(f64, f64)> = points.iter().map(|(x, r, _)| (*x, r.estimate)).collect();
        chart.draw_series([PathElement::new(line, colour.mix(0.5).stroke_width(1))])?;
        for (x, ratio, at) in points {
            let ends = vec![(x, ratio.ends.0), (x, ratio.ends.1)];
            chart.draw_series([PathElement::new(ends, colour.stroke_width(2))])?;
            let mark = (x, ratio.estimate);
            match place % 2 {
                0 => _ = chart.draw_series([Circle::new(mark, 4, colour.filled())])?,
                _ => _ = chart.draw_series([TriangleMarker::new(mark, 6, colour.filled())])?,
            }
            let (px, py) = chart.backend_coord(&mark);
            let (_, from) = chart.backend_coord(&(x, ratio.ends.0));
            let (_, to) = chart.backend_coord(&(x, ratio.ends.1));
            let (e, (l, h)) = (ratio.estimate, ratio.ends);
            let text = format!("{}, {}: {e:.3} [{l:.3}, {h:.3}]", series.name, labels[at]);
            tips.add((px - 6, from.max(py + 6)), (px + 6, to.min(py - 6)), text);
        }
    }
    Ok(())
}
