//! Where boxes go: sizes from the inside out, then places from the outside in.

use super::boxes::{Bar, Shape};
use super::palette::{Kind, Scale};
use super::text;

/// Width by height that the outermost box should have: with the text around it the page comes to about 16:10.
const ASPECT: f64 = 1.65;
/// What a grid with an empty cell costs, against the logarithm of how far the aspect is off.
const RAGGED: f64 = 1.0;
/// What each empty cell costs beyond that, by share of the full ones.
const EMPTY_CELL: f64 = 3.0;
/// What room costs, against the same: pictures of the same aspect can differ twofold in area.
const AREA: f64 = 0.15;

/// A rectangle of the page, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Something to draw, in its place.
pub(super) enum Placed<'a> {
    Box(&'a Shape, Rect),
    Bar(&'a Bar, Rect),
}

/// Aspects tried for the boxes inside, level by level: some make the whole come nearer to [`ASPECT`] than it does
/// itself.
const INNER_ASPECTS: [f64; 6] = [1.5, 1.0, 2.0, 0.7, 2.6, 3.5];

/// Finds the grid and the least size of `shape` and all in it; gives width and height.
pub(super) fn measure(shape: &mut Shape, scale: &Scale) -> (f64, f64) {
    let mut best = ([ASPECT; 3], f64::INFINITY);
    for outer in INNER_ASPECTS {
        for inner in INNER_ASPECTS {
            let aspects = [ASPECT, outer, inner];
            let (width, height) = measure_for(shape, scale, &aspects);
            let cost = (width / height / ASPECT).ln().abs() + AREA * (width * height).ln();
            // Against many that are nearly as good, the first gives even boxes.
            if cost < best.1 - 0.02 {
                best = (aspects, cost);
            }
        }
    }
    measure_for(shape, scale, &best.0)
}

/// The same, with the aspects that `shape` and the levels in it should have; the last is for all further in, too.
fn measure_for(shape: &mut Shape, scale: &Scale, aspects: &[f64]) -> (f64, f64) {
    let (aspect, inner) = match aspects {
        [] => (ASPECT, aspects),
        [only] => (*only, aspects),
        [first, rest @ ..] => (*first, rest),
    };
    let label = text::width(&shape.label, scale.font) + 2.0 * scale.pad;
    if is_cpu(shape) {
        (shape.width, shape.height) = (label.max(scale.cpu_width), scale.bar());
        return (shape.width, shape.height);
    }
    for below in &mut shape.below {
        measure_for(below, scale, inner);
    }
    let rows = shape.rows.iter().map(|row| row_width(row, scale) + 2.0 * scale.pad);
    let least = rows.fold(label, f64::max);
    let head = head_height(shape, scale);
    let size = |columns: usize| {
        let grid = grid(&shape.below, columns);
        let of = |cells: &[f64]| cells.iter().sum::<f64>() + gaps(cells.len(), scale);
        let width = least.max(of(&grid.widths) + 2.0 * scale.pad);
        (width, head + of(&grid.heights) + scale.pad)
    };
    let score = |columns: usize| {
        let (width, height) = size(columns);
        let count = shape.below.len().max(1) as f64;
        let cells = shape.below.len().div_ceil(columns) * columns;
        let empty = cells as f64 - shape.below.len() as f64;
        let ragged = if empty > 0.0 { RAGGED + EMPTY_CELL * empty / count } else { 0.0 };
        (width / height / aspect).ln().abs() + ragged
    };
    let all = 1..=shape.below.len().max(1);
    let best = all.clone().min_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap_or(1);
    // CPUs side by side cost nothing where bars need the width anyway.
    let fits = |c: &usize| shape.below.len().is_multiple_of(*c) && size(*c).0 <= least;
    let free = all.filter(fits).max().filter(|_| shape.below.iter().all(is_cpu));
    shape.columns = best.max(free.unwrap_or(1));
    (shape.width, shape.height) = size(shape.columns);
    (shape.width, shape.height)
}

fn is_cpu(shape: &Shape) -> bool {
    matches!(shape.kind, Kind::Cpu | Kind::Offline)
}

/// Width of a row's bars, which are all as wide as the widest.
fn row_width(row: &[Bar], scale: &Scale) -> f64 {
    let widest = row.iter().map(|bar| text::width(&bar.text, scale.font)).fold(0.0, f64::max);
    row.len() as f64 * (widest + 2.0 * scale.pad) + gaps(row.len(), scale)
}

/// Height of padding, label and bars, up to where the grid starts.
fn head_height(shape: &Shape, scale: &Scale) -> f64 {
    let label = if shape.label.is_empty() { 0.0 } else { scale.line() };
    let bars = shape.rows.len() as f64 * (scale.bar() + scale.gap);
    let extra = if shape.below.is_empty() { -scale.gap } else { 0.0 };
    scale.pad + label + bars + if shape.rows.is_empty() { 0.0 } else { extra }
}

fn gaps(count: usize, scale: &Scale) -> f64 {
    count.saturating_sub(1) as f64 * scale.gap
}

/// Widths of the columns and heights of the rows.
struct Grid {
    widths: Vec<f64>,
    heights: Vec<f64>,
}

fn grid(below: &[Shape], columns: usize) -> Grid {
    let mut grid = Grid { widths: vec![0.0; columns.min(below.len())], heights: Vec::new() };
    for row in below.chunks(columns) {
        for (width, shape) in grid.widths.iter_mut().zip(row) {
            *width = width.max(shape.width);
        }
        grid.heights.push(row.iter().map(|s| s.height).fold(0.0, f64::max));
    }
    grid
}

/// Places `shape` into `rect`, which is no smaller than it needs, and all in it; what holds comes before what
/// it holds. Room to spare goes to the cells of the grid, except that CPUs get no higher.
pub(super) fn place<'a>(shape: &'a Shape, rect: Rect, scale: &Scale, out: &mut Vec<Placed<'a>>) {
    out.push(Placed::Box(shape, rect));
    let inside = rect.width - 2.0 * scale.pad;
    let mut y = rect.y + scale.pad + if shape.label.is_empty() { 0.0 } else { scale.line() };
    for row in &shape.rows {
        let width = (inside - gaps(row.len(), scale)) / row.len() as f64;
        for (index, bar) in row.iter().enumerate() {
            let x = rect.x + scale.pad + index as f64 * (width + scale.gap);
            out.push(Placed::Bar(bar, Rect { x, y, width, height: scale.bar() }));
        }
        y += scale.bar() + scale.gap;
    }
    if shape.below.is_empty() {
        return;
    }
    let mut grid = grid(&shape.below, shape.columns);
    let bottom = rect.y + rect.height - scale.pad;
    stretch(&mut grid.widths, inside, scale);
    // A CPU beside a taller neighbour's levels would be a pillar.
    if !shape.below.iter().all(is_cpu) {
        stretch(&mut grid.heights, bottom - y, scale);
    }
    for (row, &height) in shape.below.chunks(shape.columns).zip(&grid.heights) {
        let mut x = rect.x + scale.pad;
        for (below, &width) in row.iter().zip(&grid.widths) {
            place(below, Rect { x, y, width, height }, scale, out);
            x += width + scale.gap;
        }
        y += height + scale.gap;
    }
}

/// Makes `cells` and the gaps between them fill `room`.
fn stretch(cells: &mut [f64], room: f64, scale: &Scale) {
    let spare = room - cells.iter().sum::<f64>() - gaps(cells.len(), scale);
    let count = cells.len() as f64;
    cells.iter_mut().for_each(|cell| *cell += spare / count);
}
