//! A study's table: 14 client counts, a baseline and 5 variants, 100 samples a cell, 10,000 resamples a comparison.

use criterion::{Criterion, criterion_group, criterion_main};
use stats::table::Estimator;
use stats::{Better, Cell, Confidence, Resampling, Row, Table};
use std::hint::black_box;

const ROWS: usize = 14;
const COLUMNS: usize = 6;
const SAMPLES: usize = 100;

/// A table of samples around levels that differ by a few percent.
fn study(estimator: Estimator) -> Table {
    let sample = |row: usize, column: usize, i: usize| {
        let noise = ((i * 7919 + row * 104_729 + column * 1299) % 1009) as f64 / 1009.0;
        500.0 * (row + 1) as f64 * (1.0 + 0.02 * column as f64 + 0.05 * noise)
    };
    let cell =
        |row, column| Cell::of(&(0..SAMPLES).map(|i| sample(row, column, i)).collect::<Vec<f64>>());
    let row = |row: usize| Row {
        label: (1usize << row).to_string(),
        cells: (0..COLUMNS).map(|column| cell(row, column)).collect(),
    };
    Table {
        metric: "tbench4".into(),
        varying: "clients".into(),
        unit: "MB/s".into(),
        better: Better::Higher,
        estimator,
        columns: (0..COLUMNS).map(|c| format!("variant-{c}")).collect(),
        rows: (0..ROWS).map(row).collect(),
    }
}

fn benches(c: &mut Criterion) {
    let resampling =
        Resampling::new(10_000, 1, Confidence::P95).expect("settings within their bounds");
    let mut group = c.benchmark_group("table");
    group.sample_size(10);
    for estimator in [Estimator::Amean, Estimator::Hmean] {
        let table = study(estimator);
        group.bench_function(estimator.name(), |b| {
            b.iter(|| black_box(&table).compare(&resampling, Confidence::P95));
        });
    }
    group.finish();
}

criterion_group!(table, benches);
criterion_main!(table);
