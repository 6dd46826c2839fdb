//! Published beside predicted, cell by cell.

use crate::results::{Results, WorkloadResults};
use crate::study::{Study, Table};
use serde::Serialize;
use stats::{Better, Interval, Resampling};

/// One published comparison and its prediction. Percents are positive where the variant is better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    /// The study.
    pub study: String,
    /// Its table.
    pub table: String,
    /// Row of the table: a statistic.
    pub row: String,
    /// Column of the table: the variant that is compared with the baseline.
    pub column: String,
    /// Unit of the figures.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// Published figure of the baseline.
    pub published_baseline: f64,
    /// Published figure of the variant.
    pub published_variant: f64,
    /// Published change.
    pub published_percent: f64,
    /// Predicted figure of the baseline.
    pub predicted_baseline: f64,
    /// Predicted figure of the variant.
    pub predicted_variant: f64,
    /// Predicted change.
    pub predicted_percent: f64,
    /// Lower end of its 95 % interval.
    pub predicted_low: f64,
    /// Upper end of its 95 % interval.
    pub predicted_high: f64,
    /// Whether a constant was fitted on this figure.
    pub calibrated: bool,
}

impl Cell {
    /// Predicted less published change, in percent points.
    pub fn error(&self) -> f64 {
        self.predicted_percent - self.published_percent
    }
}

/// A statistic that a table gives for the baseline and a variant.
struct Published {
    row: &'static str,
    unit: String,
    better: Better,
    statistic: Statistic,
    figures: (f64, f64),
}

/// How the same statistic is taken of runs.
enum Statistic {
    Mean,
    Median,
    /// Percent of runs at or above this edge.
    ShareFrom(f64),
}

/// The predicted figures and the change between them.
struct Predicted {
    figures: (f64, f64),
    change: Interval,
}

/// A study's cells, and the names of those that the results cannot give.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Validation {
    /// Cells in the order of the study's tables.
    pub cells: Vec<Cell>,
    /// `table, row, column` of each published figure without a prediction: the workload or variant did not
    /// run, or its runs have no percent change (too few, or a baseline of 0).
    pub missing: Vec<String>,
}

/// Every published figure of `study` beside what `results` predict.
pub fn validate(study: &Study, results: &Results, resampling: &Resampling) -> Validation {
    let mut out = Validation::default();
    for table in &study.tables {
        let workload = results.workloads.iter().find(|w| w.name == table.workload);
        for variant in variants(table) {
            for published in published(table, variant) {
                let figure =
                    workload.and_then(|w| predict(table, w, variant, &published, resampling));
                match figure {
                    Some(figure) => out.cells.push(cell(study, table, variant, published, figure)),
                    None => {
                        out.missing.push(format!("{}, {}, {variant}", table.name, published.row))
                    }
                }
            }
        }
    }
    out
}

fn cell(study: &Study, table: &Table, variant: &str, p: Published, predicted: Predicted) -> Cell {
    Cell {
        study: study.name.clone(),
        table: table.name.clone(),
        row: p.row.to_string(),
        column: variant.to_string(),
        unit: p.unit,
        better: p.better,
        published_baseline: p.figures.0,
        published_variant: p.figures.1,
        published_percent: p.better.percent(p.figures.0, p.figures.1),
        predicted_baseline: predicted.figures.0,
        predicted_variant: predicted.figures.1,
        predicted_percent: predicted.change.estimate,
        predicted_low: predicted.change.low,
        predicted_high: predicted.change.high,
        calibrated: table.calibrated_rows.iter().any(|r| r == p.row),
    }
}

/// Variants with published figures, apart from the baseline.
fn variants(table: &Table) -> Vec<&str> {
    let histogram = table.histogram.iter().flat_map(|h| h.counts.keys());
    let summary = table.summary.iter().flat_map(|s| s.keys());
    let mut names: Vec<&str> =
        histogram.chain(summary).map(String::as_str).filter(|n| *n != table.baseline).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The figures that `table` holds for both its baseline and `variant`.
fn published(table: &Table, variant: &str) -> Vec<Published> {
    let row = |row, statistic, figures: Option<(f64, f64)>| {
        figures.map(|figures| Published {
            row,
            unit: table.unit.clone(),
            better: table.better,
            statistic,
            figures,
        })
    };
    let base = table.baseline.as_str();
    let mut out = Vec::new();
    if let Some(h) = &table.histogram {
        out.extend(row("mean", Statistic::Mean, h.mean(base).zip(h.mean(variant))));
        let shares = h.top_share(base).zip(h.top_share(variant));
        let share = row("runs in the top bin", Statistic::ShareFrom(h.top_edge()), shares);
        out.extend(share.map(|p| Published {
            unit: "% of runs".to_string(),
            better: Better::Higher,
            ..p
        }));
    }
    if let Some(s) = &table.summary {
        let rows = s.get(base).zip(s.get(variant));
        out.extend(row("Avg", Statistic::Mean, rows.map(|(b, v)| (b.avg, v.avg))));
        out.extend(row("Median", Statistic::Median, rows.map(|(b, v)| (b.median, v.median))));
    }
    out
}

fn predict(
    table: &Table,
    workload: &WorkloadResults,
    variant: &str,
    published: &Published,
    resampling: &Resampling,
) -> Option<Predicted> {
    let metric = workload.metric(&table.metric)?;
    let base = workload.samples(&table.baseline, metric);
    let new = workload.samples(variant, metric);
    let better = published.better;
    let of_means = |base: &[f64], new: &[f64]| {
        Some(Predicted {
            figures: (stats::amean(base)?, stats::amean(new)?),
            change: stats::percent_change(base, new, better, resampling)?,
        })
    };
    match published.statistic {
        Statistic::Mean => of_means(&base, &new),
        Statistic::ShareFrom(edge) => {
            let percent = |values: &[f64]| -> Vec<f64> {
                values.iter().map(|&x| if x >= edge { 100.0 } else { 0.0 }).collect()
            };
            of_means(&percent(&base), &percent(&new))
        }
        Statistic::Median => Some(Predicted {
            figures: (stats::Summary::of(&base)?.median, stats::Summary::of(&new)?.median),
            change: stats::median_change(&base, &new, better, resampling)?,
        }),
    }
}
