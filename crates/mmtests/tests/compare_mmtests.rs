//! What `compare-mmtests.pl` prints of the same logs. Its versions: commit 638401e0 of June 2026, 096661fd of December 2025
//! for `hackbench-thread-sockets`, `tbench4` and the `-old` logs of kernbench and gitsource, and 42423cc4 of November 2020
//! for `tbench-old`; the last three with the `-old` dropped from the directory's name. Called as
//! `compare-mmtests.pl -d tests/fixtures/log -b BENCHMARK -n base,patched` with `--sub-heading METRIC` (2026) or
//! `-a tput` (tbench4's throughput).

use mmtests::{Imported, read};
use stats::table::{ComparedCell, Estimator};
use stats::{Better, Confidence, Mean, Resampling, Table};
use std::path::PathBuf;

fn fixtures() -> Imported {
    let log = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/log");
    read(&log, &["base".to_string(), "patched".to_string()]).unwrap()
}

fn table<'a>(imported: &'a Imported, metric: &str) -> &'a Table {
    imported.tables.iter().find(|t| t.metric == metric).unwrap()
}

/// Table, mean, row, both figures as printed, their digits after the point, and the percent change.
type Printed = (&'static str, &'static str, &'static str, [f64; 2], i32, f64);

const PRINTED: &[Printed] = &[
    ("hackbench-process-pipes time", "mean", "1", [0.3959, 0.3590], 4, 9.32),
    ("hackbench-process-pipes time", "mean", "4", [1.5934, 1.4374], 4, 9.79),
    ("hackbench-process-pipes time", "best", "1", [0.3937, 0.3583], 4, 8.98),
    ("hackbench-process-pipes time", "best", "4", [1.5874, 1.4333], 4, 9.71),
    ("dbench loadfile", "mean", "1", [97.9750, 87.5250], 4, 10.67),
    ("dbench loadfile", "mean", "16", [291.1375, 262.8125], 4, 9.73),
    ("dbench tput", "mean", "1", [119.5112, 131.2533], 4, 9.83),
    ("dbench tput", "mean", "16", [1106.0016, 1216.4483], 4, 9.99),
    ("kernbench Elapsed", "mean", "2", [3670.17, 3307.04], 2, 9.89),
    ("kernbench Elapsed", "mean", "16", [465.13, 413.83], 2, 11.03),
    ("kernbench Elapsed", "best", "2", [3655.20, 3298.15], 2, 9.77),
    ("kernbench Elapsed", "best", "16", [462.87, 411.94], 2, 11.00),
    ("gitsource Elapsed", "mean", "", [1043.50, 938.25], 2, 10.09),
    ("gitsource Elapsed", "best", "", [1039.83, 934.66], 2, 10.11),
    ("schbench Wakeup", "mean", "20.0th-16", [4.67, 4.00], 2, 14.29),
    ("schbench Wakeup", "mean", "50.0th-16", [5.33, 5.00], 2, 6.25),
    ("schbench Wakeup", "mean", "90.0th-16", [10.67, 9.67], 2, 9.38),
    ("schbench Wakeup", "mean", "99.0th-16", [19.50, 18.17], 2, 6.84),
    ("schbench Wakeup", "mean", "99.9th-16", [45.83, 42.50], 2, 7.27),
    ("schbench Wakeup", "best", "20.0th-16", [4.60, 4.00], 2, 13.04),
    ("schbench Wakeup", "best", "50.0th-16", [5.20, 5.00], 2, 3.85),
    ("schbench Wakeup", "best", "90.0th-16", [10.60, 9.60], 2, 9.43),
    ("schbench Wakeup", "best", "99.0th-16", [19.20, 18.00], 2, 6.25),
    ("schbench Wakeup", "best", "99.9th-16", [45.40, 42.00], 2, 7.49),
    ("schbench RPS", "mean", "20.0th-16", [2379.66, 2703.04], 2, 13.59),
    ("schbench RPS", "mean", "50.0th-16", [3054.41, 3345.16], 2, 9.52),
    ("schbench RPS", "mean", "90.0th-16", [5921.38, 6354.33], 2, 7.31),
    ("schbench RPS", "best", "20.0th-16", [2396.47, 2742.88], 2, 14.45),
    ("schbench RPS", "best", "50.0th-16", [3102.20, 3403.03], 2, 9.70),
    ("schbench RPS", "best", "90.0th-16", [5990.37, 6438.38], 2, 7.48),
    ("hackbench-thread-sockets time", "mean", "1", [0.5038, 0.4512], 4, 10.45),
    ("hackbench-thread-sockets time", "mean", "12", [5.9555, 5.3733], 4, 9.78),
    ("hackbench-thread-sockets time", "best", "1", [0.5022, 0.4490], 4, 10.59),
    ("hackbench-thread-sockets time", "best", "12", [5.9320, 5.3142], 4, 10.41),
    ("tbench4 loadfile", "mean", "2", [19.45, 17.71], 2, 8.92),
    ("tbench4 loadfile", "best", "2", [19.03, 17.33], 2, 8.93),
    ("tbench4 tput", "mean", "2", [426.04, 475.34], 2, 11.57),
    ("tbench4 tput", "best", "2", [426.37, 475.73], 2, 11.58),
    ("kernbench-old User", "mean", "4", [810.59, 796.86], 2, 1.69),
    ("kernbench-old System", "mean", "4", [89.82, 89.36], 2, 0.51),
    ("kernbench-old Elapsed", "mean", "4", [207.76, 190.84], 2, 8.14),
    ("kernbench-old User", "best", "4", [808.10, 794.26], 2, 1.71),
    ("kernbench-old System", "best", "4", [89.39, 88.94], 2, 0.49),
    ("kernbench-old Elapsed", "best", "4", [207.25, 190.28], 2, 8.19),
    ("gitsource-old User", "mean", "", [696.66, 702.37], 2, -0.82),
    ("gitsource-old System", "mean", "", [402.77, 396.23], 2, 1.62),
    ("gitsource-old Elapsed", "mean", "", [988.58, 896.66], 2, 9.30),
    ("gitsource-old User", "best", "", [692.67, 697.01], 2, -0.63),
    ("gitsource-old System", "best", "", [401.49, 394.75], 2, 1.68),
    ("gitsource-old Elapsed", "best", "", [984.98, 893.05], 2, 9.33),
    ("tbench-old tput", "mean", "8", [3297.34, 3672.26], 2, 11.37),
    ("tbench-old tput", "best", "8", [3301.84, 3675.89], 2, 11.33),
];

#[test]
fn figures_are_those_of_compare_mmtests() {
    let imported = fixtures();
    let resampling = Resampling::new(1000, 1, Confidence::P95).unwrap();
    for &(metric, mean, label, printed, digits, percent) in PRINTED {
        let table = table(&imported, metric);
        let row = table.rows.iter().position(|r| r.label == label).unwrap();
        let pooled = Mean::of_sense(table.better);
        let figure = |column: usize| {
            let samples = table.rows[row].cells[column].samples();
            match mean {
                "best" => pooled.of_best(&samples, table.better, 95).unwrap(),
                _ => pooled.of(&samples).unwrap(),
            }
        };
        let (base, patched) = (figure(0), figure(1));
        let half_digit = 0.5 * 0.1f64.powi(digits) * (1.0 + 1e-9);
        assert!((base - printed[0]).abs() <= half_digit, "{metric} {label}: {base}");
        assert!((patched - printed[1]).abs() <= half_digit, "{metric} {label}: {patched}");
        let change = table.better.percent(base, patched);
        assert!((change - percent).abs() <= 0.005 + 1e-9, "{metric} {label}: {change}");
        if mean == "mean" && table.estimator != Estimator::SubAmean {
            let compared = table.compare(&resampling, Confidence::P95).unwrap();
            let cell = &compared.rows[row].cells[1];
            assert!((cell.change().unwrap().percent.estimate - percent).abs() <= 0.005 + 1e-9);
        }
    }
}

/// `SubAmean 2  19.53  17.79 ( 8.90%)` and `SubAmeanCI 2  0.98  1.67`, by unseeded draws.
#[test]
fn subamean_is_that_of_compare_mmtests() {
    let imported = fixtures();
    let table = table(&imported, "tbench4 loadfile");
    assert_eq!((table.estimator, table.better), (Estimator::SubAmean, Better::Lower));
    let resampling = Resampling::new(1000, 1, Confidence::P95).unwrap();
    let compared = table.compare(&resampling, Confidence::P95).unwrap();
    let figure = |column: usize| *compared.rows[0].cells[column].figure().unwrap();
    let (base, patched) = (figure(0), figure(1));
    assert!((base.value - 19.53).abs() < 0.15 && (patched.value - 17.79).abs() < 0.15);
    let half = |f: stats::table::Figure| f.half_width.unwrap();
    assert!((half(base) - 0.98).abs() < 0.1 && (half(patched) - 1.67).abs() < 0.17);
    // The negative time that wrapped around is left out in both iterations.
    assert_eq!(base.samples, 98);
}

/// `time-7 2.8160 (0.00%) 0.0000 (0.00%)`: we say that it is missing.
#[test]
fn a_missing_value_is_missing() {
    let imported = fixtures();
    let table = table(&imported, "hackbench-process-pipes time");
    let resampling = Resampling::new(1000, 1, Confidence::P95).unwrap();
    let compared = table.compare(&resampling, Confidence::P95).unwrap();
    assert_eq!(compared.rows[2].label, "7");
    assert_eq!(compared.rows[2].cells[1], ComparedCell::Missing);
    assert_eq!(compared.comparisons, 2);
}

#[test]
fn unknown_benchmarks_are_named() {
    assert_eq!(fixtures().left_out, ["stream"]);
}
