//! What runs say, one quantity at a time: the same for single workloads, for tables of rows and for MMTests' results.

use experiment::results::WorkloadResults;
use stats::table::{Change, Compared, ComparedCell, Estimator};
use stats::{Better, Comparison, Interval, Resampling, Summary, Table, Verdict};

/// A quantity under every variant, the baseline first.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What was run: a workload, or a table and its row.
    pub workload: String,
    /// What was measured.
    pub metric: String,
    /// Unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// Name of the mean that stands for runs.
    pub mean: &'static str,
    /// By variant.
    pub sides: Vec<Side>,
}

/// One variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// The variant's name.
    pub variant: String,
    /// All samples, in the unit.
    pub samples: Vec<f64>,
    /// Their mean, where they have one.
    pub value: Option<f64>,
    /// Against the baseline; `None` for itself and where samples carry no percent change.
    pub change: Option<SideChange>,
}

/// A variant against the baseline.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SideChange {
    /// Percent change with its interval, positive where the variant is better.
    pub percent: Interval,
    /// Smallest effect in percent that the runs could have shown.
    pub smallest_detectable_percent: f64,
    /// What the runs allow to say.
    pub verdict: Verdict,
}

impl From<Comparison> for SideChange {
    fn from(c: Comparison) -> SideChange {
        let smallest_detectable_percent = c.smallest_detectable_percent;
        SideChange { percent: c.percent, smallest_detectable_percent, verdict: c.verdict }
    }
}

impl From<&Change> for SideChange {
    fn from(c: &Change) -> SideChange {
        let smallest_detectable_percent = c.smallest_detectable_percent;
        SideChange { percent: c.percent, smallest_detectable_percent, verdict: c.verdict }
    }
}

/// The metrics of a workload, each variant against the first as [`stats::compare`] has it.
pub fn of_workload(results: &WorkloadResults, resampling: &Resampling) -> Vec<Finding> {
    let of_metric = |(m, info): (usize, &experiment::results::MetricInfo)| {
        let base = results.variants.first().map_or(vec![], |v| results.samples(&v.name, m));
        let side = |(at, v): (usize, &experiment::results::VariantRuns)| {
            let samples = results.samples(&v.name, m);
            let compared = || stats::compare(&base, &samples, info.better, resampling);
            let change = if at > 0 { compared().map(SideChange::from) } else { None };
            let value = Summary::of(&samples).map(|s| s.mean);
            Side { variant: v.name.clone(), samples, value, change }
        };
        Finding {
            workload: results.name.clone(),
            metric: info.name.clone(),
            unit: info.unit.clone(),
            better: info.better,
            mean: Estimator::Amean.name(),
            sides: results.variants.iter().enumerate().map(side).collect(),
        }
    };
    results.metrics.iter().enumerate().map(of_metric).collect()
}

/// The rows of a table, each column against the first as `compared` has it.
pub fn of_table(table: &Table, compared: &Compared) -> Vec<Finding> {
    let rows = table.rows.iter().zip(&compared.rows);
    rows.map(|(row, compared)| {
        let columns = table.columns.iter().zip(&row.cells).zip(&compared.cells);
        let side = |((column, cell), compared): ((&String, &stats::Cell), &ComparedCell)| Side {
            variant: column.clone(),
            samples: cell.samples(),
            value: compared.figure().map(|f| f.value),
            change: compared.change().map(SideChange::from),
        };
        Finding {
            workload: format!("{} {}", table.metric, row.label).trim_end().to_string(),
            metric: table.metric.clone(),
            unit: table.unit.clone(),
            better: table.better,
            mean: table.estimator.name(),
            sides: columns.map(side).collect(),
        }
    })
    .collect()
}

/// A verdict in words with its interval and the smallest detectable effect.
pub fn in_words(side: &Side, baseline: &str) -> String {
    let Some(c) = &side.change else {
        return match side.samples.len() {
            0 => format!("{} did not run.", side.variant),
            _ => format!(
                "{} and {baseline} cannot be compared: that needs two or more runs of each, and a baseline above 0.",
                side.variant
            ),
        };
    };
    let p = &c.percent;
    let interval = format!(
        "{:+.2} % ({:.0} % interval {:+.2} to {:+.2})",
        p.estimate,
        p.confidence.percent(),
        p.low,
        p.high
    );
    let smallest = c.smallest_detectable_percent;
    let variant = &side.variant;
    match c.verdict {
        Verdict::Better | Verdict::Worse => format!(
            "{variant} is {} than {baseline}: {interval}. These runs could show effects of {smallest:.2} % and more.",
            c.verdict
        ),
        Verdict::NoDifference => format!(
            "No difference proven between {variant} and {baseline}: {interval}. An effect below {smallest:.2} % may exist and not show in so many runs."
        ),
    }
}
