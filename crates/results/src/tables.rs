//! Results as tables of samples: a benchmark a table, its rows the values of a parameter that the experiment lists, its
//! columns the variants. What a study of several benchmarks prints.

use crate::power::{PER_WATT, POWER};
use crate::rows;
use crate::runs::{Results, WorkloadResults};
use stats::table::Estimator;
use stats::{Better, Cell, Row, Table};

/// The tables of an experiment. All have a column for each variant, the baseline first.
#[derive(Debug, Clone, PartialEq)]
pub struct Tables {
    /// What benchmarks measure, a table a metric.
    pub performance: Vec<Table>,
    /// The first metric of each benchmark for its power; none where no clocks are governed.
    pub per_watt: Vec<Table>,
    /// Power in W, a row a benchmark: in each run the mean over the time that the benchmark's own rows take, as a meter shows it that
    /// is read before and after.
    pub power: Option<Table>,
}

/// The workloads of one table.
struct Benchmark<'a> {
    name: &'a str,
    varying: &'a str,
    /// With their labels.
    rows: Vec<(&'a str, &'a WorkloadResults)>,
}

impl Tables {
    /// The tables of `results`; `None` where the experiment lists no parameter's values, as workloads are tables of their
    /// own then.
    pub fn of(results: &Results) -> Option<Tables> {
        results.experiment.workloads.iter().find(|w| w.row.is_some())?;
        Some(Tables::all(results))
    }

    /// The tables of `results`; a workload that is no row is a table of its own.
    pub fn all(results: &Results) -> Tables {
        let columns: Vec<String> =
            results.experiment.variants.iter().map(|v| v.name.clone()).collect();
        let benchmarks = benchmarks(results);
        let mut tables = Tables { performance: vec![], per_watt: vec![], power: None };
        let mut power = Vec::new();
        for benchmark in &benchmarks {
            let Some((_, first)) = benchmark.rows.first() else { continue };
            for (m, info) in first.metrics.iter().enumerate() {
                let table = || benchmark.table(m, &columns, &info.name);
                match info.name.as_str() {
                    POWER => power.push(Row {
                        label: benchmark.name.to_string(),
                        cells: columns.iter().map(|c| benchmark.mean_over_rows(c, POWER)).collect(),
                    }),
                    PER_WATT => tables.per_watt.push(table()),
                    _ => tables.performance.push(table()),
                }
            }
        }
        if !power.is_empty() {
            tables.power = Some(Table {
                metric: "average power consumption".to_string(),
                varying: "benchmark".to_string(),
                unit: "W".to_string(),
                better: Better::Lower,
                estimator: Estimator::Amean,
                columns,
                rows: power,
            });
        }
        tables
    }
}

/// Workloads by what they are rows of, in the order of the experiment.
fn benchmarks(results: &Results) -> Vec<Benchmark<'_>> {
    let mut found: Vec<Benchmark> = Vec::new();
    for workload in &results.workloads {
        let entry = results.experiment.workload(&workload.name);
        let row = entry.and_then(|e| e.row.as_ref());
        let (name, varying, label) = match row {
            Some(row) => (row.of.as_str(), row.varying.as_str(), row.value.as_str()),
            None => (workload.name.as_str(), "", ""),
        };
        match found.iter_mut().find(|b| b.name == name && row.is_some()) {
            Some(benchmark) => benchmark.rows.push((label, workload)),
            None => found.push(Benchmark { name, varying, rows: vec![(label, workload)] }),
        }
    }
    found
}

impl Benchmark<'_> {
    /// The table of the first row's metric number `m`: runs that keep single times by `SubAmean`, rates by their harmonic mean,
    /// other times by the arithmetic one.
    fn table(&self, m: usize, columns: &[String], metric: &str) -> Table {
        let info = &self.rows[0].1.metrics[m];
        let name = match m {
            0 => self.name.to_string(),
            _ => format!("{}, {}", self.name, info.name),
        };
        let has_times =
            |w: &WorkloadResults| w.metric(metric).is_some_and(|m| w.has_single_times(m));
        let single = self.rows.iter().any(|(_, w)| has_times(w));
        let cell = |workload: &WorkloadResults, column: &str| {
            workload.metric(metric).map_or_else(Cell::default, |m| match single {
                true => workload.single_times(column, m),
                false => Cell::of(&workload.samples(column, m)),
            })
        };
        let row = |(label, workload): &(&str, &WorkloadResults)| Row {
            label: label.to_string(),
            cells: columns.iter().map(|column| cell(workload, column)).collect(),
        };
        Table {
            metric: name,
            varying: self.varying.to_string(),
            unit: info.unit.clone(),
            better: info.better,
            estimator: match info.better {
                _ if single => Estimator::SubAmean,
                Better::Higher => Estimator::Hmean,
                Better::Lower => Estimator::Amean,
            },
            columns: columns.to_vec(),
            rows: self.rows.iter().map(row).collect(),
        }
    }

    fn mean_over_rows(&self, column: &str, metric: &str) -> Cell {
        let rows: Vec<&WorkloadResults> = self.rows.iter().map(|(_, w)| *w).collect();
        rows::mean(&rows, column, metric).map_or_else(Cell::default, |m| Cell::of(&m))
    }
}
