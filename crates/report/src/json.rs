//! What `--json` prints.

use crate::error::ReportError;
use crate::setup::Setup;
use definition::Plan;
use machine::Machine;
use results::analysis::{MetricAnalysis, TableAnalysis, TablesAnalysis, WorkloadAnalysis};
use results::computer::{Difference, differences};
use results::robust::{Ranged, Robust, Robustness};
use results::sensitivity::{Hangs, LeftOut, Sensitivity};
use results::validate::Cell;
use results::{Analysis, Computer, Engine, Ignored, WorkloadResults};
use serde::Serialize;
use stats::table::Overview;
use stats::{Better, Comparison, Summary};
use std::collections::BTreeMap;

/// `schedscape run --json`.
#[derive(Debug, Serialize)]
pub struct RunDocument<'a> {
    machine: &'a Machine,
    domains: Vec<DomainsDocument>,
    #[serde(flatten)]
    results: ResultsDocument<'a>,
}

/// The domains of one variant in one SMT mode, as log lines.
#[derive(Debug, Serialize)]
struct DomainsDocument {
    variant: String,
    kernel: String,
    smt: u32,
    log: Vec<String>,
}

/// `schedscape compare --json`.
#[derive(Debug, Serialize)]
pub struct ResultsDocument<'a> {
    experiment: &'a str,
    engine: Engine,
    seed: u64,
    workloads: Vec<WorkloadDocument<'a>>,
    /// What an experiment that lists a parameter's values shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<TablesDocument<'a>>,
    validation: &'a [Cell],
    /// The computers that ran variants by their own kernels.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    computers: &'a [Computer],
    /// What differs between them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    differences: Vec<Difference>,
    /// On which constants comparisons hang, if constants were moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    sensitivity: Option<SensitivityDocument<'a>>,
    /// Whether comparisons hold over the ranges of constants, if these were moved over them.
    #[serde(skip_serializing_if = "Option::is_none")]
    robustness: Option<RobustnessDocument<'a>>,
}

/// What runs over the ranges of constants say.
#[derive(Debug, Serialize)]
struct RobustnessDocument<'a> {
    comparisons: &'a [Robust],
    /// By workload: constants that were moved, with their ranges, in the order of values at places.
    constants: BTreeMap<&'a str, &'a [Ranged]>,
    /// By workload: constants that the simulator refuses when they are moved.
    fixed: BTreeMap<&'a str, &'a [String]>,
    left_out: &'a [LeftOut],
}

/// What runs with moved constants say.
#[derive(Debug, Serialize)]
struct SensitivityDocument<'a> {
    /// By what constants were multiplied and divided.
    factor: f64,
    comparisons: &'a [Hangs],
    /// By workload: constants that the simulator refuses when they are moved.
    fixed: BTreeMap<&'a str, &'a [String]>,
    left_out: &'a [LeftOut],
}

#[derive(Debug, Serialize)]
struct WorkloadDocument<'a> {
    name: &'a str,
    /// What was left out of its rt-app file.
    ignored: &'a [Ignored],
    metrics: Vec<MetricDocument<'a>>,
    /// By variant and name: the mean over the variant's runs.
    counters: BTreeMap<&'a str, BTreeMap<&'a str, f64>>,
}

#[derive(Debug, Serialize)]
struct MetricDocument<'a> {
    name: &'a str,
    unit: &'a str,
    better: Better,
    variants: Vec<VariantDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct VariantDocument<'a> {
    name: &'a str,
    summary: Option<Summary>,
    /// Against the first variant; absent for the first itself.
    comparison: Option<Comparison>,
    samples: &'a [f64],
}

/// The tables of an experiment.
#[derive(Debug, Serialize)]
struct TablesDocument<'a> {
    /// Ratios of performance.
    performance: &'a Overview,
    /// Ratios of performance per watt, where clocks are governed.
    per_watt: Option<&'a Overview>,
    /// Tables of performance.
    tables: &'a [TableAnalysis],
    /// Tables of performance per watt.
    per_watt_tables: &'a [TableAnalysis],
    /// The table of watts.
    power: &'a [TableAnalysis],
}

/// The machine and the domains of `plan`, then the results.
///
/// # Errors
/// Domains that cannot be built.
pub fn run<'a>(plan: &'a Plan, analysis: &'a Analysis) -> Result<RunDocument<'a>, ReportError> {
    let domains = Setup::of(plan)?.modes.into_iter().map(|mode| DomainsDocument {
        variant: plan.file.variants[mode.variant].name.clone(),
        kernel: plan.file.variants[mode.variant].kernel.to_string(),
        smt: mode.smt,
        log: kernel::log::log(&mode.domains, plan.file.variants[mode.variant].kernel)
            .lines()
            .map(String::from)
            .collect(),
    });
    Ok(RunDocument {
        machine: &plan.machine,
        domains: domains.collect(),
        results: results(analysis),
    })
}

/// The results and all that follows from them.
pub fn results<'a>(analysis: &'a Analysis) -> ResultsDocument<'a> {
    let results = analysis.results;
    let workloads = results.workloads.iter().zip(&analysis.workloads);
    ResultsDocument {
        experiment: &results.experiment.name,
        engine: results.engine,
        seed: results.experiment.seed(),
        workloads: workloads.map(|(w, a)| workload(analysis, w, a)).collect(),
        tables: analysis.tables.as_ref().map(tables),
        validation: analysis.published.as_ref().map_or(&[], |p| &p.validation.cells),
        computers: &results.computers,
        differences: differences(&results.computers, &results.experiment),
        sensitivity: results.sensitivity.as_ref().map(|s| sensitivity(analysis, s)),
        robustness: results.robustness.as_ref().map(|r| robustness(analysis, r)),
    }
}

fn robustness<'a>(analysis: &'a Analysis, of: &'a Robustness) -> RobustnessDocument<'a> {
    let workloads = || of.workloads.iter();
    RobustnessDocument {
        comparisons: &analysis.robust,
        constants: workloads().map(|w| (w.workload.as_str(), &w.constants[..])).collect(),
        fixed: workloads().map(|w| (w.workload.as_str(), &w.fixed[..])).collect(),
        left_out: &of.left_out,
    }
}

fn sensitivity<'a>(analysis: &'a Analysis, of: &'a Sensitivity) -> SensitivityDocument<'a> {
    SensitivityDocument {
        factor: of.factor,
        comparisons: &analysis.hangs,
        fixed: of.workloads.iter().map(|w| (w.workload.as_str(), &w.fixed[..])).collect(),
        left_out: &of.left_out,
    }
}

fn workload<'a>(
    all: &'a Analysis,
    of: &'a WorkloadResults,
    analysis: &'a WorkloadAnalysis,
) -> WorkloadDocument<'a> {
    let counters = of.variants.iter().enumerate().map(|(v, variant)| {
        let mean = |c: &results::counters::CounterMeans| {
            Some((all.results.counters.get(c.counter)?.name.as_str(), c.means[v]?))
        };
        (variant.name.as_str(), analysis.counters.iter().filter_map(mean).collect())
    });
    WorkloadDocument {
        name: &of.name,
        ignored: &of.ignored,
        metrics: analysis.metrics.iter().map(metric).collect(),
        counters: counters.collect(),
    }
}

fn metric(of: &MetricAnalysis) -> MetricDocument<'_> {
    let variants = of.variants.iter().map(|v| VariantDocument {
        name: &v.name,
        summary: v.summary,
        comparison: v.comparison,
        samples: &v.samples,
    });
    MetricDocument {
        name: &of.info.name,
        unit: &of.info.unit,
        better: of.info.better,
        variants: variants.collect(),
    }
}

fn tables(all: &TablesAnalysis) -> TablesDocument<'_> {
    let watts = all.watts.as_ref();
    TablesDocument {
        performance: &all.performance.overview,
        per_watt: watts.map(|w| &w.per_watt.overview),
        tables: &all.performance.tables,
        per_watt_tables: watts.map_or(&[], |w| &w.per_watt.tables),
        power: watts.map_or(&[], |w| &w.power.tables),
    }
}
