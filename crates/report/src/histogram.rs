//! Histograms as the big-core study draws them, alone or two beside each other.

use crate::table::{WIDTH, clip, pad};
use stats::Histogram;
use unicode_width::UnicodeWidthStr;

/// Bar length that all runs in one bin reach, after the first mark: the study's 5 runs of 100 a mark.
const STUDY_SCALE: u64 = 20;
/// Longest text of a bin edge that is printed without an exponent.
const EDGE_WIDTH: usize = 12;

/// One column of [`side_by_side`].
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    /// The variant's name.
    pub name: &'a str,
    /// Its runs.
    pub histogram: &'a Histogram,
    /// Counts that a study published for the same bins, from the first bin on.
    pub published: Option<&'a [u64]>,
}

/// The study's form: a line a bin, `[low - high] : count : bar`, where the bar is one `#` and one more for
/// each full 5 % of all runs. Runs outside the bins are told in a line of their own.
pub fn study_form(unit: &str, histogram: &Histogram) -> String {
    let labels = bin_labels(histogram);
    let width = count_width(histogram.counts.iter());
    let mut out = format!("{} : # samples : Histogram\n", clip(unit, WIDTH - 24));
    for (label, &count) in labels.iter().zip(&histogram.counts) {
        let bar = bar(count, histogram.total(), STUDY_SCALE);
        out.push_str(&format!("{label} : {count:>width$} : {bar}\n"));
    }
    if let Some(line) = outside(histogram) {
        out.push_str(&format!("Outside the bins: {line}\n"));
    }
    out
}

/// Two histograms of the same bins beside each other, each with the published counts where there are
/// any; one below the other, and saying so, where their bins differ.
pub fn side_by_side(unit: &str, left: &Column, right: &Column) -> String {
    let labels = bin_labels(left.histogram);
    if labels != bin_labels(right.histogram) {
        return stacked(unit, left, right);
    }
    let indent = labels.first().map_or(0, |l| l.chars().count());
    let (scale, blocks) = fitting_blocks(indent, left, right);
    let heads = [String::new(), clip(unit, indent)];
    let mut out = String::new();
    for (label, (l, r)) in heads.iter().chain(&labels).zip(blocks[0].iter().zip(&blocks[1])) {
        let line = format!("{} : {l} : {r}", pad(label, indent));
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push_str(&format!("A bar is one #, and one more for each full {}% of runs\n", 100 / scale));
    for column in [left, right] {
        out.push_str(&notes(column));
    }
    out
}

/// The blocks of both columns at the longest bars that fit the page, and the scale of those.
fn fitting_blocks(indent: usize, left: &Column, right: &Column) -> (u64, [Vec<String>; 2]) {
    let at = |scale| [block(left, scale), block(right, scale)];
    let fits = |blocks: &[Vec<String>; 2]| {
        let wide = |b: &[String]| b.first().map_or(0, |line| line.width());
        indent + 6 + wide(&blocks[0]) + wide(&blocks[1]) <= WIDTH
    };
    for scale in [STUDY_SCALE, STUDY_SCALE / 2] {
        let blocks = at(scale);
        if fits(&blocks) {
            return (scale, blocks);
        }
    }
    (STUDY_SCALE / 4, at(STUDY_SCALE / 4))
}

/// A column's lines, all of one width: its name, its head, a line a bin.
fn block(column: &Column, scale: u64) -> Vec<String> {
    let counts = &column.histogram.counts;
    let total = column.histogram.total();
    let width = count_width(counts.iter()).max("runs".len());
    let mut lines = vec![format!("{:>width$} : {}", "runs", "Histogram")];
    lines.extend(counts.iter().map(|&c| format!("{c:>width$} : {}", bar(c, total, scale))));
    if let Some(published) = column.published {
        let publ = count_width(published.iter()).max("publ.".len());
        let cell = |i: usize| published.get(i).map_or_else(|| "-".to_string(), |c| c.to_string());
        let cells = std::iter::once("publ.".to_string()).chain((0..).map(cell));
        lines = cells.zip(&lines).map(|(cell, line)| format!("{cell:>publ$} : {line}")).collect();
    }
    let widest = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    lines.insert(0, clip(column.name, widest));
    lines.iter().map(|line| pad(line, widest)).collect()
}

/// What the bins do not hold: runs outside, and published counts that no bin stands for.
fn notes(column: &Column) -> String {
    let name = clip(column.name, WIDTH / 4);
    let mut out = String::new();
    if let Some(line) = outside(column.histogram) {
        out.push_str(&format!("Outside the bins: {name}: {line}\n"));
    }
    let extra = column.published.and_then(|p| p.get(column.histogram.counts.len()..));
    if let Some(extra) = extra.filter(|e| !e.is_empty()) {
        let runs: u64 = extra.iter().fold(0, |sum, &c| sum.saturating_add(c));
        let more = extra.len();
        out.push_str(&format!("Published for {more} more bins: {name}: {runs} runs\n"));
    }
    out
}

/// Both columns in the study's form, one below the other.
fn stacked(unit: &str, left: &Column, right: &Column) -> String {
    let mut out = "The bins differ: one below the other\n".to_string();
    for column in [left, right] {
        let form = study_form(unit, column.histogram);
        out.push_str(&format!("{}\n{form}", clip(column.name, WIDTH)));
        if let Some(published) = column.published {
            let counts: Vec<String> = published.iter().map(u64::to_string).collect();
            let line = format!("published counts, bin by bin: {}", counts.join(" "));
            out.push_str(&textwrap::fill(&line, WIDTH));
            out.push('\n');
        }
    }
    out
}

/// Runs outside the bins, where there are any.
fn outside(histogram: &Histogram) -> Option<String> {
    let edges = edge_texts(histogram);
    let (low, high) = (edges.first()?, edges.last()?);
    let below = (histogram.below > 0).then(|| format!("{} below {low}", histogram.below));
    let above = (histogram.above > 0).then(|| format!("{} at or above {high}", histogram.above));
    let parts: Vec<String> = below.into_iter().chain(above).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// One mark, and one more for each full `total / scale` runs of `count`.
fn bar(count: u64, total: u64, scale: u64) -> String {
    let marks = u128::from(count) * u128::from(scale) / u128::from(total.max(1));
    "#".repeat(1 + marks as usize)
}

/// Columns that the counts need: the study's three, or more.
fn count_width<'a>(counts: impl Iterator<Item = &'a u64>) -> usize {
    counts.map(|c| c.to_string().len()).max().unwrap_or(0).max(3)
}

/// `[low - high]` of every bin, right-aligned within.
fn bin_labels(histogram: &Histogram) -> Vec<String> {
    let edges = edge_texts(histogram);
    let width = edges.iter().map(String::len).max().unwrap_or(0).max(8);
    edges.windows(2).map(|e| format!("[{:>width$} - {:>width$}]", e[0], e[1])).collect()
}

/// All edges with the fewest decimals that tell them to a millionth of a bin; with an exponent where that
/// takes too many digits.
fn edge_texts(histogram: &Histogram) -> Vec<String> {
    let edges: Vec<f64> = (0..=histogram.counts.len()).map(|i| histogram.edge(i)).collect();
    let fixed = |decimals: usize| {
        let texts: Vec<String> = edges.iter().map(|e| format!("{e:.decimals$}")).collect();
        let exact = texts.iter().zip(&edges).all(|(text, edge)| {
            let told =
                text.parse::<f64>().is_ok_and(|t| (t - edge).abs() <= 1e-6 * histogram.width);
            told && text.len() <= EDGE_WIDTH
        });
        exact.then_some(texts)
    };
    let scientific = || edges.iter().map(|e| format!("{e:.5e}")).collect();
    (0..EDGE_WIDTH).find_map(fixed).unwrap_or_else(scientific)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Counts published in the big-core study for 2 threads of ebizzy.
    const VANILLA: [u64; 6] = [0, 3, 7, 26, 4, 60];
    const BIG_CORE: [u64; 6] = [0, 0, 11, 0, 0, 89];

    fn ebizzy(counts: [u64; 6]) -> Histogram {
        Histogram { low: 0.0, width: 1e6, counts: counts.to_vec(), below: 0, above: 0 }
    }

    #[test]
    fn draws_the_studys_vanilla_bars() {
        let expected = "\
records/s : # samples : Histogram
[       0 -  1000000] :   0 : #
[ 1000000 -  2000000] :   3 : #
[ 2000000 -  3000000] :   7 : ##
[ 3000000 -  4000000] :  26 : ######
[ 4000000 -  5000000] :   4 : #
[ 5000000 -  6000000] :  60 : #############
";
        assert_eq!(study_form("records/s", &ebizzy(VANILLA)), expected);
    }

    #[test]
    fn draws_the_studys_big_core_bars() {
        let text = study_form("records/s", &ebizzy(BIG_CORE));
        let bars: Vec<usize> = text.lines().skip(1).map(|l| l.matches('#').count()).collect();
        assert_eq!(bars, [1, 1, 3, 1, 1, 18]);
    }

    #[test]
    fn bars_are_shares_of_all_runs() {
        let h = Histogram { below: 500, above: 1, ..ebizzy([0, 99, 400, 0, 0, 0]) };
        let text = study_form("records/s", &h);
        assert!(text.contains(": 400 : #########\n"), "{text}");
        assert!(text.contains(":  99 : ##\n"), "{text}");
        assert!(text.ends_with("Outside the bins: 500 below 0, 1 at or above 6000000\n"), "{text}");
        let empty = study_form("records/s", &ebizzy([0; 6]));
        assert_eq!(empty.matches(":   0 : #\n").count(), 6);
    }

    #[test]
    fn sets_variants_beside_each_other_with_the_published_counts() {
        let (l, r) = (ebizzy([0, 0, 10, 30, 0, 60]), ebizzy([0, 0, 0, 0, 0, 100]));
        let left = Column { name: "vanilla", histogram: &l, published: Some(&VANILLA) };
        let right = Column { name: "big-core", histogram: &r, published: Some(&BIG_CORE) };
        let expected = "\
\u{20}                     : vanilla                      : big-core
records/s             : publ. : runs : Histogram     : publ. : runs : Histogram
[       0 -  1000000] :     0 :    0 : #             :     0 :    0 : #
[ 1000000 -  2000000] :     3 :    0 : #             :     0 :    0 : #
[ 2000000 -  3000000] :     7 :   10 : ###           :    11 :    0 : #
[ 3000000 -  4000000] :    26 :   30 : #######       :     0 :    0 : #
[ 4000000 -  5000000] :     4 :    0 : #             :     0 :    0 : #
[ 5000000 -  6000000] :    60 :   60 : ############# :    89 :  100 : #####################
A bar is one #, and one more for each full 5% of runs
";
        assert_eq!(side_by_side("records/s", &left, &right), expected);
    }

    #[test]
    fn leaves_nothing_out() {
        let (l, r) = (ebizzy(VANILLA), Histogram { above: 2, ..ebizzy(BIG_CORE) });
        let short = [1, 2];
        let left = Column { name: "vanilla", histogram: &l, published: Some(&short) };
        let right =
            Column { name: "big-core", histogram: &r, published: Some(&[0, 0, 0, 0, 0, 0, 9]) };
        let text = side_by_side("records/s", &left, &right);
        assert!(text.contains("] :     - :    7 : ##"), "{text}");
        assert!(text.contains("Outside the bins: big-core: 2 at or above 6000000\n"), "{text}");
        assert!(text.contains("Published for 1 more bins: big-core: 9 runs\n"), "{text}");
        let other = Histogram { width: 2e6, ..ebizzy(BIG_CORE) };
        let text = side_by_side("records/s", &left, &Column { histogram: &other, ..right });
        assert!(text.starts_with("The bins differ"), "{text}");
        assert!(text.contains("published counts, bin by bin: 0 0 0 0 0 0 9\n"), "{text}");
    }

    #[test]
    fn edges_show_as_few_decimals_as_they_need() {
        let edges = |low, width| {
            edge_texts(&Histogram { low, width, counts: vec![0; 3], below: 0, above: 0 })
        };
        assert_eq!(edges(0.0, 0.1), ["0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(edges(-1.0, 0.25), ["-1.00", "-0.75", "-0.50", "-0.25"]);
        assert_eq!(edges(0.0, 5e14)[1], "5.00000e14");
    }

    proptest! {
        #[test]
        fn fits_the_page(
            values in prop::collection::vec(0.0..1e4f64, 0..50),
            low in 0.0..1e3f64, width in 1e-3..1e9f64, bins in 1usize..12, name in ".{0,120}",
        ) {
            let h = Histogram::of(&values, low, width, bins).unwrap();
            let column = Column { name: &name, histogram: &h, published: Some(&VANILLA) };
            for text in [study_form(&name, &h), side_by_side(&name, &column, &column)] {
                prop_assert!(text.lines().all(|l| l.width() <= WIDTH), "{text}");
            }
        }
    }
}
