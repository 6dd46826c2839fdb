//! How times spread, a line each, on a logarithmic axis: what percentiles tell.

use super::canvas::{
    AROUND, Drawn, INK, Sheet, Tips, WIDTH, draw, legend, legend_lines, lines_below, room, write,
};
use crate::error::ReportError;
use crate::number::significant;
use crate::table::clip;
use plotters::coord::combinators::IntoLogRange;
use plotters::element::{Circle, PathElement};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

/// Height of a line.
const LINE: u32 = 20;
/// Room for labels: at least, and at most.
const LABELS: (i32, i32) = (90, 260);
const LABEL_LENGTH: usize = 34;
/// The shortest time that is told from 0, in us.
const LEAST_US: f64 = 1e-3;

/// How some times spread.
#[derive(Debug, Clone, PartialEq)]
pub struct Times {
    /// What they are of.
    pub label: String,
    /// Its colour.
    pub colour: RGBColor,
    /// How many there are.
    pub count: u64,
    /// Median, 90th and 99th percentile and maximum, in ns.
    pub ns: [u64; 4],
}

/// The lines of `of`, one below the other, in microseconds; `names` are what colours stand for. Nothing to draw without a time.
///
/// # Errors
/// What the backend refuses.
pub fn times(
    title: &str,
    names: &[(String, RGBColor)],
    of: &[Times],
) -> Result<Option<String>, ReportError> {
    let of: Vec<&Times> = of.iter().filter(|t| t.count > 0).collect();
    let low = of.iter().map(|t| us(t.ns[0])).fold(f64::INFINITY, f64::min);
    let high = of.iter().map(|t| us(t.ns[3])).fold(LEAST_US, f64::max);
    if of.is_empty() {
        return Ok(None);
    }
    let labels = room(of.iter().map(|t| t.label.as_str()), LABEL_LENGTH, LABELS);
    let top = match names {
        [] => 0,
        names => 14 + 20 * legend_lines(names, labels),
    };
    let what = "Spread of times in microseconds: a dot at the median, a thick line to the 90th percentile, a thin one to the 99th, \
                a mark at the longest.";
    let height = top + AROUND + of.len() as u32 * LINE;
    draw(title, what, height, |sheet, tips| {
        legend(sheet, names, (labels, 14))?;
        paint(sheet, tips, (top, labels), &of, (low / 1.5, high * 1.5))
    })
    .map(Some)
}

fn us(ns: u64) -> f64 {
    (ns as f64 / 1e3).max(LEAST_US)
}

fn paint(
    sheet: &Sheet,
    tips: &mut Tips,
    (top, labels): (u32, i32),
    of: &[&Times],
    (low, high): (f64, f64),
) -> Drawn {
    let rows = of.len() as f64;
    let (_, below) = sheet.split_vertically(top);
    let mut chart = lines_below(&below, labels, (low..high).log_scale(), rows, "time (\u{b5}s)")?;
    for (at, times) in of.iter().enumerate() {
        let y = rows - at as f64 - 0.5;
        let [p50, p90, p99, max] = times.ns.map(us);
        let line = |from: f64, to: f64, width| {
            PathElement::new(vec![(from, y), (to, y)], times.colour.stroke_width(width))
        };
        let end =
            PathElement::new(vec![(max, y - 0.3), (max, y + 0.3)], times.colour.stroke_width(2));
        chart.draw_series([line(p99, max, 1), line(p90, p99, 2), line(p50, p90, 6), end])?;
        chart.draw_series([Circle::new((p50, y), 5, times.colour.filled())])?;
        let (_, label_y) = chart.backend_coord(&(p50, y));
        write(sheet, &clip(&times.label, LABEL_LENGTH), (labels - 10, label_y), HPos::Right)?;
        let half = LINE as i32 / 2;
        tips.add((0, label_y - half), (WIDTH as i32, label_y + half), tip(times));
    }
    chart.draw_series([PathElement::new([(low, 0.0), (low, rows)], INK.mix(0.25))])?;
    Ok(())
}

fn tip(times: &Times) -> String {
    let [p50, p90, p99, max] = times.ns.map(|ns| significant(ns as f64 / 1e3));
    format!(
        "{}: {} times, median {p50} \u{b5}s, 90 % at most {p90}, 99 % at most {p99}, longest {max}",
        times.label, times.count
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::colours;

    #[test]
    fn each_spread_is_a_line_and_zero_has_a_place() {
        let of = |label: &str, count, ns| Times {
            label: label.to_string(),
            colour: colours::variant(0),
            count,
            ns,
        };
        let all = [
            of("a", 3, [1_000, 2_000, 90_000, 93_881_800]),
            of("b", 1, [0; 4]),
            of("absent", 0, [0; 4]),
        ];
        let names = [("run".to_string(), colours::variant(0))];
        let svg = times("times", &names, &all).expect("a picture").expect("two lines");
        roxmltree::Document::parse(&svg).expect("an SVG");
        let wanted = "a: 3 times, median 1 \u{b5}s, 90 % at most 2, 99 % at most 90, longest 93882";
        assert!(svg.contains(wanted) && !svg.contains("absent"), "{svg}");
        assert_eq!(times("times", &names, &all[2..]).expect("no picture"), None);
    }
}
