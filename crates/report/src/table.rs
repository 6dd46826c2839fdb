//! Right-aligned columns of text, for mails.

use comfy_table::{CellAlignment, Table};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a line of a report may take.
pub(crate) const WIDTH: usize = 100;

/// A borderless table: `columns` as its head, each of `rows` below, every cell right-aligned, columns two
/// spaces apart, no trailing spaces. A row shorter than `columns` ends in blanks; a longer one adds columns
/// without a head.
pub fn table(columns: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(columns).add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
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
        fn no_line_ends_in_a_space(cells in prop::collection::vec("[a-z ]{0,6}", 1..8)) {
            let text = table(&["x", "y"], &[cells]);
            prop_assert!(text.lines().all(|l| !l.ends_with(' ')), "{text:?}");
        }
    }
}
