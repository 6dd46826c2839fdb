//! The table that ministat prints and kernel mails carry, with our own interval and verdict below.

use crate::number::signed;
use crate::table::{WIDTH, clip};
use stats::{Better, Comparison, Summary};

/// ministat's marks, one a sample; more samples start over, in the order of the list above the table.
const MARKS: &[char] = &['x', '+', '*', '%', '#', '@', 'O'];

const HEAD: &str = "    N           Min           Max        Median           Avg        Stddev\n";

/// Samples by name, the first being the base, as ministat prints them, each row under its mark.
///
/// `unit` is the values' unit; `comparisons` compares `variants[1..]` with the first, in that order, `None`
/// where the samples allow none. ministat's own lines keep its sign (positive where the figure rose);
/// the lines below them count positive as better.
pub fn ministat(
    variants: &[(&str, &[f64])],
    unit: &str,
    better: Better,
    comparisons: &[Option<Comparison>],
) -> String {
    let sense = match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
    };
    let mut out = format!("{} ({sense})\n", clip(unit, WIDTH - 20));
    for (mark, (name, _)) in marks().zip(variants) {
        out.push_str(&format!("{mark} {}\n", clip(name, WIDTH - 2)));
    }
    out.push_str(HEAD);
    for (mark, (_, values)) in marks().zip(variants) {
        out.push_str(&row(mark, values));
    }
    let with_heads = variants.len() > 2;
    for (index, (mark, (name, _))) in marks().zip(variants).enumerate().skip(1) {
        if with_heads {
            out.push_str(&format!("{mark} {} against x:\n", clip(name, WIDTH - 14)));
        }
        out.push_str(&match comparisons.get(index - 1) {
            Some(Some(comparison)) => compared(comparison),
            Some(None) => NOT_COMPARABLE.to_string(),
            None => "Not compared\n".to_string(),
        });
    }
    out
}

const NOT_COMPARABLE: &str = "\
No comparison possible: it needs two or more runs of each, none negative, and a base above 0
";

fn marks() -> impl Iterator<Item = char> {
    MARKS.iter().copied().cycle()
}

/// One sample's row, in ministat's widths.
fn row(mark: char, values: &[f64]) -> String {
    let Some(s) = Summary::of(values) else {
        let n = values.len();
        return format!("{mark} {n:>3}  missing: no values, or one that is no finite number\n");
    };
    let stddev = s.stddev.map_or_else(|| "-".to_string(), |d| significant(d, 8));
    let figures = [s.min, s.max, s.median, s.mean].map(|v| format!(" {:>13}", significant(v, 8)));
    format!("{mark} {:>3}{} {stddev:>13}\n", s.n, figures.concat())
}

/// ministat's comparison, then the percent interval, the verdict and what the runs could have shown.
fn compared(c: &Comparison) -> String {
    let d = &c.difference;
    let confidence = format!("{:.1}% confidence", d.confidence.percent());
    let mut out = if d.is_significant() {
        let g = |x| significant(x, 6);
        let mut block = format!("Difference at {confidence}\n");
        block.push_str(&format!("    {} +/- {}\n", g(d.delta), g(d.half_width)));
        block.push_str(&match (d.percent, d.percent_half_width) {
            (Some(percent), Some(half)) => format!("    {}% +/- {}%\n", g(percent), g(half)),
            _ => "    no percentage: the base's mean is 0\n".to_string(),
        });
        block.push_str(&format!("    (Student's t, pooled s = {})\n", g(d.pooled_stddev)));
        block
    } else {
        format!("No difference proven at {confidence}\n")
    };
    let p = &c.percent;
    out.push_str(&format!(
        "Percent change {}%, BCa interval {}% to {}% at {:.1}% (positive = better)\n",
        signed(p.estimate, 2),
        signed(p.low, 2),
        signed(p.high, 2),
        p.confidence.percent()
    ));
    out.push_str(&format!(
        "Verdict at {:.1}%: {}; smallest effect these runs could show: {:.2}%\n",
        c.verdict_confidence.percent(),
        c.verdict,
        c.smallest_detectable_percent
    ));
    out
}

/// `value` with `digits` significant digits, as C's `%g` prints it: without trailing zeros, with an
/// exponent where it is below -4 or not below `digits`.
pub(crate) fn significant(value: f64, digits: usize) -> String {
    let scientific = format!("{value:.*e}", digits - 1);
    let split = scientific.split_once('e');
    let Some((mantissa, exponent)) = split.and_then(|(m, e)| Some((m, e.parse::<i32>().ok()?)))
    else {
        return scientific; // inf and NaN have no exponent
    };
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    match usize::try_from(digits as i32 - 1 - exponent) {
        Ok(decimals) if exponent >= -4 => trimmed(&format!("{value:.decimals$}")),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stats::{Confidence, Resampling, compare};
    use unicode_width::UnicodeWidthStr;

    const A: [f64; 10] = [6.174, 6.02, 5.871, 7.25, 4.225, 6.31, 9.754, 5.99, 6.182, 6.1];
    const B: [f64; 9] = [6.08, 5.12, 4.069, 5.93, 6.745, 5.31, 5.7, 6.05, 4.88];

    fn against(base: &[f64], variant: &[f64], level: f64) -> Option<Comparison> {
        let settings = Resampling::new(100_000, 1, Confidence::new(level).unwrap()).unwrap();
        compare(base, variant, Better::Lower, &settings)
    }

    /// The rows as `ministat -n a b` (20150715) prints them, but for the median of an even number of
    /// values, for which that version takes the upper of the middle two (6.174 for `a`).
    #[test]
    fn prints_as_ministat_does() {
        let c = against(&A, &B, 0.95);
        let text = ministat(&[("vanilla", &A), ("big-core", &B)], "s", Better::Lower, &[c]);
        let expected = "\
s (lower is better)
x vanilla
+ big-core
    N           Min           Max        Median           Avg        Stddev
x  10         4.225         9.754         6.137        6.3876     1.3940327
+   9         4.069         6.745           5.7     5.5426667    0.79136765
No difference proven at 95.0% confidence
Percent change +13.23%, BCa interval -0.77% to +29.92% at 95.0% (positive = better)
Verdict at 99.0%: no difference proven; smallest effect these runs could show: 31.13%
";
        assert_eq!(text, expected);
    }

    /// `ministat -c 80 a b` (20150715): -0.844933 +/- 0.704617, -13.2277% +/- 11.031%, pooled s = 1.15045;
    /// its t has three decimals.
    #[test]
    fn prints_a_difference_with_ministats_sign() {
        let c = against(&A, &B, 0.8);
        let text = ministat(&[("a", &A), ("b", &B)], "s", Better::Lower, &[c]);
        let expected = "\
Difference at 80.0% confidence
    -0.844933 +/- 0.704817
    -13.2277% +/- 11.0341%
    (Student's t, pooled s = 1.15045)
";
        assert!(text.contains(expected), "{text}");
    }

    #[test]
    fn each_variant_stands_against_the_first() {
        let faster = A.map(|x| x / 3.0);
        let samples: [(&str, &[f64]); 4] =
            [("a", &A), ("b", &faster), ("c", &[1.0]), ("d", &[f64::NAN])];
        let comparisons = [against(&A, &faster, 0.95), against(&A, &[1.0], 0.95)];
        let text = ministat(&samples, "s", Better::Lower, &comparisons);
        let (_, rest) = text.split_once("Stddev\n").unwrap();
        let lines: Vec<&str> = rest.lines().collect();
        assert_eq!(
            lines[2],
            "*   1             1             1             1             1             -"
        );
        assert_eq!(lines[3], "%   1  missing: no values, or one that is no finite number");
        assert_eq!(lines[4], "+ b against x:");
        assert!(lines[10].starts_with("Verdict at 99.0%: better;"), "{text}");
        assert_eq!(lines[11], "* c against x:");
        assert_eq!(lines[12], NOT_COMPARABLE.trim_end());
        assert_eq!(lines[13..], ["% d against x:", "Not compared"]);
    }

    /// `printf %.8g` and `%.6g` of the shell
    #[test]
    fn significant_digits_are_those_of_printf() {
        let by_printf = [
            (6.00402, 8, "6.00402"),
            (0.883110271, 8, "0.88311027"),
            (5123456.789, 8, "5123456.8"),
            (123456789.0, 8, "1.2345679e+08"),
            (99999999.9, 8, "1e+08"),
            (0.0001, 6, "0.0001"),
            (0.00001234, 6, "1.234e-05"),
            (-100.0, 6, "-100"),
            (0.0, 6, "0"),
        ];
        for (value, digits, text) in by_printf {
            assert_eq!(significant(value, digits), text);
        }
    }

    proptest! {
        #[test]
        fn any_samples_fit_the_page(
            a in prop::collection::vec(any::<f64>(), 0..6),
            b in prop::collection::vec(0.0..1e6f64, 0..6),
            name in ".{0,200}",
        ) {
            let settings = Resampling::new(100, 1, Confidence::P95).unwrap();
            let c = compare(&b, &a, Better::Higher, &settings);
            let d = compare(&b, &b, Better::Higher, &settings);
            let samples: [(&str, &[f64]); 3] = [(&name, &b), (&name, &a), ("again", &b)];
            let text = ministat(&samples, &name, Better::Higher, &[c, d]);
            prop_assert!(!text.contains("NaN"));
            if a.iter().all(|v| v.abs() < 1e12) {
                prop_assert!(text.lines().all(|l| l.width() <= WIDTH), "{text}");
            }
        }
    }
}
