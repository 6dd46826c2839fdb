//! Results as tables for those who look at them with a data-frame library: a row a value, names and units beside it.

mod moved;

pub use moved::{elasticities, robustness, swings};

use crate::analysis::{Analysis, MetricAnalysis};
use crate::columns::{Column, Table, Values};
use crate::effects::{Effect, EffectMap};
use crate::runs::{Results, Run};
use crate::turns::{Point, Turns};
use machine::{ConstantRange, Constants};
use stats::Comparison;
use stats::table::{Change, Figure};

/// Names of a row's workload, variant and quantity.
type Names<'a> = [&'a str; 4];

fn text<'a>(name: &'static str, help: &'static str, of: impl Iterator<Item = &'a str>) -> Column {
    Column { name, unit: "", help, values: Values::Text(of.map(String::from).collect()) }
}

fn column(name: &'static str, help: &'static str, values: Values) -> Column {
    Column { name, unit: "", help, values }
}

/// The first columns of a table of runs: workload, variant, run, seed, name, unit.
fn of_runs(rows: &[(Names<'_>, &Run)]) -> Vec<Column> {
    let names = |at: usize| rows.iter().map(move |(names, _)| names[at]);
    vec![
        text("workload", "The workload", names(0)),
        text("variant", "The variant", names(1)),
        column(
            "run",
            "Number of the run, from 0",
            Values::Small(rows.iter().map(|(_, run)| run.run as i32).collect()),
        ),
        column("seed", "Its seed", Values::Whole(rows.iter().map(|(_, run)| run.seed).collect())),
        text("name", "What the value is called", names(2)),
        text("unit", "Unit of the value", names(3)),
    ]
}

/// A row for each metric of each run, in the order of the experiment: workload, variant, run, seed, name, unit, better, value.
pub fn samples(results: &Results) -> Table {
    let (mut rows, mut values, mut better) = (Vec::new(), Vec::new(), Vec::new());
    for w in &results.workloads {
        for (v, run) in w.variants.iter().flat_map(|v| v.runs.iter().map(move |run| (v, run))) {
            for (info, &value) in w.metrics.iter().zip(&run.metrics) {
                rows.push(([&*w.name, &*v.name, &*info.name, &*info.unit], run));
                values.push(value);
                better.push(info.better.name());
            }
        }
    }
    let mut columns = of_runs(&rows);
    columns.push(text("better", "Which direction is good", better.into_iter()));
    columns.push(column("value", "The value, in its unit", Values::Real(values)));
    Table { name: "samples", columns }
}

/// A row for each counter of each run: workload, variant, run, seed, name, unit, value.
pub fn counters(results: &Results) -> Table {
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for w in &results.workloads {
        for (v, run) in w.variants.iter().flat_map(|v| v.runs.iter().map(move |run| (v, run))) {
            for (info, &value) in results.counters.iter().zip(&run.counters) {
                rows.push(([&*w.name, &*v.name, &*info.name, &*info.unit], run));
                values.push(value);
            }
        }
    }
    let mut columns = of_runs(&rows);
    columns.push(column("value", "The value, in its unit", Values::Whole(values)));
    Table { name: "counters", columns }
}

/// A variant's metric against the baseline's.
struct Compared<'a> {
    workload: &'a str,
    baseline: &'a str,
    variant: &'a str,
    metric: &'a MetricAnalysis,
    found: Option<Comparison>,
}

/// A row for each metric of each variant against the baseline: names, means, the percent change with its interval, the verdict. Where
/// samples carry no percent change, its numbers are missing and the verdict is `none`.
pub fn comparisons(analysis: &Analysis<'_>) -> Table {
    let mut rows: Vec<Compared<'_>> = Vec::new();
    for w in &analysis.workloads {
        for metric in &w.metrics {
            let Some(base) = metric.variants.first() else { continue };
            rows.extend(metric.variants.iter().skip(1).map(|variant| Compared {
                workload: &w.name,
                baseline: &base.name,
                variant: &variant.name,
                metric,
                found: variant.comparison,
            }));
        }
    }
    let real = |name, unit, help, of: fn(&Comparison) -> f64| Column {
        name,
        unit,
        help,
        values: Values::Maybe(rows.iter().map(|row| row.found.as_ref().map(of)).collect()),
    };
    let count = |name, help, of: fn(&Comparison) -> usize| {
        let n = |row: &Compared<'_>| row.found.as_ref().map_or(0, |c| of(c) as u64);
        column(name, help, Values::Whole(rows.iter().map(n).collect()))
    };
    let verdicts: Vec<String> = rows.iter().map(verdict).collect();
    let better = |row: &Compared<'_>| row.metric.info.better.name();
    let percent = "Percent change of the mean, positive if the variant is better";
    Table {
        name: "comparisons",
        columns: vec![
            text("workload", "The workload", rows.iter().map(|r| r.workload)),
            text("name", "The metric", rows.iter().map(|r| &*r.metric.info.name)),
            text("unit", "Its unit", rows.iter().map(|r| &*r.metric.info.unit)),
            text("better", "Which direction is good", rows.iter().map(better)),
            text("baseline", "The first variant", rows.iter().map(|r| r.baseline)),
            text("variant", "The variant", rows.iter().map(|r| r.variant)),
            count("baseline_runs", "Runs of the baseline", |c| c.base.n),
            count("variant_runs", "Runs of the variant", |c| c.variant.n),
            real("baseline_mean", "", "Mean of the baseline, in `unit`", |c| c.base.mean),
            real("variant_mean", "", "Mean of the variant, in `unit`", |c| c.variant.mean),
            real("percent", "%", percent, |c| c.percent.estimate),
            real("low", "%", "Lower end of its 95 % BCa interval", |c| c.percent.low),
            real("high", "%", "Upper end of its 95 % BCa interval", |c| c.percent.high),
            text(
                "verdict",
                "What the runs prove at 99 %: better, worse, no-difference, or none",
                verdicts.iter().map(|v| &**v),
            ),
            real("smallest", "%", "Smallest effect that these runs could show", |c| {
                c.smallest_detectable_percent
            }),
        ],
    }
}

fn verdict(row: &Compared<'_>) -> String {
    row.found.map_or("none", |c| c.verdict.name()).to_string()
}

/// A row for each place of a map: the values of its two axes, means, the percent change with its interval, the verdict after Holm's
/// correction over the map. Numbers that are not there are missing, and then the verdict is `none`.
pub fn effects(map: &EffectMap) -> Table {
    let all = &map.effects;
    let of_map = |name, help, value: &str| text(name, help, std::iter::repeat_n(value, all.len()));
    let mean = |name, help, of: fn(&Effect) -> Option<Figure>| {
        column(name, help, Values::Maybe(all.iter().map(|e| of(e).map(|f| f.value)).collect()))
    };
    let runs = |name, help, of: fn(&Effect) -> Option<Figure>| {
        let n = |e: &Effect| of(e).map_or(0, |f| f.samples as u64);
        column(name, help, Values::Whole(all.iter().map(n).collect()))
    };
    let real = |name, unit, help, of: fn(&Change) -> f64| Column {
        name,
        unit,
        help,
        values: Values::Maybe(all.iter().map(|e| e.change.as_ref().map(of)).collect()),
    };
    let verdict = |e: &Effect| e.change.map_or("none", |c| c.verdict.name());
    let percent = "Percent change of the mean, positive if the variant is better";
    let proven = "What the whole map proves at 95 %: better, worse, no-difference, or none";
    Table {
        name: "effects",
        columns: vec![
            text("row", "Value of the axis down", all.iter().map(|e| &*e.row)),
            text("column", "Value of the axis across", all.iter().map(|e| &*e.column)),
            of_map("workload", "The workload", &map.workload),
            of_map("name", "The metric", &map.metric),
            of_map("unit", "Its unit", &map.unit),
            of_map("better", "Which direction is good", map.better.name()),
            runs("baseline_runs", "Runs of the baseline", |e| e.baseline),
            runs("variant_runs", "Runs of the variant", |e| e.variant),
            mean("baseline_mean", "Mean of the baseline, in `unit`", |e| e.baseline),
            mean("variant_mean", "Mean of the variant, in `unit`", |e| e.variant),
            real("percent", "%", percent, |c| c.percent.estimate),
            real("low", "%", "Lower end of its 95 % BCa interval", |c| c.percent.low),
            real("high", "%", "Upper end of its 95 % BCa interval", |c| c.percent.high),
            real("p_holm", "", "p-value after Holm's correction over the map", |c| c.p_holm),
            text("verdict", proven, all.iter().map(verdict)),
            real("smallest", "%", "Smallest effect that these runs could show", |c| {
                c.smallest_detectable_percent
            }),
        ],
    }
}

/// A row for each value that a search looked at: value, runs, the percent change with its interval, the verdict of a look.
pub fn points(turns: &Turns) -> Table {
    let all = &turns.points;
    let real = |name, help, of: fn(&Point) -> Option<f64>| Column {
        name,
        unit: "%",
        help,
        values: Values::Maybe(all.iter().map(of).collect()),
    };
    let percent = "Percent change of the mean, positive if the variant is better";
    let verdict = "What the runs prove at the level of a look: better, worse, no-difference";
    Table {
        name: "points",
        columns: vec![
            column(
                "value",
                "The parameter's value",
                Values::Real(all.iter().map(|p| p.value).collect()),
            ),
            column(
                "runs",
                "Runs of the baseline, and as many of the variant",
                Values::Whole(all.iter().map(|p| p.runs as u64).collect()),
            ),
            real("percent", percent, |p| p.percent.map(|i| i.estimate)),
            real("low", "Lower end of its 95 % BCa interval", |p| p.percent.map(|i| i.low)),
            real("high", "Upper end of its 95 % BCa interval", |p| p.percent.map(|i| i.high)),
            text("verdict", verdict, all.iter().map(|p| p.verdict.name())),
            real("smallest", "Smallest effect that these runs could show", |p| p.smallest_percent),
        ],
    }
}

/// A row for each constant of a machine, in name order: name, value, unit, how well it is known, where it comes from, and in
/// which range it may lie.
pub fn constants(constants: &Constants) -> Table {
    let rows: Vec<_> = constants.iter().collect();
    let marks: Vec<String> = rows.iter().map(|(_, c)| c.mark.to_string()).collect();
    let values = rows.iter().map(|(_, c)| c.value).collect();
    let ranges: Vec<ConstantRange> = rows.iter().map(|(name, c)| c.range_of(name)).collect();
    let (low, high) = ranges.iter().map(|r| (r.low, r.high)).unzip();
    Table {
        name: "constants",
        columns: vec![
            text("name", "The constant", rows.iter().map(|(name, _)| *name)),
            column("value", "Its value, in `unit`", Values::Real(values)),
            text("unit", "Its unit", rows.iter().map(|(_, c)| &*c.unit)),
            text("mark", "How well it is known", marks.iter().map(|m| &**m)),
            text("source", "Where it comes from", rows.iter().map(|(_, c)| &*c.source)),
            column("low", "The least value that it may have, in `unit`", Values::Real(low)),
            column("high", "The greatest", Values::Real(high)),
            text("range_source", "Who says so", ranges.iter().map(|r| &*r.source)),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::resampling;
    use crate::{Engine, MetricInfo, VariantRuns, WorkloadResults};
    use definition::ExperimentFile;
    use stats::Better;
    use workload::Counter;

    /// Two variants with these samples, and one counter.
    fn results(base: &[f64], variant: &[f64]) -> Results {
        let text = include_str!("../../../experiments/power9-big-core.toml");
        let of = |name: &str, samples: &[f64]| VariantRuns {
            name: name.to_string(),
            runs: (0..)
                .zip(samples)
                .map(|(run, &value)| Run {
                    run,
                    seed: 7,
                    metrics: vec![value],
                    single_times: vec![],
                    counters: vec![u64::MAX],
                })
                .collect(),
        };
        let unit = "ops/s".to_string();
        Results {
            engine: Engine::Sim,
            experiment: ExperimentFile { study: None, ..ExperimentFile::parse(text, "x").unwrap() },
            constants: Constants::default(),
            counted: vec![],
            counters: vec![Counter::number("wakeups", "Wake-ups")],
            workloads: vec![WorkloadResults {
                name: "w".to_string(),
                title: "w".to_string(),
                metrics: vec![MetricInfo { name: "m".to_string(), unit, better: Better::Higher }],
                ignored: vec![],
                variants: vec![of("a", base), of("b", variant)],
            }],
            computers: vec![],
            sensitivity: None,
            robustness: None,
        }
    }

    fn values<'a>(table: &'a Table, name: &str) -> &'a Values {
        &table.columns.iter().find(|c| c.name == name).expect("a column").values
    }

    fn words(of: &[&str]) -> Values {
        Values::Text(of.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn each_value_of_each_run_has_a_row() {
        let results = results(&[1.0, 2.0], &[3.0]);
        let samples = samples(&results);
        assert_eq!(values(&samples, "variant"), &words(&["a", "a", "b"]));
        assert_eq!(values(&samples, "run"), &Values::Small(vec![0, 1, 0]));
        assert_eq!(values(&samples, "better"), &words(&["higher"; 3]));
        assert_eq!(values(&samples, "value"), &Values::Real(vec![1.0, 2.0, 3.0]));
        // A counter is not rounded to a float.
        assert_eq!(values(&counters(&results), "value"), &Values::Whole(vec![u64::MAX; 3]));
    }

    #[test]
    fn a_comparison_that_cannot_be_is_a_row_without_numbers() {
        let compared = |results: &Results| {
            comparisons(&Analysis::of_partial(results, resampling().unwrap()).unwrap())
        };
        let good = compared(&results(&[1.0, 1.1, 0.9, 1.0, 1.05], &[2.0, 2.1, 1.9, 2.0, 2.05]));
        assert_eq!(values(&good, "verdict"), &words(&["better"]));
        let Values::Maybe(percent) = values(&good, "percent") else { panic!("{good:?}") };
        assert!((percent[0].unwrap() - 99.0).abs() < 1.5, "{percent:?}");
        let none = compared(&results(&[0.0, 0.0], &[0.0, 0.0]));
        assert_eq!(values(&none, "verdict"), &words(&["none"]));
        assert_eq!(values(&none, "percent"), &Values::Maybe(vec![None]));
    }
}
