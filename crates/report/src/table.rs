//! Right-aligned columns of text, for mails.

use comfy_table::{CellAlignment, Table};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a line of a report may take.
pub(crate) const WIDTH: usize = 100;

/// A borderless table: `columns` as its head, each of `rows` below, every cell right-aligned, columns two
/// spaces apart, no trailing spaces. A row shorter than `columns` ends in blanks; a longer one adds columns
/// without a head.
pub fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    spaced(columns, rows, 2)
}

/// [`table`] of at most 100 columns of a terminal: one that is wider has one space between columns, or comes in parts,
/// each of which begins with the first `keep` columns. Only cells that are too wide themselves make it wider.
pub fn fitted(columns: &[&str], rows: &[Vec<String>], keep: usize) -> String {
    let n = rows.iter().map(Vec::len).fold(columns.len(), usize::max);
    let head = |column: usize| columns.get(column).copied().unwrap_or("");
    let cell =
        |row: &Vec<String>, column: usize| row.get(column).map_or(String::new(), String::clone);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.width()).fold(head(column).width(), usize::max)
    };
    let widths: Vec<usize> = (0..n).map(width).collect();
    let all: usize = widths.iter().sum();
    if let Some(gap) =
        [2u16, 1].into_iter().find(|&gap| all + usize::from(gap) * n.saturating_sub(1) <= WIDTH)
    {
        return spaced(columns, rows, gap);
    }
    let keep = keep.min(n);
    let kept: usize = widths.iter().take(keep).map(|width| width + 2).sum();
    let (mut parts, mut from) = (Vec::new(), keep);
    while from < n {
        let mut to = from + 1;
        let mut taken = kept + widths[from];
        while to < n && taken + 2 + widths[to] <= WIDTH {
            taken += 2 + widths[to];
            to += 1;
        }
        let of_part = || (0..keep).chain(from..to);
        let columns: Vec<&str> = of_part().map(head).collect();
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| of_part().map(|c| cell(row, c)).collect()).collect();
        parts.push(spaced(&columns, &rows, 2));
        from = to;
    }
    parts.join("\n")
}

fn spaced(columns: &[&str], rows: &[Vec<String>], gap: u16) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(columns).add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((if index == 0 { 0 } else { gap }, 0));
    }
    let lines = table.lines().map(|line| format!("{}\n", line.trim_end()));
    lines.collect()
}

/// `text` on one line of at most `width` columns of a terminal: control characters become spaces, and an ellipsis
/// marks what is cut.
pub(crate) fn clip(text: &str, width: usize) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().map(shown).collect();
    if text.width() <= width {
        return text;
    }
    let mut room = width.saturating_sub(1);
    let mut kept = String::new();
    for c in text.chars() {
        let Some(left) = room.checked_sub(c.width().unwrap_or(0)) else { break };
        room = left;
        kept.push(c);
    }
    kept.push('…');
    kept
}

/// `text` with spaces behind it, so that it takes `width` columns of a terminal.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|c| c.to_string()).collect()
    }

    #[test]
    fn sets_published_beside_predicted() {
        let rows =
            [row(&["vanilla", "6.004", "5.871", "-2.2%"]), row(&["big-core", "5.724", "5.6"])];
        let expected = "\
\u{20}   cell  published  predicted  error
 vanilla      6.004      5.871  -2.2%
big-core      5.724        5.6
";
        assert_eq!(table(&["cell", "published", "predicted", "error"], &rows), expected);
    }

    #[test]
    fn shows_cells_beyond_the_head() {
        assert_eq!(table(&["a"], &[row(&["1", "22"])]), "a\n1  22\n");
        assert_eq!(table(&["a", "bb"], &[]), "a  bb\n");
    }

    #[test]
    fn what_is_too_wide_moves_together_or_comes_in_parts() {
        let cells = |n: usize, width: usize| vec![vec!["x".repeat(width); n]];
        let heads = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        // Ten columns of 8: 98 with two spaces, of 9: 99 with one.
        for (width, gap) in [(8, "  "), (9, " ")] {
            let text = fitted(&heads, &cells(10, width), 2);
            assert_eq!(text.lines().count(), 2);
            assert_eq!(text.lines().last(), Some(&*vec!["x".repeat(width); 10].join(gap)));
        }
        let text = fitted(&heads, &cells(10, 12), 2);
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["a", "b", "c", "d", "e", "f", "g"]);
        assert_eq!(lines[3], ["a", "b", "h", "i", "j"]);
        assert_eq!((lines[1].len(), lines[2].len(), lines[4].len()), (7, 0, 5));
    }

    #[test]
    fn clips_to_one_line() {
        assert_eq!(clip("a\nb\tc", 10), "a b c");
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(clip("\u{4e2d}\u{6587}\u{5b57}", 4), "\u{4e2d}…", "each takes two columns");
    }

    #[test]
    fn pads_by_columns() {
        assert_eq!(
            [pad("ab", 3), pad("\u{4e2d}", 3), pad("abcd", 3)],
            ["ab ", "\u{4e2d} ", "abcd"]
        );
    }

    proptest! {
        #[test]
        fn a_fitted_table_has_every_cell_and_fits(
            widths in prop::collection::vec(1usize..30, 1..20),
            keep in 0usize..3,
        ) {
            let row: Vec<String> =
                widths.iter().enumerate().map(|(at, &n)| format!("{at}{}", "x".repeat(n))).collect();
            let heads: Vec<&str> = row.iter().map(|_| "").collect();
            let text = fitted(&heads, std::slice::from_ref(&row), keep);
            prop_assert!(text.lines().all(|l| l.width() <= WIDTH), "{text}");
            let words: Vec<&str> = text.split_whitespace().collect();
            prop_assert!(row.iter().all(|cell| words.contains(&cell.as_str())), "{text}");
        }

        #[test]
        fn no_line_ends_in_a_space(cells in prop::collection::vec("[a-z ]{0,6}", 1..8)) {
            let text = table(&["x", "y"], &[cells]);
            prop_assert!(text.lines().all(|l| !l.ends_with(' ')), "{text:?}");
        }
    }
}
