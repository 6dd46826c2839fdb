use crate::table::{Cell, ComparedCell, Estimator, Row, Table};
use crate::{Better, Confidence, Resampling, Verdict, compare, hmean};

const A: [f64; 10] = [6.174, 6.02, 5.871, 7.25, 4.225, 6.31, 9.754, 5.99, 6.182, 6.1];

fn settings() -> Resampling {
    Resampling::new(10_000, 1, Confidence::P95).unwrap()
}

fn table(estimator: Estimator, better: Better, rows: Vec<Vec<Cell>>) -> Table {
    let columns = (0..rows[0].len()).map(|c| format!("v{c}")).collect();
    let row = |(i, cells): (usize, Vec<Cell>)| Row { label: i.to_string(), cells };
    Table {
        metric: "m".into(),
        varying: "groups".into(),
        unit: "s".into(),
        better,
        estimator,
        columns,
        rows: rows.into_iter().enumerate().map(row).collect(),
    }
}

fn scaled(factor: f64) -> Cell {
    Cell::of(&A.map(|x| x * factor))
}

/// A table of one comparison says what the pair's own comparison says.
#[test]
fn one_cell_is_the_pairs_own_comparison() {
    let t = table(Estimator::Amean, Better::Lower, vec![vec![scaled(1.0), scaled(0.7)]]);
    let compared = t.compare(&settings(), Confidence::P99).unwrap();
    let cell = compared.rows[0].cells[1].change().copied().unwrap();
    let own = compare(&A, &A.map(|x| x * 0.7), Better::Lower, &settings()).unwrap();
    assert_eq!(cell.percent, own.percent);
    assert_eq!(cell.verdict, own.verdict);
    assert!((cell.smallest_detectable_percent - own.smallest_detectable_percent).abs() < 1e-9);
    assert_eq!((cell.p, compared.comparisons), (cell.p_holm, 1));
    assert!((cell.ratio.estimate - 0.7).abs() < 1e-12);
    let base = compared.rows[0].cells[0].figure().unwrap();
    // R 4.2: `qt(.975, 9) * sd(a) / sqrt(10)`
    assert!((base.half_width.unwrap() - 0.997230916).abs() < 1e-5, "{base:?}");
    assert_eq!((base.samples, base.batches), (10, None));
}

/// The same cell is a difference alone and none among many: the correction spans the table.
#[test]
fn a_table_is_stricter_than_a_cell() {
    let lone = table(Estimator::Amean, Better::Lower, vec![vec![scaled(1.0), scaled(0.8)]]);
    let rows = (0..12).map(|_| vec![scaled(1.0), scaled(0.8), scaled(1.0)]).collect();
    let many = table(Estimator::Amean, Better::Lower, rows);
    let (lone, many) = (
        lone.compare(&settings(), Confidence::P95).unwrap(),
        many.compare(&settings(), Confidence::P95).unwrap(),
    );
    let (one, other) =
        (lone.rows[0].cells[1].change().unwrap(), many.rows[3].cells[1].change().unwrap());
    assert_eq!((one.verdict, other.verdict), (Verdict::Better, Verdict::NoDifference));
    assert_eq!(many.comparisons, 24);
    assert!(other.smallest_detectable_percent > one.smallest_detectable_percent * 1.2);
    let same = many.rows[0].cells[2].change().unwrap();
    assert_eq!((same.p_holm, same.percent.estimate), (1.0, 0.0));
}

#[test]
fn rates_compare_by_harmonic_means() {
    let t = table(Estimator::Hmean, Better::Higher, vec![vec![scaled(1.0), scaled(2.0)]]);
    let compared = t.compare(&settings(), Confidence::P95).unwrap();
    let base = compared.rows[0].cells[0].figure().unwrap();
    assert!((base.value - hmean(&A).unwrap()).abs() < 1e-12);
    // R 4.2, by the delta method: `h <- 1/mean(1/a); qt(.975, 9) * sd(1/a) / sqrt(10) * h^2`
    assert!((base.half_width.unwrap() - 0.892901555).abs() < 1e-5, "{base:?}");
    let change = compared.rows[0].cells[1].change().unwrap();
    assert!((change.percent.estimate - 100.0).abs() < 1e-9);
    assert_eq!(change.verdict, Verdict::Better);
}

#[test]
fn missing_and_refused_cells_say_so() {
    let zero = Cell::of(&[0.0, 1.0]);
    let rows = vec![
        vec![scaled(1.0), Cell::default(), scaled(1.1)],
        vec![Cell::default(), scaled(1.0), zero],
        vec![scaled(1.0), Cell::of(&[1.0]), scaled(1.2)],
    ];
    let compared = table(Estimator::Hmean, Better::Higher, rows)
        .compare(&settings(), Confidence::P95)
        .unwrap();
    let [first, second, third] = &compared.rows[..] else { panic!() };
    assert_eq!(first.cells[1], ComparedCell::Missing);
    assert_eq!(second.cells[0], ComparedCell::Missing);
    assert!(second.cells[1].figure().is_some() && second.cells[1].change().is_none());
    let ComparedCell::Refused(why) = &second.cells[2] else { panic!("{second:?}") };
    assert_eq!(why, "Hmean of values[0]: found 0, expected a finite number above 0");
    let lone = third.cells[1].figure().unwrap();
    assert_eq!((lone.value, lone.half_width, third.cells[1].change()), (1.0, None, None));
    assert_eq!(compared.comparisons, 2);
}

#[test]
fn rows_must_fill_their_columns() {
    let mut t = table(Estimator::Amean, Better::Lower, vec![vec![scaled(1.0), scaled(2.0)]]);
    t.rows[0].cells.pop();
    let message = t.compare(&settings(), Confidence::P95).unwrap_err().to_string();
    assert_eq!(message, "table row 0: found 1 cells, expected 2, one a column");
}

#[test]
fn subselected_runs_compare_by_their_own_error() {
    let runs = |shift: f64| Cell {
        runs: (0..3)
            .map(|r| (0..100).map(|i| 50.0 + shift + f64::from((i * 7 + r) % 13)).collect())
            .collect(),
    };
    let t = table(Estimator::SubAmean, Better::Lower, vec![vec![runs(0.0), runs(0.0), runs(5.0)]]);
    let compared = t.compare(&settings(), Confidence::P95).unwrap();
    let cells = &compared.rows[0].cells;
    assert_eq!(cells[1].change().unwrap().p_holm, 1.0);
    let change = cells[2].change().unwrap();
    assert_eq!(change.verdict, Verdict::Worse);
    let (low, high) = (change.percent.low, change.percent.high);
    assert!(
        low < change.percent.estimate && change.percent.estimate < high && high < 0.0,
        "{change:?}"
    );
    // 56 to 61: -8.9 %.
    assert!((change.percent.estimate + 8.93).abs() < 0.2, "{change:?}");
}

/// Fifty thousand seconds of throughput become a thousand batches.
#[test]
fn long_runs_are_resampled_in_batches() {
    let run =
        |level: f64| Cell { runs: vec![(0..50_000).map(|i| level + f64::from(i % 10)).collect()] };
    let t = table(Estimator::Hmean, Better::Higher, vec![vec![run(100.0), run(110.0)]]);
    let cells = &t.compare(&settings(), Confidence::P95).unwrap().rows[0].cells;
    let figure = cells[1].figure().unwrap();
    assert_eq!((figure.samples, figure.batches), (50_000, Some(1000)));
    assert_eq!(cells[1].change().unwrap().verdict, Verdict::Better);
}
