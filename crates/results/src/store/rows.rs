//! `runs.parquet`: one row for each value of each run.
//!
//! A run's rows stand together: its metrics, the single times behind them, its counters, each in the order of the manifest.

use crate::columns::{self, Column, Table, Values};
use crate::runs::{MetricInfo, Results, Run};
use parquet::errors::ParquetError;
use parquet::record::{Row, RowAccessor};
use workload::Counter;

const METRIC: &str = "metric";
const TIME: &str = "time";
const COUNTER: &str = "counter";

/// The columns before they are written.
#[derive(Default)]
struct Columns {
    workload: Vec<String>,
    variant: Vec<String>,
    run: Vec<i32>,
    seed: Vec<u64>,
    kind: Vec<String>,
    name: Vec<String>,
    unit: Vec<String>,
    value: Vec<f64>,
}

impl Columns {
    fn of(results: &Results) -> Columns {
        let mut columns = Columns::default();
        for w in &results.workloads {
            for v in &w.variants {
                for run in &v.runs {
                    columns.push_run((&w.name, &v.name), run, &w.metrics, &results.counters);
                }
            }
        }
        columns
    }

    /// The metrics, then the times behind them, then the counters.
    fn push_run(
        &mut self,
        of: (&str, &str),
        run: &Run,
        metrics: &[MetricInfo],
        counters: &[Counter],
    ) {
        for (info, &value) in metrics.iter().zip(&run.metrics) {
            self.push(of, run, (METRIC, &info.name, &info.unit), value);
        }
        for (info, times) in metrics.iter().zip(&run.single_times) {
            for &time in times {
                self.push(of, run, (TIME, &info.name, &info.unit), time);
            }
        }
        for (counter, value) in counters.iter().zip(&run.counters) {
            self.push(of, run, (COUNTER, &counter.name, &counter.unit), *value as f64);
        }
    }

    fn push(&mut self, of: (&str, &str), run: &Run, what: (&str, &str, &str), value: f64) {
        self.workload.push(of.0.into());
        self.variant.push(of.1.into());
        self.run.push(run.run as i32);
        self.seed.push(run.seed);
        self.kind.push(what.0.into());
        self.name.push(what.1.into());
        self.unit.push(what.2.into());
        self.value.push(value);
    }

    fn table(self) -> Table {
        let column = |name, help, values| Column { name, unit: "", help, values };
        let text = |name, help, of| column(name, help, Values::Text(of));
        Table {
            name: "runs",
            columns: vec![
                text("workload", "The workload", self.workload),
                text("variant", "The variant", self.variant),
                column("run", "Number of the run, from 0", Values::Small(self.run)),
                column("seed", "Its seed", Values::Whole(self.seed)),
                text("kind", "What kind of value: metric, time or counter", self.kind),
                text("name", "What the value is called", self.name),
                text("unit", "Unit of the value", self.unit),
                column("value", "The value", Values::Real(self.value)),
            ],
        }
    }
}

/// The bytes of `runs.parquet`.
pub(super) fn runs_file(results: &Results) -> Result<Vec<u8>, ParquetError> {
    columns::bytes(&Columns::of(results).table())
}

/// One row.
pub(super) struct Value {
    workload: String,
    variant: String,
    run: u32,
    seed: u64,
    kind: String,
    name: String,
    value: f64,
}

pub(super) fn value_of(row: &Row) -> Result<Value, ParquetError> {
    Ok(Value {
        workload: row.get_string(0)?.clone(),
        variant: row.get_string(1)?.clone(),
        run: u32::try_from(row.get_int(2)?)
            .map_err(|_| ParquetError::General("a negative run number".to_string()))?,
        seed: row.get_ulong(3)?,
        kind: row.get_string(4)?.clone(),
        name: row.get_string(5)?.clone(),
        value: row.get_double(7)?,
    })
}

/// Puts a row where it belongs; the error says what does not fit.
pub(super) fn add_value(results: &mut Results, row: Value) -> Result<(), String> {
    let workload = results
        .workloads
        .iter_mut()
        .find(|w| w.name == row.workload)
        .ok_or_else(|| format!("workload `{}`", row.workload))?;
    let metric = workload.metrics.iter().position(|m| m.name == row.name);
    let counters = &results.counters;
    let variant = workload
        .variants
        .iter_mut()
        .find(|v| v.name == row.variant)
        .ok_or_else(|| format!("variant `{}`", row.variant))?;
    if variant.runs.last().is_none_or(|r| r.run != row.run) {
        let (metrics, single_times, counters) = (vec![], vec![], vec![]);
        variant.runs.push(Run { run: row.run, seed: row.seed, metrics, single_times, counters });
    }
    let run = variant.runs.last_mut().ok_or("no run")?;
    match row.kind.as_str() {
        METRIC if metric == Some(run.metrics.len()) => {
            run.metrics.push(row.value);
            run.single_times.push(vec![]);
        }
        TIME => match metric.and_then(|m| run.single_times.get_mut(m)) {
            Some(times) => times.push(row.value),
            None => return Err(format!("{TIME} `{}`", row.name)),
        },
        COUNTER if counters.get(run.counters.len()).is_some_and(|c| c.name == row.name) => {
            run.counters.push(row.value as u64);
        }
        _ => return Err(format!("{} `{}`", row.kind, row.name)),
    }
    Ok(())
}
