use super::*;
use crate::table::{Cell, Estimator, Row};

fn settings() -> Resampling {
    Resampling::new(1000, 1, Confidence::P95).unwrap()
}

/// Rows of 20 samples around `level`, with 1 % of noise.
fn table(better: Better, rows: &[[f64; 3]]) -> Table {
    let cell = |level: f64, place: usize| {
        let noise = |i: usize| 1.0 + 0.01 * ((i * 7 + place * 3) % 11) as f64 / 11.0;
        Cell::of(&(0..20).map(|i| level * noise(i)).collect::<Vec<f64>>())
    };
    let row = |(r, levels): (usize, &[f64; 3])| Row {
        label: r.to_string(),
        cells: levels.iter().enumerate().map(|(c, &level)| cell(level, r + c)).collect(),
    };
    Table {
        metric: "tbench4".into(),
        varying: "clients".into(),
        unit: "MB/s".into(),
        better,
        estimator: Estimator::Hmean,
        columns: vec!["base".into(), "same".into(), "other".into()],
        rows: rows.iter().enumerate().map(row).collect(),
    }
}

#[test]
fn ratios_are_geometric_means_over_rows() {
    let tables = [
        table(Better::Higher, &[[10.0, 10.0, 20.0], [30.0, 30.0, 15.0], [5.0, 5.0, 10.0]]),
        table(Better::Lower, &[[10.0, 10.0, 9.0]]),
    ];
    let o = overview(&tables, &settings(), Confidence::P95).unwrap();
    assert_eq!(o.columns, ["base", "same", "other"]);
    let [same, other] = o.lines[0].cells[..] else { panic!() };
    assert_eq!(same.unwrap().verdict, Verdict::NoDifference);
    let other = other.unwrap();
    assert!((other.ratio.estimate - 2f64.powf(1.0 / 3.0)).abs() < 0.01, "{other:?}");
    assert_eq!(other.verdict, Verdict::Better);
    assert!(other.ratio.low < other.ratio.estimate && other.ratio.estimate < other.ratio.high);
    let lower = o.lines[1].cells[1].unwrap();
    assert_eq!(lower.verdict, Verdict::Better);
    assert!((lower.ratio.estimate - 0.9).abs() < 0.01);
}

/// With one row and n samples a side, the ratio's error has 2 (n - 1) degrees of freedom, where both are as noisy.
#[test]
fn one_row_has_welchs_freedom() {
    let t = table(Better::Higher, &[[10.0, 10.0, 20.0]]);
    let line = overview(&[t], &settings(), Confidence::P95).unwrap().lines.remove(0);
    let cell = line.cells[1].unwrap();
    let half = (cell.ratio.high / cell.ratio.estimate).ln();
    // R 4.2: `n <- 1 + 0.01 * ((0:19 * 7) %% 11) / 11`, `m` with `+ 6`; both with hmean's errors in the logarithm:
    // `se <- sd(1/n) / mean(1/n) / sqrt(20)`, likewise for m; `qt(.975, df) * sqrt(se^2 + sm^2)`
    assert!((half - 0.00188079070201).abs() < 1e-9, "{half}");
}

#[test]
fn a_missing_row_leaves_no_ratio() {
    let mut t = table(Better::Higher, &[[10.0, 10.0, 20.0], [1.0, 1.0, 1.0]]);
    t.rows[1].cells[2] = Cell::default();
    let o = overview(std::slice::from_ref(&t), &settings(), Confidence::P95).unwrap();
    assert!(o.lines[0].cells[0].is_some() && o.lines[0].cells[1].is_none());
    let mut other = t.clone();
    other.columns.pop();
    let message = overview(&[t, other], &settings(), Confidence::P95).unwrap_err().to_string();
    assert!(message.contains("found 2 cells, expected 3"), "{message}");
    assert_eq!(overview(&[], &settings(), Confidence::P95).unwrap().lines, []);
}
