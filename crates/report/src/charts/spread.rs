//! How single runs spread: a violin, the runs themselves and their quartiles, a line a variant.

use super::canvas::{
    AROUND, Drawn, INK, Sheet, Tips, WIDTH, axis, draw, lines_below, room, roomy, write,
};
use super::colours;
use crate::error::ReportError;
use crate::sparkline::{counts, range};
use crate::table::clip;
use plotters::element::{Circle, PathElement, Polygon};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

/// Height of a variant.
const LINE: u32 = 58;
/// Room for labels: at least, and at most.
const LABELS: (i32, i32) = (90, 190);
const LABEL_LENGTH: usize = 24;
/// Bins of a violin.
const BINS: usize = 48;
/// Fewest runs that make a violin.
const ENOUGH: usize = 10;
/// Most runs that are drawn one by one; beyond, the violin says all.
const DOTS: usize = 300;
/// Half the violin's height and the band of dots, in lines.
const HALF: f64 = 0.42;

/// Samples of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    /// The variant's name.
    pub name: String,
    /// Its place among the variants.
    pub variant: usize,
    /// Values, one a run.
    pub samples: Vec<f64>,
}

/// Variants, one below the other, on an axis of `unit`; nothing to draw without a sample.
pub fn spread(title: &str, unit: &str, of: &[Spread]) -> Result<Option<String>, ReportError> {
    let Some(span) = range(of.iter().map(|s| s.samples.as_slice())) else { return Ok(None) };
    let height = AROUND + of.len() as u32 * LINE;
    let described = format!("Distribution of single runs in {unit}: outline, runs, quartiles.");
    draw(title, &described, height, |sheet, tips| paint(sheet, tips, unit, of, span)).map(Some)
}

fn paint(sheet: &Sheet, tips: &mut Tips, unit: &str, of: &[Spread], span: (f64, f64)) -> Drawn {
    let rows = of.len() as f64;
    let labels = room(of.iter().map(|s| s.name.as_str()), LABEL_LENGTH, LABELS);
    let (low, high) = roomy(span);
    let mut chart = lines_below(sheet, labels, low..high, rows, unit)?;
    for (at, variant) in of.iter().enumerate() {
        let y = rows - at as f64 - 0.5;
        let colour = colours::variant(variant.variant);
        if variant.samples.len() >= ENOUGH {
            let outline = violin(&variant.samples, (low, high), y);
            chart.draw_series([Polygon::new(outline, colour.mix(0.22))])?;
        }
        let dots = variant.samples.iter().take(DOTS).enumerate();
        let shown = variant.samples.len() <= DOTS;
        chart.draw_series(dots.filter(|(_, v)| shown && v.is_finite()).map(|(run, &value)| {
            Circle::new((value, y - 0.12 + jitter(run) * 0.2), 3, colour.mix(0.75).filled())
        }))?;
        if let Some([low, middle, high]) = quartiles(&variant.samples) {
            let path =
                |points: Vec<(f64, f64)>, width| PathElement::new(points, INK.stroke_width(width));
            chart.draw_series([
                path(vec![(low, y + 0.16), (high, y + 0.16)], 4),
                path(vec![(middle, y + 0.02), (middle, y + 0.3)], 3),
            ])?;
        }
        let (_, label_y) = chart.backend_coord(&(low, y));
        write(sheet, &clip(&variant.name, LABEL_LENGTH), (labels - 10, label_y), HPos::Right)?;
        let half = LINE as i32 / 2;
        tips.add((0, label_y - half), (WIDTH as i32, label_y + half), tip(variant, unit));
    }
    Ok(())
}

/// Both sides of the outline around `y`, as wide as there are samples.
fn violin(samples: &[f64], span: (f64, f64), y: f64) -> Vec<(f64, f64)> {
    let counts = counts(samples, span, BINS);
    let smooth = |at: usize| {
        let near = |shift: isize| {
            at.checked_add_signed(shift).and_then(|at| counts.get(at)).map_or(0.0, |&c| c as f64)
        };
        near(-1) + 2.0 * near(0) + near(1)
    };
    let widths: Vec<f64> = (0..BINS).map(smooth).collect();
    let most = widths.iter().copied().fold(1.0, f64::max);
    let x = |at: usize| span.0 + (at as f64 + 0.5) / BINS as f64 * (span.1 - span.0);
    let side = |sign: f64| {
        let widths = &widths;
        (0..BINS).map(move |at| (x(at), y + sign * HALF * widths[at] / most))
    };
    let mut outline: Vec<(f64, f64)> = side(1.0).collect();
    outline.extend(side(-1.0).rev());
    outline
}

/// Where run number `run` stands in the band of dots, from -1 to 1: spread evenly, the same each time.
fn jitter(run: usize) -> f64 {
    (run as f64 * 0.618_033_988_75).fract() * 2.0 - 1.0
}

/// Quartiles of what is finite, by linear interpolation; `None` without a sample.
fn quartiles(samples: &[f64]) -> Option<[f64; 3]> {
    let mut sorted: Vec<f64> = samples.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([0.25, 0.5, 0.75].map(|part| {
        let at = part * last as f64;
        let below = at as usize;
        let above = (below + 1).min(last);
        sorted[below] + (sorted[above] - sorted[below]) * at.fract()
    }))
}

fn tip(variant: &Spread, unit: &str) -> String {
    let name = &variant.name;
    match (quartiles(&variant.samples), range([variant.samples.as_slice()])) {
        (Some([q1, median, q3]), Some((low, high))) => format!(
            "{name}: {} runs, {} to {} {unit}, median {}, quartiles {} and {}",
            variant.samples.len(),
            axis(low),
            axis(high),
            axis(median),
            axis(q1),
            axis(q3)
        ),
        _ => format!("{name}: no runs"),
    }
}
