//! A graph of two sides: who does something at the left, whom it is done to at the right, a line for each pair.

use super::canvas::{Drawn, INK, Sheet, Tips, WIDTH, draw, legend, legend_lines, printable, write};
use crate::error::ReportError;
use crate::table::clip;
use plotters::element::{PathElement, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor};

/// Height of the end of a line, and between boxes.
const PORT: i32 = 18;
const GAP: i32 = 8;
/// Where boxes of the left side end, and those of the right side begin.
const SIDES: (i32, i32) = (210, 620);
/// Room for a figure left of a box.
const FIGURE: i32 = 110;
const LABEL_LENGTH: usize = 24;
/// Widest line, in pixels.
const WIDEST: f64 = 9.0;

/// A pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Who.
    pub from: String,
    /// Whom.
    pub to: String,
    /// How often: the line is as thick.
    pub count: u64,
    /// What stands at the line's end, at most some 16 characters.
    pub figure: String,
    /// Colour of the line.
    pub colour: RGBColor,
    /// What one reads when pointing at it.
    pub tip: String,
}

/// A box: its name, and by pair the line's place below its top.
struct Node {
    name: String,
    pairs: Vec<usize>,
    top: i32,
}

impl Node {
    fn height(&self) -> i32 {
        self.pairs.len() as i32 * PORT
    }

    /// The middle of the end of a pair's line.
    fn end(&self, pair: usize) -> i32 {
        let place = self.pairs.iter().position(|p| *p == pair).unwrap_or(0);
        self.top + place as i32 * PORT + PORT / 2
    }
}

/// The pairs of `of`; `names` are what colours stand for. Nothing to draw without a pair.
///
/// # Errors
/// What the backend refuses.
pub fn pairs(
    title: &str,
    names: &[(String, RGBColor)],
    of: &[Pair],
) -> Result<Option<String>, ReportError> {
    if of.is_empty() {
        return Ok(None);
    }
    let top = 18 + 20 * legend_lines(names, 10) as i32;
    let [left, right] = sides(of, top);
    let bottom = |nodes: &[Node]| nodes.last().map_or(top, |n| n.top + n.height());
    let height = (bottom(&left).max(bottom(&right)) + 10) as u32;
    let what = "Who is at the left, whom at the right; lines are as thick as pairs are frequent.";
    draw(title, what, height, |sheet, tips| {
        legend(sheet, names, (10, 14))?;
        for (at, pair) in of.iter().enumerate() {
            paint(sheet, tips, (at, pair), of, (&left, &right))?;
        }
        boxes(sheet, &left, (10, SIDES.0))?;
        boxes(sheet, &right, (SIDES.1, WIDTH as i32 - 10))
    })
    .map(Some)
}

/// Both sides: the left one in the order of pairs, the right one so that few lines cross.
fn sides(of: &[Pair], top: i32) -> [Vec<Node>; 2] {
    let mut left = nodes(of, |pair| &pair.from);
    let mut right = nodes(of, |pair| &pair.to);
    let place = |nodes: &[Node], pair: usize| nodes.iter().position(|n| n.pairs.contains(&pair));
    // The mean place of those whom it is tied to.
    let middle = |node: &Node| {
        let places = node.pairs.iter().filter_map(|&pair| place(&left, pair));
        places.sum::<usize>() as f64 / node.pairs.len().max(1) as f64
    };
    right.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
    left.iter_mut().for_each(|node| node.pairs.sort_by_key(|&pair| place(&right, pair)));
    right.iter_mut().for_each(|node| node.pairs.sort_by_key(|&pair| place(&left, pair)));
    [left, right].map(|mut nodes| {
        let mut y = top;
        for node in &mut nodes {
            node.top = y;
            y += node.height() + GAP;
        }
        nodes
    })
}

fn nodes(of: &[Pair], name: fn(&Pair) -> &String) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    for (at, pair) in of.iter().enumerate() {
        match nodes.iter_mut().find(|node| node.name == *name(pair)) {
            Some(node) => node.pairs.push(at),
            None => nodes.push(Node { name: name(pair).clone(), pairs: vec![at], top: 0 }),
        }
    }
    nodes
}

/// A pair's line with its figure.
fn paint(
    sheet: &Sheet,
    tips: &mut Tips,
    (at, pair): (usize, &Pair),
    of: &[Pair],
    (left, right): (&[Node], &[Node]),
) -> Drawn {
    let end = |nodes: &[Node]| nodes.iter().find(|n| n.pairs.contains(&at)).map(|n| n.end(at));
    let (Some(from), Some(to)) = (end(left), end(right)) else { return Ok(()) };
    let most = of.iter().map(|p| p.count).max().unwrap_or(1).max(1) as f64;
    let width = (pair.count as f64 / most * WIDEST).round().max(1.0) as u32;
    let (x0, x1) = (SIDES.0, SIDES.1 - FIGURE);
    let line = [(x0, from), (x1, to)];
    sheet.draw(&PathElement::new(line, pair.colour.stroke_width(width)))?;
    write(sheet, &printable(&pair.figure), (SIDES.1 - 8, to), HPos::Right)?;
    tips.add((x1, to - PORT / 2), (WIDTH as i32, to + PORT / 2), pair.tip.clone());
    tips.add((0, from - PORT / 2), (x0, from + PORT / 2), pair.tip.clone());
    Ok(())
}

fn boxes(sheet: &Sheet, nodes: &[Node], (from, to): (i32, i32)) -> Drawn {
    for node in nodes {
        let corners = [(from, node.top), (to, node.top + node.height())];
        sheet.draw(&Rectangle::new(corners, INK.mix(0.5).stroke_width(1)))?;
        let place = ((from + to) / 2, node.top + node.height() / 2);
        write(sheet, &clip(&node.name, LABEL_LENGTH), place, HPos::Center)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::colours;

    fn pair(from: &str, to: &str, count: u64) -> Pair {
        Pair {
            from: from.to_string(),
            to: to.to_string(),
            count,
            figure: format!("{count} far"),
            colour: colours::variant(0),
            tip: format!("{from} wakes {to}"),
        }
    }

    #[test]
    fn those_who_are_tied_stand_together() {
        let of = [pair("a", "x", 9), pair("b", "y", 5), pair("a", "z", 2), pair("b", "x", 1)];
        let [left, right] = sides(&of, 0);
        let names = |nodes: &[Node]| nodes.iter().map(|n| n.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            (names(&left), names(&right)),
            (vec!["a".to_string(), "b".to_string()], ["z", "x", "y"].map(str::to_string).to_vec())
        );
        assert_eq!(right[1].height(), 2 * PORT, "two lines end there");
        let svg = pairs("pairs", &[], &of).expect("a picture").expect("four lines");
        roxmltree::Document::parse(&svg).expect("an SVG");
        assert!(svg.contains("b wakes y") && svg.contains("9 far"), "{svg}");
        assert_eq!(pairs("pairs", &[], &[]).expect("no picture"), None);
    }
}
